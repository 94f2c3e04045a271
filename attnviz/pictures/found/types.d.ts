// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/found: change that, not this.

import type { PackedArray } from "../shared/buffer.js";
import type { SharedStrings } from "../shared/heads.js";

/**
 * The clearest heads; `weights` are theirs, as a single layer. `capture` is what they are of.
 * `query` and `key` are the cell that was asked for, None for a pattern. `grows` is True where a grid of all
 * heads stands on the page.
 */
export interface Header {
  strings: Strings;
  heads: FoundHead[];
  capture: string;
  query: number | null;
  key: number | null;
  grows: boolean;
}

/** A head, a share of its attention beside its control (0..1), and all of it in words. */
export interface FoundHead {
  layer: number;
  head: number;
  share: number;
  control: number;
  words: string;
}

export interface Arrays {
  /** [_, head, query, key] */
  weights: PackedArray;
}

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {}
