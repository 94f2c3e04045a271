// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/pairs: change that, not this.

import type { FloatArray } from "../shared/buffer.js";
import type { SharedStrings } from "../shared/heads.js";

/**
 * The rows in the order of the pass, `order` those with the largest mean first.
 * `n_solved` of `n_asked` pairs are solved by the model; `texts` are those that were measured. Numbers are
 * changes, parts or leads in logits; of "patching" `values` are shares of each pair's own gap, NaN where it
 * is too small, and `mean` the share of the set, Σ changes ÷ Σ gaps. `low` and `high` are its 95 % interval,
 * `control` the share that another pair's partner brings.
 */
export interface Header {
  strings: Strings;
  ask: Ask;
  title: string;
  sentences: string[];
  n_solved: number;
  n_asked: number;
  rows: string[];
  order: number[];
  slots: string[];
  texts: PairText[];
}

export type Ask = "effects" | "direct" | "lens" | "patching";

/**
 * A text, its partner, the answer that each should get, and the measured number of each.
 * `solved` by the model or not.
 */
export interface PairText {
  text: string;
  other: string;
  answer: string;
  other_answer: string;
  before: number;
  source: number;
  solved: boolean;
}

export interface Arrays {
  /** [row, slot] */
  mean: FloatArray;
  /** [row, slot] */
  low: FloatArray;
  /** [row, slot] */
  high: FloatArray;
  /** [row, slot] */
  control?: FloatArray;
  /** [row, slot, text] */
  values: FloatArray;
}

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly order: string;
  readonly by_size: string;
  readonly by_pass: string;
  readonly solved: string;
  readonly dot: string;
  readonly mean: string;
  readonly control: string;
  readonly more: string;
  readonly pairs_of: string;
  readonly each_note: string;
  readonly largest_slot: string;
  readonly before: string;
  readonly before_wrong: string;
  readonly open: string;
  readonly partner: string;
  readonly rest: string;
}
