// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/theme_switch: change that, not this.

import type { SharedStrings } from "../shared/heads.js";

/** The switch, which needs nothing but its texts. */
export interface Header {
  strings: Strings;
}

export type Arrays = Record<never, never>;

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly label: string;
  readonly light: string;
  readonly dark: string;
  readonly system: string;
}
