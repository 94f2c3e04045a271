// @ts-check
// Sums along the axes of the heatmap, as thin bars: below each column what its key receives from the rows shown, beside each
// row what of it is shown (1 unless tokens are hidden). A tick on a column's bar is what uniform attention would give:
// each row spread evenly over the keys that it can see.

import { setText } from "../shared/dom.js";
import { fill, fmtFixed } from "../shared/fmt.js";
import { weightOf } from "../shared/buffer.js";
import { isolate } from "../shared/axes.js";

export const SUMS_ROOM = 46;
const SUMS_GAP = 7;
const BAR = 34;

/** What keys receive, what rows hold, and what keys would receive from uniform attention; by place on the axes.
 * @typedef {{received: Float64Array, held: Float64Array, uniform: Float64Array}} Sums */

/**
 * Uniform attention: each row spread evenly over the keys that it can see; `visible` is null where all are.
 * @param {number} nQuery
 * @param {number} nKey
 * @param {ArrayLike<number> | null} visible
 */
export function evenWeights(nQuery, nKey, visible) {
  const even = new Float32Array(nQuery * nKey).fill(1 / nKey);
  if (visible)
    for (let query = 0; query < nQuery; query++) {
      let open = 0;
      for (let key = 0; key < nKey; key++) open += visible[query * nKey + key];
      for (let key = 0; key < nKey; key++)
        even[query * nKey + key] = open > 0 ? visible[query * nKey + key] / open : 0;
    }
  return even;
}

/**
 * The sums of a head as shown; `even` has what uniform attention gives in the same places.
 * @param {import("../shared/numbers.js").HeadData} data
 * @param {ArrayLike<number>} even
 * @returns {Sums}
 */
export function axisSums(data, even) {
  const { rows, cols, values, nKey, dtype } = data;
  const received = new Float64Array(cols.length);
  const held = new Float64Array(rows.length);
  const uniform = new Float64Array(cols.length);
  rows.forEach((query, row) =>
    cols.forEach((key, col) => {
      const weight = weightOf(values[query * nKey + key], dtype);
      received[col] += weight;
      held[row] += weight;
      uniform[col] += even[query * nKey + key];
    }),
  );
  return { received, held, uniform };
}

/**
 * Draws the bars; `rowHi` and `colHi` are emphasised.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Sums} sums
 * @param {any} geom
 * @param {import("../shared/theme.js").Theme} theme
 * @param {any} strings
 * @param {number | null} rowHi
 * @param {number | null} colHi
 */
export function drawSums(ctx, sums, geom, theme, strings, rowHi, colHi) {
  const { received, held, uniform } = sums;
  const cw = geom.w / geom.cols;
  const ch = geom.h / geom.rows;
  const thin = (/** @type {number} */ cell) => (cell >= 5 ? cell - 2 : cell);
  const right = geom.x + geom.w + SUMS_GAP;
  const below = geom.y + geom.h + SUMS_GAP;
  const most = Math.max(1e-9, ...received, ...uniform);
  ctx.fillStyle = theme.bg2;
  ctx.fillRect(right, geom.y, BAR, geom.h);
  ctx.fillRect(geom.x, below, geom.w, BAR);
  for (let row = 0; row < geom.rows; row++) {
    ctx.fillStyle = row === rowHi ? theme.accent : theme.primary;
    ctx.fillRect(right, geom.y + row * ch + (ch - thin(ch)) / 2, BAR * Math.min(1, held[row]), thin(ch));
  }
  for (let col = 0; col < geom.cols; col++) {
    ctx.fillStyle = col === colHi ? theme.accent : theme.primary;
    ctx.fillRect(geom.x + col * cw + (cw - thin(cw)) / 2, below, thin(cw), (BAR * received[col]) / most);
  }
  ctx.fillStyle = theme.text;
  for (let col = 0; col < geom.cols; col++)
    ctx.fillRect(geom.x + col * cw, below + (BAR * uniform[col]) / most - 0.75, cw, 1.5);
  ctx.font = `10.5px ${theme.font}`;
  ctx.fillStyle = theme.muted;
  ctx.textBaseline = "middle";
  ctx.textAlign = "right";
  ctx.fillText(strings.received, geom.x - 6, below + BAR / 2, geom.x - 8);
  ctx.textAlign = "center";
  ctx.fillText(strings.row_sum, right + BAR / 2, below + BAR / 2, BAR + 8);
}

/** Whether a point is on the bars of a row or of a column: {row, col: null}, {row: null, col}, or null. */
export function hitSums(/** @type {any} */ geom, /** @type {{x: number, y: number}} */ { x, y }) {
  const right = x - geom.x - geom.w;
  const below = y - geom.y - geom.h;
  const row = Math.floor(((y - geom.y) * geom.rows) / geom.h);
  const col = Math.floor(((x - geom.x) * geom.cols) / geom.w);
  if (right >= 0 && right < SUMS_ROOM && row >= 0 && row < geom.rows) return { row, col: null };
  return below >= 0 && below < SUMS_ROOM && col >= 0 && col < geom.cols ? { row: null, col } : null;
}

/**
 * The sums of the row and the column that are pointed at or pinned, in words.
 * @param {HTMLElement} node
 * @param {any} view
 * @param {Sums} sums
 * @param {number | null} row
 * @param {number | null} col
 */
export function saySums(node, view, sums, row, col) {
  const { strings, labels, keyLabels, data, approx } = view;
  const about = approx ? "≈\u2009" : "";
  const parts = [];
  if (col !== null) {
    const times = sums.uniform[col] > 0 ? `${fmtFixed(sums.received[col] / sums.uniform[col], 2)}` : "–";
    parts.push(
      fill(strings.column_readout, {
        key: isolate(keyLabels[data.cols[col]]),
        sum: about + fmtFixed(sums.received[col], 3),
        rows: data.rows.length,
        times,
        uniform: fmtFixed(sums.uniform[col], 3),
      }),
    );
  }
  if (row !== null)
    parts.push(
      fill(strings.row_readout, {
        query: isolate(labels[data.rows[row]]),
        sum: about + fmtFixed(sums.held[row], 3),
      }),
    );
  setText(node, parts.length ? parts.join(" ") : strings.sums_idle);
}
