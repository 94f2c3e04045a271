// The data of the atlas; mirror of attnviz/components/atlas/__init__.py.

import type { FloatArray, PackedArray } from "../shared/buffer.js";
import type { Strings } from "../shared/heads.js";

export type StringKey =
  | "graph"
  | "head"
  | "no_role"
  | "hint"
  | "interval"
  | "numbers"
  | "measure"
  | "mean"
  | "even"
  | "other"
  | "above"
  | "own"
  | "deciles"
  | "number"
  | "tenth"
  | "range"
  | "pairs"
  | "pair"
  | "keys"
  | "token"
  | "profile"
  | "before"
  | "after"
  | "map"
  | "times"
  | "weight"
  | "open_head"
  | "received"
  | "use_text";

export interface Head {
  layer: number;
  head: number;
  roles: string;
}

export interface MeasureRow {
  label: string;
  mean: string;
  interval: string;
  even: string;
  other: string;
  above: string;
  own: string;
  holds: boolean;
}

/** `number` is "1", or "1–6" where the first six have the same ends. */
export interface DecileRow {
  number: string;
  low: string;
  high: string;
  texts: string[];
}

export interface CountedRow {
  tokens: string[];
  n: number;
  weight: string;
}

export interface Detail {
  layer: number;
  head: number;
  title: string;
  sentences: string[];
  rows: MeasureRow[];
  by: string;
  deciles: DecileRow[];
  pairs: CountedRow[];
  keys: CountedRow[];
}

/** `counts` has the number of heads of each layer. */
export interface Header {
  strings: Strings<StringKey>;
  heads: Head[];
  n_layers: number;
  n_heads: number;
  counts: number[];
  axes: [string, string];
  families: string[];
  detail: Detail;
}

export interface Arrays {
  /** [head, axis, end]: low end, mean and high end of a measure over texts. */
  points: FloatArray;
  /** The number of each head's family, 255 for none. */
  family: PackedArray;
  /** [head, query, key]: mean weights between the first tokens, as square roots. */
  maps: PackedArray;
  /** The mean weight at each distance, NaN where no query can see. */
  profile: FloatArray;
}
