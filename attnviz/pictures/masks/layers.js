// @ts-check
// The masks that are on: their text form in the address, the cells that each blocks, and the weights that follow. The
// names and the form are those of attnviz.masks.spec, the cells those of attnviz.masks; tests hold both to the library.

/** @import { Arrays, Header, ShownMask, SizedName } from "./types.js" */

/** @typedef {{blocks: boolean, top: number, left: number, bottom: number, right: number}} Stroke */
/** @typedef {{variant: number, sizes: Record<SizedName, number>, strokes: Stroke[]}} Masks */

const NOTHING = "none";
const MAX_STROKES = 64;
const MAX_SIZE = 99999;
/** @type {readonly SizedName[]} */
const SIZED = ["window", "prefix", "block"];

/** The mask as one with a size, null for the others. @returns {SizedName | null} */
export function sizedName(/** @type {string} */ name) {
  return SIZED.find((sized) => sized === name) ?? null;
}

/** The masks that the model ran with. @returns {Masks} */
export function masksOfModel(/** @type {Header} */ header) {
  const sizes = /** @type {Record<SizedName, number>} */ ({ ...header.sizes });
  return { variant: header.as_model, sizes, strokes: [] };
}

/**
 * The masks in their text form; those of the model where there is none, or nonsense.
 * @param {Header} header
 * @param {string | null} text
 * @returns {Masks}
 */
export function readMasks(header, text) {
  const masks = masksOfModel(header);
  if (!text) return masks;
  masks.variant = 0;
  for (const part of text === NOTHING ? [] : text.split(",")) {
    const [name, value = ""] = part.split("=");
    const bit = header.mask_names.findIndex((known) => known === name);
    if (bit < 0) return masksOfModel(header);
    masks.variant |= 1 << bit;
    const sized = sizedName(name);
    if (sized) masks.sizes[sized] = fittingSize(Number(value));
    if (name === "custom") masks.strokes = readStrokes(value);
  }
  return masks;
}

/** A whole number that a mask can have as its size. */
export function fittingSize(/** @type {number} */ size) {
  return Math.max(1, Math.min(MAX_SIZE, Math.round(size) || 1));
}

/** @returns {Stroke[]} */
function readStrokes(/** @type {string} */ text) {
  return [...text.matchAll(/([+-])(\d{1,5})\.(\d{1,5}):(\d{1,5})\.(\d{1,5})/g)]
    .slice(0, MAX_STROKES)
    .map(([, sign, ...corners]) => {
      const [top, left, bottom, right] = corners.map(Number);
      return { blocks: sign === "+", top, left, bottom, right };
    });
}

/** The text form of the masks; null for those that the model ran with, and for a mask that has no name. */
export function writtenMasks(/** @type {Masks} */ masks, /** @type {Header} */ header) {
  const on = header.mask_names.filter((_, bit) => masks.variant & (1 << bit));
  if (isAsModel(masks, header) || on.includes("model")) return null;
  return on.map((name) => writtenMask(name, masks)).join(",") || NOTHING;
}

function writtenMask(/** @type {ShownMask} */ name, /** @type {Masks} */ masks) {
  const sized = sizedName(name);
  if (sized) return `${name}=${masks.sizes[sized]}`;
  if (name !== "custom") return name;
  return `custom=${masks.strokes.map((s) => `${s.blocks ? "+" : "-"}${s.top}.${s.left}:${s.bottom}.${s.right}`).join("")}`;
}

/** True if these are the masks that the model ran with; the size of a mask that is off does not count. */
export function isAsModel(/** @type {Masks} */ masks, /** @type {Header} */ header) {
  const isSame = (/** @type {ShownMask} */ name, /** @type {number} */ bit) => {
    const sized = masks.variant & (1 << bit) ? sizedName(name) : null;
    return !sized || masks.sizes[sized] === header.sizes[sized];
  };
  return masks.variant === header.as_model && header.mask_names.every(isSame);
}

/** One more stroke; the oldest goes when there are too many. */
export function withStroke(/** @type {Masks} */ masks, /** @type {Stroke} */ stroke) {
  return { ...masks, strokes: [...masks.strokes, stroke].slice(-MAX_STROKES) };
}

/** How many cells come before a sentence's matrix, and its size. */
function matrixOf(/** @type {Header} */ header, /** @type {number} */ sentence) {
  const nQuery = header.tokens[sentence].length;
  const nKey = header.key_tokens[sentence].length;
  return { nQuery, nKey, at: sentence * nQuery * nKey };
}

/**
 * Bit i of each cell: the i-th mask blocks it, whether it is on or not.
 * @param {Header} header
 * @param {Arrays} arrays
 * @param {Masks} masks
 * @param {number} sentence
 */
export function blockedBits(header, arrays, masks, sentence) {
  const { nQuery, nKey, at } = matrixOf(header, sentence);
  const bits = new Uint8Array(nQuery * nKey);
  const own = arrays.model_blocks.data;
  const drawn = drawnCells(header.mask_names.includes("custom") ? masks.strokes : [], nQuery, nKey);
  const { window: reach, prefix, block } = masks.sizes;
  const pads = header.key_padding[sentence];
  /** @type {Record<ShownMask, (query: number, key: number) => boolean>} */
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
 * 1 for each cell that the strokes block.
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
 * @param {Header} header
 * @param {Arrays} arrays
 * @param {number} sentence
 * @param {Uint8Array} bits
 * @param {number} variant
 */
export function maskedWeights(header, arrays, sentence, bits, variant) {
  const { nQuery, nKey, at } = matrixOf(header, sentence);
  const scaled = arrays.scaled.data;
  const weights = new Float32Array(nQuery * nKey);
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

/**
 * The largest difference between this page's own softmax and the model's weights, under the model's own masks. Rows of
 * padding do not count.
 * @param {Header} header
 * @param {Arrays} arrays
 */
export function errorOfSoftmax(header, arrays) {
  const masks = masksOfModel(header);
  const errors = header.tokens.map((_, sentence) => {
    const bits = blockedBits(header, arrays, masks, sentence);
    const own = maskedWeights(header, arrays, sentence, bits, header.as_model);
    const model = sliceOf(arrays, "weights", sentence);
    const n = header.key_tokens[sentence].length;
    const isPadding = (/** @type {number} */ i) => header.padding[sentence][Math.floor(i / n)] === 1;
    return own.reduce((most, w, i) => (isPadding(i) ? most : Math.max(most, Math.abs(w - model[i]))), 0);
  });
  return Math.max(...errors);
}

/**
 * One sentence's matrix of an array.
 * @param {Arrays} arrays
 * @param {"weights" | "scaled"} name
 * @param {number} sentence
 */
export function sliceOf(arrays, name, sentence) {
  const { data, shape } = arrays[name];
  const size = shape[1] * shape[2];
  return data.subarray(sentence * size, (sentence + 1) * size);
}
