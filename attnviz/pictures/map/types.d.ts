// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/map: change that, not this.

import type { PackedArray } from "../shared/buffer.js";
import type { SharedStrings } from "../shared/heads.js";

/**
 * All heads of a model on some texts, one text after the other.
 * `label_of` is each token's place in `labels`, `kind` that in `KINDS`. `norms` are the lengths of q and k.
 * `weights` are each text's, row by row, one text after the other. `tsne` is None where all heads are drawn
 * in their planes. `thumbs` are the patches of pictures, black for tokens that are no patch.
 */
export interface Header {
  strings: Strings;
  heads: MapHead[];
  texts: MapText[];
  labels: string[];
  rotated: boolean;
  more: boolean;
  tsne: MapTsne | null;
  /** The number of heads of each layer. */
  counts: number[];
  /** The number of layers. */
  n_layers: number;
  /** The largest number of heads of a layer. */
  n_heads: number;
}

/**
 * A head: the share that its plane keeps, and what all its queries have in common; None for a head whose
 * scores are all alike.
 */
export interface MapHead {
  layer: number;
  head: number;
  kept: number | null;
  popularity: number | null;
}

/**
 * A text: its tokens are those from `start` to before `stop`. `own` is 1 for the visitor's text that other
 * pages show, 2 for another of the visitor's; `openable` True if they can show it.
 */
export type MapText = [start: number, stop: number, own: number, openable: boolean];

/**
 * The head that t-SNE places, its number among the heads; how far nearness has the order of the scores within
 * a row (a rank correlation), and how far the plane's inner products have it.
 */
export interface MapTsne {
  head: number;
  kept: number | null;
  plane: number | null;
}

export interface Arrays {
  /** [token] */
  label_of: PackedArray;
  /** [token] */
  kind: PackedArray;
  /** [head, side, token, axis] */
  places: PackedArray;
  /** [head, side, token] */
  norms: PackedArray;
  /** [head, cell] */
  weights: PackedArray;
  /** [token, row, column, rgb] */
  thumbs?: PackedArray;
}

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly all: string;
  readonly plane: string;
  readonly rule: string;
  readonly many: string;
  readonly order: string;
  readonly order_left: string;
  readonly beyond: string;
  readonly popular: string;
  readonly rotated: string;
  readonly more: string;
  readonly tsne: string;
  readonly tsne_kept: string;
  readonly colour: string;
  readonly by_side: string;
  readonly by_position: string;
  readonly by_kind: string;
  readonly by_norm: string;
  readonly by_text: string;
  readonly by_frequency: string;
  readonly query: string;
  readonly key: string;
  readonly kind_word: string;
  readonly kind_continuation: string;
  readonly kind_number: string;
  readonly kind_punctuation: string;
  readonly kind_special: string;
  readonly first: string;
  readonly last: string;
  readonly short: string;
  readonly long: string;
  readonly rare: string;
  readonly often: string;
  readonly yours: string;
  readonly others: string;
  readonly search: string;
  readonly found: string;
  readonly lasso: string;
  readonly lassoed: string;
  readonly whole: string;
  readonly clear: string;
  readonly hint: string;
  readonly point: string;
  readonly point_query: string;
  readonly point_key: string;
  readonly gives: string;
  readonly gets: string;
  readonly edge: string;
  readonly open_head: string;
  readonly open_steps: string;
  readonly text: string;
}
