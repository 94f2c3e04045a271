// The data of the alignment; mirror of attnviz/components/alignment/__init__.py.

import type { PackedArray } from "../shared/buffer.js";
import type { Flag, Strings } from "../shared/heads.js";

export type StringKey =
  | "heads"
  | "what"
  | "one_head"
  | "mean_layer"
  | "mean_all"
  | "name_layer"
  | "name_all"
  | "open_heatmap"
  | "source_words"
  | "target_words"
  | "canvas"
  | "idle"
  | "hint"
  | "ranked_label"
  | "looks_at"
  | "looked_at"
  | "rest"
  | "probability"
  | "total"
  | "share"
  | "said_target"
  | "said_source";

export type Mean = "layer" | "all";

/** A word; `at` is the position of its first key, or of the row that predicts its first token. */
export interface Word {
  text: string;
  at: number;
  special: Flag;
  probability?: number;
}

/** A head, the mean of a layer's heads, or the mean of all heads. */
export interface Choice {
  layer: number;
  head: number;
  mean: Mean | null;
}

export interface Header {
  strings: Strings<StringKey>;
  n_layers: number;
  n_heads: number;
  source: Word[];
  target: Word[];
  probability: number | null;
  /** What the model's card names, and what it says of that. */
  stated: Choice;
  does: string;
}

export interface Arrays {
  /** The attention between words [layer, head, target, source]. */
  weights: PackedArray;
}
