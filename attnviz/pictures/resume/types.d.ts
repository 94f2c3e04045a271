// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/resume: change that, not this.

import type { SharedStrings } from "../shared/heads.js";

/** The page that is shown and the query of its address; `asks` True to be told what was kept. */
export interface Header {
  strings: Strings;
  page: Page;
  query: string;
  asks: boolean;
}

export type Page =
  | "start"
  | "overview"
  | "head"
  | "compare"
  | "output"
  | "steps"
  | "masks"
  | "geometry"
  | "switches"
  | "circuit"
  | "map"
  | "atlas"
  | "learn"
  | "calculator";

export type Arrays = Record<never, never>;

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {}
