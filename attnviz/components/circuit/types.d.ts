// The data of the circuit; mirror of attnviz/components/circuit/__init__.py.

import type { FloatArray } from "../shared/buffer.js";
import type { Strings } from "../shared/heads.js";

export type StringKey =
  | "graph"
  | "list"
  | "side_q"
  | "side_k"
  | "side_v"
  | "sides"
  | "above"
  | "count"
  | "capped"
  | "none"
  | "path"
  | "path_v"
  | "head"
  | "hint"
  | "open_head"
  | "clear"
  | "cells";

export type Side = "q" | "k" | "v";

export interface Head {
  name: string;
  layer: number;
  head: number;
}

/** The heads that run together. */
export interface Column {
  title: string;
  group: string;
  heads: Head[];
}

/** A cell that a cut path changes; `values` are texts for the columns of the table. */
export interface CutCell {
  query: number;
  key: number;
  label: string;
  values: string[];
}

/** The chosen path: its control and its intervention in sentences, and its cells. */
export interface Detail {
  title: string;
  sentences: string[];
  columns: string[];
  cells: CutCell[];
}

/** `chosen` is a head or a path as the address has it, `least` null while the browser chooses. */
export interface Header {
  strings: Strings<StringKey>;
  columns: Column[];
  summary: string;
  chosen: string;
  least: number | null;
  sides: string;
  detail: Detail | null;
}

/** moved [sender, receiver, side], NaN where a head does not run after another. */
export interface Arrays {
  moved: FloatArray;
}
