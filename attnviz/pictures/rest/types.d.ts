// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/rest: change that, not this.

import type { FloatArray, PackedArray } from "../shared/buffer.js";
import type { HeadMeasure, SharedStrings } from "../shared/heads.js";

/**
 * Words, measures and weights that were not sent when the heads of a capture were drawn.
 * `sentences[layer][head]` says in words what a head does most; `measures` are numbers of all heads.
 * `weights` are those of the heads from the layer `first_layer` on. Each may be absent.
 */
export interface Header {
  strings: Strings;
  capture: string;
  sentences: string[][];
  measures: HeadMeasure[];
  first_layer: number;
}

export interface Arrays {
  /** [layer, head, query, key] */
  weights?: PackedArray;
  /** [measure, layer, head] */
  measured?: FloatArray;
}

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {}
