// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/switches: change that, not this.

import type { FloatArray, PackedArray } from "../shared/buffer.js";
import type { Flag, SharedStrings } from "../shared/heads.js";

/**
 * The board, what is off, and the answer. `effects` says in words what was measured.
 * They are in `effects_unit`. `suggested` is the head to switch off first, "" where none is known, and
 * `suggested_note` says why. `looks` are offered: that of the head that is off, or the strongest of all, and
 * that of a chosen row which does not make the answer; `offer_said` says why that look may move the answer
 * more than its whole head, or why none is offered. `forbids` is True where a row can be chosen for it. What
 * was switched in another `model` cannot be undone. `words` is None where words have no direct shares.
 * `facts` has those of each group, none where nothing was measured; an effect above `least` matters.
 * `forbidden` is a look in words, "" for none, and `reader` its head, "" for all of them; `dropped` says
 * which one another choice allowed. `made` is a look of one head, or a head that is off beside others; None
 * for other changes.
 */
export interface Header {
  strings: Strings;
  model: string;
  groups: SwitchGroup[];
  off: Switch[];
  to: Off;
  answer: AnswerView;
  effects: string;
  effects_unit: EffectsUnit;
  suggested: string;
  suggested_note: string;
  looks: OfferedLook[];
  offer_said: string;
  forbids: boolean;
  words: WordsView | null;
  facts: HeadFacts[];
  least: number;
  reader: string;
  forbidden: string;
  dropped: string;
  made: MadeChange | null;
  /** The largest effect of a head, 0 where none was measured. */
  most: number;
}

/**
 * The heads of one attention: `prefix` is what stands before L0.H0 in their names.
 * `heads` has the number for each layer. `effects` is NaN where there is no head, None where nothing was
 * measured yet. `visible` are the points with a key that each layer may attend to, once if all are alike,
 * None where nothing is blocked.
 */
export interface SwitchGroup {
  title: string;
  prefix: string;
  heads: number[];
}

/** A head that is off; it prints as a change of `attnviz.changes`. */
export interface Switch {
  head: string;
  to: Off;
  /** Its text form. */
  change: string;
}

export type Off = "mean" | "resample" | "zero" | "even";

/**
 * The answer as bars, with what changed in words, the control, and texts side by side.
 * `measured` says how the control was measured, and what it says of the lead. `percent` is False where the
 * numbers are cosines. `written` has pairs of a label and a text.
 */
export interface AnswerView {
  title: string;
  bars: Bar[];
  values: string;
  seconds: string;
  sentence: string;
  control: string;
  measured: string;
  percent: boolean;
  written: [string, string][];
}

/** One row. `second` is drawn as a tick; `mark` says in words why the row is set apart. */
export interface Bar {
  label: string;
  value: number;
  second: number | null;
  mark: string;
  muted: boolean;
}

export type EffectsUnit = "percent" | "points" | "meaning" | "number";

/**
 * A look that a click forbids: the head, its words' places, and all in words, as `name`.
 * `query` is None where the answer has no one row. `note` says why it is offered, or that it has no weight.
 */
export interface OfferedLook {
  head: string;
  query: number | null;
  key: number;
  name: string;
  note: string;
}

/**
 * Words with what each adds to a number of the answer; a look that is forbidden.
 * `values` are direct shares, whose sums over words are the heads' own. `cut` has the number's exact change
 * where each head's look at the word is forbidden alone, None where no word is chosen. `sentences` say what
 * was found, `notes` have the control. `query` is the one place at which heads write into the answer, None
 * where there are several.
 */
export interface WordsView {
  title: string;
  tokens: string[];
  special: Flag[];
  heads: string[];
  look: string;
  decimals: number;
  sentences: string[];
  notes: string[];
  query: number | null;
  /** The position of the word that is forbidden. */
  chosen: number | null;
  /** The head whose looks are shown, "" for all. */
  through: string;
}

/**
 * Looks and matters of the heads of a group: what `shared/effects.js` says of a head.
 * `looks` has the weight of the chosen cell in each head, and the mean of its other rows; NaN where it may
 * not look; None where no cell of this group is chosen. Its tokens are `query` and `key`; `hidden` says that
 * the mask hides one from the other, "" where it does not. `sentences` say the effect beside its control, by
 * layer and head.
 */
export interface HeadFacts {
  query: string;
  key: string;
  sentences: string[][];
  hidden: string;
}

/** The head that was changed last, and in a sentence what that does beside the other changes. */
export interface MadeChange {
  head: string;
  sentence: string;
}

export interface Arrays {
  [array: `groups.${number}.weights`]: PackedArray;
  [array: `groups.${number}.effects`]: FloatArray;
  [array: `groups.${number}.visible`]: PackedArray;
  /** [head, token] */
  "words.values": FloatArray;
  /** [head] */
  "words.cut"?: FloatArray;
  [array: `facts.${number}.looks`]: FloatArray;
}

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly bar_looks: string;
  readonly bar_points: string;
  readonly bar_percent: string;
  readonly bar_meaning: string;
  readonly bar_number: string;
  readonly measured: string;
  readonly compared: string;
  readonly board: string;
  readonly head_on: string;
  readonly head_off: string;
  readonly head_forbidden: string;
  readonly no_arrow: string;
  readonly effect: string;
  readonly effect_points: string;
  readonly undo: string;
  readonly all_on: string;
  readonly suggested: string;
  readonly one_look: string;
  readonly only_look: string;
  readonly hint: string;
  readonly rows_hint: string;
  readonly open_head: string;
  readonly words_hint: string;
  readonly words_off: string;
  readonly words_through: string;
  readonly words_all: string;
  readonly words_each: string;
  readonly words_word: string;
  readonly words_forbidden: string;
}
