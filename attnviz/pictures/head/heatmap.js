// @ts-check
// The large heatmap of the head page: cells kept as a picture, axes, and the frames of what is pinned or pointed at.

import { drawAxes, layoutAxes } from "../shared/axes.js";
import { context2d, fitCanvas, markDrawn, setData } from "../shared/dom.js";
import { cellAt, cellRect, drawMatrix, frameCell, hatch, markCell } from "../shared/matrix.js";
import { Path } from "../shared/path.js";
import { drawSpectrum, hitSpectrum, SPECTRUM_ROOM } from "../shared/spectrum.js";
import { drawSums, hitSums, SUMS_ROOM } from "./sums.js";

/** @import { AxesLayout, LayoutOptions } from "../shared/axes.js" */
/** @import { Geom } from "../shared/matrix.js" */
/** @import { Theme } from "../shared/theme.js" */
/** @import { AxisPlace } from "./sums.js" */
/** @import { CellPlace, Pointed, View } from "./view.js" */

export const MAX_SIDE_PX = 760;
const TALLEST_PX = 960;
const MAX_CELL_PX = 56;
const MIN_CELL_PX = 24; // of a head that is kept within the window
const AROUND_PX = 214; // bar and line above the heatmap, readout and scale below it
const MIN_FRAMED_PX = 5;

/**
 * The layout for the tokens shown; depends on room, tokens and theme only. On a page a head of a short text stays within
 * the window: the scale at its lower edge would lie over its last rows.
 * @param {HTMLCanvasElement} canvas
 * @param {View} view
 * @param {number} across
 * @returns {AxesLayout}
 */
export function layoutHeatmap(canvas, view, across) {
  const { axes, data, theme } = view;
  const more = view.sums ? SUMS_ROOM : 0;
  const layoutIn = (/** @type {Partial<LayoutOptions>} */ height) =>
    layoutAxes(context2d(canvas), {
      rowLabels: data.rows.map((place) => axes.query.labels[place]),
      colLabels: data.cols.map((place) => axes.key.labels[place]),
      width: Math.min(across, MAX_SIDE_PX + more) - more,
      theme,
      maxCell: MAX_CELL_PX,
      tallest: TALLEST_PX,
      ...titlesOf(view),
      ...height,
    });
  const free = layoutIn({});
  const room = window.innerHeight - AROUND_PX - more;
  const isKept = view.header.grows && free.height > room && room - free.top >= MIN_CELL_PX * data.rows.length;
  const layout = isKept ? layoutIn({ height: room }) : free;
  const { geom } = layout;
  const width = Math.max(layout.width, geom.x + geom.w + more);
  return { ...layout, width, height: layout.height + more + (view.heard ? SPECTRUM_ROOM : 0) };
}

/** Where the spectrogram stands: under the columns, and under their sums. */
function stripOf(/** @type {View} */ { data, sums }, /** @type {Geom} */ geom) {
  const from = data.cols[0];
  const y = geom.y + geom.h + (sums ? SUMS_ROOM : 0);
  return { x: geom.x, y, w: geom.w, from, to: from + data.cols.length };
}

function titlesOf(/** @type {View} */ { header: { strings } }) {
  return { rowTitle: strings.query_axis, colTitle: strings.key_axis };
}

/**
 * Paints the cells alone, at device resolution: again for each head and scale, not while the pointer moves.
 * @param {HTMLCanvasElement} cells
 * @param {View} view
 * @param {Geom} geom
 */
export function paintCells(cells, view, geom) {
  const { data, hidden, lut, levels, toLevel, theme } = view;
  const isWhole = data.cols.length === data.nKey && data.rows.length === data.nQuery;
  drawMatrix(fitCanvas(cells, geom.w, geom.h), {
    values: data.values,
    stride: data.nKey,
    rowIndex: isWhole ? undefined : data.rows,
    colIndex: isWhole ? undefined : data.cols,
    lut,
    levels,
    toLevel,
    blocked: hidden ?? undefined,
    theme,
    grid: true,
    ...geom,
    x: 0,
    y: 0,
  });
}

/**
 * Puts cells, axes and frames on the canvas.
 * @param {HTMLCanvasElement} canvas
 * @param {HTMLCanvasElement} cells
 * @param {View} view
 * @param {AxesLayout} layout
 * @param {Pointed} pointed
 */
export function drawHeatmap(canvas, cells, view, layout, { hover, focus }) {
  const { data, theme, pinned } = view;
  const { geom } = layout;
  const ctx = fitCanvas(canvas, layout.width, layout.height);
  ctx.drawImage(cells, 0, 0, cells.width, cells.height, geom.x, geom.y, geom.w, geom.h);
  const row = placeOf(data.rows, hover?.query ?? pinned.query);
  const col = placeOf(data.cols, hover ? hover.key : (focus?.key ?? pinned.key));
  const pinnedRow = placeOf(data.rows, pinned.query);
  const pinnedCol = placeOf(data.cols, pinned.key);
  const offRow = placeOf(data.rows, view.forbidden?.query);
  const offCol = placeOf(data.cols, view.forbidden?.key);
  if (offRow !== null && offCol !== null) {
    const { x, y, w, h } = cellRect(geom, offRow, offCol);
    const path = new Path();
    path.rect(x, y, w, h);
    hatch(ctx, path, { x, y, w, h }, theme);
  }
  if (pinnedRow !== null) markRow(ctx, geom, pinnedRow, theme);
  if (pinnedRow !== null && pinnedCol !== null) markCell(ctx, cellRect(geom, pinnedRow, pinnedCol), theme);
  if (hover && row !== null && col !== null)
    frameCell(ctx, geom, row, col, theme, { width: 1.5, colour: theme.text });
  drawLabels(ctx, view, layout, { row, col });
  if (view.sums) drawSums(ctx, view.sums, geom, view, { row, col });
  drawSound(ctx, view, geom, { row, col });
  writeFacts(canvas, view, geom);
  markDrawn(canvas);
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {View} view
 * @param {AxesLayout} layout
 * @param {AxisPlace} at
 */
function drawLabels(ctx, view, layout, at) {
  const { axes, data, theme } = view;
  const rows = data.rows.map((place) => axes.query.labels[place]);
  const cols = data.cols.map((place) => axes.key.labels[place]);
  drawAxes(ctx, layout, rows, cols, {
    theme,
    rowHi: at.row,
    colHi: at.col,
    rowMarks: data.rows.map((place) => axes.query.marks[place]),
    colMarks: data.cols.map((place) => axes.key.marks[place]),
    ...titlesOf(view),
  });
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {View} view
 * @param {Geom} geom
 * @param {AxisPlace} at
 */
function drawSound(ctx, view, geom, { row, col }) {
  const { heard, theme, header, data } = view;
  if (!heard) return;
  const key = col === null ? null : data.cols[col];
  const query = row === null || header.cross ? null : data.rows[row];
  drawSpectrum(ctx, heard, stripOf(view, geom), { theme, title: header.strings.heard, key, query });
}

function writeFacts(
  /** @type {HTMLCanvasElement} */ canvas,
  /** @type {View} */ view,
  /** @type {Geom} */ geom,
) {
  const { layer, head, scale, special, pinned } = view;
  const [words, forbidden] = [view.inWords ? 1 : null, view.forbidden ? 1 : null];
  const heard = view.heard ? stripOf(view, geom).y : null;
  setData(canvas, { layer, head, ...pinned, scale, special, words, forbidden, ...geom, heard });
}

/**
 * Frames a row; one too thin to be framed without covering its neighbours gets a marker at both ends instead.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Geom} geom
 * @param {number} row
 * @param {Theme} theme
 */
function markRow(ctx, geom, row, theme) {
  const cell = geom.h / geom.rows;
  if (cell >= MIN_FRAMED_PX) {
    frameCell(ctx, geom, row, null, theme, { width: 1.5 });
    return;
  }
  const y = geom.y + (row + 0.5) * cell;
  const marker = (/** @type {number} */ x, /** @type {number} */ reach) => {
    ctx.beginPath();
    ctx.moveTo(x, y);
    ctx.lineTo(x + reach, y - 3.5);
    ctx.lineTo(x + reach, y + 3.5);
    ctx.fill();
  };
  ctx.fillStyle = theme.roles.query;
  marker(geom.x, -5);
  marker(geom.x + geom.w, 5);
}

/**
 * The position on an axis of a token, or null when it is not shown.
 * @param {readonly number[]} shown
 * @param {number | null | undefined} token
 */
export function placeOf(shown, token) {
  if (token === null || token === undefined) return null;
  const place = shown[token] === token ? token : shown.indexOf(token);
  return place < 0 ? null : place;
}

/**
 * What lies under a point: a cell, a row (key null), a column's bar or frame (query null), or nothing.
 * @param {AxesLayout} layout
 * @param {View} view
 * @param {{x: number, y: number}} point
 * @returns {CellPlace | null}
 */
export function hitHeatmap({ geom }, view, point) {
  const { data, sums, heard } = view;
  const cell = cellAt(point.x, point.y, geom);
  if (cell) return { query: data.rows[cell.row], key: data.cols[cell.col] };
  const frame = heard ? hitSpectrum(heard, stripOf(view, geom), point) : null;
  if (frame !== null) return { query: null, key: frame };
  const bar = sums ? hitSums(geom, point) : null;
  if (bar) {
    const query = bar.row === null ? null : data.rows[bar.row];
    return { query, key: bar.col === null ? null : data.cols[bar.col] };
  }
  const label = cellAt(geom.x, point.y, geom);
  return label && point.x < geom.x ? { query: data.rows[label.row], key: null } : null;
}
