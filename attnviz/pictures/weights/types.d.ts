// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/weights: change that, not this.

import type { FloatArray } from "../shared/buffer.js";
import type { SharedStrings } from "../shared/heads.js";

/**
 * All heads, and the chosen one; NaN where a number has no meaning or is not known.
 * `ov`, `qk` and their like through MLP 0 are shares, `previous` is the weight that positions alone give to
 * the token before, `composed` the largest score with which a head can read an earlier one. `weights` has the
 * chosen head's mean weight by distance beside `even`, attention spread evenly.
 */
export interface Header {
  strings: Strings;
  heads: WeightsHead[];
  chosen: number;
  sentences: string[];
  notes: string[];
  shares: CircuitShare[];
  distances: number[];
  baseline: number;
  reads: ComposedPair[];
  read_by: ComposedPair[];
}

/** A head: its name, and where the pages have it. */
export interface WeightsHead {
  name: string;
  layer: number;
  head: number;
}

/**
 * A circuit of the chosen head from token to token, and its eigenvalues.
 * `low` to `high` is the share's range in `draws` random orders of the words. Of `n` tokens, `first` have
 * their own entry as the largest of their row (by chance 1 of `vocab`), and `positive` percent have it above
 * the row's mean; in the random orders these are `positive_low` to `positive_high` percent.
 */
export interface CircuitShare {
  circuit: "OV" | "QK";
  through: Through;
  share: number;
  low: number;
  high: number;
  draws: number;
  first: number;
  vocab: number;
  positive: number;
  positive_low: number;
  positive_high: number;
  n: number;
  real: number[];
  imaginary: number[];
}

export type Through = "embedding" | "mlp0";

/**
 * Another head that the chosen one can read, or that can read it, on the side of q, k or v.
 * `value` is the score, the composition; `low` to `high` is what random rotations give: two standard
 * deviations around their mean. All `n` pairs of heads of the two layers have this `median`; `rank` is the
 * place among them.
 */
export interface ComposedPair {
  name: string;
  side: "q" | "k" | "v";
  value: number;
  low: number;
  high: number;
  rank: number;
  n: number;
  median: number;
}

export interface Arrays {
  /** [head] */
  ov: FloatArray;
  /** [head] */
  ov_mlp0: FloatArray;
  /** [head] */
  qk: FloatArray;
  /** [head] */
  qk_mlp0: FloatArray;
  /** [head] */
  previous: FloatArray;
  /** [head] */
  composed: FloatArray;
  /** [distance] */
  weights: FloatArray;
  /** [distance] */
  even: FloatArray;
}

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly head: string;
  readonly ov: string;
  readonly qk: string;
  readonly previous: string;
  readonly composed: string;
  readonly embedding: string;
  readonly mlp0: string;
  readonly open: string;
  readonly shares: string;
  readonly shuffled: string;
  readonly eigenvalues: string;
  readonly distance: string;
  readonly weight: string;
  readonly even: string;
  readonly reads: string;
  readonly read_by: string;
  readonly random: string;
  readonly rank: string;
  readonly own_raised: string;
  readonly own_matched: string;
  readonly scale: string;
  readonly distance_axis: string;
  readonly median: string;
  readonly more: string;
  readonly says_previous: string;
  readonly says_composed: string;
  readonly says_score: string;
  readonly says_ov: string;
  readonly says_qk: string;
  readonly says_mlp0: string;
  readonly measure: string;
}
