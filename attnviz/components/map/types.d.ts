// The data of the map; mirror of attnviz/components/map/__init__.py.

import type { PackedArray } from "../shared/buffer.js";
import type { Flag, Strings } from "../shared/heads.js";

export type StringKey =
  | "all"
  | "plane"
  | "rule"
  | "kept"
  | "popular"
  | "rotated"
  | "more"
  | "tsne"
  | "tsne_kept"
  | "colour"
  | "by_side"
  | "by_position"
  | "by_kind"
  | "by_norm"
  | "by_text"
  | "by_frequency"
  | "query"
  | "key"
  | "kind_word"
  | "kind_continuation"
  | "kind_number"
  | "kind_punctuation"
  | "kind_special"
  | "first"
  | "last"
  | "short"
  | "long"
  | "rare"
  | "often"
  | "yours"
  | "others"
  | "search"
  | "found"
  | "lasso"
  | "lassoed"
  | "whole"
  | "clear"
  | "hint"
  | "point"
  | "point_query"
  | "point_key"
  | "gets"
  | "gives"
  | "edge"
  | "open_head"
  | "open_steps"
  | "text";

export interface Head {
  layer: number;
  head: number;
  kept: number | null;
  popularity: number | null;
}

/** The head that t-SNE places, and how far its nearness, or the plane, has the order of the scores. */
export interface Tsne {
  head: number;
  kept: number | null;
  plane: number | null;
}

/** The tokens of a text; own: 1 the one that other pages show, 2 another of the visitor's; openable: other pages can show it. */
export type Text = [start: number, stop: number, own: 0 | 1 | 2, openable: Flag];

/** `counts` has the number of heads of each layer. */
export interface Header {
  strings: Strings<StringKey>;
  heads: Head[];
  texts: Text[];
  labels: string[];
  n_layers: number;
  n_heads: number;
  counts: number[];
  rotated: Flag;
  more: Flag;
  tsne: Tsne | null;
}

export interface Arrays {
  /** The place of each token's label in `labels`. */
  label_of: PackedArray;
  /** The kind of each token. */
  kind: PackedArray;
  /** [head, side, token, axis]: 32768 is 0, 1 and 65535 are the edges. */
  places: PackedArray;
  /** [head, side, token]: the length of q and k, 255 the longest. */
  norms: PackedArray;
  /** [head, cell]: square roots of weights in 8 bits, each text's row by row. */
  weights: PackedArray;
  /** [token, row, column, rgb]: the patches of pictures; missing for texts. */
  thumbs?: PackedArray;
}
