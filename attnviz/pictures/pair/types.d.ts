// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/pair: change that, not this.

import type { FloatArray, PackedArray } from "../shared/buffer.js";
import type { Axes, Extent, SharedStrings } from "../shared/heads.js";

/**
 * Both sides and their common axes; weights are exact while they are few.
 * `alike` is True where both have the same layers and heads, so that they can move together;
 * `only_heads_differ` where both are one capture of an input that cannot be changed. `moved_rows` has for
 * each row of each head how much attention moved, None where that says nothing.
 */
export interface Header {
  strings: Strings;
  a: SideView;
  b: SideView;
  rows: Slot[];
  cols: Slot[];
  cross: boolean;
  merged: boolean;
  alike: boolean;
  only_heads_differ: boolean;
}

/**
 * One side. `at_query` and `at_key` are the first tokens of what stands on its axes.
 * `extent` counts tokens, the axes and `weights` count the parts into which they were joined.
 */
export interface SideView extends Extent, Axes {
  model: string;
  cross: boolean;
  at_query: number[];
  at_key: number[];
}

/**
 * One place of the common axis: the number of a part of A, of one of B, or both.
 * `same` is True if the two parts are equal.
 */
export type Slot = [a: number, b: number, same: boolean];

export interface Arrays {
  /** [layer, head, row] */
  moved_rows?: FloatArray;
  /** [layer, head] */
  moved?: FloatArray;
  weights_a: PackedArray;
  weights_b: PackedArray;
}

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly squares_row: string;
  readonly squares_mean: string;
  readonly canvas: string;
  readonly canvas_difference: string;
  readonly difference: string;
  readonly more_in_a: string;
  readonly more_in_b: string;
  readonly hatched: string;
  readonly arrows: string;
  readonly largest: string;
  readonly go_largest: string;
  readonly link: string;
  readonly grid: string;
  readonly grid_note: string;
  readonly grid_bar: string;
  readonly cell: string;
  readonly summary: string;
  readonly no_rows: string;
  readonly most: string;
  readonly most_label: string;
  readonly limit: string;
  readonly no_difference: string;
  readonly difference_bar: string;
  readonly only_a: string;
  readonly only_b: string;
  readonly replaced: string;
  readonly and_more: string;
  readonly merged: string;
  readonly readout: string;
  readonly readout_a: string;
  readonly readout_b: string;
  readonly readout_none: string;
  readonly readout_row: string;
  readonly readout_lone: string;
  readonly readout_idle: string;
  readonly hint: string;
}
