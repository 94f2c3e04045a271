// The data of the overview; mirror of attnviz/components/grid/__init__.py.

import type { FloatArray, PackedArray } from "../shared/buffer.js";
import type { HeadsHeader } from "../shared/heads.js";

export type StringKey =
  | "query_axis"
  | "key_axis"
  | "scale_sqrt"
  | "colour_bar"
  | "heads"
  | "open_steps"
  | "canvas"
  | "tokens"
  | "hint"
  | "hint_touch"
  | "preview"
  | "open_head"
  | "status"
  | "strongest"
  | "looks"
  | "weights_note"
  | "pooled_note"
  | "order"
  | "by_layer"
  | "measured"
  | "cells"
  | "mean"
  | "max"
  | "of_layer"
  | "of_column"
  | "of_all"
  | "mean_says"
  | "max_says"
  | "written"
  | "picture"
  | "picture_idle";

export type Header = HeadsHeader<StringKey>;

export interface Arrays {
  /** [layer, head, query, key], u8. */
  weights: PackedArray;
  /** [row, column, rgb], u8, where the tokens are patches. */
  picture?: PackedArray;
  /** [measure, layer, head]. */
  measures?: FloatArray;
}
