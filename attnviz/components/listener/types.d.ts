// The data of the listener; mirror of attnviz/components/listener/__init__.py.

import type { Strings } from "../shared/heads.js";
import type { Place } from "../shared/selection.js";

export type StringKey = "live" | "lost";

export interface Header {
  strings: Strings<StringKey>;
  /** Where the class's socket is: below this folder, under the class's code. */
  folder: string;
  code: string;
  seat: string;
  heed: "stage" | "changes" | "wall";
  /** The count that was drawn. */
  drawn: number;
  /** The head and the cell that the presenter looks at. */
  chosen: Place | null;
  /** Whether the page is scrolled to the listener when it is first drawn. */
  arrives: boolean;
}

export type Arrays = Record<never, never>;
