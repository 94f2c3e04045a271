// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/circuit: change that, not this.

import type { FloatArray } from "../shared/buffer.js";
import type { SharedStrings } from "../shared/heads.js";

/**
 * The graph; NaN where a head does not run after another.
 * `by_chance` is what a change as large moves in random directions, `chance_reach` what a path has to move to
 * be told from that; both NaN for values. `chosen` is a head or path as an address has it, "" for none.
 * `least` is the least that a drawn arrow moves, None for the choice of the browser. `summary` names the
 * strongest paths with their control, `notes` say what the numbers mean. `composed` is the z of what each
 * head's weights let it read of an earlier one, without any text; None where the weights do not say.
 */
export interface Header {
  strings: Strings;
  columns: CircuitColumn[];
  summary: string;
  notes: string[];
  chosen: string;
  least: number | null;
  sides: string;
  detail: PathDetail | null;
  over: boolean;
}

/** The heads that run together; `group` is their attention, "" for the only one. */
export interface CircuitColumn {
  title: string;
  group: string;
  heads: CircuitHead[];
}

/** A head: its name, and where the pages have it. */
export interface CircuitHead {
  name: string;
  layer: number;
  head: number;
}

/** The chosen path: sentences with its control and intervention, and its cells as a table. */
export interface PathDetail {
  title: string;
  sentences: string[];
  columns: string[];
  cells: CutCell[];
}

/** A cell that a cut path changes: its tokens and texts for the columns of the table. */
export interface CutCell {
  query: number;
  key: number;
  label: string;
  values: string[];
}

export interface Arrays {
  /** [sender, receiver, side] */
  moved: FloatArray;
  /** [sender, receiver, side] */
  by_chance: FloatArray;
  /** [sender, receiver, side] */
  chance_reach: FloatArray;
  /** [sender, receiver, side] */
  composed?: FloatArray;
}

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly weights: string;
  readonly readable: string;
  readonly graph: string;
  readonly list: string;
  readonly side_q: string;
  readonly side_k: string;
  readonly side_v: string;
  readonly sides: string;
  readonly above: string;
  readonly count: string;
  readonly capped: string;
  readonly none: string;
  readonly path: string;
  readonly path_v: string;
  readonly head: string;
  readonly hint: string;
  readonly open_head: string;
  readonly clear: string;
  readonly cells: string;
  readonly width: string;
  readonly bar: string;
  readonly mark: string;
  readonly by_chance: string;
  readonly of_head: string;
  readonly of_all: string;
  readonly hint_over: string;
}
