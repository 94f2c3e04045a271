// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/drawing_pad: change that, not this.

import type { PackedArray } from "../shared/buffer.js";
import type { SharedStrings } from "../shared/heads.js";

/**
 * The colours to draw with, and the forms as points within ±1, each by its name.
 * `side_px` is the side of the picture that is sent; `first` is one that is drawn upon.
 */
export interface Header {
  strings: Strings;
  side_px: number;
  /** The colours as CSS writes them. */
  colours: Colour[];
  /** The forms, rounded to a thousandth. */
  forms: DrawingForm[];
}

/** A colour to draw with. */
export interface Colour {
  name: string;
  css: string;
}

/** A form to stamp, as points within ±1. */
export interface DrawingForm {
  name: string;
  points: [number, number][];
}

export interface Arrays {
  /** [row, column, rgb] */
  first?: PackedArray;
}

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly surface: string;
  readonly hint: string;
  readonly tools: string;
  readonly brush: string;
  readonly eraser: string;
  readonly circle: string;
  readonly square: string;
  readonly triangle: string;
  readonly star: string;
  readonly cross: string;
  readonly heart: string;
  readonly colours: string;
  readonly red: string;
  readonly orange: string;
  readonly yellow: string;
  readonly green: string;
  readonly blue: string;
  readonly purple: string;
  readonly black: string;
  readonly sizes: string;
  readonly small: string;
  readonly medium: string;
  readonly large: string;
  readonly undo: string;
  readonly clear: string;
  readonly placed: string;
  readonly undone: string;
  readonly cleared: string;
}
