// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/masks: change that, not this.

import type { FloatArray, PackedArray } from "../shared/buffer.js";
import type { Flag, SharedStrings } from "../shared/heads.js";

/** One head of a padded batch under every combination of its named masks. */
export interface Header {
  strings: Strings;
  cross: boolean;
  padding: Flag[][];
  key_padding: Flag[][];
  layer: number;
  head: number;
  n_layers: number;
  n_heads: number;
  as_model: number;
  sizes: Partial<Record<SizedName, number>>;
  mask_names: ShownMask[];
  mask_reasons: string[];
  padding_of: PaddingOf;
  kept: number[][];
  /** The names of each sentence's rows. */
  tokens: string[][];
  /** True for special tokens. */
  special: Flag[][];
  /** True for tokens that the model generated. */
  written: Flag[][];
  /** The tokens along the keys of each sentence. */
  key_tokens: string[][];
  /** True for special tokens among the keys. */
  key_special: Flag[][];
  /** True for generated tokens among the keys. */
  key_written: Flag[][];
}

export type SizedName = "window" | "prefix" | "block";

export type MaskName = "padding" | "causal" | "window" | "prefix" | "block" | "custom";

export type ShownMask = MaskName | "model";

export type PaddingOf = "padding" | "memory" | "blocks";

export interface Arrays {
  /** [batch, query, key] */
  model_blocks: PackedArray;
  /** [batch, query, key] */
  weights: FloatArray;
  /** [batch, query, key] */
  scaled: FloatArray;
  /** [batch, query] */
  sinks: FloatArray;
}

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly padding: string;
  readonly causal: string;
  readonly layers_legend: string;
  readonly as_ran: string;
  readonly what_if: string;
  readonly banner_as_ran: string;
  readonly banner_what_if: string;
  readonly map_label: string;
  readonly sentence: string;
  readonly sentence_counts: string;
  readonly legend_weight: string;
  readonly legend_blocked: string;
  readonly legend_both: string;
  readonly dead_rows: string;
  readonly no_dead_rows: string;
  readonly may_attend: string;
  readonly blocked: string;
  readonly readout_pair: string;
  readonly hint: string;
  readonly row_caption: string;
  readonly col_scaled: string;
  readonly col_masked: string;
  readonly col_weight: string;
  readonly col_model: string;
  readonly col_difference: string;
  readonly col_reason: string;
  readonly total: string;
  readonly model: string;
  readonly window: string;
  readonly prefix: string;
  readonly block: string;
  readonly custom: string;
  readonly memory: string;
  readonly blocks: string;
  readonly size_of: string;
  readonly draw_hint: string;
  readonly undraw: string;
  readonly reset: string;
}
