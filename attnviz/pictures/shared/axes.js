// @ts-check
// Token labels along a matrix that stay readable at any size: they thin out instead of overlapping, long ones end
// in an ellipsis, columns lie flat, slanted or upright as room allows, and the highlighted row and column are always
// named. Each label is isolated for the bidirectional algorithm, so Hebrew or Arabic tokens do not reorder others.

import { pixelRatio } from "./dom.js";
import { withAlpha } from "./theme.js";

/** @import { Geom } from "./matrix.js" */
/** @import { Theme } from "./theme.js" */

/** angle: 0 flat, 45 slanted, 90 upright (degrees, reading upwards).
 * @typedef {{geom: Geom, angle: 0 | 45 | 90, width: number, height: number, font: number, left: number, top: number,
 *   rowRoom: number, colRoom: number}} AxesLayout */
/**
 * @typedef {{rowLabels: readonly string[], colLabels: readonly string[], width: number, theme: Theme, height?: number,
 *   font?: number, maxCell?: number, maxLabel?: number, rowTitle?: string, colTitle?: string, square?: boolean,
 *   tallest?: number}} LayoutOptions tallest: how high a matrix may be that has far more rows than columns
 */

/** Bits of a mark: a special token is muted, one that the model wrote is set in italics. */
export const SPECIAL = 1;
export const WRITTEN = 2;
const GAP = 6;
const TITLE = 20;
const WIDE_ROW = 16;
const WIDE_HEIGHT = 420;

const RIGHT_TO_LEFT =
  /[\u200f\u202a-\u202e\u2066-\u2069\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]|[\ud802-\ud803\ud83a-\ud83b]/;

/**
 * What kind of token each label is, as bits: the ones of `special` and of `written`.
 * @param {ArrayLike<number>} special
 * @param {ArrayLike<number>} written
 */
export function axisMarks(special, written) {
  return Array.from(special, (flag, i) => (flag ? SPECIAL : 0) | (written[i] ? WRITTEN : 0));
}

/** Between a token and the one after it, which its row has to predict, in the name of a row. */
export const READS = "\u2009⇢\u2009";

/** The token of a row's name, without the one after it. */
export const tokenOf = (/** @type {string} */ name) => name.split(READS)[0];

/** Text that runs from right to left, isolated from what surrounds it; other text as it is. */
export function isolate(/** @type {string} */ text) {
  return RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text;
}

/**
 * Text shortened with "…" to fit a width, never inside a grapheme; of a row's name first the token after its own goes.
 * @param {CanvasRenderingContext2D} ctx
 * @param {string} text
 * @param {number} room
 */
export function ellipsize(ctx, text, room) {
  if (ctx.measureText(text).width <= room) return text;
  if (tokenOf(text) !== text) return ellipsize(ctx, tokenOf(text), room);
  const parts = graphemes(text);
  let low = 0;
  let high = parts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (ctx.measureText(`${parts.slice(0, middle).join("")}…`).width <= room) low = middle;
    else high = middle - 1;
  }
  return `${parts.slice(0, low).join("")}…`;
}

/** @returns {string[]} */
function graphemes(/** @type {string} */ text) {
  if (typeof Intl === "undefined" || !("Segmenter" in Intl)) return Array.from(text);
  return Array.from(
    new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text),
    (part) => part.segment,
  );
}

/**
 * Room for labels and titles around a matrix, and the matrix rectangle that is left; cells end on device pixels.
 * @param {CanvasRenderingContext2D} ctx
 * @param {LayoutOptions} opts
 * @returns {AxesLayout}
 */
export function layoutAxes(ctx, opts) {
  const {
    rowLabels,
    colLabels,
    width,
    font = 12,
    maxCell = 44,
    maxLabel = 104,
    square = true,
    tallest = Infinity,
    theme,
  } = opts;
  ctx.font = `600 ${font}px ${theme.font}`;
  const rowRoom = widest(ctx, rowLabels, maxLabel);
  const colWide = widest(ctx, colLabels, maxLabel);
  const left = rowRoom + GAP + (opts.rowTitle ? TITLE : 0);
  const rows = rowLabels.length;
  const cols = colLabels.length;
  const fit = (/** @type {number} */ right) => Math.min(maxCell, (width - left - right - 2) / cols);
  const flat = colWide + 6 <= fit(2);
  const angle = flat ? 0 : fit(colWide * 0.71) >= 20 ? 45 : 90;
  const colRoom = angle === 0 ? font + 2 : angle === 45 ? Math.ceil(colWide * 0.71) + font : colWide;
  const top = colRoom + GAP + (opts.colTitle ? TITLE : 0);
  const right = angle === 45 ? Math.ceil(colWide * 0.71) : 4;
  let cw = snap(fit(right));
  const tall = opts.height ? snap(Math.min(maxCell, (opts.height - top - 2) / rows)) : cw;
  if (square && opts.height) cw = Math.min(cw, tall);
  const flatter = rows > 2 * cols && cw * rows > tallest ? snap(tallest / rows) : cw; // far more queries than keys
  const low = snap(lowestRow(rows, cols));
  const ch = square ? Math.max(flatter, opts.height ? Math.min(tall, low) : low) : tall;
  const geom = { x: left, y: top, w: cw * cols, h: ch * rows, rows, cols };
  const titled = (/** @type {string | undefined} */ title, /** @type {number} */ size) =>
    Math.max(size, title ? Math.ceil(ctx.measureText(title).width) : 0);
  return {
    geom,
    angle,
    font,
    left,
    top,
    rowRoom,
    colRoom,
    width: left + titled(opts.colTitle, geom.w + right),
    height: top + titled(opts.rowTitle, geom.h + 2),
  };
}

/** How low a row may be in a matrix that is far wider than high, whose cells would be too low to be read. */
function lowestRow(/** @type {number} */ rows, /** @type {number} */ cols) {
  return cols > 2 * rows ? Math.min(WIDE_ROW, WIDE_HEIGHT / rows) : 0;
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {readonly string[]} labels
 * @param {number} most
 */
function widest(ctx, labels, most) {
  let width = 8;
  for (const label of labels) width = Math.max(width, ctx.measureText(label).width);
  return Math.ceil(Math.min(most, width));
}

function snap(/** @type {number} */ cell) {
  const ratio = pixelRatio();
  const whole = Math.floor(cell * ratio);
  return whole >= 1 ? whole / ratio : Math.max(cell, 0.05);
}

/**
 * Draws both axes of a layout. `rowMarks`/`colMarks` come from axisMarks; `rowHi`/`colHi` are always drawn, emphasised.
 * @param {CanvasRenderingContext2D} ctx
 * @param {AxesLayout} layout
 * @param {readonly string[]} rowLabels
 * @param {readonly string[]} colLabels
 * @param {{theme: Theme, rowHi?: number | null, colHi?: number | null, rowMarks?: ArrayLike<number>, colMarks?: ArrayLike<number>,
 *   rowTitle?: string, colTitle?: string}} opts
 */
export function drawAxes(ctx, layout, rowLabels, colLabels, opts) {
  const { geom, font } = layout;
  const { theme, rowHi = null, colHi = null } = opts;
  ctx.save();
  ctx.direction = "ltr";
  ctx.textBaseline = "middle";
  for (const row of shownLabels(geom.rows, geom.h / geom.rows, font + 2, rowHi)) {
    drawRowLabel(ctx, layout, rowLabels[row], row, row === rowHi, Number(opts.rowMarks?.[row] ?? 0), theme);
  }
  const need = layout.angle === 0 ? 0 : layout.angle === 45 ? (font + 3) * 1.42 : font + 2;
  for (const col of shownLabels(geom.cols, geom.w / geom.cols, need, colHi)) {
    drawColLabel(ctx, layout, colLabels[col], col, col === colHi, Number(opts.colMarks?.[col] ?? 0), theme);
  }
  drawTitles(ctx, layout, opts);
  ctx.restore();
}

/**
 * Indices whose labels are drawn: every k-th, none nearer than `need` pixels to the highlighted one, which comes last.
 * @param {number} count
 * @param {number} cell
 * @param {number} need
 * @param {number | null} hi
 */
export function shownLabels(count, cell, need, hi) {
  const every = Math.max(1, Math.ceil(need / cell));
  const shown = [];
  for (let i = 0; i < count; i += every)
    if (hi === null || i === hi || Math.abs(i - hi) * cell >= need) shown.push(i);
  if (hi !== null && hi >= 0 && hi < count) shown.push(hi);
  return [...new Set(shown)];
}

/**
 * Font, colour and text of a label; one that is highlighted has the colour of its role.
 * @param {CanvasRenderingContext2D} ctx
 * @param {AxesLayout} layout
 * @param {string} label
 * @param {number} room
 * @param {"query" | "key" | null} role
 * @param {number} marks
 * @param {Theme} theme
 */
function styleLabel(ctx, layout, label, room, role, marks, theme) {
  ctx.font = `${marks & WRITTEN ? "italic " : ""}${role ? "600 " : ""}${layout.font}px ${theme.font}`;
  ctx.fillStyle = role ? theme.roles[role] : marks & SPECIAL ? withAlpha(theme.muted, 0.75) : theme.text;
  return isolate(ellipsize(ctx, label, room));
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {AxesLayout} layout
 * @param {string} label
 * @param {number} row
 * @param {boolean} hi
 * @param {number} marks
 * @param {Theme} theme
 */
function drawRowLabel(ctx, layout, label, row, hi, marks, theme) {
  const { geom } = layout;
  const y = geom.y + ((row + 0.5) * geom.h) / geom.rows;
  const text = styleLabel(ctx, layout, label, layout.rowRoom, hi ? "query" : null, marks, theme);
  ctx.textAlign = "right";
  ctx.fillText(text, geom.x - GAP, y + 0.5);
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {AxesLayout} layout
 * @param {string} label
 * @param {number} col
 * @param {boolean} hi
 * @param {number} marks
 * @param {Theme} theme
 */
function drawColLabel(ctx, layout, label, col, hi, marks, theme) {
  const { geom, angle } = layout;
  const x = geom.x + ((col + 0.5) * geom.w) / geom.cols;
  const y = geom.y - GAP;
  const room =
    angle === 0
      ? geom.w / geom.cols - 4
      : angle === 45
        ? (layout.colRoom - layout.font) / 0.71
        : layout.colRoom;
  const text = styleLabel(ctx, layout, label, room + (angle === 0 ? 4 : 0), hi ? "key" : null, marks, theme);
  if (angle === 0) {
    ctx.textAlign = "center";
    ctx.fillText(text, x, y - layout.font / 2);
    return;
  }
  ctx.save();
  ctx.translate(x, y);
  ctx.rotate((-angle * Math.PI) / 180);
  ctx.textAlign = "left";
  ctx.fillText(text, 0, 0);
  ctx.restore();
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {AxesLayout} layout
 * @param {{theme: Theme, rowTitle?: string, colTitle?: string}} opts
 */
function drawTitles(ctx, layout, opts) {
  const { geom, font } = layout;
  ctx.font = `${font - 1}px ${opts.theme.font}`;
  ctx.fillStyle = opts.theme.muted;
  ctx.textAlign = "center";
  const middle = (/** @type {string} */ title, /** @type {number} */ size) =>
    Math.max(size, ctx.measureText(title).width) / 2;
  if (opts.colTitle) ctx.fillText(opts.colTitle, geom.x + middle(opts.colTitle, geom.w), 7);
  if (!opts.rowTitle) return;
  ctx.save();
  ctx.translate(7, geom.y + middle(opts.rowTitle, geom.h));
  ctx.rotate(-Math.PI / 2);
  ctx.fillText(opts.rowTitle, 0, 0);
  ctx.restore();
}
