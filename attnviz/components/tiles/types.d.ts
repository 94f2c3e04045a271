// The data of a long head; mirror of attnviz/components/tiles/__init__.py.

import type { PackedArray } from "../shared/buffer.js";
import type { AxesHeader, Flag, HeardHeader, Strings } from "../shared/heads.js";

export type StringKey =
  | "query_axis"
  | "key_axis"
  | "scale"
  | "scale_linear"
  | "scale_sqrt"
  | "scale_log"
  | "colour_bar"
  | "layer"
  | "head"
  | "previous_layer"
  | "next_layer"
  | "previous_head"
  | "next_head"
  | "canvas"
  | "exact"
  | "pooled"
  | "overview"
  | "zoom_in"
  | "zoom_out"
  | "zoom_whole"
  | "point"
  | "area"
  | "idle"
  | "pinned"
  | "hint"
  | "find"
  | "find_hint"
  | "found_none"
  | "found_some"
  | "found_at"
  | "previous_place"
  | "next_place"
  | "strongest"
  | "strongest_none"
  | "distance"
  | "distance_of"
  | "cell"
  | "waiting"
  | "heard"
  | "heard_note"
  | "heard_rest";

/** An answer to what the browser wanted. */
export interface Header {
  strings: Strings<StringKey>;
  /** Changes with the head. */
  stamp: string;
  /** Changes with the text. */
  axes_stamp: string;
  /** The tokens; null where the browser has them. */
  axes: AxesHeader | null;
  heard: HeardHeader | null;
  cross: Flag;
  layer: number;
  head: number;
  n_layers: number;
  n_heads: number;
  n_query: number;
  n_key: number;
  /** The level that holds the whole matrix in one tile. */
  top: number;
  ready: Flag;
  /** The request that this answers. */
  number: number;
  /** Tiles of nothing but zeros. */
  empty: [level: number, row: number, column: number][];
  distances: number[];
  distance: number;
  /** The strongest cells. */
  cells: [query: number, key: number, weight: number][];
  /** A cell that was asked for, and its weight, where that is known. */
  pinned: [query: number, key: number, weight: number | null] | null;
}

/** A tile by its name: u8 codes above level 0, f32 weights on it. */
export interface Arrays {
  [tile: `${number}/${number}/${number}`]: PackedArray;
  spectrum?: PackedArray;
}
