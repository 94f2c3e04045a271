// @ts-check
// Numbers of one head as pages state them: weights, ranks, the strongest keys of a row, the mass that hides with
// the special tokens. Everything reads the stored codes; a code becomes a weight only when it is shown or summed.

import { codeOf, weightOf } from "./buffer.js";

/** @import { Dtype } from "./buffer.js" */

/**
 * One head as shown: `rows` and `cols` are the token positions on the axes, in order.
 * @typedef {{values: ArrayLike<number>, dtype: Dtype, nQuery: number, nKey: number, rows: readonly number[],
 *   cols: readonly number[]}} HeadData
 */

/**
 * The weight of a query for a key.
 * @param {HeadData} data
 * @param {number} query
 * @param {number} key
 */
export function weightAt(data, query, key) {
  return weightOf(data.values[query * data.nKey + key], data.dtype);
}

/** All weights of a query. @returns {Float32Array} */
export function rowWeights(/** @type {HeadData} */ data, /** @type {number} */ query) {
  return Float32Array.from({ length: data.nKey }, (_, key) => weightAt(data, query, key));
}

/**
 * The numbers of a head with one look forbidden: 0 there, and the rest of its row grown to 1, as the model computes it.
 * @param {HeadData} data
 * @param {{query: number, key: number}} look
 * @returns {HeadData}
 */
export function withoutLook(data, { query, key }) {
  const row = rowWeights(data, query);
  row[key] = 0;
  const sum = row.reduce((total, weight) => total + weight, 0);
  if (!(sum > 0)) return data;
  const values = Float32Array.from(data.values);
  row.forEach((weight, at) => {
    values[query * data.nKey + at] = codeOf(weight / sum, data.dtype);
  });
  return { ...data, values };
}

/** Place of a key in its row, 1 = strongest; equal weights share the better place. */
export function rankAt(/** @type {HeadData} */ data, /** @type {number} */ query, /** @type {number} */ key) {
  const at = query * data.nKey;
  const mine = data.values[at + key];
  let rank = 1;
  for (let j = 0; j < data.nKey; j++) if (data.values[at + j] > mine) rank++;
  return rank;
}

/**
 * The strongest shown keys of a query, strongest first.
 * @param {HeadData} data
 * @param {number} query
 * @param {number} count
 * @returns {number[]}
 */
export function topKeys(data, query, count) {
  const at = query * data.nKey;
  const { values, cols } = data;
  /** @type {number[]} */
  const best = [];
  for (const key of cols) {
    const code = values[at + key];
    if (best.length === count && code <= values[at + best[count - 1]]) continue;
    let i = best.length < count ? best.length : count - 1;
    while (i > 0 && values[at + best[i - 1]] < code) {
      best[i] = best[i - 1];
      i--;
    }
    best[i] = key;
  }
  return best;
}

/** Share of a row's attention that falls on keys which are not shown. */
export function hiddenInRow(/** @type {HeadData} */ data, /** @type {number} */ query) {
  const shown = new Set(data.cols);
  let sum = 0;
  for (let key = 0; key < data.nKey; key++) if (!shown.has(key)) sum += weightAt(data, query, key);
  return sum;
}

/** Mean share of attention that falls on hidden keys, over the rows shown. */
export function hiddenMean(/** @type {HeadData} */ data) {
  if (data.cols.length === data.nKey || !data.rows.length) return 0;
  const shown = new Set(data.cols);
  const hidden = [];
  for (let key = 0; key < data.nKey; key++) if (!shown.has(key)) hidden.push(key);
  let sum = 0;
  for (const query of data.rows) for (const key of hidden) sum += weightAt(data, query, key);
  return sum / data.rows.length;
}
