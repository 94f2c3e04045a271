// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/stage: change that, not this.

import type { FloatArray, PackedArray } from "../shared/buffer.js";
import type { Flag, SharedStrings } from "../shared/heads.js";

/**
 * One sentence on the stage.
 * The key was chosen from `n_tried` cuts; there are none where the scene fixes it. A page whose own field the
 * text is typed into needs no box for it; while it is typed, nothing moves but what has changed.
 * `elsewhere_moved` is how far the answer moves without the look of another cell that the address forbids.
 */
export interface Header extends Looks, Answers {
  strings: Strings;
  kind: "next" | "meaning";
  scene: Scene;
  text: string;
  examples: [Scene, string][];
  n_tried: number;
  tried: Tried | null;
  has_box: boolean;
  is_typed: boolean;
  elsewhere_moved: number | null;
  /** True if the model has an idea of what comes next. */
  guesses: boolean;
}

/**
 * A query's looks at a key in every head, layer by layer, and how far each moves the answer.
 * `rows` are the query's weights in full: where a look goes instead is computed from them. `pieces` are words
 * of several tokens, from the first to before the last: a look is at one token.
 */
export interface Looks {
  tokens: string[];
  special: Flag[];
  query: number;
  key: number;
  pieces: [number, number][];
  /** The number of layers. */
  n_layers: number;
  /** The number of heads of a layer. */
  n_heads: number;
}

/**
 * The answer as it is, and without each of the looks.
 * `choices` are names of answers with what they have `before` and `after`; a piece that begins a longer word
 * of the text ends in "…", as its numbers are those of the piece. As many of them as `leading` says, in
 * `leading_after` without each look, are the likeliest words with none left out; words that are not listed
 * may stand before the others. `winners` are the largest answers after, of all `n_words`. Of an encoder the
 * choices are other changes of the text, and `before` says how far these move the meaning.
 */
export interface Answers {
  choices: string[];
  winner: string;
  share: number;
  winners: string[];
  shares: number[];
  leading: number;
  leading_after: number[];
  n_words: number;
}

export type Scene = "book" | "ball" | "animal" | "own";

/**
 * All looks of a sentence, each of them forbidden: what is true of them together.
 * `strong` looks are above 0.5; `moving` of these move the answer by more than 1 %; `flips` change the word.
 * `others` is what the first word keeps where the decisive look goes in other ways: its weight at 0 while its
 * row stays, its head at zero, at the mean, at outputs drawn elsewhere, with uniform attention.
 */
export interface Tried {
  looks: number;
  strong: number;
  moving: number;
  flips: number;
  others: [number, number, number, number, number];
}

export interface Arrays {
  /** [layer, head, query, key] */
  weights: PackedArray;
  /** [number, key] */
  rows: FloatArray;
  /** [number] */
  moved: FloatArray;
  /** [choice] */
  before: FloatArray;
  /** [number, bar] */
  after: FloatArray;
}

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly explain: string;
  readonly instead: string;
  readonly label: string;
  readonly title_story: string;
  readonly title_next: string;
  readonly title_meaning: string;
  readonly answer: string;
  readonly listed: string;
  readonly further: string;
  readonly risen: string;
  readonly before: string;
  readonly meaning: string;
  readonly idle: string;
  readonly idle_book: string;
  readonly idle_ball: string;
  readonly idle_chosen: string;
  readonly forbid: string;
  readonly turns: string;
  readonly turns_ball: string;
  readonly others: string;
  readonly stays: string;
  readonly weak: string;
  readonly nothing: string;
  readonly no_guess: string;
  readonly idle_meaning: string;
  readonly moves_meaning: string;
  readonly this_look: string;
  readonly another: string;
  readonly squares: string;
  readonly looks: string;
  readonly moves: string;
  readonly moves_scaled: string;
  readonly tried: string;
  readonly switch: string;
  readonly square: string;
  readonly square_meaning: string;
  readonly text: string;
  readonly look: string;
  readonly examples: string;
  readonly film: string;
  readonly how: string;
  readonly how_text: string;
  readonly how_chosen: string;
  readonly how_others: string;
  readonly how_meaning: string;
  readonly elsewhere: string;
  readonly elsewhere_moved: string;
  readonly elsewhere_meaning: string;
  readonly to_change: string;
  readonly demonstration: string;
  readonly byte: string;
}
