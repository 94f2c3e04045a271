// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/bars: change that, not this.

import type { SharedStrings } from "../shared/heads.js";

/**
 * A list of bars, the first on top. `full` is the value of a whole track.
 * `values` and `seconds` are headings of the two numbers; without `seconds` there is only one.
 */
export interface Header {
  strings: Strings;
  title: string;
  bars: Bar[];
  rest: Rest | null;
  note: string;
  values: string;
  seconds: string;
  full: number;
}

/** One row. `second` is drawn as a tick; `mark` says in words why the row is set apart. */
export interface Bar {
  label: string;
  value: number;
  second: number | null;
  mark: string;
  muted: boolean;
}

/** The entries that are not listed: their number and their sum. */
export interface Rest {
  count: number;
  value: number;
}

export type Arrays = Record<never, never>;

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly rest: string;
}
