// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/geometry: change that, not this.

import type { FloatArray, PackedArray } from "../shared/buffer.js";
import type { SharedStrings } from "../shared/heads.js";

/** The content of the page; `plane` is None where no head can be shown, `reason` says why. */
export interface Header extends GeometryChoice {
  strings: Strings;
  frequencies: Frequencies;
  plane: HeadPlane | null;
  reason: string;
  /** The arrows to begin with. */
  start: string;
  /** The largest coordinate of an arrow. */
  reach: number;
  /** The most keys that can be drawn. */
  max_keys: number;
  /** The last position that can be chosen. */
  max_turn: number;
}

/**
 * The tab, the arrows and the positions, as an address has them.
 * `vectors` is "x,y/kx,ky,vx,vy/…", the query and then each key with its value; `turns` is the positions of
 * query and key and the pair that turns, "m.n.i".
 */
export interface GeometryChoice {
  tab: Tab;
  vectors: string;
  turns: string;
}

export type Tab = "arrows" | "rotary" | "clocks" | "head";

/**
 * The angle by which each pair of components turns from one position to the next, in radians.
 * `own` is True if they were measured in the model, False for the usual 10000^(−2i/d).
 */
export interface Frequencies {
  angles: number[];
  own: boolean;
}

/**
 * A real head's words in its best plane.
 * `query_at` has the positions of the queries in the text. `weights` are the model's own among these words,
 * each row divided by its sum; `may` says which keys a query may attend to. `share` is what the plane keeps
 * of the scores' variation, `median` the same of the median head; None where scores are all alike.
 */
export interface HeadPlane {
  layer: number;
  head: number;
  n_layers: number;
  n_heads: number;
  query: number;
  tokens: string[];
  key_tokens: string[];
  query_at: number[];
  share: number | null;
  median: number | null;
  n_measured: number;
  turned: boolean;
  cut: boolean;
  kept: number[][];
}

export interface Arrays {
  /** [query, axis] */
  "plane.queries": FloatArray;
  /** [key, axis] */
  "plane.keys": FloatArray;
  /** [query, key] */
  "plane.weights": FloatArray;
  /** [query, key] */
  "plane.may": PackedArray;
}

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly tabs: string;
  readonly tab_arrows: string;
  readonly tab_rotary: string;
  readonly tab_clocks: string;
  readonly tab_head: string;
  readonly arrows_note: string;
  readonly asking: string;
  readonly answering: string;
  readonly query: string;
  readonly key: string;
  readonly value: string;
  readonly moved: string;
  readonly add: string;
  readonly remove: string;
  readonly reset: string;
  readonly angle: string;
  readonly scaled: string;
  readonly weight: string;
  readonly keys: string;
  readonly mixed: string;
  readonly rotary_note: string;
  readonly rotary_own: string;
  readonly rotary_usual: string;
  readonly clocks_note: string;
  readonly position_q: string;
  readonly position_k: string;
  readonly together: string;
  readonly pair: string;
  readonly pair_of: string;
  readonly turned: string;
  readonly score_by_distance: string;
  readonly this_pair: string;
  readonly all_pairs: string;
  readonly clocks: string;
  readonly clock: string;
  readonly clocks_product: string;
  readonly head_note: string;
  readonly head_query: string;
  readonly share: string;
  readonly plane: string;
  readonly true: string;
  readonly distance: string;
  readonly rotated: string;
  readonly first_words: string;
}
