// @ts-check
// Mean and maximum, cell by cell, over the heads of a layer, over the layers of a head's column, and over all heads. They
// are made of the stored codes in one pass: a maximum is exact, a mean carries no more than the rounding of the codes.
// The result is stored as the weights are, as square roots, in 16 bits: [mean | max, place, query, key].

import { headValues, scratchOf } from "../shared/buffer.js";
import { fill } from "../shared/fmt.js";

/** @import { PackedArray } from "../shared/buffer.js" */
/** @import { Arrangement } from "../shared/head_picker.js" */
/** @import { Header } from "./types.js" */

/** `place` counts the layers, then the heads' columns, then all. @typedef {{kind: "mean" | "max", place: number}} Summary */
/** @typedef {{n_layers: number, n_heads: number}} Size */

const KINDS = /** @type {const} */ (["mean", "max"]);
const MAX_CODE = 65535;

/** True unless layers of different shapes, or heads that were not kept, have no common mean. */
export function isSummed(/** @type {Header} */ { shapes, kept }) {
  return !shapes && !kept.length;
}

/** How many summaries there are of each kind. */
export function summaryPlaces(/** @type {Size} */ header) {
  return header.n_layers + header.n_heads + 1;
}

/** The summary that an extra cell of the overview stands for. @returns {Summary} */
export function summaryOf(/** @type {Size} */ header, /** @type {number} */ extra) {
  const places = summaryPlaces(header);
  return { kind: KINDS[Math.floor(extra / places)], place: extra % places };
}

/** All summaries of an array of weights [layer, head, query, key] that are stored as codes. @returns {PackedArray} */
export function summarise(/** @type {PackedArray} */ array) {
  const [layers, heads, rows, cols] = array.shape;
  const size = rows * cols;
  const places = layers + heads + 1;
  const top = array.dtype === "u8" ? 255 : MAX_CODE;
  const squares = Float64Array.from({ length: top + 1 }, (_, code) => (code / top) ** 2);
  const sums = new Float64Array(places * size);
  const most = new Uint16Array(places * size);
  const scratch = scratchOf(array);
  for (let layer = 0; layer < layers; layer++)
    for (let head = 0; head < heads; head++) {
      const values = headValues(array, layer, head, scratch);
      const inLayer = layer * size;
      const inColumn = (layers + head) * size;
      for (let i = 0; i < size; i++) {
        const code = values[i];
        sums[inLayer + i] += squares[code];
        sums[inColumn + i] += squares[code];
        if (code > most[inLayer + i]) most[inLayer + i] = code;
        if (code > most[inColumn + i]) most[inColumn + i] = code;
      }
    }
  const all = (places - 1) * size;
  for (let layer = 0; layer < layers; layer++)
    for (let i = 0; i < size; i++) {
      sums[all + i] += sums[layer * size + i];
      if (most[layer * size + i] > most[all + i]) most[all + i] = most[layer * size + i];
    }
  const counts = Array.from({ length: places }, (_, place) => countOf(place, layers, heads));
  return { data: encode(sums, most, counts, MAX_CODE / top), shape: [2, places, rows, cols], dtype: "u16" };
}

/** How many heads a summary is made of. */
function countOf(/** @type {number} */ place, /** @type {number} */ layers, /** @type {number} */ heads) {
  if (place < layers) return heads;
  return place < layers + heads ? layers : layers * heads;
}

/**
 * Sums as means and maxima, in codes of 16 bits.
 * @param {Float64Array} sums
 * @param {Uint16Array} most
 * @param {number[]} counts of each place
 * @param {number} widen from the codes of the weights
 */
function encode(sums, most, counts, widen) {
  const data = new Uint16Array(2 * sums.length);
  const size = sums.length / counts.length;
  for (let i = 0; i < sums.length; i++) {
    data[i] = Math.round(MAX_CODE * Math.sqrt(sums[i] / counts[Math.floor(i / size)]));
    data[sums.length + i] = most[i] * widen;
  }
  return data;
}

/** The overview with its summaries: mean and maximum end each row and each column. @returns {Arrangement} */
export function summarisedRows(/** @type {Arrangement} */ rows, /** @type {Size} */ header) {
  const { n_layers: layers, n_heads: heads } = header;
  const first = layers * heads;
  const places = summaryPlaces(header);
  const all = places - 1;
  const columns = (/** @type {number} */ from) =>
    Array.from({ length: heads }, (_, head) => from + layers + head);
  return [
    ...rows.map((row, layer) => [...row, first + layer, first + places + layer]),
    [...columns(first), first + all, null],
    [...columns(first + places), null, first + places + all],
  ];
}

/** The name of a summary, and a sentence on what it is. */
export function summaryText(/** @type {Header} */ header, /** @type {Summary} */ { kind, place }) {
  const { strings } = header;
  const { label, what } = summedHeads(header, place);
  const word = kind === "mean" ? strings.mean : strings.max;
  const template = kind === "mean" ? strings.mean_says : strings.max_says;
  return { name: `${label} ${word}`.trim(), sentence: fill(template, { what }) };
}

/** The heads that a place sums up: a label and words. */
function summedHeads(
  /** @type {Header} */ { strings, n_layers: layers, n_heads: heads },
  /** @type {number} */ place,
) {
  const head = place - layers;
  if (place < layers)
    return { label: `L${place}`, what: fill(strings.of_layer, { layer: place, count: heads }) };
  if (head < heads) return { label: `H${head}`, what: fill(strings.of_column, { head, count: layers }) };
  return { label: "", what: fill(strings.of_all, { count: layers * heads }) };
}
