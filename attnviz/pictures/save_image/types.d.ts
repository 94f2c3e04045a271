// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/save_image: change that, not this.

import type { SharedStrings } from "../shared/heads.js";

/** `origin` has a line for each text that a picture comes from. */
export interface Header {
  strings: Strings;
  origin: string[];
}

export type Arrays = Record<never, never>;

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly save: string;
  readonly which: string;
  readonly none: string;
}
