// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/mask_painter: change that, not this.

import type { PackedArray } from "../shared/buffer.js";
import type { SharedStrings } from "../shared/heads.js";

/** The tokens of both axes, and the cells painted so far. */
export interface Header {
  strings: Strings;
  tokens: string[];
  key_tokens: string[];
}

export interface Arrays {
  /** [query, key] */
  cells: PackedArray;
}

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly canvas: string;
  readonly cell: string;
  readonly hint: string;
  readonly clear: string;
}
