// @ts-check
// The weights between words for what is chosen: one head, the mean of a layer's heads, or the mean of all heads. A mean
// of distributions is one too, so every row still sums to 1.

import { headValues, weightOf } from "../shared/buffer.js";

/** What is looked at: `mean` null for one head. @typedef {{layer: number, head: number, mean: "layer" | "all" | null}} Choice */

/**
 * The matrix [target word, source word] of a choice.
 * @param {import("../shared/buffer.js").PackedArray} array [layer, head, target, source]
 * @param {Choice} choice
 * @returns {Float64Array}
 */
export function chosenWeights(array, choice) {
  const [layers, heads, rows, cols] = array.shape;
  const found = new Float64Array(rows * cols);
  const parts = [];
  for (let layer = 0; layer < layers; layer++)
    for (let head = 0; head < heads; head++) {
      const inLayer = choice.mean === "all" || layer === choice.layer;
      if (inLayer && (choice.mean !== null || head === choice.head))
        parts.push(headValues(array, layer, head));
    }
  for (const values of parts)
    for (let i = 0; i < found.length; i++) found[i] += weightOf(values[i], array.dtype) / parts.length;
  return found;
}

/**
 * The weights between one word and all words of the other side, the largest first: [{word, weight}].
 * @param {ArrayLike<number>} weights
 * @param {number} nSource
 * @param {{side: string, word: number}} at
 */
export function ranked(weights, nSource, at) {
  const nTarget = nSource ? weights.length / nSource : 0;
  const byTarget = at.side === "target";
  const found = Array.from({ length: byTarget ? nSource : nTarget }, (_, word) => ({
    word,
    weight: byTarget ? weights[at.word * nSource + word] : weights[word * nSource + at.word],
  }));
  return found.sort((a, b) => b.weight - a.weight);
}

/** The word whose tokens hold a position: the last that starts at or before it; null for none. */
export function wordAt(/** @type {{at: number}[]} */ words, /** @type {number | null} */ position) {
  if (position === null) return null;
  let found = null;
  words.forEach(({ at }, i) => {
    if (at <= position) found = i;
  });
  return found;
}
