// @ts-check
// What a head's film shows of a row, computed once: where everything stands, strips of colours, running sums. Nothing is
// derived that the panels do not show, but the sums on the way to it.

import { diverging } from "../shared/colors.js";
import { context2d } from "../shared/dom.js";
import { rowOf } from "./film_scenes.js";
import { limitOf } from "./scales.js";

/** @import { FloatArray } from "../shared/buffer.js" */
/** @import { Scene } from "../shared/scenes.js" */
/** @import { Theme } from "../shared/theme.js" */
/** @import { FilmRow, FilmStage } from "./film_scenes.js" */
/** @import { Arrays, Header } from "./types.js" */

/** @typedef {{left: number, width: number}} Column */
/**
 * The rows of a matrix as a picture of one pixel a number.
 * @typedef {{canvas: HTMLCanvasElement, cols: number}} Strips
 */
/**
 * @typedef {{header: Header, arrays: Arrays, row: FilmRow, scenes: readonly Scene<FilmStage>[], theme: Theme,
 *   width: number, height: number, label: Column, k: Column, bar: Column, v: Column, rowHeight: number,
 *   strips: {q: Strips, k: Strips, v: Strips, mixed: Strips | null, concat: Strips | null, projected: Strips | null},
 *   partial: Float32Array[], blended: Strips[]}} FilmShow
 */

export const TOP = 56; // above the keys: the query's row, then the bar that softmax divides
const BELOW = 58;
const MAX_ROW = 24;
const GAP = 14;

/**
 * Where everything stands, and what is computed once: strips of colours, the running sums.
 * @param {{header: Header, arrays: Arrays, row: FilmRow, scenes: readonly Scene<FilmStage>[], theme: Theme,
 *   width: number}} opts
 * @returns {FilmShow | null}
 */
export function makeFilmShow(opts) {
  const { arrays, row, theme, width } = opts;
  const { q, k, v, mixed, concat, projected } = arrays;
  if (!q || !k || !v) return null;
  const isNarrow = width < 620;
  const label = { left: 0, width: isNarrow ? 62 : 96 };
  const room = width - label.width - 3 * GAP;
  const k0 = { left: label.width + GAP, width: Math.floor(room * 0.33) };
  const bar = { left: k0.left + k0.width + GAP, width: Math.floor(room * 0.36) };
  const v0 = { left: bar.left + bar.width + GAP, width: Math.floor(room * 0.31) };
  const rowHeight = MAX_ROW;
  const strip = (/** @type {FloatArray} */ matrix, /** @type {number[]} */ rows) =>
    stripsOf(matrix, rows, theme.dark);
  const rowStrip = (/** @type {FloatArray | undefined} */ matrix) =>
    matrix ? strip(matrix, [row.query]) : null;
  return {
    ...opts,
    ...{ label, k: k0, bar, v: v0, rowHeight, height: TOP + rowHeight * row.keys.length + BELOW },
    strips: {
      q: strip(q, [row.query]),
      k: strip(k, row.keys),
      v: strip(v, row.keys),
      ...{ mixed: rowStrip(mixed), concat: rowStrip(concat), projected: rowStrip(projected) },
    },
    partial: row.keys.map((key) => runningSums(q, k, row.query, key)),
    blended: blends(arrays, row, theme.dark),
  };
}

/** The running sums of the products of a query and a key. */
function runningSums(
  /** @type {FloatArray} */ q,
  /** @type {FloatArray} */ k,
  /** @type {number} */ query,
  /** @type {number} */ key,
) {
  const size = q.shape[1];
  const sums = new Float32Array(size);
  let sum = 0;
  for (let i = 0; i < size; i++) {
    sum += q.data[query * size + i] * k.data[key * size + i];
    sums[i] = sum;
  }
  return sums;
}

/** The output after each key: the sum of weight × v so far, in the colours of the whole. @returns {Strips[]} */
function blends(/** @type {Arrays} */ arrays, /** @type {FilmRow} */ row, /** @type {boolean} */ dark) {
  const { v, mixed } = arrays;
  const weights = rowOf(arrays, "weights", row.query);
  if (!v || !weights) return [];
  const size = v.shape[1];
  const sum = new Float32Array(size);
  return row.keys.map((key, i) => {
    for (let c = 0; c < size; c++) sum[c] += weights[key] * v.data[key * size + c];
    const isLast = i === row.keys.length - 1;
    const whole = isLast ? rowOf(arrays, "mixed", row.query) : undefined;
    const data = /** @type {Float32Array<ArrayBuffer>} */ (new Float32Array(whole ?? sum));
    return stripsOf({ data, shape: [1, size], dtype: "f32" }, [0], dark, limitOf(mixed ?? v));
  });
}

/** Rows of a matrix, in the colours of its panel: one scale for all rows, up to `limit`. @returns {Strips} */
export function stripsOf(
  /** @type {FloatArray} */ matrix,
  /** @type {number[]} */ rows,
  /** @type {boolean} */ dark,
  limit = limitOf(matrix),
) {
  const cols = matrix.shape[1];
  const lut = diverging(dark);
  const most = limit || 1;
  const canvas = document.createElement("canvas");
  canvas.width = cols;
  canvas.height = rows.length;
  const image = new ImageData(cols, rows.length);
  const out = new Uint32Array(image.data.buffer);
  rows.forEach((row, i) => {
    const values = matrix.data.subarray(row * cols, (row + 1) * cols);
    values.forEach(
      (value, c) =>
        (out[i * cols + c] = lut[Math.round(127.5 + 127.5 * Math.max(-1, Math.min(1, value / most)))]),
    );
  });
  context2d(canvas).putImageData(image, 0, 0);
  return { canvas, cols };
}
