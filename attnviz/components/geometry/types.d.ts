// The data of the geometry; mirror of attnviz/components/geometry/__init__.py.

import type { PackedArray } from "../shared/buffer.js";
import type { Flag, Strings } from "../shared/heads.js";

export type Tab = "arrows" | "rotary" | "clocks" | "head";

export type StringKey =
  | "layer"
  | "head"
  | "previous_layer"
  | "next_layer"
  | "previous_head"
  | "next_head"
  | "tabs"
  | `tab_${Tab}`
  | "arrows_note"
  | "asking"
  | "answering"
  | "query"
  | "key"
  | "value"
  | "moved"
  | "add"
  | "remove"
  | "reset"
  | "angle"
  | "scaled"
  | "weight"
  | "keys"
  | "mixed"
  | "rotary_note"
  | "rotary_own"
  | "rotary_usual"
  | "clocks_note"
  | "position_q"
  | "position_k"
  | "together"
  | "pair"
  | "pair_of"
  | "turned"
  | "score_by_distance"
  | "this_pair"
  | "all_pairs"
  | "clocks"
  | "clock"
  | "clocks_product"
  | "head_note"
  | "head_query"
  | "share"
  | "plane"
  | "true"
  | "distance"
  | "rotated"
  | "first_words";

/** A point of the plane, or an arrow to it from the origin. */
export type Vector = [x: number, y: number];

/** A key, and the value behind it. */
export interface Answer {
  key: Vector;
  value: Vector;
}

export interface HeadPlane {
  layer: number;
  head: number;
  n_layers: number;
  n_heads: number;
  /** The place of the query among `tokens`; `query_at` has their positions in the text. */
  query: number;
  tokens: string[];
  key_tokens: string[];
  query_at: number[];
  /** The shares that the plane of this head, and of the median head, keeps; null where scores are all alike. */
  share: number | null;
  median: number | null;
  n_measured: number;
  turned: Flag;
  cut: Flag;
}

export interface Header {
  strings: Strings<StringKey>;
  tab: Tab;
  vectors: string;
  start: string;
  turns: string;
  /** The largest coordinate of an arrow. */
  reach: number;
  max_keys: number;
  max_turn: number;
  /** Radians from one position to the next, for each pair of components; own: those of the model. */
  frequencies: { angles: number[]; own: boolean };
  reason: string;
  head: HeadPlane | null;
}

/** All are there if the header has a head. */
export interface Arrays {
  queries?: PackedArray;
  keys?: PackedArray;
  weights?: PackedArray;
  may?: PackedArray;
}
