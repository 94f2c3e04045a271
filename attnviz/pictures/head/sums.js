// @ts-check
// Sums along the axes of the heatmap, as thin bars: below each column what its key receives from the rows shown, beside each
// row what of it is shown (1 unless tokens are hidden). A tick on a column's bar is what uniform attention would give:
// each row spread evenly over the keys that it can see.

import { isolate } from "../shared/axes.js";
import { weightOf } from "../shared/buffer.js";
import { setText } from "../shared/dom.js";
import { fill, fmtFixed } from "../shared/fmt.js";

/** @import { Geom } from "../shared/matrix.js" */
/** @import { HeadData } from "../shared/numbers.js" */
/** @import { View } from "./view.js" */

/**
 * What keys receive, what rows hold, and what keys would receive from uniform attention; by place on the axes.
 * @typedef {{received: Float64Array, held: Float64Array, uniform: Float64Array}} Sums
 */
/** A row or a column on the axes, or both, or none. @typedef {{row: number | null, col: number | null}} AxisPlace */

export const SUMS_ROOM = 46;
const GAP_PX = 7;
const BAR_PX = 34;

/**
 * Uniform attention: each row spread evenly over the keys that it can see; `visible` is null where all are.
 * @param {number} nQuery
 * @param {number} nKey
 * @param {ArrayLike<number> | null} visible
 */
export function evenWeights(nQuery, nKey, visible) {
  const even = new Float32Array(nQuery * nKey).fill(1 / nKey);
  if (!visible) return even;
  for (let query = 0; query < nQuery; query++) {
    const at = query * nKey;
    let open = 0;
    for (let key = 0; key < nKey; key++) open += visible[at + key];
    for (let key = 0; key < nKey; key++) even[at + key] = open > 0 ? visible[at + key] / open : 0;
  }
  return even;
}

/**
 * The sums of a head as shown; `even` has what uniform attention gives in the same places.
 * @param {HeadData} data
 * @param {ArrayLike<number>} even
 * @returns {Sums}
 */
export function axisSums({ rows, cols, values, nKey, dtype }, even) {
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
 * Draws the bars; those of `at` are emphasised.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Sums} sums
 * @param {Geom} geom
 * @param {View} view
 * @param {AxisPlace} at
 */
export function drawSums(ctx, sums, geom, { theme, header }, at) {
  const { received, held, uniform } = sums;
  const cw = geom.w / geom.cols;
  const ch = geom.h / geom.rows;
  const thin = (/** @type {number} */ cell) => (cell >= 5 ? cell - 2 : cell);
  const right = geom.x + geom.w + GAP_PX;
  const below = geom.y + geom.h + GAP_PX;
  const most = Math.max(1e-9, ...received, ...uniform);
  ctx.fillStyle = theme.bg2;
  ctx.fillRect(right, geom.y, BAR_PX, geom.h);
  ctx.fillRect(geom.x, below, geom.w, BAR_PX);
  held.forEach((sum, row) => {
    ctx.fillStyle = row === at.row ? theme.roles.query : theme.primary;
    ctx.fillRect(right, geom.y + row * ch + (ch - thin(ch)) / 2, BAR_PX * Math.min(1, sum), thin(ch));
  });
  received.forEach((sum, col) => {
    ctx.fillStyle = col === at.col ? theme.roles.key : theme.primary;
    ctx.fillRect(geom.x + col * cw + (cw - thin(cw)) / 2, below, thin(cw), (BAR_PX * sum) / most);
  });
  ctx.fillStyle = theme.text;
  uniform.forEach((sum, col) =>
    ctx.fillRect(geom.x + col * cw, below + (BAR_PX * sum) / most - 0.75, cw, 1.5),
  );
  ctx.font = `10.5px ${theme.font}`;
  ctx.fillStyle = theme.muted;
  ctx.textBaseline = "middle";
  ctx.textAlign = "right";
  ctx.fillText(header.strings.received, geom.x - 6, below + BAR_PX / 2, geom.x - 8);
  ctx.textAlign = "center";
  ctx.fillText(header.strings.row_sum, right + BAR_PX / 2, below + BAR_PX / 2, BAR_PX + 8);
}

/** The row or the column whose bar lies under a point, or null. @returns {AxisPlace | null} */
export function hitSums(/** @type {Geom} */ geom, /** @type {{x: number, y: number}} */ { x, y }) {
  const right = x - geom.x - geom.w;
  const below = y - geom.y - geom.h;
  const row = Math.floor(((y - geom.y) * geom.rows) / geom.h);
  const col = Math.floor(((x - geom.x) * geom.cols) / geom.w);
  if (right >= 0 && right < SUMS_ROOM && row >= 0 && row < geom.rows) return { row, col: null };
  return below >= 0 && below < SUMS_ROOM && col >= 0 && col < geom.cols ? { row: null, col } : null;
}

/**
 * Writes the sums of a row and a column in words.
 * @param {HTMLElement} node
 * @param {View} view
 * @param {Sums} sums
 * @param {AxisPlace} at
 */
export function saySums(node, view, sums, { row, col }) {
  const { strings } = view.header;
  const about = view.approximate ? "≈\u2009" : "";
  const sentences = [];
  if (col !== null) sentences.push(columnSentence(view, sums, col, about));
  if (row !== null) {
    const query = isolate(view.axes.query.labels[view.data.rows[row]]);
    sentences.push(fill(strings.row_readout, { query, sum: about + fmtFixed(sums.held[row], 3) }));
  }
  setText(node, sentences.join(" ") || strings.sums_idle, !sentences.length);
}

/**
 * @param {View} view
 * @param {Sums} sums
 * @param {number} col
 * @param {string} about a sign for numbers that came through 8 bits
 */
function columnSentence({ header, axes, data }, { received, uniform }, col, about) {
  return fill(header.strings.column_readout, {
    key: isolate(axes.key.labels[data.cols[col]]),
    sum: about + fmtFixed(received[col], 3),
    rows: data.rows.length,
    times: uniform[col] > 0 ? fmtFixed(received[col] / uniform[col], 2) : "–",
    uniform: fmtFixed(uniform[col], 3),
  });
}
