// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/similarity: change that, not this.

import type { FloatArray } from "../shared/buffer.js";
import type { SharedStrings } from "../shared/heads.js";

/** `cosine[i, j]` is that of sentences i and j; the first `n_own` are the visitor's. */
export interface Header {
  strings: Strings;
  caption: string;
  sentences: string[];
  n_own: number;
}

export interface Arrays {
  /** [sentence, sentence] */
  cosine: FloatArray;
}

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly own: string;
  readonly legend: string;
  readonly pair: string;
}
