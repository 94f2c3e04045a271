// @ts-check
// One matrix as crisp cells. The cells are written into an image of one pixel per cell, then scaled without
// smoothing; where there are more cells than device pixels the strongest cell of each pixel wins, so that
// a single peak never vanishes. Cells that a mask blocks are hatched.

import { withAlpha } from "./theme.js";
import { context2d, pixelRatio } from "./dom.js";
import { Path } from "./path.js";

/** @import { Theme } from "./theme.js" */

/** @typedef {{x: number, y: number, w: number, h: number, rows: number, cols: number}} Geom */
/**
 * `levels` turns a stored code into a colour index; `toLevel` does so for floats (-1 = leave the cell empty).
 * `rowIndex`/`colIndex` pick the rows and columns shown; `stride` is the length of a stored row.
 * @typedef {{values: ArrayLike<number>, rows: number, cols: number, lut: Uint32Array, levels?: Uint8Array,
 *   toLevel?: (value: number) => number, signed?: boolean, offset?: number, stride?: number, rowIndex?: ArrayLike<number>,
 *   colIndex?: ArrayLike<number>, blocked?: ArrayLike<number>, theme?: Theme, grid?: boolean}} Matrix
 */

/** Draws a matrix into a rectangle of a context that works in CSS pixels. */
export function drawMatrix(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {Matrix & Geom} */ spec) {
  const { x, y, w, h, rows, cols } = spec;
  if (!rows || !cols) return;
  const ratio = pixelRatio();
  const pw = Math.min(cols, Math.max(1, Math.floor(w * ratio)));
  const ph = Math.min(rows, Math.max(1, Math.floor(h * ratio)));
  const image = new ImageData(pw, ph);
  paintLevels(spec, new Uint32Array(image.data.buffer), pw, ph);
  const scratch = scratchCanvas(pw, ph);
  scratch.ctx.putImageData(image, 0, 0);
  ctx.imageSmoothingEnabled = false;
  ctx.drawImage(scratch.canvas, 0, 0, pw, ph, x, y, w, h);
  if (spec.blocked && spec.theme) hatchBlocked(ctx, { ...spec, blocked: spec.blocked, theme: spec.theme });
  if (spec.grid && spec.theme && Math.min(w / cols, h / rows) >= 9) ruleCells(ctx, spec, spec.theme.bg);
}

/**
 * Writes packed colours of a matrix, pooled to pw×ph pixels, into `out` (rows of `pitch` pixels from `at`).
 * @param {Matrix} spec
 * @param {Uint32Array} out
 * @param {number} pw
 * @param {number} ph
 * @param {number} [pitch]
 * @param {number} [at]
 */
export function paintLevels(spec, out, pw, ph, pitch = pw, at = 0) {
  const { values, rows, cols, lut, levels, offset = 0, stride = cols, rowIndex, colIndex } = spec;
  if (pw < cols || ph < rows) return paintPooled(spec, out, pw, ph, pitch, at);
  const toLevel = spec.toLevel ?? ((v) => v);
  for (let r = 0; r < rows; r++) {
    const base = offset + (rowIndex ? rowIndex[r] : r) * stride;
    const line = at + r * pitch;
    for (let c = 0; c < cols; c++) {
      const value = values[base + (colIndex ? colIndex[c] : c)];
      const level = levels ? levels[value] : toLevel(value);
      if (level >= 0) out[line + c] = lut[level];
    }
  }
}

/**
 * As paintLevels when cells outnumber pixels: of the cells in a pixel the largest (signed: the farthest from 0) wins.
 * @param {Matrix} spec
 * @param {Uint32Array} out
 * @param {number} pw
 * @param {number} ph
 * @param {number} pitch
 * @param {number} at
 */
function paintPooled(spec, out, pw, ph, pitch, at) {
  if (spec.levels && !spec.rowIndex && !spec.colIndex) poolCodes(spec, spec.levels, out, pw, ph, pitch, at);
  else poolAny(spec, out, pw, ph, pitch, at);
}

/**
 * Codes of all rows and columns: a walk over a text of 512 tokens passes 38 million of them.
 * @param {Matrix} spec
 * @param {Uint8Array} levels
 * @param {Uint32Array} out
 * @param {number} pw
 * @param {number} ph
 * @param {number} pitch
 * @param {number} at
 */
function poolCodes(spec, levels, out, pw, ph, pitch, at) {
  const { values, rows, cols, lut, offset = 0, stride = cols } = spec;
  const best = new Uint16Array(pw * ph);
  const starts = Uint32Array.from({ length: pw + 1 }, (_, x) => Math.ceil((x * cols) / pw));
  for (let r = 0; r < rows; r++) {
    const base = offset + r * stride;
    const line = Math.floor((r * ph) / rows) * pw;
    for (let x = 0; x < pw; x++) {
      let most = best[line + x];
      for (let c = base + starts[x], end = base + starts[x + 1]; c < end; c++)
        if (values[c] > most) most = values[c];
      best[line + x] = most;
    }
  }
  for (let y = 0; y < ph; y++)
    for (let x = 0; x < pw; x++) out[at + y * pitch + x] = lut[levels[best[y * pw + x]]];
}

/**
 * @param {Matrix} spec
 * @param {Uint32Array} out
 * @param {number} pw
 * @param {number} ph
 * @param {number} pitch
 * @param {number} at
 */
function poolAny(spec, out, pw, ph, pitch, at) {
  const {
    values,
    rows,
    cols,
    lut,
    levels,
    signed = false,
    offset = 0,
    stride = cols,
    rowIndex,
    colIndex,
  } = spec;
  const toLevel = spec.toLevel ?? ((v) => v);
  const rank = (/** @type {number} */ level) => (signed ? Math.abs(level - 127.5) : level);
  const best = new Int32Array(pw * ph).fill(-1);
  const px = Uint32Array.from({ length: cols }, (_, c) => Math.floor((c * pw) / cols));
  for (let r = 0; r < rows; r++) {
    const base = offset + (rowIndex ? rowIndex[r] : r) * stride;
    const line = Math.floor((r * ph) / rows) * pw;
    for (let c = 0; c < cols; c++) {
      const value = values[base + (colIndex ? colIndex[c] : c)];
      const i = line + px[c];
      if (levels) {
        if (value > best[i]) best[i] = value;
        continue;
      }
      const level = toLevel(value);
      if (level >= 0 && (best[i] < 0 || rank(level) > rank(best[i]))) best[i] = level;
    }
  }
  for (let y = 0; y < ph; y++)
    for (let x = 0; x < pw; x++) {
      const found = best[y * pw + x];
      if (found >= 0) out[at + y * pitch + x] = lut[levels ? levels[found] : found];
    }
}

/** @type {{canvas: HTMLCanvasElement, ctx: CanvasRenderingContext2D} | null} */
let scratch = null;

/** A hidden canvas of at least w×h, kept between paints. */
function scratchCanvas(/** @type {number} */ w, /** @type {number} */ h) {
  if (!scratch) {
    const canvas = document.createElement("canvas");
    scratch = { canvas, ctx: context2d(canvas) };
  }
  if (scratch.canvas.width < w) scratch.canvas.width = w;
  if (scratch.canvas.height < h) scratch.canvas.height = h;
  scratch.ctx.clearRect(0, 0, w, h);
  return scratch;
}

/**
 * Hatches every cell whose `blocked` is not 0; runs of cells in a row share one rectangle.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Pick<Matrix, "stride" | "offset" | "rowIndex" | "colIndex"> & Geom & {blocked: ArrayLike<number>, theme: Theme}} spec
 * @param {number} [step] from line to line, in pixels across
 */
export function hatchBlocked(ctx, spec, step) {
  const { rows, cols, stride = cols, offset = 0, rowIndex, colIndex, blocked, theme } = spec;
  const cw = spec.w / cols;
  const ch = spec.h / rows;
  const path = new Path();
  let hasHit = false;
  for (let r = 0; r < rows; r++) {
    const base = offset + (rowIndex ? rowIndex[r] : r) * stride;
    for (let c = 0, start = -1; c <= cols; c++) {
      const hit = c < cols && blocked[base + (colIndex ? colIndex[c] : c)] !== 0;
      if (hit && start < 0) start = c;
      if (!hit && start >= 0) {
        path.rect(spec.x + start * cw, spec.y + r * ch, (c - start) * cw, ch);
        hasHit = true;
        start = -1;
      }
    }
  }
  if (hasHit) hatch(ctx, path, spec, theme, step);
}

/**
 * Fills a path with diagonal lines over the background colour.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Path} path
 * @param {{x: number, y: number, w: number, h: number}} box
 * @param {Theme} theme
 * @param {number} [step] from line to line, in pixels across
 */
export function hatch(ctx, path, box, theme, step = 6) {
  ctx.save();
  ctx.fillStyle = theme.bg2;
  ctx.fill(path);
  ctx.clip(path);
  ctx.strokeStyle = theme.muted;
  ctx.globalAlpha = 0.55;
  ctx.lineWidth = 1;
  ctx.beginPath();
  for (let d = -box.h; d < box.w; d += step) {
    ctx.moveTo(box.x + d, box.y + box.h);
    ctx.lineTo(box.x + d + box.h, box.y);
  }
  ctx.stroke();
  ctx.restore();
}

/**
 * Hairlines between cells.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Geom} geom
 * @param {string} colour
 */
function ruleCells(ctx, geom, colour) {
  const cw = geom.w / geom.cols;
  const ch = geom.h / geom.rows;
  ctx.fillStyle = colour;
  for (let c = 1; c < geom.cols; c++) ctx.fillRect(geom.x + c * cw - 0.5, geom.y, 1, geom.h);
  for (let r = 1; r < geom.rows; r++) ctx.fillRect(geom.x, geom.y + r * ch - 0.5, geom.w, 1);
}

/**
 * The cell under a point, or null outside.
 * @param {number} x
 * @param {number} y
 * @param {Geom} geom
 * @returns {{row: number, col: number} | null}
 */
export function cellAt(x, y, geom) {
  if (x < geom.x || y < geom.y || x >= geom.x + geom.w || y >= geom.y + geom.h) return null;
  return {
    row: Math.floor(((y - geom.y) * geom.rows) / geom.h),
    col: Math.floor(((x - geom.x) * geom.cols) / geom.w),
  };
}

/** The rectangle of a cell. */
export function cellRect(/** @type {Geom} */ geom, /** @type {number} */ row, /** @type {number} */ col) {
  const w = geom.w / geom.cols;
  const h = geom.h / geom.rows;
  return { x: geom.x + col * w, y: geom.y + row * h, w, h };
}

/**
 * Frames a cell, a whole row (col null) or a whole column (row null), visible on any colour.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Geom} geom
 * @param {number | null} row
 * @param {number | null} col
 * @param {Theme} theme
 * @param {{colour?: string, width?: number}} [opts]
 */
export function frameCell(ctx, geom, row, col, theme, opts = {}) {
  const one = cellRect(geom, row ?? 0, col ?? 0);
  const { colour = theme.roles.query, width = 2 } = opts;
  const box = {
    x: col === null ? geom.x : one.x,
    y: row === null ? geom.y : one.y,
    w: col === null ? geom.w : one.w,
    h: row === null ? geom.h : one.h,
  };
  frameBox(ctx, box, { colour, theme, width });
}

/**
 * Frames a rectangle of cells, legible on any colour: a halo in the background colour below the line.
 * @param {CanvasRenderingContext2D} ctx
 * @param {{x: number, y: number, w: number, h: number}} box
 * @param {{colour: string, theme: Theme, dashed?: boolean, width?: number}} opts
 */
export function frameBox(ctx, box, opts) {
  const { colour, theme, dashed = false, width = 2 } = opts;
  const out = width / 2;
  const rect = [box.x - out, box.y - out, box.w + width, box.h + width];
  ctx.save();
  ctx.lineWidth = width + 2;
  ctx.strokeStyle = withAlpha(theme.bg, 0.85);
  ctx.strokeRect(rect[0], rect[1], rect[2], rect[3]);
  ctx.lineWidth = width;
  ctx.strokeStyle = colour;
  if (dashed) ctx.setLineDash([4, 2]);
  ctx.strokeRect(rect[0], rect[1], rect[2], rect[3]);
  ctx.restore();
}

/**
 * The chosen cell: solid above and below in the query's colour, dashed left and right in the key's. Cells too small
 * to see get a larger frame.
 * @param {CanvasRenderingContext2D} ctx
 * @param {{x: number, y: number, w: number, h: number}} rect
 * @param {Theme} theme
 */
export function markCell(ctx, rect, theme) {
  const grow = Math.max(0, (7 - Math.min(rect.w, rect.h)) / 2) + 1;
  const [x0, y0] = [rect.x - grow, rect.y - grow];
  const [x1, y1] = [rect.x + rect.w + grow, rect.y + rect.h + grow];
  ctx.save();
  ctx.strokeStyle = theme.bg;
  ctx.lineWidth = 5;
  ctx.strokeRect(x0, y0, x1 - x0, y1 - y0);
  ctx.lineWidth = 2.5;
  ctx.lineCap = "square";
  ctx.strokeStyle = theme.roles.query;
  ctx.stroke(new Path(`M${x0} ${y0}H${x1}M${x0} ${y1}H${x1}`));
  ctx.lineCap = "butt";
  ctx.setLineDash([5, 2]);
  ctx.lineWidth = 3;
  ctx.strokeStyle = theme.roles.key;
  ctx.stroke(new Path(`M${x0} ${y0 + 2}V${y1 - 2}M${x1} ${y0 + 2}V${y1 - 2}`));
  ctx.restore();
}
