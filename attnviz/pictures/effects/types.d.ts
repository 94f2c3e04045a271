// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/effects: change that, not this.

import type { FloatArray } from "../shared/buffer.js";
import type { SharedStrings } from "../shared/heads.js";

/**
 * The effect of each head of one attention, or of its look at a `cell`; NaN for none.
 * `capture` is that of the `HeadsView` that shows the heads. `median` is that of all heads but the strongest,
 * its control, or that of all looks; what is above `least` matters. `sentences[layer][head]` says the effect
 * beside its control, `legend` what is measured and how much the largest is, `most`. `cell` is the query and
 * the key of the look that is forbidden, None where the whole head is taken away. `before` and
 * `answers[layer][head]` are the likeliest answers with their probabilities where a look is forbidden or a
 * head edited, "" where none is a choice. `edited` says what an edit by hand makes of the answer, "" where
 * there is none.
 */
export interface Header {
  strings: Strings;
  capture: string;
  most: number;
  median: number;
  least: number;
  sentences: string[][];
  legend: string;
  cell: [number, number] | null;
  before: [string, number];
  answers: [string, number][][];
  edited: string;
}

export interface Arrays {
  /** [layer, head] */
  effects: FloatArray;
}

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {}
