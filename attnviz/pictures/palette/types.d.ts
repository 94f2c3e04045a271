// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/palette: change that, not this.

import type { SharedStrings } from "../shared/heads.js";

/** The entries, and the numbers of layers and heads of which each can be named, 0 for none. */
export interface Header {
  strings: Strings;
  entries: PaletteEntry[];
  n_layers: number;
  n_heads: number;
  door: boolean;
}

/** Something to open or to do; `more` is a second line, `words` find it unseen. */
export interface PaletteEntry {
  kind: EntryKind;
  value: string;
  label: string;
  more: string;
  words: string;
}

export type EntryKind = "page" | "head" | "lesson" | "model" | "language" | "scheme" | "save";

export type Arrays = Record<never, never>;

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly title: string;
  readonly placeholder: string;
  readonly nothing: string;
  readonly head: string;
}
