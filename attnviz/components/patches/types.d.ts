// The data of the picture view; mirror of attnviz/components/patches/__init__.py.

import type { PackedArray } from "../shared/buffer.js";
import type { HeadsHeader, PatchesHeader } from "../shared/heads.js";

export type StringKey =
  | "scale"
  | "scale_linear"
  | "scale_sqrt"
  | "scale_log"
  | "colour_bar"
  | "heads"
  | "previous_head"
  | "next_head"
  | "open_steps"
  | "open_head"
  | "status"
  | "approximate"
  | "readout"
  | "token_at"
  | "picture"
  | "idle"
  | "extras"
  | "extra"
  | "strongest"
  | "all_heads"
  | "mean"
  | "mean_title"
  | "mean_sentence"
  | "stretch"
  | "stretched"
  | "hint";

export interface Header extends HeadsHeader<StringKey> {
  patches: PatchesHeader;
}

export interface Arrays {
  /** [layer, head, query, key], u16, or u8 where that would be too much. */
  weights: PackedArray;
  /** [row, column, rgb], u8. */
  picture: PackedArray;
  visible?: PackedArray;
  measures?: PackedArray;
}
