// @ts-check
// The weights of all heads, which for a long text come later than their small pictures: one head's are there at once, and
// of each head the largest of every few weights in both directions. No such maximum is read as a weight.

import { cellsAt, headValues, isStored, scratchOf } from "../shared/buffer.js";

/** @import { PackedArray, Values } from "../shared/buffer.js" */
/** @import { Rest } from "../shared/rest.js" */
/** @import { Arrays, Header } from "./types.js" */

/**
 * `weights` has zeros where a head `has` not come; `squares` is what small pictures are made of, `side` how many weights
 * share a point of them in each direction. `largestOf` spreads the points of a head over its cells.
 * @typedef {{weights: PackedArray, squares: PackedArray, side: number, has: (layer: number, head: number) => boolean,
 *   isWhole: () => boolean, take: (rest: Rest) => void, largestOf: (layer: number, head: number) => Values}} Whole
 */

/** What there is when the data come. @returns {Whole} */
export function makeWhole(/** @type {Header} */ header, /** @type {Arrays} */ arrays) {
  const { first, n_heads: heads, n_query: rows, n_key: cols } = header;
  if (!first) {
    const { weights } = arrays;
    const all = { weights, squares: weights, side: 1, has: () => true, isWhole: () => true, take: () => {} };
    return { ...all, largestOf: (layer, head) => headValues(weights, layer, head) };
  }
  const size = rows * cols;
  const squares = arrays["first.largest"];
  const places = squares.places && new Map([...squares.places.keys()].map((place, i) => [place, i * size]));
  const count = places?.size ?? header.n_layers * heads;
  const data = new Uint8Array(count * size);
  /** @type {PackedArray} */
  const weights = {
    ...{ data, shape: [header.n_layers, heads, rows, cols], dtype: "u8" },
    ...(places && { places }),
  };
  const come = new Set();
  const put = (/** @type {number} */ layer, /** @type {number} */ head, /** @type {Values} */ values) => {
    const at = cellsAt(weights, layer, head);
    if (at === null) return;
    data.set(values, at);
    come.add(layer * heads + head);
  };
  put(first.layer, first.head, headValues(arrays.weights, 0, 0));
  return {
    weights,
    squares,
    side: first.side,
    has: (layer, head) => come.has(layer * heads + head),
    isWhole: () => come.size === count,
    take({ weights: part, first_layer: from }) {
      if (!part) return;
      const scratch = scratchOf(part);
      for (let layer = 0; layer < part.shape[0]; layer++)
        for (let head = 0; head < heads; head++)
          if (isStored(part, layer, head)) put(from + layer, head, headValues(part, layer, head, scratch));
    },
    largestOf(layer, head) {
      const points = headValues(squares, layer, head);
      const across = squares.shape[3];
      const at = Uint32Array.from({ length: cols }, (_, col) => Math.floor(col / first.side));
      const values = new Uint8Array(size);
      for (let row = 0, i = 0; row < rows; row++) {
        const line = Math.floor(row / first.side) * across;
        for (let col = 0; col < cols; col++) values[i++] = points[line + at[col]];
      }
      return values;
    },
  };
}
