// @ts-check
// Mean and maximum, cell by cell, over the heads of a layer, over the layers of a head's column, and over all heads. They
// are made of the stored codes in one pass: a maximum is exact, a mean carries no more than the rounding of the codes.
// The result is stored as the weights are, as square roots, in 16 bits: [mean | max, place, query, key].

import { headValues, scratchOf } from "../shared/buffer.js";
import { fill } from "../shared/fmt.js";

/** @typedef {import("../shared/buffer.js").PackedArray} PackedArray */
/** `place`: the layers, then the heads' columns, then all. @typedef {{kind: "mean" | "max", place: number}} Summary */

const KINDS = /** @type {const} */ (["mean", "max"]);
const TOP = { u8: 255, u16: 65535 };

/** How many summaries there are of each kind. */
export function summaryPlaces(/** @type {{n_layers: number, n_heads: number}} */ header) {
  return header.n_layers + header.n_heads + 1;
}

/**
 * The summary that an extra cell of the overview stands for.
 * @param {{n_layers: number, n_heads: number}} header
 * @param {number} extra
 * @returns {Summary}
 */
export function summaryOf(header, extra) {
  const places = summaryPlaces(header);
  return { kind: KINDS[Math.floor(extra / places)], place: extra % places };
}

/** All summaries of an array of weights [layer, head, query, key]. @returns {PackedArray} */
export function summarise(/** @type {PackedArray} */ array) {
  const [layers, heads, rows, cols] = array.shape;
  const size = rows * cols;
  const places = layers + heads + 1;
  const top = TOP[/** @type {"u8" | "u16"} */ (array.dtype)];
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
  return {
    data: stored(sums, most, layers, heads, size, 65535 / top),
    shape: [2, places, rows, cols],
    dtype: "u16",
  };
}

/**
 * Sums as means and maxima, in codes of 16 bits.
 * @param {Float64Array} sums
 * @param {Uint16Array} most
 * @param {number} layers
 * @param {number} heads
 * @param {number} size
 * @param {number} widen
 */
function stored(sums, most, layers, heads, size, widen) {
  const data = new Uint16Array(2 * sums.length);
  for (let i = 0; i < sums.length; i++) {
    const place = Math.floor(i / size);
    const count = place < layers ? heads : place < layers + heads ? layers : layers * heads;
    data[i] = Math.round(65535 * Math.sqrt(sums[i] / count));
    data[sums.length + i] = most[i] * widen;
  }
  return data;
}

/**
 * The overview with its summaries: mean and maximum end each row and each column.
 * @param {import("../shared/controls.js").Arrangement} rows
 * @param {{n_layers: number, n_heads: number}} header
 * @returns {import("../shared/controls.js").Arrangement}
 */
export function summarisedRows(rows, header) {
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

/** What a summary is called and what it is, in words. */
export function summaryText(/** @type {any} */ header, /** @type {Summary} */ { kind, place }) {
  const { strings, n_layers: layers, n_heads: heads } = header;
  const head = place - layers;
  const word = kind === "mean" ? strings.mean : strings.max;
  const says = kind === "mean" ? strings.mean_says : strings.max_says;
  const of =
    place < layers
      ? [`L${place}`, fill(strings.of_layer, { layer: place, count: heads })]
      : head < heads
        ? [`H${head}`, fill(strings.of_column, { head, count: layers })]
        : ["", fill(strings.of_all, { count: layers * heads })];
  return { name: `${of[0]} ${word}`.trim(), sentence: fill(says, { what: of[1] }) };
}
