// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/strip: change that, not this.

import type { PackedArray } from "../shared/buffer.js";
import type { Flag, SharedStrings } from "../shared/heads.js";

/**
 * All that stands in the line, from its start to its end.
 * `source` names the file that is read in place of what was typed. `action` is the text of a button that has
 * the model write the target. The picture is the one that the model saw, or the spectrogram of the `sound`, a
 * WAV file.
 */
export interface Header {
  strings: Strings;
  pieces: StripPiece[];
  source: string;
  action: string;
  examples: StripExample[];
  answer: StripAnswer | null;
}

/**
 * Something that the model reads: a text, and its tokens where they are known and not too many.
 * One without a `field` is not typed.
 */
export interface StripPiece {
  name: PieceName;
  label: string;
  text: string;
  field: StripField | null;
  tokens: StripTokens | null;
}

export type PieceName = "text" | "target" | "text2" | "text_b" | "target_b" | "picture" | "sound" | "tokens";

/** The field of a piece; `limit` is the most characters that it takes, 0 for any number. */
export interface StripField {
  placeholder: string;
  help: string;
  limit: number;
}

/**
 * The tokens of a piece; `asks` and `answers` say that they are queries, keys of the picture.
 * Special ones are muted, those that the model wrote are marked. `differs` is the first that is not as on the
 * other side of a comparison: a line that opens shows it.
 */
export interface StripTokens {
  labels: string[];
  special: Flag[];
  written: Flag[];
  asks: boolean;
  answers: boolean;
  patches: StripPatches | null;
  differs: number | null;
}

/** The tokens of a piece that are patches of the picture: row by row from the `first` on. */
export interface StripPatches {
  rows: number;
  columns: number;
  first: number;
}

/** A text to choose, and what there is to see in it. */
export interface StripExample {
  text: string;
  hint: string;
}

/** The model's likeliest answer; `title` says what it is an answer to. */
export interface StripAnswer {
  word: string;
  probability: number;
  title: string;
}

export interface Arrays {
  /** [row, column, rgb] */
  picture?: PackedArray;
  /** [byte] */
  sound?: PackedArray;
}

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly edit: string;
  readonly edit_word: string;
  readonly examples: string;
  readonly percent: string;
  readonly play: string;
  readonly pause: string;
  readonly close: string;
  readonly picture: string;
}
