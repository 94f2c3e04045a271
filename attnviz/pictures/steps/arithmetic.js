// @ts-check
// The arithmetic of one cell (query, key): pure functions from the buffer's float32 arrays to numbers.
// In: arrays by stage, the header, two positions. Out: plain objects; nothing is drawn or formatted here.
// Source: Vaswani et al. 2017, equation 1, one factor at a time.

/** @import { Arrays } from "./types.js" */

/** @typedef {{data: ArrayLike<number>, shape: number[]}} Matrix */
/** @typedef {{component: number, q: number, k: number, product: number}} Term */

/**
 * A view of one row, null where the matrix is absent.
 * @param {{data: Float32Array, shape: number[]} | undefined} matrix
 * @param {number} row
 */
export function rowOf(matrix, row) {
  if (!matrix) return null;
  const cols = matrix.shape[1];
  return matrix.data.subarray(row * cols, (row + 1) * cols);
}

/**
 * One number, null where the matrix is absent.
 * @param {Matrix | undefined} matrix
 * @param {number} row
 * @param {number} col
 */
export function valueAt(matrix, row, col) {
  return matrix ? matrix.data[row * matrix.shape[1] + col] : null;
}

/**
 * The last matrix before the mask: scaled scores, or what a softcap or a position bias made of them.
 * @param {Arrays} arrays
 */
export function beforeMask(arrays) {
  return arrays.biased ?? arrays.capped ?? arrays.scaled;
}

/**
 * The products of q · k, largest |product| first, and the score that the buffer holds.
 * @param {Arrays} arrays
 * @param {number} query
 * @param {number} key
 * @returns {{terms: Term[], score: number} | null}
 */
export function dotProduct(arrays, query, key) {
  const q = rowOf(arrays.q, query);
  const k = rowOf(arrays.k, key);
  const score = valueAt(arrays.scores, query, key);
  if (!q || !k || score === null) return null;
  const terms = Array.from(q, (value, component) => ({
    component,
    q: value,
    k: k[component],
    product: value * k[component],
  }));
  terms.sort((a, b) => Math.abs(b.product) - Math.abs(a.product) || a.component - b.component);
  return { terms, score };
}

/**
 * Rounds `shown` to `decimals` and gives the remainder of `total`, so that the printed numbers add up.
 * @param {number[]} shown
 * @param {number} total
 * @param {number} decimals
 * @returns {{shown: number[], rest: number, total: number}}
 */
export function addUp(shown, total, decimals) {
  const unit = 10 ** decimals;
  const units = shown.map((value) => Math.round(value * unit));
  const all = Math.round(total * unit);
  const rest = units.reduce((left, value) => left - value, all);
  return { shown: units.map((value) => value / unit), rest: rest / unit, total: all / unit };
}

/**
 * exp(s − max) / Σ exp over the row of the query; null also where that is not how the weight came about.
 * @param {Arrays} arrays
 * @param {number} query
 * @param {number} key
 * @returns {{max: number, score: number, exp: number, sum: number, weight: number, live: number} | null}
 */
export function softmaxOf(arrays, query, key) {
  const row = rowOf(arrays.masked, query);
  const weight = valueAt(arrays.weights, query, key);
  if (!row || weight === null) return null;
  const max = row.reduce((best, value) => Math.max(best, value), -Infinity);
  const live = row.reduce((count, value) => count + (value > -Infinity ? 1 : 0), 0);
  const exp = live ? Math.exp(row[key] - max) : 0;
  const sum = live ? row.reduce((total, value) => total + Math.exp(value - max), 0) : 0;
  if (live && Math.abs(exp / sum - weight) > 1e-5) return null;
  return { max, score: row[key], exp, sum, weight, live };
}

/**
 * weight × v of this key, the mixed row it goes into, and its share of that row.
 * The share is the projection on the mixed row, (weight·v)·mixed ÷ mixed·mixed: over all keys it sums to 1.
 * @param {Arrays} arrays
 * @param {number} query
 * @param {number} key
 * @returns {{v: Float32Array, weighted: number[], mixed: Float32Array, along: number, length: number,
 *   share: number | null} | null} `along` is (weight·v)·mixed, `length` mixed·mixed
 */
export function mixedOf(arrays, query, key) {
  const v = rowOf(arrays.v, key);
  const mixed = rowOf(arrays.mixed, query);
  const weight = valueAt(arrays.weights, query, key);
  if (!v || !mixed || weight === null) return null;
  const weighted = Array.from(v, (value) => value * weight);
  const along = weighted.reduce((total, value, d) => total + value * mixed[d], 0);
  const length = mixed.reduce((total, value) => total + value * value, 0);
  return { v, weighted, mixed, along, length, share: length > 0 ? along / length : null };
}

/**
 * How long a vector this key writes into the query's projected row: weight × ‖v·W_O‖, and its place among all keys of
 * the row, by that length and by weight alone. Source: Kobayashi et al. 2020, ‖α·f(x)‖ with f(x) = (x·W_V + b_V)·W_O.
 * @param {Arrays} arrays
 * @param {number} query
 * @param {number} key
 * @returns {{weight: number, norm: number, effect: number, rank: number, rankByWeight: number, count: number} | null}
 */
export function effectOf(arrays, query, key) {
  const weights = rowOf(arrays.weights, query);
  const reach = arrays.reach?.data;
  if (!weights || !reach || !weights.some((weight) => weight > 0)) return null; // nothing is written from a row of zeros
  const effects = Array.from(weights, (weight, at) => weight * reach[at]);
  const above = (/** @type {ArrayLike<number>} */ values) =>
    1 + Array.from(values).filter((value) => value > values[key]).length;
  return {
    weight: weights[key],
    norm: reach[key],
    effect: effects[key],
    rank: above(effects),
    rankByWeight: above(weights),
    count: weights.length,
  };
}

/**
 * The reasons why a cell is blocked, from its bit mask (bit i set: the i-th named mask blocks it).
 * @param {number} bits
 * @param {string[]} reasons
 * @returns {string[]}
 */
export function reasonsOf(bits, reasons) {
  return reasons.filter((_, bit) => (bits >> bit) & 1);
}
