// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/patches: change that, not this.

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
  readonly picture: string;
  readonly idle: string;
  readonly extras: string;
  readonly extra: string;
  readonly strongest: string;
  readonly all_heads: string;
  readonly mean: string;
  readonly mean_title: string;
  readonly mean_sentence: string;
  readonly stretch: string;
  readonly stretched: string;
  readonly hint: string;
}
