// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/table: change that, not this.

import type { SharedStrings } from "../shared/heads.js";

/**
 * A table: `corner` is above the names of the rows. "bars" are signed, "tint" is a colour.
 * `chosen` is the `opens` of the cell that is open.
 */
export interface Header {
  strings: Strings;
  caption: string;
  corner: string;
  columns: string[];
  rows: TableRow[];
  kind: "bars" | "tint";
  note: string;
  chosen: string;
}

/** A row with its name; `mark` says in words why it is set apart. */
export interface TableRow {
  label: string;
  cells: TableCell[];
  mark: string;
}

/**
 * A text, perhaps a small number, and how much of the cell is filled, −1 to 1.
 * `note` is shown under the pointer. `opens` is what a click sends, "" for a cell that is no button.
 */
export interface TableCell {
  text: string;
  share: number;
  note: string;
  number: string;
  opens: string;
}

export type Arrays = Record<never, never>;

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {}
