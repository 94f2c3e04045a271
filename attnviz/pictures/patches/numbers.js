// @ts-check
// The weights that a query of the picture view gives: in one head, or in the mean of a layer's heads.

import { rowValues, weightOf } from "../shared/buffer.js";

/** @import { PackedArray } from "../shared/buffer.js" */
/** @import { Header } from "./state.js" */

/** A head; null stands for the mean of its layer's heads. @typedef {{layer: number, head: number | null}} HeadOrMean */

/**
 * The weights of a query for all keys.
 * @param {PackedArray} weights
 * @param {HeadOrMean} at
 * @param {number} query
 * @returns {Float32Array}
 */
export function weightsFrom(weights, { layer, head }, query) {
  const rowOf = (/** @type {number} */ head) =>
    Float32Array.from(rowValues(weights, layer, head, query), (code) => weightOf(code, weights.dtype));
  if (head !== null) return rowOf(head);
  const [nHeads, , nKey] = weights.shapes?.[layer] ?? weights.shape.slice(1);
  const sum = new Float32Array(nKey);
  for (let other = 0; other < nHeads; other++)
    rowOf(other).forEach((weight, key) => void (sum[key] += weight / nHeads));
  return sum;
}

/** The weight that has the last colour: 1, or the largest that a patch gets where colours are stretched. */
export function topWeight(
  /** @type {Header} */ { patches },
  /** @type {boolean} */ stretch,
  /** @type {Float32Array} */ row,
) {
  return stretch ? Math.max(...row.subarray(patches.first)) : 1;
}
