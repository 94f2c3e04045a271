// @ts-check
// The text as it grows: tokens that are not written yet keep their place and are not shown. The chosen token has an outline,
// those that it attends to have the colour of the weight: of one head, or of the mean of a layer's heads.

import { rowValues, weightOf } from "../shared/buffer.js";
import { lightChips } from "../shared/chips.js";
import { levelFor, levelTable } from "../shared/colors.js";
import { el, fillNodes, foreign } from "../shared/dom.js";
import { fmtFixed } from "../shared/fmt.js";

/** @import { PackedArray } from "../shared/buffer.js" */
/** @import { Chips } from "../shared/chips.js" */

/** A key with its weight, 0 to 1, and the index of its colour. @typedef {{key: number, weight: number, level: number}} KeyWeight */

const STRONGEST = 4;

/**
 * The weights of one row.
 * @param {PackedArray} array
 * @param {{layer: number, head: number}} at
 * @param {number} query
 * @param {boolean} mean of all heads of the layer
 * @returns {KeyWeight[]}
 */
export function rowOf(array, at, query, mean) {
  const [, heads, , nKey] = array.shape;
  const levels = levelTable(array.dtype, "sqrt");
  if (!mean) {
    const codes = rowValues(array, at.layer, at.head, query);
    return Array.from(codes, (code, key) => ({
      key,
      weight: weightOf(code, array.dtype),
      level: levels[code],
    }));
  }
  /** @type {number[]} */
  const sums = new Array(nKey).fill(0);
  for (let head = 0; head < heads; head++) {
    const codes = rowValues(array, at.layer, head, query);
    for (let key = 0; key < nKey; key++) sums[key] += weightOf(codes[key], array.dtype) / heads;
  }
  return sums.map((weight, key) => ({ key, weight, level: levelFor(weight, "sqrt") }));
}

/**
 * Shows the tokens up to `end`, the chosen one, and its row over the keys.
 * @param {Chips} chips
 * @param {Chips | null} keyChips of another text that the keys are
 * @param {{end: number, query: number, row: KeyWeight[], lut: Uint32Array}} view
 */
export function paintText(chips, keyChips, { end, query, row, lut }) {
  const attended = row.filter(({ weight }) => weight > 0);
  const levels = new Map(attended.map(({ key, level }) => [key, level]));
  lightChips(chips, new Set([query]), keyChips ? new Map() : levels, lut);
  if (keyChips) lightChips(keyChips, new Set(), levels, lut);
  chips.forEach((chip, i) => chip.classList.toggle("av-unwritten", i >= end));
}

/**
 * The strongest keys of a row in words: "… looks at", then token and weight.
 * @param {string} template
 * @param {string} token
 * @param {KeyWeight[]} row
 * @param {readonly string[]} keys
 */
export function strongestNodes(template, token, row, keys) {
  const strongest = [...row]
    .sort((a, b) => b.weight - a.weight)
    .slice(0, STRONGEST)
    .filter(({ weight }) => weight > 0);
  const named = strongest.map(({ key, weight }) =>
    el("span", {}, foreign(keys[key]), `≈\u2009${fmtFixed(weight, 2)}`),
  );
  return [el("span", {}, ...fillNodes(template, { query: foreign(token) })), ...named];
}
