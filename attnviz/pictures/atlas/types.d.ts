// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/atlas: change that, not this.

import type { FloatArray, PackedArray } from "../shared/buffer.js";
import type { SharedStrings } from "../shared/heads.js";

/**
 * All heads on two measures: `points` are low end, mean and high end of each.
 * `family` is the number of each head's first role among `families`, `NO_FAMILY` for none. `maps` are the
 * mean weights between the first tokens.
 */
export interface Header {
  strings: Strings;
  heads: AtlasHead[];
  axes: [string, string];
  families: string[];
  detail: HeadDetail;
  /** The number of heads of each layer. */
  counts: number[];
  /** The number of layers. */
  n_layers: number;
  /** The largest number of heads of a layer. */
  n_heads: number;
}

/** A head and its roles in words, "" for none. */
export interface AtlasHead {
  layer: number;
  head: number;
  roles: string;
}

/** The chosen head over all texts; `profile` is NaN for distances that no query can see. */
export interface HeadDetail {
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

/**
 * A measure of the chosen head over texts: its mean with its interval, as texts.
 * `even` is what even attention gives, `other` what other words in the same places give with the same
 * weights, "" where they do not apply; `above` is on how many texts the head is above both. `own` is the
 * value on the visitor's text with its place among all. `holds` is True for a role.
 */
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

/**
 * A tenth of the texts: the ends of its values, and texts of it. `number` is 1 to 10, or "1–6" where the
 * first six have the same ends.
 */
export interface DecileRow {
  number: string;
  low: string;
  high: string;
  texts: string[];
}

/** A token, or a query and the key that got most of it: how often, and the mean weight. */
export interface CountedRow {
  tokens: string[];
  n: number;
  weight: string;
}

export interface Arrays {
  /** [head, axis, end] */
  points: FloatArray;
  /** [head] */
  family: PackedArray;
  /** [head, query, key] */
  maps: PackedArray;
  /** [distance] */
  "detail.profile": FloatArray;
}

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly graph: string;
  readonly head: string;
  readonly no_role: string;
  readonly hint: string;
  readonly interval: string;
  readonly numbers: string;
  readonly measure: string;
  readonly mean: string;
  readonly even: string;
  readonly other: string;
  readonly above: string;
  readonly own: string;
  readonly deciles: string;
  readonly number: string;
  readonly tenth: string;
  readonly range: string;
  readonly pairs: string;
  readonly pair: string;
  readonly keys: string;
  readonly token: string;
  readonly profile: string;
  readonly before: string;
  readonly after: string;
  readonly map: string;
  readonly times: string;
  readonly weight: string;
  readonly received: string;
  readonly open_head: string;
  readonly use_text: string;
}
