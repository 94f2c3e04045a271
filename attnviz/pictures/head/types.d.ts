// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/head: change that, not this.

import type { FloatArray, PackedArray } from "../shared/buffer.js";
import type { HeadsView, SharedStrings } from "../shared/heads.js";

export interface Header extends HeadsView {
  strings: Strings;
}

export interface Arrays {
  /** [layer, head, query, key] */
  weights: PackedArray;
  /** [row, column, rgb] */
  "patches.picture": PackedArray;
  /** [_, query, key] */
  visible?: PackedArray;
  /** [band, column] */
  "heard.levels": PackedArray;
  /** [layer, head, row, column] */
  "first.largest": PackedArray;
  /** [measure, layer, head] */
  measured?: FloatArray;
}

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly forbid: string;
  readonly choose_look: string;
  readonly who_else: string;
  readonly all_heads: string;
  readonly hint_grown: string;
  readonly heatmap: string;
  readonly lines: string;
  readonly lines_all: string;
  readonly lines_query: string;
  readonly lines_key: string;
  readonly query: string;
  readonly key: string;
  readonly hide_special: string;
  readonly hidden_mean: string;
  readonly hidden_row: string;
  readonly all_special: string;
  readonly readout_idle: string;
  readonly ranked: string;
  readonly ranked_idle: string;
  readonly ranked_others: string;
  readonly hint: string;
  readonly token_written: string;
  readonly sums: string;
  readonly received: string;
  readonly row_sum: string;
  readonly column_readout: string;
  readonly row_readout: string;
  readonly sums_idle: string;
  readonly words: string;
  readonly words_note: string;
  readonly pieces: string;
  readonly lines_every: string;
  readonly top: string;
  readonly all: string;
  readonly layout: string;
  readonly layout_down: string;
  readonly layout_across: string;
  readonly keep: string;
  readonly let_go: string;
}
