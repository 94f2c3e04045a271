// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/film: change that, not this.

import type { FloatArray, PackedArray } from "../shared/buffer.js";
import type { Flag, SharedStrings } from "../shared/heads.js";

/**
 * The film: two readings, the weights of all heads in the first, and the cell it speaks of.
 * `changed` is the token that differs between the sentences. `key` is what the query attends to in the first
 * sentence, `rival` the word that is next to it in the second, `special_key` the special token that gets most
 * there. `texts` are sentences that a visitor may look at next.
 */
export interface Header extends HeadId {
  strings: Strings;
  first: Reading;
  second: Reading;
  query: number;
  key: number;
  rival: number;
  special_key: number;
  changed: number;
  texts: string[];
  /** The tokens of the first sentence. */
  tokens: string[];
  /** True for its special tokens. */
  special: Flag[];
  /** The token in place of `changed` in the second sentence. */
  changed_to: string;
  /** The number of layers. */
  n_layers: number;
  /** The number of heads of a layer. */
  n_heads: number;
}

/** One head of one layer, both counted from 0; printed and read as `L5.H1`. */
export interface HeadId {
  layer: number;
  head: number;
}

/**
 * A sentence that the model read: its tokens, and its links to the three keys of the film.
 * `weights` are those of the film's head.
 */
export interface Reading {
  key: PairWeight;
  rival: PairWeight;
  special: PairWeight;
}

/** The weight from the film's query to a key, and the mean weight of the head's other rows. */
export interface PairWeight {
  weight: number;
  others: number;
}

export interface Arrays {
  /** [key] */
  "first.row": FloatArray;
  /** [key] */
  "second.row": FloatArray;
  /** [layer, head, query, key] */
  weights: PackedArray;
  then: PackedArray;
}

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly label: string;
  readonly canvas: string;
  readonly sentence: string;
  readonly asks: string;
  readonly heads: string;
  readonly head: string;
  readonly arcs: string;
  readonly change: string;
  readonly yours: string;
  readonly skip: string;
  readonly others: string;
  readonly others_to: string;
  readonly your_text: string;
  readonly look: string;
  readonly placeholder: string;
  readonly examples: string;
}
