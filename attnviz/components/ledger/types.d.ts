// The data of the ledger; mirror of attnviz/components/ledger/__init__.py.

/** `share` is how much of the cell is filled, −1 to 1; `opens` what a click sends, "" for a cell that is no button. */
export interface Cell {
  text: string;
  share: number;
  note: string;
  number: string;
  opens: string;
}

export interface Row {
  label: string;
  cells: Cell[];
  mark: string;
}

export interface Header {
  caption: string;
  corner: string;
  columns: string[];
  rows: Row[];
  kind: "bars" | "tint";
  note: string;
  chosen: string;
}

export type Arrays = Record<string, never>;
