// The data of the head page; mirror of attnviz/components/head/__init__.py.

import type { FloatArray, PackedArray } from "../shared/buffer.js";
import type { HeadsHeader } from "../shared/heads.js";

export type StringKey =
  | "query_axis"
  | "key_axis"
  | "scale"
  | "scale_linear"
  | "scale_sqrt"
  | "scale_log"
  | "colour_bar"
  | "heads"
  | "previous_head"
  | "next_head"
  | "open_steps"
  | "heatmap"
  | "lines"
  | "lines_all"
  | "lines_query"
  | "lines_key"
  | "query"
  | "key"
  | "hide_special"
  | "hidden_mean"
  | "hidden_row"
  | "all_special"
  | "readout"
  | "readout_idle"
  | "ranked"
  | "ranked_idle"
  | "ranked_others"
  | "approximate"
  | "hint"
  | "token_at"
  | "token_written"
  | "picture"
  | "picture_idle"
  | "sums"
  | "received"
  | "row_sum"
  | "column_readout"
  | "row_readout"
  | "sums_idle"
  | "words"
  | "words_note"
  | "pieces"
  | "lines_every"
  | "top"
  | "all"
  | "layout"
  | "layout_down"
  | "layout_across"
  | "keep"
  | "let_go"
  | "heard"
  | "heard_note"
  | "heard_rest";

export type Header = HeadsHeader<StringKey>;

export interface Arrays {
  /** [layer, head, query, key], u16, or u8 where that would be too much. */
  weights: PackedArray;
  /** [row, column, rgb], u8, where the tokens are patches. */
  picture?: PackedArray;
  /** [band, column], u8, where the keys are frames of a sound. */
  spectrum?: PackedArray;
  /** What each layer may attend to [layer or 1, query, key], u8, where a mask blocks anything. */
  visible?: PackedArray;
  measures?: FloatArray;
}
