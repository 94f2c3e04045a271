// @ts-check
// The three heatmaps of Compare, the coloured matrix of heads, and its bar. Cells are painted once for a pair of heads
// and reused while the pointer moves; frames mark the same cell in all three.

import { drawAxes, layoutAxes } from "../shared/axes.js";
import { colourAt } from "../shared/colors.js";
import { fitCanvas, markDrawn, setData } from "../shared/dom.js";
import { cellAt, drawMatrix, frameCell } from "../shared/matrix.js";

const FONT = 11;
const MAX_LABEL = 78;
const BAR = { height: 10, pad: 22, font: 11 };

/**
 * One heatmap: `rows`/`cols` are labels, `values` numbers, `toLevel` their colours; `at` the frames in its own rows and columns.
 * @typedef {{canvas: HTMLCanvasElement, cells: HTMLCanvasElement, rows: string[], cols: string[], rowMarks: number[], colMarks: number[],
 *   values: Float32Array, toLevel: (value: number) => number, lut: Uint32Array, signed: boolean, blocked?: Uint8Array, layout?: any}} Plot
 */

/**
 * Room for labels; plots of one width share it, so that equal texts stand equally.
 * @param {Plot[]} plots
 * @param {number[]} widths
 * @param {any} theme
 * @param {{rowTitle: string, colTitle: string}} titles
 */
export function layoutPlots(plots, widths, theme, titles) {
  const probe = /** @type {CanvasRenderingContext2D} */ (plots[0].canvas.getContext("2d"));
  probe.font = `600 ${FONT}px ${theme.font}`;
  const longer = (/** @type {string} */ best, /** @type {string} */ label) =>
    probe.measureText(label).width > probe.measureText(best).width ? label : best;
  plots.forEach((plot, i) => {
    const alike = plots.filter((_, j) => widths[j] === widths[i]);
    const longest = (/** @type {"rows" | "cols"} */ axis) =>
      alike.flatMap((other) => other[axis]).reduce(longer, "");
    plot.layout = layoutAxes(probe, {
      rowLabels: [longest("rows"), ...plot.rows.slice(1)],
      colLabels: [longest("cols"), ...plot.cols.slice(1)],
      width: widths[i],
      theme,
      font: FONT,
      maxLabel: MAX_LABEL,
      maxCell: 40,
      ...titles,
    });
  });
}

/** The cells alone, at device resolution. */
export function paintPlot(/** @type {Plot} */ plot, /** @type {any} */ theme) {
  const {
    layout: { geom },
    cells,
    values,
    toLevel,
    lut,
    signed,
    blocked,
  } = plot;
  drawMatrix(fitCanvas(cells, geom.w, geom.h), {
    values,
    toLevel,
    lut,
    signed,
    blocked,
    theme,
    grid: true,
    ...geom,
    x: 0,
    y: 0,
  });
}

/**
 * Cells, axes and frames. `pinned` and `hover` are {row, col} of this plot, null where it has no such cell.
 * @param {Plot} plot
 * @param {any} theme
 * @param {any} titles
 * @param {any} pinned
 * @param {any} hover
 * @param {Record<string, any>} tells
 */
export function drawPlot(plot, theme, titles, pinned, hover, tells) {
  const { canvas, cells, layout } = plot;
  const { geom } = layout;
  const ctx = fitCanvas(canvas, layout.width, layout.height);
  const shown = hover ?? pinned;
  ctx.drawImage(cells, 0, 0, cells.width, cells.height, geom.x, geom.y, geom.w, geom.h);
  if (pinned && pinned.row !== null && geom.h / geom.rows >= 5)
    frameCell(ctx, geom, pinned.row, null, theme, { width: 1.5 });
  if (pinned && pinned.row !== null && pinned.col !== null)
    frameCell(ctx, geom, pinned.row, pinned.col, theme, { width: 2.5 });
  if (hover && hover.row !== null && hover.col !== null)
    frameCell(ctx, geom, hover.row, hover.col, theme, { width: 1.5, colour: theme.text });
  drawAxes(ctx, layout, plot.rows, plot.cols, {
    theme,
    rowHi: shown?.row ?? null,
    colHi: shown?.col ?? null,
    rowMarks: plot.rowMarks,
    colMarks: plot.colMarks,
    ...titles,
  });
  setData(canvas, {
    ...tells,
    row: pinned?.row,
    col: pinned?.col,
    overRow: hover?.row,
    overCol: hover?.col,
    x: geom.x,
    y: geom.y,
    w: geom.w,
    h: geom.h,
    rows: geom.rows,
    cols: geom.cols,
  });
  markDrawn(canvas);
}

/** What of a plot lies under a point: a cell, a row label ({row, col: null}), or nothing. */
export function hitPlot(/** @type {Plot} */ plot, /** @type {{x: number, y: number}} */ point) {
  const { geom } = plot.layout;
  const cell = cellAt(point.x, point.y, geom);
  if (cell) return { row: cell.row, col: cell.col };
  const side = cellAt(geom.x, point.y, geom);
  return side && point.x < geom.x ? { row: side.row, col: null } : null;
}

/**
 * Every head in the colour of how much of its attention moved; the largest has the last colour.
 * @param {HTMLCanvasElement} canvas
 * @param {import("../shared/buffer.js").PackedArray} moved
 * @param {Uint32Array} lut
 * @param {{size: number, gap: number}} geom
 */
export function drawMoved(canvas, moved, lut, geom) {
  const [layers, heads] = moved.shape;
  const step = geom.size + geom.gap;
  const most = Math.max(...moved.data);
  const ctx = fitCanvas(canvas, heads * step - geom.gap, layers * step - geom.gap);
  for (let i = 0; i < moved.data.length; i++) {
    ctx.fillStyle = colourAt(lut, most > 0 ? Math.round((255 * moved.data[i]) / most) : 0);
    ctx.fillRect((i % heads) * step, Math.floor(i / heads) * step, geom.size, geom.size);
  }
  setData(canvas, { ...geom, most });
  markDrawn(canvas);
}

/**
 * A bar from 0 to the largest share, its ends printed.
 * @param {HTMLCanvasElement} canvas
 * @param {Uint32Array} lut
 * @param {any} theme
 * @param {number} width
 * @param {[string, string]} ends
 */
export function drawMovedBar(canvas, lut, theme, width, ends) {
  const { height, pad, font } = BAR;
  const ctx = fitCanvas(canvas, width, height + font + 6);
  const span = width - 2 * pad;
  for (let x = 0; x < span; x++) {
    ctx.fillStyle = colourAt(lut, Math.round((255 * x) / (span - 1)));
    ctx.fillRect(pad + x, 0, x < span - 1 ? 1.5 : 1, height);
  }
  ctx.strokeStyle = theme.border;
  ctx.strokeRect(pad - 0.5, 0.5, span + 1, height - 1);
  ctx.font = `${font}px ${theme.font}`;
  ctx.fillStyle = theme.muted;
  ctx.textAlign = "center";
  ctx.fillText(ends[0], pad, height + font + 3);
  ctx.fillText(ends[1], pad + span, height + font + 3);
  markDrawn(canvas);
}
