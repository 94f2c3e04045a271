// @ts-check
// Head lines: queries on the left, keys on the right, one line for each weight, the more opaque the larger, on any colour scale. Unfocused,
// each query's strongest keys are drawn and kept as a picture; focused on a token, all of its lines. Lines of similar
// opacity share one stroke, so a picture costs a few strokes rather than one per line.

import { ellipsize, isolate, shownLabels, SPECIAL, WRITTEN } from "../shared/axes.js";
import { scaleValue } from "../shared/colors.js";
import { fitCanvas, markDrawn, setData } from "../shared/dom.js";
import { withAlpha } from "../shared/theme.js";
import { placeOf } from "./heatmap.js";
import { topKeys, weightAt } from "../shared/numbers.js";

export const LINES_PER_QUERY = 8;
const BANDS = 16;
const OPACITY_SCALE = "sqrt";
const OPACITY_POWER = 1.5;
const HEAD_ROOM = 24;

/** Sizes of the picture: label columns on both sides, tokens at an even pitch. */
export function layoutLines(/** @type {HTMLCanvasElement} */ canvas, /** @type {any} */ view, /** @type {number} */ most) {
  const { data, labels, keyLabels, theme, linesWidth: width } = view, ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  ctx.font = `600 12px ${theme.font}`;
  let room = 24;
  const fit = (/** @type {string} */ name) => { room = Math.max(room, Math.min(width * 0.28, ctx.measureText(name).width)); };
  for (const i of data.rows) fit(labels[i]);
  for (const i of data.cols) fit(keyLabels[i]);
  const count = Math.max(1, data.rows.length, data.cols.length), pitch = Math.min(24, most / count);
  return { width, room: Math.ceil(room), pitch, top: HEAD_ROOM, left: Math.ceil(room) + 8, right: width - Math.ceil(room) - 8, height: HEAD_ROOM + pitch * count + 4 };
}

/** Draws the picture for what is focused: {query}, {key} or nothing. */
export function drawLines(/** @type {HTMLCanvasElement} */ canvas, /** @type {any} */ cache, /** @type {any} */ view, /** @type {any} */ layout) {
  const ctx = fitCanvas(canvas, layout.width, layout.height), { data, focus } = view;
  const row = placeOf(data.rows, focus?.query), col = placeOf(data.cols, focus?.key);
  if (row !== null) strokeBands(ctx, view, layout, focusedBands(view, row, null));
  else if (col !== null) strokeBands(ctx, view, layout, focusedBands(view, null, col));
  else ctx.drawImage(wholePicture(cache, view, layout), 0, 0, layout.width, layout.height);
  drawLineLabels(ctx, view, layout, row, row === null ? col : null);
  setData(canvas, { layer: view.layer, head: view.head, query: row === null ? null : focus.query, key: row === null && col !== null ? focus.key : null });
  markDrawn(canvas);
}

/** The unfocused picture, drawn once per head and size. */
function wholePicture(/** @type {any} */ cache, /** @type {any} */ view, /** @type {any} */ layout) {
  const name = [view.layer, view.head, view.specialMode, view.inWords, layout.width, layout.height, view.theme.dark, devicePixelRatio].join();
  if (cache.name !== name || cache.data !== view.data.values) {
    cache.canvas ??= document.createElement("canvas");
    strokeBands(fitCanvas(cache.canvas, layout.width, layout.height), view, layout, strongestBands(view));
    Object.assign(cache, { name, data: view.data.values });
  }
  return cache.canvas;
}

/** Lines by opacity: bands[b] = [row, col, row, col, ...]. @returns {number[][]} */
function emptyBands() {
  return Array.from({ length: BANDS + 1 }, () => []);
}

function strongestBands(/** @type {any} */ view) {
  const { data } = view, bands = emptyBands();
  const place = new Map(data.cols.map((/** @type {number} */ key, /** @type {number} */ i) => [key, i]));
  data.rows.forEach((/** @type {number} */ query, /** @type {number} */ row) => {
    for (const key of topKeys(data, query, LINES_PER_QUERY)) {
      bands[Math.round(BANDS * scaleValue(weightAt(data, query, key), OPACITY_SCALE))].push(row, /** @type {number} */ (place.get(key)));
    }
  });
  return bands;
}

function focusedBands(/** @type {any} */ view, /** @type {number | null} */ row, /** @type {number | null} */ col) {
  const { data } = view, bands = emptyBands();
  const add = (/** @type {number} */ r, /** @type {number} */ c) =>
    bands[Math.round(BANDS * scaleValue(weightAt(data, data.rows[r], data.cols[c]), OPACITY_SCALE))].push(r, c);
  if (row !== null) for (let c = 0; c < data.cols.length; c++) add(row, c);
  else for (let r = 0; r < data.rows.length; r++) add(r, /** @type {number} */ (col));
  return bands;
}

function strokeBands(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {any} */ view, /** @type {any} */ layout, /** @type {number[][]} */ bands) {
  const { left, right, top, pitch } = layout, thick = Math.max(0.7, Math.min(2.2, pitch / 9));
  ctx.strokeStyle = view.theme.primary;
  for (let band = 1; band <= BANDS; band++) {
    const pairs = bands[band];
    if (!pairs.length) continue;
    ctx.globalAlpha = (band / BANDS) ** OPACITY_POWER;
    ctx.lineWidth = thick * (0.6 + (0.7 * band) / BANDS);
    ctx.beginPath();
    for (let i = 0; i < pairs.length; i += 2) {
      ctx.moveTo(left, top + (pairs[i] + 0.5) * pitch);
      ctx.lineTo(right, top + (pairs[i + 1] + 0.5) * pitch);
    }
    ctx.stroke();
  }
  ctx.globalAlpha = 1;
}

function drawLineLabels(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {any} */ view, /** @type {any} */ layout, /** @type {number | null} */ rowHi, /** @type {number | null} */ colHi) {
  const { theme, strings, data } = view, { left, right, room, width } = layout;
  ctx.direction = "ltr";
  ctx.textBaseline = "middle";
  ctx.font = `11px ${theme.font}`;
  ctx.fillStyle = theme.muted;
  ctx.textAlign = "right";
  ctx.fillText(strings.query, left - 8, 8);
  ctx.textAlign = "left";
  ctx.fillText(strings.key, right + 8, 8);
  const queries = { shown: data.rows, labels: view.labels, marks: view.marks, hi: rowHi };
  const keys = { shown: data.cols, labels: view.keyLabels, marks: view.keyMarks, hi: colHi };
  drawLabelColumn(ctx, theme, layout, queries, "right", left - 8, room);
  drawLabelColumn(ctx, theme, layout, keys, "left", right + 8, Math.min(room, width - right - 8));
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {import("../shared/theme.js").Theme} theme
 * @param {any} layout
 * @param {{shown: readonly number[], labels: string[], marks: number[], hi: number | null}} column
 * @param {"left" | "right"} align
 * @param {number} x
 * @param {number} room
 */
function drawLabelColumn(ctx, theme, layout, column, align, x, room) {
  const { shown, labels, marks, hi } = column;
  ctx.textAlign = align;
  for (const i of shownLabels(shown.length, layout.pitch, 15, hi)) {
    const token = shown[i];
    ctx.font = `${marks[token] & WRITTEN ? "italic " : ""}${i === hi ? "600 " : ""}12px ${theme.font}`;
    ctx.fillStyle = i === hi ? theme.accent : marks[token] & SPECIAL ? withAlpha(theme.muted, 0.75) : theme.text;
    ctx.fillText(isolate(ellipsize(ctx, labels[token], room)), x, layout.top + (i + 0.5) * layout.pitch + 0.5);
  }
}

/** The token under a point: a query in the left half, a key in the right half, or nothing. */
export function hitLines(/** @type {any} */ layout, /** @type {any} */ data, /** @type {{x: number, y: number}} */ point) {
  const place = Math.floor((point.y - layout.top) / layout.pitch);
  const asks = point.x < layout.width / 2;
  if (place < 0 || place >= (asks ? data.rows : data.cols).length) return null;
  return asks ? { query: data.rows[place], key: null } : { query: null, key: data.cols[place] };
}
