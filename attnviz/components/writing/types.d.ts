// The data of the writing page; mirror of attnviz/components/writing/__init__.py.

import type { FloatArray, PackedArray } from "../shared/buffer.js";
import type { AxesHeader, HeadsHeader, Strings } from "../shared/heads.js";

export type StringKey =
  | "player"
  | "play"
  | "pause"
  | "to_start"
  | "step_back"
  | "step_forward"
  | "to_end"
  | "slider"
  | "count"
  | "speed"
  | "speed_slow"
  | "speed_normal"
  | "speed_fast"
  | "key_axis"
  | "query_axis"
  | "heads"
  | "written"
  | "text_written"
  | "text_given"
  | "looks"
  | "status"
  | "open_head"
  | "mean"
  | "mean_of"
  | "hint"
  | "hint_given"
  | "mode"
  | "mode_from"
  | "mode_next"
  | "from_title"
  | "given_title"
  | "next_title"
  | "no_draw"
  | "drawn"
  | "given"
  | "after"
  | "before"
  | "others"
  | "left"
  | "cut_by_top_k"
  | "cut_by_top_p"
  | "probability"
  | "probability_sampled";

/** The strings of the player, which may stand alone. */
export type PlayerKey =
  | "player"
  | "play"
  | "pause"
  | "to_start"
  | "step_back"
  | "step_forward"
  | "to_end"
  | "slider"
  | "count"
  | "speed"
  | "speed_slow"
  | "speed_normal"
  | "speed_fast";

/** The tokens that were drawn: rows are positions from `first` on; `sampling` says how in words. */
export interface DrawsHeader {
  first: number;
  n_vocabulary: number;
  sampled: 0 | 1;
  sampling: string;
  vocabulary: string[];
}

/** The whole page. */
export interface PageHeader extends HeadsHeader<StringKey> {
  compact: 0;
  draws: DrawsHeader;
}

/** The player alone, without weights and without draws. */
export interface PlayerHeader extends AxesHeader {
  compact: 1;
  strings: Strings<PlayerKey>;
  n_layers: number;
  n_heads: number;
  n_query: number;
  n_key: number;
}

export type Header = PageHeader | PlayerHeader;

/** The weights, and for each position a row of slots: `ids` into the vocabulary, `drawn` the slot of what followed. */
export interface Arrays {
  weights: PackedArray;
  ids: PackedArray;
  before: FloatArray;
  after: FloatArray;
  cut: PackedArray;
  drawn: PackedArray;
  rank: FloatArray;
  /** [position, before | after]: the probability of all that has no slot. */
  others: FloatArray;
  /** How many tokens can be drawn. */
  left: FloatArray;
}
