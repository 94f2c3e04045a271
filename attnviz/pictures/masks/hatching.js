// @ts-check
// Blocked cells drawn as blocked: one hatch direction and colour per mask, crossed where two masks block.
// In: the bit mask of every cell (bit i: the i-th mask blocks it) and which masks are switched on.

import { Path } from "../shared/path.js";

/** @import { Geom } from "../shared/matrix.js" */
/** @import { Theme } from "../shared/theme.js" */

const SPACING_PX = 6;

/** Colours of the masks in order; the direction of their hatch alternates. */
export function maskColours(/** @type {Theme} */ theme) {
  return theme.dark
    ? ["#ffb454", "#b9a5ff", "#7fd6c2", "#ff8fa3", "#8fd3ff", "#d9e06a"]
    : ["#9c4a00", "#5a3fb0", "#00695c", "#b0003a", "#005a9c", "#5f6b00"];
}

/**
 * Hatches every cell that a switched-on mask blocks.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Geom} geom
 * @param {ArrayLike<number>} bits
 * @param {number} variant bits of the masks that are on
 * @param {Theme} theme
 */
export function hatchMasks(ctx, geom, bits, variant, theme) {
  const all = pathOf(geom, bits, variant);
  if (!all) return;
  ctx.fillStyle = theme.bg2;
  ctx.fill(all);
  maskColours(theme).forEach((colour, bit) => {
    const path = variant & (1 << bit) ? pathOf(geom, bits, 1 << bit) : null;
    if (path) hatchPath(ctx, path, geom, colour, bit);
  });
}

/**
 * The cells whose bits meet `wanted`, runs of a row as one rectangle; null without any.
 * @param {Geom} geom
 * @param {ArrayLike<number>} bits
 * @param {number} wanted
 */
function pathOf(geom, bits, wanted) {
  const path = new Path();
  const cw = geom.w / geom.cols;
  const ch = geom.h / geom.rows;
  let hasHit = false;
  for (let row = 0; row < geom.rows; row++) {
    for (let col = 0, start = -1; col <= geom.cols; col++) {
      const hit = col < geom.cols && (bits[row * geom.cols + col] & wanted) !== 0;
      if (hit && start < 0) start = col;
      if (hit || start < 0) continue;
      path.rect(geom.x + start * cw, geom.y + row * ch, (col - start) * cw, ch);
      hasHit = true;
      start = -1;
    }
  }
  return hasHit ? path : null;
}

/**
 * Parallel lines inside a path, in four directions in turn: rising, falling, level, upright.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Path} path
 * @param {{x: number, y: number, w: number, h: number}} box
 * @param {string} colour
 * @param {number} bit
 */
export function hatchPath(ctx, path, box, colour, bit) {
  const { x, y, w, h } = box;
  ctx.save();
  ctx.clip(path);
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.2;
  ctx.globalAlpha = 0.8;
  ctx.beginPath();
  const level = bit % 4 === 2;
  const upright = bit % 4 === 3;
  for (let d = level || upright ? SPACING_PX / 2 : -h; d < (level ? h : w); d += SPACING_PX) {
    if (level) drawLine(ctx, x, y + d, x + w, y + d);
    else if (upright) drawLine(ctx, x + d, y, x + d, y + h);
    else drawLine(ctx, x + d, bit % 2 ? y : y + h, x + d + h, bit % 2 ? y + h : y);
  }
  ctx.stroke();
  ctx.restore();
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} x1
 * @param {number} y1
 * @param {number} x2
 * @param {number} y2
 */
function drawLine(ctx, x1, y1, x2, y2) {
  ctx.moveTo(x1, y1);
  ctx.lineTo(x2, y2);
}
