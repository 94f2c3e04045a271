// @ts-check
// Packs what a canvas shows: mirror of attnviz/pictures/shared/buffer.py, read by pictures/shared/buffer.js. Weights travel
// as rounded square roots; where no query sees what comes after it, that half is not sent.

import { codeOf } from "../../pictures/shared/buffer.js";

/** @typedef {{data: Uint8Array | Uint16Array | Float32Array, shape: number[], first?: number}} PackableArray */

const ALIGNMENT = 4;
const WORTH_IT = 0.75; // of the cells: with more left, matrices are sent whole

const aligned = (/** @type {number} */ bytes) => (bytes + ALIGNMENT - 1) & -ALIGNMENT;

/** The name of the type of an array's numbers. */
function dtypeOf(/** @type {PackableArray["data"]} */ data) {
  if (data instanceof Uint8Array) return "u8";
  return data instanceof Uint16Array ? "u16" : "f32";
}

/**
 * [u32 length][JSON header, padded with spaces][arrays].
 * @param {object} header
 * @param {Record<string, PackableArray>} arrays
 */
export function pack(header, arrays) {
  let offset = 0;
  const entries = Object.entries(arrays).map(([name, { data, shape, first }]) => {
    const entry = { name, dtype: dtypeOf(data), shape, ...(first === undefined ? {} : { first }), offset };
    offset += aligned(data.byteLength);
    return entry;
  });
  const text = new TextEncoder().encode(JSON.stringify({ ...header, arrays: entries }));
  const start = aligned(4 + text.length);
  const out = new Uint8Array(start + offset);
  out.fill(32, 4, start);
  new DataView(out.buffer).setUint32(0, start - 4, true);
  out.set(text, 4);
  Object.values(arrays).forEach(({ data }, place) =>
    out.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), start + entries[place].offset),
  );
  return out;
}

/** @returns {PackableArray} */
export const floats = (/** @type {number[]} */ shape, /** @type {Float32Array} */ data) => ({ data, shape });

/**
 * The square roots of weights in 8 or 16 bits.
 * @param {Float32Array} weights
 * @param {number[]} shape
 * @param {8 | 16} bits
 * @returns {PackableArray}
 */
export function roots(weights, shape, bits) {
  const data = bits === 8 ? new Uint8Array(weights.length) : new Uint16Array(weights.length);
  const dtype = dtypeOf(data);
  for (let i = 0; i < data.length; i++) data[i] = codeOf(weights[i], dtype);
  return { data, shape };
}

/**
 * All heads [layer, head, query, key] as square roots, causal ones without the zeros of their future.
 * @param {Float32Array} weights
 * @param {[layers: number, heads: number, queries: number, keys: number]} shape
 * @param {8 | 16} bits
 * @returns {PackableArray}
 */
export function heads(weights, shape, bits) {
  const [layers, perLayer, n, m] = shape;
  const codes = roots(weights, shape, bits);
  const first = firstWidth(codes.data, n, m);
  let kept = 0;
  for (let query = 0; query < n; query++) kept += Math.min(m, first + query);
  if (kept > WORTH_IT * n * m) return codes;
  const data =
    bits === 8 ? new Uint8Array(layers * perLayer * kept) : new Uint16Array(layers * perLayer * kept);
  let to = 0;
  for (let from = 0; from < weights.length; from += n * m)
    for (let query = 0; query < n; query++) {
      const at = from + query * m;
      const stop = Math.min(m, first + query);
      data.set(codes.data.subarray(at, at + stop), to);
      to += stop;
    }
  return { data, shape, first };
}

/** The least width of the first row, one more in each next row, that holds all codes above 0. */
function firstWidth(
  /** @type {Uint8Array | Uint16Array | Float32Array} */ codes,
  /** @type {number} */ n,
  /** @type {number} */ m,
) {
  let first = 0;
  for (let from = 0; from < codes.length; from += n * m)
    for (let query = 0; query < n; query++) {
      const at = from + query * m;
      let stop = m;
      while (stop > first + query && codes[at + stop - 1] === 0) stop--;
      if (stop > first + query) first = stop - query;
      if (first >= m) return m;
    }
  return first;
}
