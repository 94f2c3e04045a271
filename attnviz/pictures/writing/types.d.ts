// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/writing: change that, not this.

import type { FloatArray, PackedArray } from "../shared/buffer.js";
import type { Axes, Extent, HeadsView, SharedStrings } from "../shared/heads.js";

/** The whole page: all heads of the stack that writes, and what its tokens were drawn from. */
export interface WritingView extends HeadsView {
  strings: Strings;
  draws: Draws;
  compact: false;
}

/**
 * The candidates for each token: a row for each position from `first` on, tokens in slots.
 * `labels` are those of the tokens in the slots, "" in an empty one; `drawn` is the slot of the token that
 * follows, -1 for none. `sampling` says in words how tokens are drawn; `sampled` is False where it is
 * greedily.
 */
export interface Draws {
  first: number;
  n_vocabulary: number;
  sampled: boolean;
  sampling: string;
  /** The tokens in any slot, each once. */
  vocabulary: string[];
}

/** The bar alone. */
export interface PlayerView extends Axes, Extent {
  strings: Strings;
  compact: true;
}

export type Header = WritingView | PlayerView;

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
  /** [position, slot] */
  "draws.before": FloatArray;
  /** [position, slot] */
  "draws.after": FloatArray;
  /** [position, slot] */
  "draws.cut": PackedArray;
  /** [position] */
  "draws.drawn": PackedArray;
  /** [position] */
  "draws.rank": FloatArray;
  /** [position, two] */
  "draws.others": FloatArray;
  /** [position] */
  "draws.n_left": FloatArray;
  /** [position, slot] */
  "draws.ids": PackedArray;
}

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly player: string;
  readonly to_start: string;
  readonly step_back: string;
  readonly step_forward: string;
  readonly to_end: string;
  readonly slider: string;
  readonly count: string;
  readonly speed: string;
  readonly speed_slow: string;
  readonly speed_normal: string;
  readonly speed_fast: string;
  readonly text_written: string;
  readonly text_given: string;
  readonly looks: string;
  readonly mean: string;
  readonly mean_of: string;
  readonly hint: string;
  readonly hint_given: string;
  readonly mode: string;
  readonly mode_from: string;
  readonly mode_next: string;
  readonly from_title: string;
  readonly given_title: string;
  readonly next_title: string;
  readonly no_draw: string;
  readonly drawn: string;
  readonly given: string;
  readonly after: string;
  readonly before: string;
  readonly others: string;
  readonly left: string;
  readonly cut_by_top_k: string;
  readonly cut_by_top_p: string;
  readonly probability: string;
  readonly probability_sampled: string;
}
