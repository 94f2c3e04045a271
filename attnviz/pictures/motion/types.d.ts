// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/motion: change that, not this.

import type { FloatArray } from "../shared/buffer.js";
import type { SharedStrings } from "../shared/heads.js";

/** A film with the sentence of each scene, all labels as they are shown, words of handles. */
export interface Header {
  strings: Strings;
  label: string;
  labels: Record<string, string[]>;
  handles: Record<string, string>;
  /** The numbers that a control of the card sets, too. */
  values: Record<string, number>;
  /** The name of the film. */
  film: FilmName;
  /** The scenes that are played. */
  scenes: FilmScene[];
}

export type FilmName =
  | "blend"
  | "softmax"
  | "mask"
  | "shuffle"
  | "query"
  | "rotary"
  | "clocks"
  | "cut"
  | "alignment"
  | "induction"
  | "training"
  | "arrows"
  | "clouds"
  | "push"
  | "reach"
  | "pulse";

/** A part of the film: how long it takes, and its sentence. */
export interface FilmScene {
  name: string;
  ms: number;
  caption: string;
}

export interface Arrays {
  [numbers: string]: FloatArray;
}

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly drag: string;
}
