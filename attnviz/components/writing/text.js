// @ts-check
// The text as it grows: tokens that are not written yet keep their place and are not shown. The chosen token has an outline,
// those that it attends to have the colour of the weight: of one head, or of the mean of a layer's heads.

import { rowValues, weightOf } from "../shared/buffer.js";
import { lightChips } from "../shared/chips.js";
import { levelFor, levelTable } from "../shared/colors.js";
import { el, fillNodes } from "../shared/dom.js";
import { fmtFixed } from "../shared/fmt.js";

const STRONGEST = 4;

/**
 * The weights of one row, 0 to 1, and their places on the colour scale.
 * @param {import("../shared/buffer.js").PackedArray} array
 * @param {{layer: number, head: number}} at
 * @param {number} query
 * @param {boolean} mean of all heads of the layer
 */
export function rowOf(array, at, query, mean) {
  const [, heads, , nKey] = array.shape;
  const levels = levelTable(/** @type {"u8"} */ (array.dtype), "sqrt");
  const codes = (/** @type {number} */ head) => rowValues(array, at.layer, head, query);
  if (!mean)
    return Array.from(codes(at.head), (code, key) => ({
      key,
      weight: weightOf(code, array.dtype),
      level: levels[code],
    }));
  const sums = new Array(nKey).fill(0);
  for (let head = 0; head < heads; head++)
    codes(head).forEach((/** @type {number} */ code, /** @type {number} */ key) => {
      sums[key] += weightOf(code, array.dtype) / heads;
    });
  return sums.map((weight, key) => ({ key, weight, level: levelFor(weight, "sqrt") }));
}

/** Shows the tokens up to `end`, the chosen one, and its row over the keys. */
export function paintText(/** @type {any} */ parts, /** @type {any} */ view) {
  const { chips, keyChips } = parts;
  const { end, query, row, lut } = view;
  const asking = new Set(query === null ? [] : [query]);
  const looked = new Map(
    row
      .filter((/** @type {any} */ each) => each.weight > 0)
      .map((/** @type {any} */ each) => [each.key, each.level]),
  );
  lightChips(chips, asking, keyChips ? new Map() : looked, lut);
  if (keyChips) lightChips(keyChips, new Set(), looked, lut);
  chips.forEach((/** @type {HTMLElement} */ chip, /** @type {number} */ i) =>
    chip.classList.toggle("av-unwritten", i >= end),
  );
}

/**
 * The strongest keys of a row in words: "… looks at", then token and weight.
 * @param {string} template
 * @param {string} token
 * @param {any[]} row
 * @param {string[]} keys
 */
export function strongestNodes(template, token, row, keys) {
  const top = [...row]
    .sort((a, b) => b.weight - a.weight)
    .slice(0, STRONGEST)
    .filter((each) => each.weight > 0);
  return [
    el("span", {}, ...fillNodes(template, { query: el("bdi", {}, token) })),
    ...top.map(({ key, weight }) =>
      el("span", {}, el("bdi", {}, keys[key]), `≈\u2009${fmtFixed(weight, 2)}`),
    ),
  ];
}
