// The data of the board; mirror of attnviz/components/board/__init__.py.

import type { FloatArray, PackedArray } from "../shared/buffer.js";
import type { Strings } from "../shared/heads.js";

export type StringKey =
  | "cell"
  | "blocked"
  | "hidden"
  | "sum"
  | "hint"
  | "elsewhere"
  | "right"
  | "answer"
  | "wrong"
  | "given"
  | "size";

/** The place of a cell in its panel. */
export type Cell = [row: number, column: number];

/** One matrix, and the operator `before` it. */
export interface Panel {
  name: string;
  caption: string;
  before: string;
  rows: string[];
  columns: string[];
  decimals: number;
  signed: boolean;
  /** The value that has the last colour. */
  most: number;
  sums: "none" | "rows" | "columns" | "both";
  hidden: boolean;
  marked: Cell[];
  asks: boolean;
}

export interface Header {
  strings: Strings<StringKey>;
  panels: Panel[];
  chosen: Cell | null;
  right: boolean | null;
  answers: Cell[];
  open: boolean;
  narrow: boolean;
  reports: boolean;
  pointed: [panel: number, row: number, column: number] | null;
}

/** Of the i-th panel: values, blocked cells, and sums along its rows and columns. */
export interface Arrays {
  [values: `values${number}`]: FloatArray;
  [blocked: `blocked${number}`]: PackedArray;
  [rowSums: `row_sums${number}`]: FloatArray;
  [columnSums: `column_sums${number}`]: FloatArray;
}
