// @ts-check
// What Steps and Masks draw alike: a matrix with token rows (and token or numbered columns), marks for the chosen
// query and key on a second canvas above it, and the printed numbers inside cells that are wide enough.
// The query is marked by a solid frame, the key by a dashed one, so that colour is never the only sign.

import { inkOn } from "./colors.js";
import { el, pixelRatio } from "./dom.js";
import { fmtFixed, fmtReal, local } from "./fmt.js";
import { ellipsize, isolate } from "./axes.js";
import { cellRect } from "./matrix.js";

/** @import { AxesLayout } from "./axes.js" */
/** @import { Geom } from "./matrix.js" */
/** @import { Theme } from "./theme.js" */

const LABEL_GAP = 6;

/**
 * Layout of a matrix whose columns have numbers, not tokens: cells end on device pixels, or share them when there
 * are more columns than pixels.
 * @param {CanvasRenderingContext2D} ctx
 * @param {{rowLabels: readonly string[], cols: number, width: number, rowHeight: number, theme: Theme, font: number,
 *   maxCell: number, maxLabel: number, top: number}} opts
 * @returns {AxesLayout}
 */
export function layoutStrip(ctx, opts) {
  const { rowLabels, cols, width, rowHeight, theme, font, maxCell, maxLabel, top } = opts;
  ctx.font = `600 ${font}px ${theme.font}`; // as wide as a label gets when its row is marked
  const widest = rowLabels.reduce((most, label) => Math.max(most, ctx.measureText(label).width), 8);
  const rowRoom = Math.ceil(Math.min(maxLabel, widest));
  const left = rowRoom + LABEL_GAP;
  const ratio = pixelRatio();
  const room = width - left - 4;
  const whole = Math.floor(Math.min(maxCell, room / cols) * ratio);
  const w = whole >= 1 ? (whole / ratio) * cols : room;
  const geom = { x: left, y: top, w, h: rowHeight * rowLabels.length, rows: rowLabels.length, cols };
  return { geom, angle: 0, font, left, top, rowRoom, colRoom: 0, width, height: top + geom.h + 4 };
}

/**
 * Layout of a small matrix with tokens on both axes whose cells are to hold numbers: as wide as the room allows,
 * never taller than wide. Column labels lie flat where they fit, slanted in wide cells, else upright.
 * @param {CanvasRenderingContext2D} ctx
 * @param {{rowLabels: readonly string[], colLabels: readonly string[], width: number, theme: Theme, font: number,
 *   maxCell: number, maxHeight: number, maxLabel: number}} opts
 * @returns {AxesLayout}
 */
export function layoutCells(ctx, opts) {
  const { rowLabels, colLabels, width, theme, font, maxCell, maxHeight, maxLabel } = opts;
  const ratio = pixelRatio();
  ctx.font = `600 ${font}px ${theme.font}`; // as wide as a label gets when its row is marked
  const widest = (/** @type {readonly string[]} */ labels) =>
    Math.ceil(
      Math.min(
        maxLabel,
        labels.reduce((most, label) => Math.max(most, ctx.measureText(label).width), 8),
      ),
    );
  const rowRoom = widest(rowLabels);
  const colWide = widest(colLabels);
  const left = rowRoom + LABEL_GAP;
  const rows = rowLabels.length;
  const cols = colLabels.length;
  const cellFor = (/** @type {number} */ right) =>
    Math.max(1, Math.floor(Math.min(maxCell, (width - left - right) / cols) * ratio)) / ratio;
  const slope = Math.ceil(colWide * 0.71);
  const angle = colWide + 4 <= cellFor(4) ? 0 : cellFor(slope) >= 32 ? 45 : 90;
  const right = angle === 45 ? slope : 4;
  const cw = cellFor(right);
  const ch = Math.min(cw, maxHeight);
  const colRoom = angle === 0 ? font + 2 : angle === 45 ? slope + font : colWide;
  const top = colRoom + LABEL_GAP;
  const geom = { x: left, y: top, w: cw * cols, h: ch * rows, rows, cols };
  return {
    geom,
    angle,
    font,
    left,
    top,
    rowRoom,
    colRoom,
    width: left + geom.w + right,
    height: top + geom.h + 4,
  };
}

/**
 * The most decimals (3 to 0) with which every number of a matrix fits its cell, or null where none fits.
 * @param {CanvasRenderingContext2D} ctx
 * @param {ArrayLike<number>} values
 * @param {Geom} geom
 * @param {string} font
 */
export function fittingDecimals(ctx, values, geom, font) {
  const room = geom.w / geom.cols - 2;
  if (geom.h / geom.rows < 12 || room < 10) return null;
  ctx.font = font;
  for (let decimals = 3; decimals >= 0; decimals--) {
    if (Array.from(values).every((v) => ctx.measureText(fmtFixed(v, decimals)).width <= room))
      return decimals;
  }
  return null;
}

/**
 * Prints every number inside its cell, black or white after the cell's own colour.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Geom} geom
 * @param {ArrayLike<number>} values
 * @param {{lut: Uint32Array, toLevel: (value: number) => number, decimals: number, font: string, plain: string}} opts
 */
export function printNumbers(ctx, geom, values, opts) {
  ctx.font = opts.font;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  for (let i = 0; i < geom.rows * geom.cols; i++) {
    const box = cellRect(geom, Math.floor(i / geom.cols), i % geom.cols);
    const level = opts.toLevel(values[i]);
    ctx.fillStyle = level < 0 ? opts.plain : inkOn(opts.lut, level);
    ctx.fillText(fmtFixed(values[i], opts.decimals), box.x + box.w / 2, box.y + box.h / 2 + 0.5);
  }
}

/** The rectangle of a whole row; a row too thin to be framed gets a taller one around it. */
export function rowRect(/** @type {Geom} */ geom, /** @type {number} */ row) {
  const h = geom.h / geom.rows;
  const grow = Math.max(0, (6 - h) / 2);
  return { x: geom.x, y: geom.y + row * h - grow, w: geom.w, h: h + 2 * grow };
}

/** The labels next to a marked one that would run into it: the axis shows every k-th label. */
function crowding(/** @type {number} */ at, /** @type {number} */ cell, /** @type {number} */ need) {
  const every = Math.max(1, Math.ceil(need / cell));
  const below = Math.floor(at / every) * every;
  return [below, below + every].filter((other) => other !== at && Math.abs(other - at) * cell < need);
}

/**
 * Names a row on its axis in a role's colour, over whatever label stands there.
 * @param {CanvasRenderingContext2D} ctx
 * @param {AxesLayout} layout
 * @param {string} label
 * @param {number} row
 * @param {{colour: string, theme: Theme}} opts
 */
export function tagRow(ctx, layout, label, row, opts) {
  const { geom, font } = layout;
  const box = rowRect(geom, row);
  const middle = box.y + box.h / 2;
  ctx.save();
  ctx.font = `600 ${font}px ${opts.theme.font}`;
  const text = isolate(ellipsize(ctx, label, layout.rowRoom));
  const wide = ctx.measureText(text).width;
  const y = Math.max(font / 2 + 1, middle);
  ctx.fillStyle = opts.theme.bg;
  const cell = geom.h / geom.rows;
  const hide = (/** @type {number} */ at) =>
    ctx.fillRect(
      geom.x - layout.rowRoom - LABEL_GAP,
      at - font / 2 - 2,
      layout.rowRoom + LABEL_GAP - 1,
      font + 4,
    );
  for (const other of crowding(row, cell, font + 3)) hide(geom.y + (other + 0.5) * cell);
  hide(y);
  ctx.fillStyle = opts.colour;
  ctx.fillRect(geom.x - 3, y - font / 2 - 1, 2, font + 2);
  ctx.direction = "ltr";
  ctx.textBaseline = "middle";
  ctx.textAlign = "right";
  ctx.fillText(text, Math.max(wide, geom.x - LABEL_GAP), y + 0.5);
  ctx.restore();
}

/**
 * Names a column on its axis in a role's colour, at the angle of the axis.
 * @param {CanvasRenderingContext2D} ctx
 * @param {AxesLayout} layout
 * @param {string} label
 * @param {number} col
 * @param {{colour: string, theme: Theme}} opts
 */
export function tagCol(ctx, layout, label, col, opts) {
  const { geom, angle, font } = layout;
  const x = geom.x + ((col + 0.5) * geom.w) / geom.cols;
  const y = geom.y - LABEL_GAP;
  const room =
    angle === 0
      ? Math.max(geom.w / geom.cols, 40)
      : angle === 45
        ? (layout.colRoom - font) / 0.71
        : layout.colRoom;
  ctx.save();
  ctx.font = `600 ${font}px ${opts.theme.font}`;
  const text = isolate(ellipsize(ctx, label, room));
  const wide = ctx.measureText(text).width;
  ctx.direction = "ltr";
  ctx.textBaseline = "middle";
  ctx.translate(x, angle === 0 ? y - font / 2 : y);
  ctx.fillStyle = opts.theme.bg;
  const cell = geom.w / geom.cols;
  const turn = (-angle * Math.PI) / 180;
  const hide = (/** @type {number} */ by, /** @type {number} */ long) => {
    ctx.save();
    ctx.translate(by, 0);
    ctx.rotate(turn);
    ctx.fillRect((angle === 0 ? -long / 2 : 0) - 1, -font / 2 - 2, long + 3, font + 4);
    ctx.restore();
  };
  const need = angle === 0 ? 0 : (font + 3) * (angle === 45 ? 1.42 : 1);
  for (const other of crowding(col, cell, need)) hide((other - col) * cell, room + 2);
  hide(0, wide);
  ctx.rotate(turn);
  ctx.textAlign = angle === 0 ? "center" : "left";
  ctx.fillStyle = opts.colour;
  ctx.fillText(text, 0, 0);
  ctx.restore();
}

/** A formula with its indices set low: "W_Q" becomes W and a subscript Q. */
export function subscripted(/** @type {string} */ formula) {
  return local(formula)
    .split(/_(\w+)/)
    .map((part, i) => (i % 2 ? el("sub", {}, part) : part));
}

/** The parts of a sentence, the indices of its formulas set low. @returns {(Node | string)[]} */
export function typeset(/** @type {(Node | string)[]} */ parts) {
  /** @type {(Node | string)[][]} */
  const set = parts.map((part) => (typeof part === "string" ? subscripted(part) : [part]));
  return set.flat();
}

/** A CSS gradient of a colour table, left to right. */
export function gradientOf(/** @type {Uint32Array} */ lut) {
  const stops = Array.from({ length: 17 }, (_, i) => {
    const v = lut[Math.round((255 * i) / 16)];
    return `rgb(${v & 255}, ${(v >> 8) & 255}, ${(v >> 16) & 255})`;
  });
  return `linear-gradient(to right, ${stops.join(", ")})`;
}

/**
 * Where an arrow key leads from a position, or null for a key that does not move. Nothing chosen yet: the first cell.
 * @param {KeyboardEvent} event
 * @param {{row: number | null, col: number | null}} from
 * @param {{rows: number, cols: number}} size
 */
export function moveBy(event, from, size) {
  const step = {
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
    PageUp: [-10, 0],
    PageDown: [10, 0],
    Home: [0, -size.cols],
    End: [0, size.cols],
  }[event.key];
  if (!step || event.ctrlKey || event.metaKey || event.altKey) return null;
  const inside = (/** @type {number} */ v, /** @type {number} */ n) => Math.max(0, Math.min(n - 1, v));
  const start = (/** @type {number | null} */ v, /** @type {number} */ by, /** @type {number} */ n) =>
    v === null ? 0 : inside(v + by, n);
  return { row: start(from.row, step[0], size.rows), col: start(from.col, step[1], size.cols) };
}

/** A number as readouts print it: 4 decimals, or 3 digits where those would be nearly all zeros. */
export function printed(/** @type {number} */ value) {
  return value !== 0 && Math.abs(value) < 5e-4 ? fmtReal(value) : fmtFixed(value, 4);
}
