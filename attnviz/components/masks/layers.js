// @ts-check
// The masks that are on: their text form in the address, the cells that each blocks, and the weights that follow. The
// names and the form are those of attnviz.masks.spec, the cells those of attnviz.masks; tests hold both to the library.

import { readParameter } from "../shared/selection.js";

/** @typedef {{blocks: boolean, top: number, left: number, bottom: number, right: number}} Stroke */
/** @typedef {{variant: number, sizes: Record<string, number>, strokes: Stroke[]}} Masks */

const NOTHING = "none";
const MOST_STROKES = 64;
const LARGEST_SIZE = 99999;
export const SIZED = ["window", "prefix", "block"];

/** The masks that the model ran with. @returns {Masks} */
export function masksOfModel(/** @type {any} */ header) {
  return { variant: header.as_model, sizes: { ...header.sizes }, strokes: [] };
}

/** The masks in the page's address; those of the model where there are none, or nonsense. @returns {Masks} */
export function readMasks(/** @type {any} */ header) {
  const text = readParameter("masks");
  const found = masksOfModel(header);
  if (!text) return found;
  found.variant = 0;
  for (const part of text === NOTHING ? [] : text.split(",")) {
    const [name, value = ""] = part.split("=");
    const bit = header.mask_names.indexOf(name);
    if (bit < 0) return masksOfModel(header);
    found.variant |= 1 << bit;
    if (SIZED.includes(name)) found.sizes[name] = fittingSize(Number(value));
    if (name === "custom") found.strokes = readStrokes(value);
  }
  return found;
}

/** A whole number that a mask can have as its size. */
export function fittingSize(/** @type {number} */ size) {
  return Math.max(1, Math.min(LARGEST_SIZE, Math.round(size) || 1));
}

/** @returns {Stroke[]} */
function readStrokes(/** @type {string} */ text) {
  return [...text.matchAll(/([+-])(\d{1,5})\.(\d{1,5}):(\d{1,5})\.(\d{1,5})/g)]
    .slice(0, MOST_STROKES)
    .map(([, sign, ...corners]) => {
      const [top, left, bottom, right] = corners.map(Number);
      return { blocks: sign === "+", top, left, bottom, right };
    });
}

/** The text form of the masks; null for those that the model ran with, and for a mask that has no name. */
export function writtenMasks(/** @type {Masks} */ masks, /** @type {any} */ header) {
  const on = header.mask_names.filter((_, bit) => masks.variant & (1 << bit));
  if (isAsModel(masks, header) || on.includes("model")) return null;
  return on.map((name) => writtenMask(name, masks)).join(",") || NOTHING;
}

function writtenMask(/** @type {string} */ name, /** @type {Masks} */ masks) {
  if (SIZED.includes(name)) return `${name}=${masks.sizes[name]}`;
  if (name !== "custom") return name;
  return `custom=${masks.strokes.map((s) => `${s.blocks ? "+" : "-"}${s.top}.${s.left}:${s.bottom}.${s.right}`).join("")}`;
}

/** Whether these are the masks that the model ran with; the size of a mask that is off does not count. */
export function isAsModel(/** @type {Masks} */ masks, /** @type {any} */ header) {
  const same = (name, bit) =>
    !(masks.variant & (1 << bit)) || !SIZED.includes(name) || masks.sizes[name] === header.sizes[name];
  return masks.variant === header.as_model && header.mask_names.every(same);
}

/** One more stroke; the oldest goes when there are too many. */
export function withStroke(/** @type {Masks} */ masks, /** @type {Stroke} */ stroke) {
  return { ...masks, strokes: [...masks.strokes, stroke].slice(-MOST_STROKES) };
}

/** Bit i of each cell: the i-th mask blocks it, whether it is on or not. @returns {Uint8Array} */
export function blockedBits(/** @type {any} */ view, /** @type {number} */ sentence) {
  const { header, masks, arrays } = view;
  const nQuery = header.tokens[sentence].length;
  const nKey = header.key_tokens[sentence].length;
  const bits = new Uint8Array(nQuery * nKey);
  const own = arrays.model_blocks.data;
  const at = sentence * nQuery * nKey;
  const drawn = header.mask_names.includes("custom")
    ? drawnCells(masks.strokes, nQuery, nKey)
    : new Uint8Array(0);
  const { window: reach, prefix, block } = masks.sizes;
  const pads = header.key_padding[sentence];
  /** @type {Record<string, (query: number, key: number) => boolean>} */
  const blocks = {
    padding: (_, key) => pads[key] === 1,
    causal: (query, key) => key > query,
    window: (query, key) => Math.abs(query - key) >= reach,
    prefix: (query, key) => key > query && key >= prefix,
    block: (query, key) => Math.floor(query / block) !== Math.floor(key / block),
    custom: (query, key) => drawn[query * nKey + key] === 1,
    model: (query, key) => own[at + query * nKey + key] === 1,
  };
  header.mask_names.forEach((name, bit) => {
    const hides = blocks[name];
    const flag = 1 << bit;
    for (let query = 0, i = 0; query < nQuery; query++)
      for (let key = 0; key < nKey; key++, i++) if (hides(query, key)) bits[i] |= flag;
  });
  return bits;
}

/**
 * @param {Stroke[]} strokes
 * @param {number} nQuery
 * @param {number} nKey
 */
function drawnCells(strokes, nQuery, nKey) {
  const cells = new Uint8Array(nQuery * nKey);
  for (const { blocks, top, left, bottom, right } of strokes) {
    for (let query = top; query <= Math.min(bottom, nQuery - 1); query++) {
      if (left < nKey)
        cells.fill(blocks ? 1 : 0, query * nKey + left, query * nKey + Math.min(right, nKey - 1) + 1);
    }
  }
  return cells;
}

/**
 * The softmax of each row over the cells that no mask of `variant` blocks; a row without any has weights of 0.
 * @param {any} view
 * @param {number} sentence
 * @param {Uint8Array} bits
 * @param {number} variant
 */
export function maskedWeights(view, sentence, bits, variant) {
  const { arrays, header } = view;
  const nQuery = header.tokens[sentence].length;
  const nKey = header.key_tokens[sentence].length;
  const scaled = arrays.scaled.data;
  const weights = new Float32Array(nQuery * nKey);
  const at = sentence * nQuery * nKey;
  for (let query = 0; query < nQuery; query++) {
    const from = query * nKey;
    const sink = arrays.sinks.data[sentence * nQuery + query];
    let peak = sink;
    let total = 0;
    for (let i = from; i < from + nKey; i++)
      if (!(bits[i] & variant) && scaled[at + i] > peak) peak = scaled[at + i];
    if (peak === -Infinity) continue;
    for (let i = from; i < from + nKey; i++) {
      if (bits[i] & variant) continue;
      weights[i] = Math.exp(scaled[at + i] - peak);
      total += weights[i];
    }
    total += Math.exp(sink - peak);
    for (let i = from; i < from + nKey; i++) weights[i] /= total;
  }
  return weights;
}
