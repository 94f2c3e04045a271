// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/gallery: change that, not this.

import type { FloatArray, PackedArray } from "../shared/buffer.js";
import type { SharedStrings } from "../shared/heads.js";

/** The miniatures. */
export interface Header {
  strings: Strings;
  translator: Lines;
  picture: PictureRead;
  story: Story;
  birth: Birth;
}

/** The words of a sentence and of its translation, and the weights of one head between them. */
export interface Lines {
  head: string;
  source: string[];
  target: string[];
}

/** A picture, the weights of one head's [CLS] on its patches, and the likeliest class. */
export interface PictureRead {
  head: string;
  answer: string;
  probability: number;
}

/**
 * The tokens of a text, of which the model generated those from `n_given` on.
 * A row holds the mean weights of the last layer's heads in the token's own row, as page Write shows them:
 * what it read once it was written.
 */
export interface Story {
  tokens: string[];
  n_given: number;
}

/**
 * A training: one head at each measured step, and its copying score.
 * `chance` is the score of even attention.
 */
export interface Birth {
  head: string;
  letters: string[];
  steps: number[];
  chance: number;
}

export interface Arrays {
  /** [target, source] */
  "translator.weights": FloatArray;
  /** [row, column, rgb] */
  "picture.pixels": PackedArray;
  /** [patch_row, patch_column] */
  "picture.weights": FloatArray;
  /** [token, token] */
  "story.weights": FloatArray;
  /** [step] */
  "birth.scores": FloatArray;
  /** [step, query, key] */
  "birth.weights": PackedArray;
}

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly label: string;
  readonly title_translator: string;
  readonly about_translator: string;
  readonly says_translator: string;
  readonly title_picture: string;
  readonly about_picture: string;
  readonly says_picture: string;
  readonly title_story: string;
  readonly about_story: string;
  readonly says_story: string;
  readonly key_written: string;
  readonly key_asks: string;
  readonly key_read: string;
  readonly title_birth: string;
  readonly about_birth: string;
  readonly says_birth: string;
}
