// @ts-check
// The numbers of two heads on their common axes. Mirror of attnviz/compare.py: a cell without counterpart has no
// difference, and all attention that falls on it has moved.

import { headValues, weightOf } from "../shared/buffer.js";

/** @import { FloatArray, PackedArray } from "../shared/buffer.js" */
/** @import { Slot } from "./types.js" */

/** @typedef {{layer: number, head: number}} Head */
/** The weights of one head, row by row. @typedef {{values: Float32Array, nCols: number}} HeadWeights */
/** B − A in each cell, NaN where there is no counterpart, and the largest |B − A|. */
/** @typedef {{values: Float32Array, limit: number}} Difference */

/** The weights of one head as numbers. @returns {HeadWeights} */
export function headWeights(/** @type {PackedArray} */ array, /** @type {Head} */ { layer, head }) {
  const codes = headValues(array, layer, head);
  return { values: Float32Array.from(codes, (code) => weightOf(code, array.dtype)), nCols: array.shape[3] };
}

/**
 * The weight of one side (0: A, 1: B) in a cell of the common axes; null where that side has no such cell.
 * @param {HeadWeights} weights
 * @param {0 | 1} side
 * @param {Slot} row
 * @param {Slot} col
 */
export function weightIn(weights, side, row, col) {
  return row[side] < 0 || col[side] < 0 ? null : weights.values[row[side] * weights.nCols + col[side]];
}

/**
 * B − A on the common axes.
 * @param {HeadWeights} a
 * @param {HeadWeights} b
 * @param {Slot[]} rows
 * @param {Slot[]} cols
 * @returns {Difference}
 */
export function differenceOf(a, b, rows, cols) {
  const values = new Float32Array(rows.length * cols.length);
  let limit = 0;
  let at = 0;
  for (const row of rows)
    for (const col of cols) {
      const [before, after] = [weightIn(a, 0, row, col), weightIn(b, 1, row, col)];
      const value = before === null || after === null ? NaN : after - before;
      if (Math.abs(value) > limit) limit = Math.abs(value);
      values[at++] = value;
    }
  return { values, limit };
}

/**
 * The head and the cell of the largest |B − A|, with it the largest of the median head, as control; null where none
 * differs.
 * @param {Difference[]} each layer by layer
 * @param {number} nHeads in a layer
 * @param {number} nCols
 */
export function largestOf(each, nHeads, nCols) {
  const limits = each.map(({ limit }) => limit);
  const limit = Math.max(...limits);
  if (!(limit > 0)) return null;
  const at = limits.indexOf(limit);
  const { values } = each[at];
  const cell = values.findIndex((value) => Math.abs(value) === Math.fround(limit)); // they are stored so
  const sorted = limits.toSorted((x, y) => x - y);
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  const head = { layer: Math.floor(at / nHeads), head: at % nHeads };
  return { ...head, row: Math.floor(cell / nCols), col: cell % nCols, value: values[cell], median };
}

/**
 * The share of each row's attention that moved, ½ Σ |B − A|; NaN for a row of one side only.
 * @param {HeadWeights} a
 * @param {HeadWeights} b
 * @param {Slot[]} rows
 * @param {Slot[]} cols
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

/** The shares of one head on both sides, as the library computed them. @returns {Float64Array} */
export function storedRows(/** @type {FloatArray} */ rows, /** @type {Head} */ { layer, head }) {
  const [, heads, count] = rows.shape;
  const at = (layer * heads + head) * count;
  return Float64Array.from(rows.data.subarray(at, at + count));
}

/** The mean over the rows that have a counterpart, and their number; null where none has. */
export function meanMoved(/** @type {Float64Array} */ moved) {
  const paired = moved.filter((share) => !Number.isNaN(share));
  if (!paired.length) return null;
  return { share: paired.reduce((sum, share) => sum + share, 0) / paired.length, rows: paired.length };
}

/** The rows that differ most, the first `count` of them. */
export function mostMoved(/** @type {Float64Array} */ moved, /** @type {number} */ count) {
  const rows = Array.from(moved, (share, row) => ({ row, share })).filter(({ share }) => share > 0);
  return rows.sort((x, y) => y.share - x.share).slice(0, count);
}

/** The head whose rows differ most. @returns {Head} */
export function mostMovedHead(/** @type {FloatArray} */ moved) {
  const best = moved.data.indexOf(Math.max(...moved.data));
  const heads = moved.shape[1];
  return { layer: Math.floor(best / heads), head: best % heads };
}

/**
 * The slot that holds a token of one side; null for none. `at` has the first token of each part.
 * @param {Slot[]} slots
 * @param {number[]} at
 * @param {number} token
 * @param {0 | 1} side
 */
export function slotOf(slots, at, token, side) {
  const part = at.findLastIndex((first) => first <= token);
  const index = part < 0 ? -1 : slots.findIndex((slot) => slot[side] === part);
  return index < 0 ? null : index;
}

/**
 * The nearest slot in a direction that a side (0, 1) has, or both where side is null; the same one at the edge.
 * @param {Slot[]} slots
 * @param {0 | 1 | null} side
 * @param {number} from
 * @param {number} by
 */
export function stepSlot(slots, side, from, by) {
  for (let i = from + by; i >= 0 && i < slots.length; i += by)
    if (side === null || slots[i][side] >= 0) return i;
  return from;
}

/** The part of one side in a slot of a common axis; null for none. */
export function partOf(
  /** @type {Slot[]} */ slots,
  /** @type {number | null} */ place,
  /** @type {0 | 1} */ side,
) {
  return place === null || slots[place][side] < 0 ? null : slots[place][side];
}
