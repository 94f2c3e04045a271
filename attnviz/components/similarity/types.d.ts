// The data of the similarity table; mirror of attnviz/components/similarity/__init__.py.

import type { FloatArray } from "../shared/buffer.js";
import type { Flag, Strings } from "../shared/heads.js";

export type StringKey = "own" | "legend" | "pair";

export interface Header {
  strings: Strings<StringKey>;
  caption: string;
  sentences: { text: string; own: Flag }[];
}

export interface Arrays {
  /** The cosine of two sentences [sentence, sentence]. */
  cosine: FloatArray;
}
