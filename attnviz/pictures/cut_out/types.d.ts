// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/cut_out: change that, not this.

import type { FloatArray } from "../shared/buffer.js";
import type { SharedStrings } from "../shared/heads.js";

/** The circuit with its texts; `number` names what is measured, `kept` is on the slider. */
export interface Header extends CutOut {
  strings: Strings;
  number: string;
  sentences: string[];
  kept: number;
}

/**
 * The numbers, in no language: the first `edges`, those that matter most first, and the curves.
 * `n_exact` of all edges were run, the others only estimated; the two have a correlation. `columns` have the
 * nodes in the order of the pass. Curves are shares of the way from the `other` text's number to this one's,
 * `before`, at each number of `points`.
 */
export interface CutOut {
  n_edges: number;
  n_exact: number;
  before: number;
  other: number;
  least: number | null;
  correlation: number;
  points: number[];
  columns: string[][];
  edges: CutEdge[];
}

/**
 * An edge of the stream: what it changes by coming from the other text.
 * `side` is the input of a head that it ends in, None for an MLP or the answer; `exact` is False for a change
 * that was only estimated.
 */
export interface CutEdge {
  sender: string;
  receiver: string;
  side: Side | null;
  change: number;
  exact: boolean;
}

export type Side = "q" | "k" | "v";

export interface Arrays {
  /** [point] */
  faithful: FloatArray;
  /** [point] */
  complete: FloatArray;
  /** [draw, point] */
  random_faithful: FloatArray;
  /** [draw, point] */
  random_complete: FloatArray;
}

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly kept: string;
  readonly says_kept: string;
  readonly random_kept: string;
  readonly says_cut: string;
  readonly random_cut: string;
  readonly curve: string;
  readonly line_kept: string;
  readonly line_cut: string;
  readonly line_random: string;
  readonly graph: string;
  readonly list: string;
  readonly edge: string;
  readonly change: string;
  readonly estimated: string;
  readonly drawn: string;
  readonly side_q: string;
  readonly side_k: string;
  readonly side_v: string;
  readonly side_other: string;
  readonly embeddings: string;
  readonly answer: string;
}
