// @ts-check
// The numbers of two heads on their common axes. Mirror of attnviz/compare/pairing.py: a slot is [part of A, part of B, equal],
// -1 where a side has none; a cell without counterpart has no difference, and all attention that falls on it has moved.

import { headValues, weightOf } from "../shared/buffer.js";

/** @typedef {[number, number, number]} SlotRow */
/** @typedef {{values: Float32Array, nCols: number}} HeadWeights */
/** @typedef {{row: number | null, col: number | null}} SlotCell */

/**
 * The weights of one head as numbers.
 * @param {import("../shared/buffer.js").PackedArray} array
 * @param {{layer: number, head: number}} place
 * @returns {HeadWeights}
 */
export function headWeights(array, place) {
  const codes = headValues(array, place.layer, place.head);
  return { values: Float32Array.from(codes, (code) => weightOf(code, array.dtype)), nCols: array.shape[3] };
}

/**
 * Weight of one side (0: A, 1: B) in a cell of the common axes; null where that side has no such cell.
 * @param {HeadWeights} head
 * @param {0 | 1} side
 * @param {SlotRow} row
 * @param {SlotRow} col
 */
export function weightIn(head, side, row, col) {
  return row[side] < 0 || col[side] < 0 ? null : head.values[row[side] * head.nCols + col[side]];
}

/**
 * B − A on the common axes, NaN where there is no counterpart, and the largest |B − A|.
 * @param {HeadWeights} a
 * @param {HeadWeights} b
 * @param {SlotRow[]} rows
 * @param {SlotRow[]} cols
 */
export function differenceOf(a, b, rows, cols) {
  const values = new Float32Array(rows.length * cols.length);
  let limit = 0;
  let at = 0;
  for (const row of rows)
    for (const col of cols) {
      const one = weightIn(a, 0, row, col);
      const other = weightIn(b, 1, row, col);
      const value = one === null || other === null ? NaN : other - one;
      if (Math.abs(value) > limit) limit = Math.abs(value);
      values[at++] = value;
    }
  return { values, limit };
}

/**
 * The share of each row's attention that moved, ½ Σ |B − A|; NaN for a row of one side only.
 * @param {HeadWeights} a
 * @param {HeadWeights} b
 * @param {SlotRow[]} rows
 * @param {SlotRow[]} cols
 * @returns {Float64Array}
 */
export function movedRows(a, b, rows, cols) {
  return Float64Array.from(rows, (row) => {
    if (row[0] < 0 || row[1] < 0) return NaN;
    let sum = 0;
    for (const col of cols)
      sum += Math.abs((weightIn(b, 1, row, col) ?? 0) - (weightIn(a, 0, row, col) ?? 0));
    return sum / 2;
  });
}

/** The same for one head on both sides, as the library computed it. @returns {Float64Array} */
export function givenRows(
  /** @type {import("../shared/buffer.js").PackedArray} */ rows,
  /** @type {{layer: number, head: number}} */ { layer, head },
) {
  const [, heads, count] = rows.shape;
  const at = (layer * heads + head) * count;
  return Float64Array.from(rows.data.subarray(at, at + count));
}

/** Mean over the rows that have a counterpart; null where none has. */
export function meanMoved(/** @type {Float64Array} */ moved) {
  const paired = moved.filter((value) => !Number.isNaN(value));
  return paired.length
    ? { share: paired.reduce((sum, value) => sum + value, 0) / paired.length, rows: paired.length }
    : null;
}

/** The rows that differ most, the first ones: [{row, share}]. */
export function mostMoved(/** @type {Float64Array} */ moved, /** @type {number} */ count) {
  const found = Array.from(moved, (share, row) => ({ row, share })).filter(({ share }) => share > 0);
  return found.sort((x, y) => y.share - x.share).slice(0, count);
}

/** The head whose rows differ most. */
export function mostMovedHead(/** @type {import("../shared/buffer.js").PackedArray} */ moved) {
  const best = moved.data.indexOf(Math.max(...moved.data));
  const heads = moved.shape[1];
  return { layer: Math.floor(best / heads), head: best % heads };
}

/**
 * The slot that holds a token of one side; null for none. `at`: first token of each part.
 * @param {SlotRow[]} slots
 * @param {number[]} at
 * @param {number | null} token
 * @param {0 | 1} [side]
 */
export function slotOf(slots, at, token, side = 0) {
  if (token === null) return null;
  let part = -1;
  at.forEach((first, i) => {
    if (first <= token) part = i;
  });
  const found = slots.findIndex((slot) => slot[side] === part && part >= 0);
  return found < 0 ? null : found;
}

/**
 * The nearest slot in a direction that a side (0, 1) has, or both where side is null; the same one at the edge.
 * @param {SlotRow[]} slots
 * @param {0 | 1 | null} side
 * @param {number} from
 * @param {number} by
 */
export function stepSlot(slots, side, from, by) {
  for (let i = from + by; i >= 0 && i < slots.length; i += by)
    if (side === null || slots[i][side] >= 0) return i;
  return from;
}
