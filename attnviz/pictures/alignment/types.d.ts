// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/alignment: change that, not this.

import type { PackedArray } from "../shared/buffer.js";
import type { SharedStrings } from "../shared/heads.js";

/** Both sides and the weights of every head between their words. */
export interface Header {
  strings: Strings;
  source: ShownWord[];
  target: ShownWord[];
  stated: Stated;
  probability: number | null;
  /** The number of layers. */
  n_layers: number;
  /** The number of heads of a layer. */
  n_heads: number;
}

/**
 * A word; `at` is the position of its first key, or of the row that predicts its first token.
 * `probability` is what the model gives a target word after those before it.
 */
export interface ShownWord {
  text: string;
  at: number;
  special: boolean;
  probability: number | null;
}

/** The initial choice: a head, the mean of a layer's heads, or of all; `does` says why. */
export interface Stated {
  layer: number;
  head: number;
  mean: Mean | null;
  does: string;
}

export type Mean = "layer" | "all";

export interface Arrays {
  /** [layer, head, target, source] */
  weights: PackedArray;
}

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly what: string;
  readonly one_head: string;
  readonly mean_layer: string;
  readonly mean_all: string;
  readonly name_layer: string;
  readonly name_all: string;
  readonly open_heatmap: string;
  readonly source_words: string;
  readonly target_words: string;
  readonly canvas: string;
  readonly idle: string;
  readonly hint: string;
  readonly ranked_label: string;
  readonly looks_at: string;
  readonly looked_at: string;
  readonly rest: string;
  readonly probability: string;
  readonly total: string;
  readonly share: string;
  readonly said_target: string;
  readonly said_source: string;
}
