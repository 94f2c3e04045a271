// @ts-check
// Makes scores and weights of a page out of other numbers, to the last bit; mirror of rebuilt.py. The operations stand in
// the same order there, so that both round alike; what a rule misses of the model's own bits is added to them.

/** @import { PackedArray } from "../../pictures/shared/buffer.js" */
/** @import { RebuiltStage, Source } from "./index.js" */
/** @typedef {{bytes: Record<string, PackedArray>, rebuilt: Record<string, RebuiltStage>, made: Map<string, Uint8Array<ArrayBuffer>>}} Page */

const NEAR = 127;
const LOG2_E = 1.4426950408889634;
const LN_2 = 0.6931471805599453;
const SMALLEST = -700; // of an exponent; below it the weight is 0
const TERMS = 9;
const HALVES = halves(1024);

const RULES = { products, blocked, softmax };

/** True if all that an array is made of has been unpacked. @returns {boolean} */
export function isThere(/** @type {Source} */ { from }, /** @type {Page} */ page) {
  const stage = page.rebuilt[from];
  if (!stage) return from in page.bytes;
  const own = stage.near in page.bytes && (stage.far === undefined || stage.far in page.bytes);
  return own && stage.sources.every((/** @type {Source} */ source) => isThere(source, page));
}

/** The bytes of an array; what was made is kept in `page.made`. @returns {Uint8Array<ArrayBuffer>} */
export function bytesOf(/** @type {Source} */ { from, times }, /** @type {Page} */ page) {
  const raw = page.rebuilt[from] ? rebuilt(from, page) : asBytes(page.bytes[from].data);
  if (times === undefined) return raw;
  // the product of two floats is exact as a double, and is rounded once when it is stored
  return asBytes(floats(raw).map((value) => value * times));
}

/** @returns {Uint8Array<ArrayBuffer>} */
function rebuilt(/** @type {string} */ name, /** @type {Page} */ page) {
  const known = page.made.get(name);
  if (known) return known;
  const { rule, sources, sizes, near, far } = page.rebuilt[name];
  const inputs = sources.map((/** @type {Source} */ source) => bytesOf(source, page));
  const predicted = new Int32Array(RULES[rule](inputs, sizes).buffer);
  const farther =
    far === undefined ? new Int32Array(0) : new Int32Array(asBytes(page.bytes[far].data).slice().buffer);
  const steps = asBytes(page.bytes[near].data);
  let next = 0;
  for (let i = 0; i < predicted.length; i++) predicted[i] += steps[i] ? steps[i] - NEAR - 1 : farther[next++];
  const result = asBytes(predicted);
  page.made.set(name, result);
  return result;
}

/** Each query with each key, summed from the first component to the last. */
function products(
  /** @type {Uint8Array<ArrayBuffer>[]} */ inputs,
  /** @type {number[]} */ [rows, columns, depth],
) {
  const [query, key] = inputs.map(floats);
  const result = new Float32Array(rows * columns);
  for (let row = 0, at = 0; row < rows; row++)
    for (let column = 0; column < columns; column++, at++) {
      let total = 0;
      for (let i = 0, q = row * depth, k = column * depth; i < depth; i++) total += query[q++] * key[k++];
      result[at] = total;
    }
  return result;
}

/** The scores with −∞ where a mask blocks. */
function blocked(/** @type {Uint8Array<ArrayBuffer>[]} */ [scores, bits]) {
  return floats(scores).map((score, i) => (bits[i] ? -Infinity : score));
}

/** The softmax of each row; 0 in a row without a finite number. */
function softmax(/** @type {Uint8Array<ArrayBuffer>[]} */ [masked], /** @type {number[]} */ [rows, columns]) {
  const scores = floats(masked);
  const result = new Float32Array(rows * columns);
  const powers = new Float64Array(columns);
  for (let row = 0; row < rows; row++) {
    const start = row * columns;
    let largest = -Infinity;
    for (let i = 0; i < columns; i++) largest = Math.max(largest, scores[start + i]);
    let total = 0;
    for (let i = 0; i < columns; i++) total += powers[i] = power(scores[start + i] - largest);
    if (total > 0) for (let i = 0; i < columns; i++) result[start + i] = powers[i] / total;
  }
  return result;
}

/** e to a number ≤ 0, by operations that round alike in Python; 0 where it is too small or not a number. */
function power(/** @type {number} */ exponent) {
  if (!(exponent > SMALLEST)) return 0;
  const twos = Math.floor(exponent * LOG2_E + 0.5);
  const rest = exponent - twos * LN_2;
  let series = 1;
  for (let term = TERMS; term > 0; term--) series = 1 + (series * rest) / term;
  return series * HALVES[-twos];
}

/** 1, ½, ¼ …: exact, as a library's power need not be. */
function halves(/** @type {number} */ count) {
  const values = new Float64Array(count).fill(1);
  for (let i = 1; i < count; i++) values[i] = values[i - 1] / 2;
  return values;
}

function asBytes(/** @type {ArrayBufferView<ArrayBuffer>} */ { buffer, byteOffset, byteLength }) {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** A copy of bytes as floats. */
function floats(/** @type {Uint8Array<ArrayBuffer>} */ bytes) {
  return new Float32Array(bytes.slice().buffer);
}
