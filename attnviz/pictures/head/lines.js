// @ts-check
// Head lines: queries on one side, keys on the other, one line for each weight, the more opaque the larger, on any colour
// scale. The sides stand side by side, or one above the other. Unfocused, each query's strongest keys are drawn, of several
// heads each in its colour, and kept as a picture; focused on a token, all of its lines. Lines of similar opacity share one
// stroke, so a picture costs a few strokes rather than one per line.

import { ellipsize, isolate, shownLabels, SPECIAL, WRITTEN } from "../shared/axes.js";
import { scaleValue } from "../shared/colors.js";
import { fitCanvas, isTracing, markDrawn, setData } from "../shared/dom.js";
import { topKeys, weightAt } from "../shared/numbers.js";
import { withAlpha } from "../shared/theme.js";
import { placeOf } from "./heatmap.js";

/** @import { HeadData } from "../shared/numbers.js" */
/** @import { LineLayout } from "./line_layout.js" */
/** @import { AxisPlace } from "./sums.js" */
/** @import { CellPlace, DrawnHead, View } from "./view.js" */
/** @import { AxisPlaces } from "./words.js" */

/** The unfocused picture, and what it was drawn for. */
/** @typedef {{canvas: HTMLCanvasElement, name: string, values: ArrayLike<number> | null}} LineCache */
/** Lines by opacity: bands[b] = [row, col, row, col, ...]. @typedef {number[][]} Bands */
/**
 * The tokens of one side; `isFar` is the right or the lower one.
 * @typedef {{shown: readonly number[], axis: AxisPlaces, marked: number | null, title: string, isFar: boolean}} Side
 */

const BANDS = 16;
const OPACITY_SCALE = "sqrt";
const OPACITY_POWER = 1.5;
const MANY_LINES = 4096;
const LABEL_PX = 15;

/** @returns {LineCache} */
export function makeLineCache() {
  return { canvas: document.createElement("canvas"), name: "", values: null };
}

/**
 * Draws the picture for what is focused: a query, a key or nothing.
 * @param {HTMLCanvasElement} canvas
 * @param {LineCache} cache
 * @param {View} view
 * @param {LineLayout} layout
 * @param {CellPlace | null} focus
 */
export function drawLines(canvas, cache, view, layout, focus) {
  const { data, axes, header, layer, head, top } = view;
  const ctx = fitCanvas(canvas, layout.width, layout.height);
  const row = placeOf(data.rows, focus?.query);
  const col = row === null ? placeOf(data.cols, focus?.key) : null;
  const { forbidden } = view;
  const off = forbidden && {
    row: placeOf(data.rows, forbidden.query),
    col: placeOf(data.cols, forbidden.key),
  };
  if (row !== null || col !== null)
    strokeHeads(ctx, view, layout, (drawn) => focusedBands(drawn.data, row, col, off));
  else ctx.drawImage(wholePicture(cache, view, layout), 0, 0, layout.width, layout.height);
  if (off && row === off.row) strokeForbidden(ctx, view, layout, off);
  const { query, key } = header.strings;
  drawSide(ctx, view, layout, {
    shown: data.rows,
    axis: axes.query,
    marked: row,
    title: query,
    isFar: false,
  });
  drawSide(ctx, view, layout, { shown: data.cols, axis: axes.key, marked: col, title: key, isFar: true });
  const { pitch, from, near, far } = layout;
  setData(canvas, {
    layer,
    head,
    query: row === null ? null : focus?.query,
    key: col === null ? null : focus?.key,
    top,
    across: layout.isAcross ? 1 : null,
    heads: view.heads.length,
    pitch,
    from,
    near,
    far,
  });
  markDrawn(canvas);
}

/**
 * True if so many lines have to be drawn that the heatmap should be on the screen first.
 * @param {LineCache} cache
 * @param {View} view
 * @param {LineLayout} layout
 * @param {CellPlace | null} focus
 */
export function linesAreMany(cache, view, layout, focus) {
  const { rows, cols, values } = view.data;
  if (placeOf(rows, focus?.query) !== null || placeOf(cols, focus?.key) !== null) return false;
  const isKept = cache.name === pictureName(view, layout) && cache.values === values;
  const each = Math.min(view.top || cols.length, cols.length);
  return !isKept && view.heads.length * rows.length * each > MANY_LINES;
}

/** What an unfocused picture depends on, beside its numbers. */
function pictureName(/** @type {View} */ view, /** @type {LineLayout} */ { isAcross, width, height }) {
  const heads = view.heads.map(({ name }) => name);
  const { special, inWords, top, theme } = view;
  return [heads, special, inWords, top, isAcross, width, height, theme.dark, devicePixelRatio].join();
}

/** The unfocused picture, drawn once for what is shown and its size. */
function wholePicture(
  /** @type {LineCache} */ cache,
  /** @type {View} */ view,
  /** @type {LineLayout} */ layout,
) {
  const name = pictureName(view, layout);
  const { values } = view.data;
  if (cache.name === name && cache.values === values && !isTracing()) return cache.canvas;
  const ctx = fitCanvas(cache.canvas, layout.width, layout.height);
  strokeHeads(ctx, view, layout, ({ data }) => strongestBands(data, view.top || data.cols.length));
  cache.name = name;
  cache.values = values;
  return cache.canvas;
}

/**
 * Draws the lines of every head that is shown, the chosen one on top.
 * @param {CanvasRenderingContext2D} ctx
 * @param {View} view
 * @param {LineLayout} layout
 * @param {(head: DrawnHead) => Bands} bandsOf
 */
function strokeHeads(ctx, { heads }, layout, bandsOf) {
  for (const head of [...heads].reverse()) strokeBands(ctx, head.colour, layout, bandsOf(head));
}

/** @returns {Bands} */
function emptyBands() {
  return Array.from({ length: BANDS + 1 }, () => []);
}

function bandOf(/** @type {HeadData} */ data, /** @type {number} */ query, /** @type {number} */ key) {
  return Math.round(BANDS * scaleValue(weightAt(data, query, key), OPACITY_SCALE));
}

function strongestBands(/** @type {HeadData} */ data, /** @type {number} */ count) {
  const bands = emptyBands();
  const places = new Map(data.cols.map((key, col) => [key, col]));
  data.rows.forEach((query, row) => {
    const keys = count < data.cols.length ? topKeys(data, query, count) : data.cols;
    for (const key of keys) bands[bandOf(data, query, key)].push(row, places.get(key) ?? 0);
  });
  return bands;
}

/**
 * The lines of a row or a column, without that of a look that is forbidden.
 * @param {HeadData} data
 * @param {number | null} row
 * @param {number | null} col
 * @param {AxisPlace | null} off
 */
function focusedBands(data, row, col, off) {
  const bands = emptyBands();
  const { rows, cols } = data;
  const add = (/** @type {number} */ r, /** @type {number} */ c) => {
    if (r !== off?.row || c !== off.col) bands[bandOf(data, rows[r], cols[c])].push(r, c);
  };
  if (row !== null) cols.forEach((_, c) => add(row, c));
  else if (col !== null) rows.forEach((_, r) => add(r, col));
  return bands;
}

/**
 * The line of a look that is forbidden: dashed, in the colour of what is off.
 * @param {CanvasRenderingContext2D} ctx
 * @param {View} view
 * @param {LineLayout} layout
 * @param {AxisPlace} off
 */
function strokeForbidden(ctx, { theme }, { near, far, from, queryPitch, keyPitch, isAcross }, { row, col }) {
  if (row === null || col === null) return;
  const [start, end] = [from + (row + 0.5) * queryPitch, from + (col + 0.5) * keyPitch];
  ctx.save();
  ctx.strokeStyle = theme.roles.off;
  ctx.lineWidth = 1.2;
  ctx.setLineDash([4, 4]);
  ctx.beginPath();
  ctx.moveTo(isAcross ? start : near, isAcross ? near : start);
  ctx.lineTo(isAcross ? end : far, isAcross ? far : end);
  ctx.stroke();
  ctx.restore();
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {string} colour
 * @param {LineLayout} layout
 * @param {Bands} bands
 */
function strokeBands(ctx, colour, layout, bands) {
  const { near, far, from, pitch, queryPitch, keyPitch, isAcross } = layout;
  const thick = Math.max(0.7, Math.min(2.2, pitch / 9));
  ctx.strokeStyle = colour;
  for (let band = 1; band <= BANDS; band++) {
    const pairs = bands[band];
    if (!pairs.length) continue;
    ctx.globalAlpha = (band / BANDS) ** OPACITY_POWER;
    ctx.lineWidth = thick * (0.6 + (0.7 * band) / BANDS);
    ctx.beginPath();
    for (let i = 0; i < pairs.length; i += 2) {
      const start = from + (pairs[i] + 0.5) * queryPitch;
      const end = from + (pairs[i + 1] + 0.5) * keyPitch;
      if (isAcross) {
        ctx.moveTo(start, near);
        ctx.lineTo(end, far);
      } else {
        ctx.moveTo(near, start);
        ctx.lineTo(far, end);
      }
    }
    ctx.stroke();
  }
  ctx.globalAlpha = 1;
}

/**
 * Writes the tokens of one side and its title.
 * @param {CanvasRenderingContext2D} ctx
 * @param {View} view
 * @param {LineLayout} layout
 * @param {Side} side
 */
function drawSide(ctx, { theme }, layout, { shown, axis, marked, title, isFar }) {
  const { isAcross, from, room } = layout;
  const pitch = isFar ? layout.keyPitch : layout.queryPitch;
  const edge = isFar ? layout.far + 8 : layout.near - 8;
  ctx.direction = "ltr";
  ctx.textBaseline = "middle";
  ctx.font = `11px ${theme.font}`;
  ctx.fillStyle = theme.muted;
  ctx.textAlign = isAcross || isFar ? "left" : "right";
  if (isAcross) ctx.fillText(title, 0, isFar ? layout.far : layout.near, from - 4);
  else ctx.fillText(title, edge, 8);
  const most = isAcross ? room : Math.min(room, isFar ? layout.width - edge : edge);
  for (const i of shownLabels(shown.length, pitch, LABEL_PX, marked)) {
    const marks = axis.marks[shown[i]];
    const isMarked = i === marked;
    const at = from + (i + 0.5) * pitch;
    ctx.font = `${marks & WRITTEN ? "italic " : ""}${isMarked ? "600 " : ""}12px ${theme.font}`;
    ctx.fillStyle = isMarked
      ? theme.roles[isFar ? "key" : "query"]
      : marks & SPECIAL
        ? withAlpha(theme.muted, 0.75)
        : theme.text;
    const text = isolate(ellipsize(ctx, axis.labels[shown[i]], most));
    if (isAcross) drawUpright(ctx, text, at, edge, isFar);
    else ctx.fillText(text, edge, at + 0.5);
  }
}

/**
 * Writes text that reads upwards, ending or beginning at the side.
 * @param {CanvasRenderingContext2D} ctx
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {boolean} isFar
 */
function drawUpright(ctx, text, x, y, isFar) {
  ctx.save();
  ctx.translate(x, y);
  ctx.rotate(-Math.PI / 2);
  ctx.textAlign = isFar ? "right" : "left";
  ctx.fillText(text, 0, 0);
  ctx.restore();
}
