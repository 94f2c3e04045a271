// @ts-check
// The cells that a mask hides: hatched in every picture of weights, so that "may not look" is not read as "looks at little".
// What may be seen is an array [layer, query, key], one layer where all are alike; none where nothing is hidden.

import { headValues } from "./buffer.js";

/** @import { PackedArray } from "./buffer.js" */

/** The layer of an array of masks that holds for a layer: the only one where all are alike. */
export function maskLayer(/** @type {PackedArray} */ { shape, shapes }, /** @type {number} */ layer) {
  return shapes || shape[0] > 1 ? layer : 0;
}

/** What every layer may see, where all are alike; else null. */
export function sameForAll(/** @type {PackedArray} */ visible) {
  return !visible.shapes && visible.shape[0] === 1 ? visible : null;
}

/** What a layer may see: its cells, row by row. */
export function visibleCells(/** @type {PackedArray} */ visible, /** @type {number} */ layer) {
  const [rows, cols] = visible.shapes?.[layer].slice(1) ?? visible.shape.slice(1);
  const from = maskLayer(visible, layer);
  const cells = visible.shapes
    ? headValues(visible, layer, 0)
    : visible.data.subarray(from * rows * cols, (from + 1) * rows * cols);
  return { cells, rows, cols };
}

/**
 * 1 for each point of a picture of rows × cols that stands for hidden cells alone, and 0 for the others.
 * @param {PackedArray} visible
 * @param {number} layer
 * @param {number} rows
 * @param {number} cols
 */
export function hiddenPoints(visible, layer, rows, cols) {
  const seen = visibleCells(visible, layer);
  const hidden = new Uint8Array(rows * cols).fill(1);
  const [down, across] = [Math.ceil(seen.rows / rows), Math.ceil(seen.cols / cols)];
  for (let row = 0, at = 0; row < seen.rows; row++) {
    const line = Math.floor(row / down) * cols;
    for (let col = 0; col < seen.cols; col++, at++)
      if (seen.cells[at]) hidden[line + Math.floor(col / across)] = 0;
  }
  return hidden;
}
