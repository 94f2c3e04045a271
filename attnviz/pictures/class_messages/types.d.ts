// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/class_messages: change that, not this.

import type { SharedStrings } from "../shared/heads.js";

/**
 * Where to listen (below the app's address), what to heed, and the count that was drawn.
 * `seat` is that of a member, or the presenter's key: what the socket sends first. `chosen` is the head and
 * cell that who leads looks at; other components of the page show it too. `arrives` is True if the page is to
 * be scrolled to this line when it is first drawn.
 */
export interface Header {
  strings: Strings;
  folder: string;
  code: string;
  seat: string;
  heed: Heed;
  drawn: number;
  chosen: Record<string, number | null> | null;
  arrives: boolean;
}

export type Heed = "stage" | "changes" | "wall";

export type Arrays = Record<never, never>;

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly live: string;
  readonly lost: string;
}
