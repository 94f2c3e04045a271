// The data of Masks; mirror of attnviz/components/masks/__init__.py.

import type { FloatArray, PackedArray } from "../shared/buffer.js";
import type { Flag, Strings } from "../shared/heads.js";
import type { PickerKey } from "../shared/picker.js";

/** The masks that have a size. */
export type SizedName = "window" | "prefix" | "block";
/** A mask of attnviz.masks.spec, or "model": the one that the model made, where it has no name. */
export type MaskName = SizedName | "padding" | "causal" | "custom" | "model";
/** What padding is called: after what the keys are. */
export type PaddingName = "padding" | "memory" | "blocks";

export type StringKey =
  | PickerKey
  | MaskName
  | PaddingName
  | "clear_cell"
  | "size_of"
  | "draw_hint"
  | "undraw"
  | "layers_legend"
  | "as_ran"
  | "what_if"
  | "banner_as_ran"
  | "banner_what_if"
  | "reset"
  | "map_label"
  | "sentence"
  | "sentence_counts"
  | "legend_weight"
  | "legend_blocked"
  | "legend_both"
  | "dead_rows"
  | "no_dead_rows"
  | "may_attend"
  | "blocked"
  | "readout_pair"
  | "hint"
  | "row_caption"
  | "col_key"
  | "col_scaled"
  | "col_masked"
  | "col_weight"
  | "col_model"
  | "col_difference"
  | "col_reason"
  | "total";

/** The tokens of each sentence, and the masks. A variant is the bit mask of the masks applied; `as_model` is the model's. */
export interface Header {
  strings: Strings<StringKey>;
  tokens: string[][];
  special: Flag[][];
  written: Flag[][];
  key_tokens: string[][];
  key_special: Flag[][];
  key_written: Flag[][];
  cross: Flag;
  padding: Flag[][];
  key_padding: Flag[][];
  layer: number;
  head: number;
  n_layers: number;
  n_heads: number;
  as_model: number;
  sizes: Record<SizedName, number>;
  mask_names: MaskName[];
  mask_reasons: string[];
  padding_of: PaddingName;
}

export interface Arrays {
  /** 1 where the model's own mask blocks [sentence, query, key], u8. */
  model_blocks: PackedArray;
  /** As the model ran [sentence, query, key]. */
  weights: FloatArray;
  /** Before any mask [sentence, query, key]. */
  scaled: FloatArray;
  /** [sentence, query]; −∞ where the model has none. */
  sinks: FloatArray;
}
