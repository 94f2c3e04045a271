// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/card_scroller: change that, not this.

import type { SharedStrings } from "../shared/heads.js";

/**
 * The number of cards opened before this one, and the words for each number of the way.
 * `progress` is the text to keep in the browser, "" for none; `asks` is True if the session wants the text
 * that is kept there.
 */
export interface Header {
  strings: Strings;
  arrivals: number;
  labels: string[];
  progress: string;
  asks: boolean;
}

export type Arrays = Record<never, never>;

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {}
