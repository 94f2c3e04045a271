// @ts-check
// What cells and masks mean in words. In: the data, the masks laid over it, a cell. Out: numbers and sentences.

import { isolate } from "../shared/axes.js";
import { fill } from "../shared/fmt.js";
import { printed } from "../shared/panel.js";
import { sizedName, sliceOf } from "./layers.js";

/** @import { Laid } from "./state.js" */
/** @import { Header, ShownMask } from "./types.js" */

/** The title of a mask; padding is called after what the keys are, a cross-attention's memory for instance. */
export function maskTitle(/** @type {Header} */ header, /** @type {ShownMask} */ name) {
  return header.strings[name === "padding" ? header.padding_of : name];
}

/**
 * The score of a cell behind the masks that are on.
 * @param {Laid} laid
 * @param {number} sentence
 * @param {number} i
 */
export function maskedScore({ arrays, masks, numbers }, sentence, i) {
  return numbers[sentence].bits[i] & masks.variant ? -Infinity : sliceOf(arrays, "scaled", sentence)[i];
}

/** Rows in which the masks that are on block every key. */
export function deadRows(/** @type {Laid} */ { header, masks, numbers }, /** @type {number} */ sentence) {
  const { bits } = numbers[sentence];
  const n = header.key_tokens[sentence].length;
  return header.tokens[sentence]
    .map((_, row) => row)
    .filter((row) => bits.subarray(row * n, (row + 1) * n).every((cell) => cell & masks.variant));
}

/**
 * The places of the masks that are on and block a cell.
 * @param {Laid} laid
 * @param {number} sentence
 * @param {number} row
 * @param {number} col
 */
export function blockersAt({ header, masks, numbers }, sentence, row, col) {
  const n = header.key_tokens[sentence].length;
  const bits = numbers[sentence].bits[row * n + col] & masks.variant;
  return header.mask_names.map((_, bit) => bit).filter((bit) => (bits >> bit) & 1);
}

/**
 * The reasons why a cell is blocked, empty where it may attend.
 * @param {Laid} laid
 * @param {number} sentence
 * @param {number} row
 * @param {number} col
 */
export function reasonsAt(laid, sentence, row, col) {
  const { header, masks } = laid;
  return blockersAt(laid, sentence, row, col).map((bit) => {
    const sized = sizedName(header.mask_names[bit]);
    return fill(header.mask_reasons[bit], { size: sized ? masks.sizes[sized] : "" });
  });
}

/**
 * A cell in a sentence: its tokens, its numbers, and why it is blocked.
 * @param {Laid} laid
 * @param {number} sentence
 * @param {number} row
 * @param {number} col
 */
export function cellSentence(laid, sentence, row, col) {
  const { header, arrays, numbers } = laid;
  const { strings } = header;
  const keys = header.key_tokens[sentence];
  const i = row * keys.length + col;
  const reasons = reasonsAt(laid, sentence, row, col);
  return fill(strings.readout_pair, {
    query: isolate(header.tokens[sentence][row]),
    key: isolate(keys[col]),
    weight: printed(numbers[sentence].weights[i]),
    scaled: printed(sliceOf(arrays, "scaled", sentence)[i]),
    masked: printed(maskedScore(laid, sentence, i)),
    reason: reasons.length ? `${strings.blocked}: ${reasons.join("; ")}` : strings.may_attend,
  });
}
