// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/tiles: change that, not this.

import type { PackedArray } from "../shared/buffer.js";
import type { Axes, Extent, Heard, SharedStrings } from "../shared/heads.js";

/**
 * One head, as far as it was asked for. `stamp` and `axes_stamp` change with head and text.
 * `axes` are the tokens along queries and keys, None where the browser has them; where keys are frames of a
 * sound, `heard` is sent together with them. `ready` is False while the head is being built: then there are
 * no tiles and no `cells`.
 */
export interface Header extends Extent {
  strings: Strings;
  stamp: string;
  axes_stamp: string;
  axes: Axes | null;
  cross: boolean;
  layer: number;
  head: number;
  top: number;
  ready: boolean;
  cells: [number, number, number][];
  heard: Heard | null;
  /** The request that this answers. */
  number: number;
  /** The least distance of query and key of the strongest cells. */
  distance: number;
  /** The distances that this text has. */
  distances: number[];
  /** The cell that was asked for, and its weight where that is known. */
  pinned: [number, number, number | null] | null;
  /** Tiles of nothing but zeros, which are not sent. */
  empty: [number, number, number][];
}

export interface Arrays {
  /** [band, column] */
  "heard.levels": PackedArray;
  [tiles: string]: PackedArray;
}

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly canvas: string;
  readonly exact: string;
  readonly pooled: string;
  readonly overview: string;
  readonly zoom_in: string;
  readonly zoom_out: string;
  readonly zoom_whole: string;
  readonly point: string;
  readonly area: string;
  readonly idle: string;
  readonly pinned: string;
  readonly hint: string;
  readonly find: string;
  readonly find_hint: string;
  readonly found_none: string;
  readonly found_some: string;
  readonly found_at: string;
  readonly previous_place: string;
  readonly next_place: string;
  readonly strongest: string;
  readonly strongest_none: string;
  readonly distance: string;
  readonly distance_of: string;
  readonly cell: string;
  readonly waiting: string;
}
