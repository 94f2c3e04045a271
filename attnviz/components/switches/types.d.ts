// The data of the switches; mirror of attnviz/components/switches/__init__.py.

import type { Bar } from "../shared/bars.js";
import type { FloatArray, PackedArray } from "../shared/buffer.js";
import type { Strings } from "../shared/heads.js";

export type StringKey =
  "board" | "head_on" | "head_off" | "effect" | "undo" | "all_on" | "suggested" | "hint" | "open_head";

/** The heads of one attention; `heads` has the number for each layer. */
export interface Group {
  title: string;
  prefix: string;
  heads: number[];
}

/** The answer in bars and words; `written` has pairs of a label and a text. */
export interface Answer {
  title: string;
  bars: Bar[];
  values: string;
  seconds: string;
  sentence: string;
  control: string;
  percent: boolean;
  written: [label: string, text: string][];
}

export interface Header {
  strings: Strings<StringKey>;
  model: string;
  groups: Group[];
  off: { head: string; change: string }[];
  to: "mean" | "resample" | "zero" | "even";
  answer: Answer;
  effects: string;
  effects_percent: boolean;
  suggested: string;
  most: number;
}

/** weights0, weights1, … [layer, head, row, column], u8; effects0, … [layer, head] where they were measured. */
export type Arrays = Record<`weights${number}`, PackedArray> &
  Partial<Record<`effects${number}`, FloatArray>>;
