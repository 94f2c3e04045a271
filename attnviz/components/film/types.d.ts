// The data of the film; mirror of attnviz/components/film/__init__.py.

import type { FloatArray, PackedArray } from "../shared/buffer.js";
import type { Flag, Strings } from "../shared/heads.js";

export type SceneName = "sentence" | "asks" | "heads" | "head" | "arcs" | "change" | "yours";

export type StringKey =
  | SceneName
  | "label"
  | "canvas"
  | "play"
  | "pause"
  | "again"
  | "skip"
  | "position"
  | "others"
  | "others_to"
  | "your_text"
  | "look"
  | "placeholder"
  | "examples";

/** A weight, and what the head's other rows give the same key on average. */
export interface Link {
  weight: number;
  others: number;
}

/** The links from the query of the film in one of its sentences. */
export interface Links {
  key: Link;
  rival: Link;
  special: Link;
}

export interface Header {
  strings: Strings<StringKey>;
  tokens: string[];
  special: Flag[];
  /** What stands in place of the token `changed` in the second sentence. */
  changed_to: string;
  n_layers: number;
  n_heads: number;
  layer: number;
  head: number;
  query: number;
  key: number;
  rival: number;
  /** The special token that gets most in the second sentence. */
  special_key: number;
  changed: number;
  links: Links[];
  texts: string[];
}

export interface Arrays {
  /** All heads in the first sentence, u8. */
  weights: PackedArray;
  /** The film's head in the second sentence, u8. */
  then: PackedArray;
  /** The row of the query in the head, in either sentence. */
  first: FloatArray;
  second: FloatArray;
}
