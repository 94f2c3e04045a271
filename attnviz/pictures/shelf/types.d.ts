// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/shelf: change that, not this.

import type { FilmScene } from "../motion/types.js";
import type { FloatArray } from "../shared/buffer.js";
import type { SharedStrings } from "../shared/heads.js";

/** The lessons by level, and the numbers of their pictures: "lesson.name". */
export interface Header {
  strings: Strings;
  levels: ShelfLevel[];
}

/** Lessons of one level, with its name and for whom it is. */
export interface ShelfLevel {
  name: string;
  body: string;
  lessons: ShelfLesson[];
}

/**
 * A lesson as the shelf shows it; `marks` has one mark for each question.
 * `is_next` marks the one to open now, `is_left` one that was left behind its first card.
 */
export interface ShelfLesson {
  slug: string;
  number: number;
  title: string;
  goal: string;
  about: string;
  progress: string;
  marks: Mark[];
  is_next: boolean;
  is_begun: boolean;
  is_left: boolean;
  still: Still;
}

export type Mark = "right" | "later" | "wrong" | "shown" | "open";

/**
 * The picture of a lesson: a `film` with its scenes and labels, or matrices or lines.
 * Its numbers are those of the shelf whose names begin with the lesson's. `before` stands before each matrix.
 */
export interface Still {
  kind: StillKind;
  film: FilmName | null;
  scenes: FilmScene[];
  labels: Record<string, string[]>;
  before: string[];
}

export type StillKind = "film" | "matrices" | "lines";

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

export interface Arrays {
  [numbers: string]: FloatArray;
}

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly start: string;
  readonly go_on: string;
  readonly here: string;
  readonly from_start: string;
}
