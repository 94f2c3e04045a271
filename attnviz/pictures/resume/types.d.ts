// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/resume: change that, not this.

import type { SharedStrings } from "../shared/heads.js";

/** The page that is shown and the query of its address; `offers` True to lead back. */
export interface Header {
  strings: Strings;
  page: Page;
  query: string;
  offers: boolean;
}

export type Page =
  "start" | "overview" | "weights" | "switches" | "steps" | "map" | "atlas" | "pairs" | "learn";

export type Arrays = Record<never, never>;

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly label: string;
}
