// @ts-check
// The weights between words for what is chosen: one head, the mean of a layer's heads, or the mean of all heads. A mean
// of distributions is one too, so every row still sums to 1.

import { headValues, weightOf } from "../shared/buffer.js";

/** @import { PackedArray } from "../shared/buffer.js" */
/** @import { Stated } from "./types.js" */

/** A head, the mean of a layer's heads, or the mean of all heads. @typedef {Pick<Stated, "layer" | "head" | "mean">} Choice */

/** @typedef {"source" | "target"} Side */
/** A word of one side. @typedef {{side: Side, word: number}} WordPlace */
/** A word of the other side, with the weight between the two. @typedef {{word: number, weight: number}} Ranked */

/**
 * The matrix [target word, source word] of a choice.
 * @param {PackedArray} array [layer, head, target, source]
 * @param {Choice} choice
 * @returns {Float64Array}
 */
export function chosenWeights(array, choice) {
  const [layers, heads, rows, cols] = array.shape;
  const matrix = new Float64Array(rows * cols);
  const parts = [];
  for (let layer = 0; layer < layers; layer++)
    for (let head = 0; head < heads; head++) {
      const inLayer = choice.mean === "all" || layer === choice.layer;
      if (inLayer && (choice.mean !== null || head === choice.head))
        parts.push(headValues(array, layer, head));
    }
  for (const values of parts)
    for (let i = 0; i < matrix.length; i++) matrix[i] += weightOf(values[i], array.dtype) / parts.length;
  return matrix;
}

/**
 * The weights between one word and all words of the other side, the largest first.
 * @param {ArrayLike<number>} weights
 * @param {number} nSource
 * @param {WordPlace} at
 * @returns {Ranked[]}
 */
export function rankedWords(weights, nSource, { side, word }) {
  const nTarget = nSource ? weights.length / nSource : 0;
  const isTarget = side === "target";
  const others = Array.from({ length: isTarget ? nSource : nTarget }, (_, other) => ({
    word: other,
    weight: isTarget ? weights[word * nSource + other] : weights[other * nSource + word],
  }));
  return others.sort((a, b) => b.weight - a.weight);
}

/** The word whose tokens hold a position: the last that starts at or before it; null for none. */
export function wordAt(/** @type {{at: number}[]} */ words, /** @type {number | null} */ position) {
  if (position === null) return null;
  const index = words.findLastIndex(({ at }) => at <= position);
  return index < 0 ? null : index;
}

/** True if both name one word, or both none. */
export function isSameWord(/** @type {WordPlace | null} */ one, /** @type {WordPlace | null} */ other) {
  return one?.side === other?.side && one?.word === other?.word;
}
