// The data of Compare; mirror of attnviz/components/pair/__init__.py.

import type { FloatArray, PackedArray } from "../shared/buffer.js";
import type { AxesHeader, Flag, Strings } from "../shared/heads.js";

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
  | "canvas_difference"
  | "difference"
  | "link"
  | "grid"
  | "grid_note"
  | "grid_bar"
  | "cell"
  | "summary"
  | "no_rows"
  | "most"
  | "most_label"
  | "limit"
  | "no_difference"
  | "difference_bar"
  | "only_a"
  | "only_b"
  | "replaced"
  | "and_more"
  | "merged"
  | "approximate"
  | "readout"
  | "readout_a"
  | "readout_b"
  | "readout_none"
  | "readout_row"
  | "readout_lone"
  | "readout_idle"
  | "hint";

/** One side. `at_query` and `at_key` have the first token of each part that stands on its axes. */
export interface SideHeader extends AxesHeader {
  model: string;
  at_query: number[];
  at_key: number[];
  n_layers: number;
  n_heads: number;
  n_query: number;
  n_key: number;
}

/** A place on a common axis: the part of A or −1, the part of B or −1, and whether they are equal. */
export type Slot = [a: number, b: number, same: Flag];

export interface Header {
  strings: Strings<StringKey>;
  a: SideHeader;
  b: SideHeader;
  rows: Slot[];
  cols: Slot[];
  cross: Flag;
  merged: Flag;
  /** Both sides have the same layers and heads, so that they can move together. */
  alike: Flag;
  /** Both sides are one capture. */
  identical: Flag;
}

export interface Arrays {
  /** [layer, head, row, column] of the left side. */
  weights_a: PackedArray;
  weights_b: PackedArray;
  /** How much attention moved in each head, where that says something [layer, head]. */
  moved?: FloatArray;
  /** The same for each row [layer, head, row]. */
  moved_rows?: FloatArray;
}
