// @ts-check
// Makes the buffer of a component out of the page's arrays, each of which travels once.

import { bytesOf } from "./rebuilt.js";

/** @import { StoredArray, StoredPart } from "./index.js" */
/** @import { Page } from "./rebuilt.js" */

const ALIGNMENT = 4;
const COARSER = 257; // 65,535 ÷ 255: the step between codes of 16 bits and of 8

/**
 * The buffer of a part, as attnviz/pictures/shared/buffer.py packs it.
 * @param {StoredPart} part
 * @param {Record<string, string>} strings
 * @param {Page} page
 */
export function repack(part, strings, page) {
  let offset = 0;
  const chunks = part.arrays.map((array) => arrayBytes(array, page));
  const entries = part.arrays.map(({ name, dtype, shape, first, places }, i) => {
    const form = { ...(first === undefined ? {} : { first }), ...(places && { places }) };
    const entry = { name, dtype, shape, ...form, offset };
    offset += padded(chunks[i].length, 0);
    return entry;
  });
  const text = new TextEncoder().encode(JSON.stringify({ ...part.header, strings, arrays: entries }));
  const length = padded(text.length, 4);
  const data = new Uint8Array(4 + length + offset);
  new DataView(data.buffer).setUint32(0, length, true);
  data.fill(32, 4, 4 + length);
  data.set(text, 4);
  entries.forEach((entry, i) => data.set(chunks[i], 4 + length + entry.offset));
  return data;
}

/** A length filled up so that what follows `before` bytes and it is aligned. */
function padded(/** @type {number} */ length, /** @type {number} */ before) {
  return Math.ceil((before + length) / ALIGNMENT) * ALIGNMENT - before;
}

/** @returns {Uint8Array} */
function arrayBytes(/** @type {StoredArray} */ array, /** @type {Page} */ page) {
  const raw = bytesOf(array, page);
  if (!array.coarse) return raw;
  const codes = new Uint16Array(raw.buffer, raw.byteOffset, raw.byteLength / 2);
  const coarse = new Uint8Array(codes.length);
  for (let i = 0; i < codes.length; i++) coarse[i] = (codes[i] + (COARSER >> 1)) / COARSER; // cut to a whole number
  return coarse;
}
