// @ts-check
// A horizontal bar with the colours of a scale, its ticks in numbers, and a needle at one weight.

import { colourAt, LOG_FLOOR, scaleValue } from "./colors.js";
import { fitCanvas, markDrawn, setData } from "./dom.js";
import { fmtReal } from "./fmt.js";

/** @import { Scale } from "./selection.js" */
/** @import { Theme } from "./theme.js" */

/** The ticks of each scale: as many as have room for their labels. @type {Record<Scale, number[]>} */
const TICKS = {
  linear: [0, 0.25, 0.5, 0.75, 1],
  sqrt: [0, 0.05, 0.25, 0.5, 1],
  log: [1e-4, 1e-3, 0.01, 0.1, 1],
};

/**
 * Draws a horizontal colour bar with printed ticks. For weights give `scale` and perhaps `mark`, a weight to point out;
 * for signed values give `limit`.
 * @param {HTMLCanvasElement} canvas
 * @param {{lut: Uint32Array, theme: Theme, scale?: Scale, limit?: number, mark?: number, width?: number, bar?: number,
 *   floor?: number}} opts
 */
export function drawColourBar(canvas, opts) {
  const { lut, theme, scale = "linear", limit, mark, width = 220, bar = 10, floor = LOG_FLOOR } = opts;
  const pad = 22;
  const font = 11;
  const ctx = fitCanvas(canvas, width, bar + font + 9);
  const span = width - 2 * pad;
  paintRamp(ctx, lut, theme, { x: pad, width: span, height: bar });
  if (mark !== undefined) markPlace(ctx, pad + scaleValue(mark, scale, floor) * span, bar, theme);
  setData(canvas, { x: pad, w: span, mark });
  ctx.font = `${font}px ${theme.font}`;
  ctx.fillStyle = theme.muted;
  ctx.textBaseline = "alphabetic";
  ctx.textAlign = "center";
  for (const [place, label] of limit === undefined ? weightTicks(scale, floor) : signedTicks(limit)) {
    const x = pad + place * span;
    ctx.fillRect(Math.round(x) - 0.5, bar, 1, 4);
    ctx.fillText(label, x, bar + font + 5);
  }
  markDrawn(canvas);
}

/**
 * The colours of a table from left to right, framed.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Uint32Array} lut
 * @param {Theme} theme
 * @param {{x: number, width: number, height: number}} box
 */
export function paintRamp(ctx, lut, theme, { x, width, height }) {
  for (let i = 0; i < width; i++) {
    ctx.fillStyle = colourAt(lut, Math.round((255 * i) / (width - 1)));
    ctx.fillRect(x + i, 0, i < width - 1 ? 1.5 : 1, height);
  }
  ctx.lineWidth = 1;
  ctx.strokeStyle = theme.border;
  ctx.strokeRect(x - 0.5, 0.5, width + 1, height - 1);
}

/**
 * A needle across the bar.
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} x
 * @param {number} bar
 * @param {Theme} theme
 */
function markPlace(ctx, x, bar, theme) {
  ctx.fillStyle = theme.bg;
  ctx.fillRect(x - 2.5, 0, 5, bar);
  ctx.fillStyle = theme.roles.chosen;
  ctx.fillRect(x - 1.5, 0, 3, bar + 4);
}

/** @returns {[number, string][]} */
function weightTicks(/** @type {Scale} */ scale, /** @type {number} */ floor) {
  const ticks = scale === "log" && floor < LOG_FLOOR ? [floor, 1e-4, 0.01, 1] : TICKS[scale];
  return ticks.map((w) => [
    scaleValue(w, scale, floor),
    scale === "log" && w === floor ? `≤${w}` : String(w),
  ]);
}

/** @returns {[number, string][]} */
function signedTicks(/** @type {number} */ limit) {
  return [-1, -0.5, 0, 0.5, 1].map((part) => [(part + 1) / 2, fmtReal(part * limit, 2)]);
}
