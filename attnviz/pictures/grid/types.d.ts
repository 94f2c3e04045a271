// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/grid: change that, not this.

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
  readonly canvas: string;
  readonly tokens: string;
  readonly hint: string;
  readonly hint_touch: string;
  readonly preview: string;
  readonly strongest: string;
  readonly looks: string;
  readonly weights_note: string;
  readonly weights_hatched: string;
  readonly coming_note: string;
  readonly squares_note: string;
  readonly pooled_note: string;
  readonly kept: string;
  readonly order: string;
  readonly by_layer: string;
  readonly measured: string;
  readonly cells: string;
  readonly mean: string;
  readonly max: string;
  readonly of_layer: string;
  readonly of_column: string;
  readonly of_all: string;
  readonly mean_says: string;
  readonly max_says: string;
  readonly legend_looks: string;
  readonly legend_corner: string;
}
