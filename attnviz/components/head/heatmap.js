// @ts-check
// The large heatmap of the head page: cells kept as a picture, axes, and the frames of what is pinned or pointed at.

import { drawAxes, layoutAxes } from "../shared/axes.js";
import { context2d, fitCanvas, markDrawn, setData } from "../shared/dom.js";
import { cellAt, drawMatrix, frameCell } from "../shared/matrix.js";
import { drawSpectrum, hitSpectrum, SPECTRUM_ROOM } from "../shared/spectrum.js";
import { drawSums, hitSums, SUMS_ROOM } from "./sums.js";

const MAX_SIDE = 620;
const TALLEST = 960;

/** Layout for the tokens shown; depends on width, tokens and theme only. */
export function layoutHeatmap(/** @type {HTMLCanvasElement} */ canvas, /** @type {any} */ view) {
  const { labels, keyLabels, data, theme, strings, sums } = view;
  const more = sums ? SUMS_ROOM : 0;
  const width = Math.min(view.width, MAX_SIDE + more) - more;
  const probe = context2d(canvas);
  const pick = (/** @type {readonly number[]} */ shown, /** @type {string[]} */ names) =>
    shown.map((i) => names[i]);
  const layout = layoutAxes(probe, {
    rowLabels: pick(data.rows, labels),
    colLabels: pick(data.cols, keyLabels),
    width,
    theme,
    maxCell: 56,
    tallest: TALLEST,
    ...titles(strings),
  });
  return {
    ...layout,
    width: Math.max(layout.width, layout.geom.x + layout.geom.w + more),
    height: layout.height + more + (view.heard ? SPECTRUM_ROOM : 0),
  };
}

/** Where the spectrogram stands: under the columns, and under their sums. */
function stripOf(/** @type {any} */ { data, sums }, /** @type {any} */ { geom }) {
  return {
    x: geom.x,
    y: geom.y + geom.h + (sums ? SUMS_ROOM : 0),
    w: geom.w,
    from: data.cols[0],
    to: data.cols[0] + data.cols.length,
  };
}

function titles(/** @type {Record<string, string>} */ strings) {
  return { rowTitle: strings.query_axis, colTitle: strings.key_axis };
}

/**
 * The cells alone, at device resolution: redrawn per head and scale, reused while the pointer moves.
 * @param {HTMLCanvasElement} cells
 * @param {any} view
 * @param {any} layout
 */
export function paintCells(cells, view, layout) {
  const { data, lut, levels, toLevel, theme } = view;
  const { geom } = layout;
  const ctx = fitCanvas(cells, geom.w, geom.h);
  const every = data.cols.length === data.nKey && data.rows.length === data.nQuery;
  drawMatrix(ctx, {
    values: data.values,
    stride: data.nKey,
    rowIndex: every ? undefined : data.rows,
    colIndex: every ? undefined : data.cols,
    lut,
    levels,
    toLevel,
    theme,
    grid: true,
    ...geom,
    x: 0,
    y: 0,
  });
}

/**
 * Puts cells, axes and frames on the canvas. `pinned` and `hover` are {query, key} in token positions.
 * @param {HTMLCanvasElement} canvas
 * @param {HTMLCanvasElement} cells
 * @param {any} view
 * @param {any} layout
 */
export function drawHeatmap(canvas, cells, view, layout) {
  const { labels, keyLabels, marks, keyMarks, data, theme, pinned, hover, focus } = view;
  const { geom } = layout;
  const ctx = fitCanvas(canvas, layout.width, layout.height);
  ctx.drawImage(cells, 0, 0, cells.width, cells.height, geom.x, geom.y, geom.w, geom.h);
  const at = (/** @type {readonly number[]} */ shown, /** @type {number | null | undefined} */ token) =>
    placeOf(shown, token);
  const row = at(data.rows, hover?.query ?? pinned.query);
  const col = at(data.cols, hover ? hover.key : (focus?.key ?? pinned.key));
  const pick = (/** @type {readonly number[]} */ shown, /** @type {ArrayLike<any>} */ list) =>
    shown.map((i) => list[i]);
  const pinnedRow = at(data.rows, pinned.query);
  const pinnedCol = at(data.cols, pinned.key);
  if (pinnedRow !== null) markRow(ctx, geom, pinnedRow, theme);
  if (pinnedRow !== null && pinnedCol !== null)
    frameCell(ctx, geom, pinnedRow, pinnedCol, theme, { width: 2.5 });
  if (hover && row !== null && col !== null)
    frameCell(ctx, geom, row, col, theme, { width: 1.5, colour: theme.text });
  drawAxes(
    ctx,
    layout,
    /** @type {string[]} */ (pick(data.rows, labels)),
    /** @type {string[]} */ (pick(data.cols, keyLabels)),
    {
      theme,
      rowHi: row,
      colHi: col,
      rowMarks: pick(data.rows, marks),
      colMarks: pick(data.cols, keyMarks),
      ...titles(view.strings),
    },
  );
  if (view.sums) drawSums(ctx, view.sums, geom, theme, view.strings, row, col);
  if (view.heard)
    drawSpectrum(ctx, view.heard, stripOf(view, layout), {
      theme,
      title: view.strings.heard,
      key: col === null ? null : data.cols[col],
      query: row === null || view.header.cross ? null : data.rows[row],
    });
  setData(canvas, {
    layer: view.layer,
    head: view.head,
    query: pinned.query,
    key: pinned.key,
    scale: view.scale,
    special: view.specialMode,
    words: view.inWords ? 1 : null,
    x: geom.x,
    y: geom.y,
    w: geom.w,
    h: geom.h,
    rows: geom.rows,
    cols: geom.cols,
    heard: view.heard ? stripOf(view, layout).y : null,
  });
  markDrawn(canvas);
}

/**
 * Frames a row; one too thin to be framed without covering its neighbours gets a marker at both ends instead.
 * @param {CanvasRenderingContext2D} ctx
 * @param {any} geom
 * @param {number} row
 * @param {any} theme
 */
function markRow(ctx, geom, row, theme) {
  const cell = geom.h / geom.rows;
  const y = geom.y + (row + 0.5) * cell;
  if (cell >= 5) {
    frameCell(ctx, geom, row, null, theme, { width: 1.5 });
    return;
  }
  ctx.fillStyle = theme.accent;
  for (const [x, way] of [
    [geom.x, -1],
    [geom.x + geom.w, 1],
  ]) {
    ctx.beginPath();
    ctx.moveTo(x, y);
    ctx.lineTo(x + way * 5, y - 3.5);
    ctx.lineTo(x + way * 5, y + 3.5);
    ctx.fill();
  }
}

/**
 * Position on an axis of a token, or null when it is not shown.
 * @param {readonly number[]} shown
 * @param {number | null | undefined} token
 */
export function placeOf(shown, token) {
  if (token === null || token === undefined) return null;
  const place = shown[token] === token ? token : shown.indexOf(token);
  return place < 0 ? null : place;
}

/**
 * What lies under a point: a cell, a row ({query, key: null}), a column's bar ({query: null, key}), or nothing.
 * @param {any} layout
 * @param {any} view
 * @param {{x: number, y: number}} point
 */
export function hitHeatmap(layout, view, point) {
  const { geom } = layout;
  const { data, sums } = view;
  const cell = cellAt(point.x, point.y, geom);
  if (cell) return { query: data.rows[cell.row], key: data.cols[cell.col] };
  const frame = view.heard ? hitSpectrum(view.heard, stripOf(view, layout), point) : null;
  if (frame !== null) return { query: null, key: frame };
  const bar = sums ? hitSums(geom, point) : null;
  if (bar)
    return {
      query: bar.row === null ? null : data.rows[bar.row],
      key: bar.col === null ? null : data.cols[bar.col],
    };
  const side = cellAt(geom.x, point.y, geom);
  return side && point.x < geom.x ? { query: data.rows[side.row], key: null } : null;
}
