// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/board: change that, not this.

import type { FloatArray, PackedArray } from "../shared/buffer.js";
import type { SharedStrings } from "../shared/heads.js";

/**
 * A board with its captions by panel name; the chosen cell of the asking panels, if any.
 * `is_open` while an answer is awaited; `narrow` draws wider matrices without their numbers. `right` tells
 * whether that cell is the answer, None where that is not said yet; `answers` are the cells that are, once
 * that is said. `ranges` has the largest value of each scale. A board that `reports` sends every cell that is
 * chosen; `pointed` (panel, row, column) stays marked. The cells of a `roomy` board stay as large as a
 * fingertip: what does not fit is scrolled.
 */
export interface Header {
  strings: Strings;
  chosen: [number, number] | null;
  right: boolean | null;
  answers: [number, number][];
  is_open: boolean;
  narrow: boolean;
  reports: boolean;
  pointed: [number, number, number] | null;
  roomy: boolean;
  /** The matrices, from left to right. */
  panels: BoardPanel[];
}

/**
 * A matrix as it is drawn, its numbers 0 while they are hidden.
 * `most` is the value that has the last colour.
 */
export interface BoardPanel {
  name: string;
  caption: string;
  before: string;
  rows: string[];
  columns: string[];
  decimals: number;
  signed: boolean;
  most: number;
  sums: Sums;
  hidden: boolean;
  marked: [number, number][];
  asks: boolean;
}

export type Sums = "none" | "rows" | "columns" | "both";

export interface Arrays {
  [array: `panels.${number}.values`]: FloatArray;
  [array: `panels.${number}.blocked`]: PackedArray;
  [array: `panels.${number}.row_sums`]: FloatArray;
  [array: `panels.${number}.column_sums`]: FloatArray;
}

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly cell: string;
  readonly blocked: string;
  readonly hidden: string;
  readonly sum: string;
  readonly hint: string;
  readonly elsewhere: string;
  readonly answer: string;
  readonly right: string;
  readonly wrong: string;
  readonly given: string;
  readonly size: string;
}
