// The data of a moving picture; mirror of attnviz/components/motion/__init__.py.

import type { FloatArray } from "../shared/buffer.js";
import type { Strings } from "../shared/heads.js";

export type StringKey = "play" | "pause" | "again" | "position";

export type FilmName =
  | "blend"
  | "softmax"
  | "mask"
  | "shuffle"
  | "query"
  | "rotary"
  | "clocks"
  | "cut"
  | "alignment"
  | "induction"
  | "training";

/** A part of the film: how long it takes, and its sentence. */
export interface Scene {
  name: string;
  ms: number;
  caption: string;
}

export interface Header {
  strings: Strings<StringKey>;
  film: FilmName;
  /** The picture in words. */
  label: string;
  scenes: Scene[];
  /** Names of rows, columns and lines: tokens, or words in the language of the page. */
  labels: { [axis: string]: string[] };
}

export interface Arrays {
  [name: string]: FloatArray;
}
