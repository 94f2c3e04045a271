// @ts-check
// The three heatmaps of Compare, the coloured matrix of heads, and its bar. Cells are painted once for a pair of heads
// and reused while the pointer moves; frames mark the same cell in all three.

import { drawAxes, layoutAxes } from "../shared/axes.js";
import { paintRamp } from "../shared/colour_bar.js";
import { colourAt, diverging, signedLevel } from "../shared/colors.js";
import { context2d, fitCanvas, markDrawn, setData } from "../shared/dom.js";
import { cellAt, cellRect, drawMatrix, frameCell, markCell } from "../shared/matrix.js";

/** @import { AxesLayout } from "../shared/axes.js" */
/** @import { FloatArray } from "../shared/buffer.js" */
/** @import { Theme } from "../shared/theme.js" */
/** @import { SlotCell } from "./choice.js" */
/** @import { AxisLabels } from "./labels.js" */
/** @import { Difference, largestOf } from "./numbers.js" */

/** @typedef {{rowTitle: string, colTitle: string}} Titles */
/** The colours of numbers. @typedef {{toLevel: (value: number) => number, lut: Uint32Array, signed: boolean}} Colours */
/**
 * One heatmap, before its size is known.
 * @typedef {AxisLabels & Colours & {canvas: HTMLCanvasElement, cells: HTMLCanvasElement, values: Float32Array,
 *   blocked?: Uint8Array}} PlotData
 */
/** @typedef {PlotData & {layout: AxesLayout}} Plot */
/** B − A of all heads, and the largest |B − A| of them. @typedef {{each: Difference[], limit: number, rows: number, cols: number,
 *   largest: ReturnType<typeof largestOf>}} Squares */

const FONT_PX = 11;
const LONGEST_LABEL_PX = 78;
const LONGEST_PAIR_PX = 116; // where there is room for a word and the one in its place
const ROOMY_PX = 400;
const MAX_CELL_PX = 40;
const [BAR_ABOVE_PX, MOVED_PX] = [5, 3];
/** Room for the names of layers and heads. */
export const NAMES = { left: 26, top: 18 };
const BAR = { height: 10, pad: 22, font: 11 };

/**
 * Finds room for labels; plots of one width share it, so that equal texts stand equally.
 * @param {PlotData[]} plots
 * @param {number[]} widths
 * @param {Theme} theme
 * @param {Titles} titles
 * @returns {Plot[]}
 */
export function layoutPlots(plots, widths, theme, titles) {
  const probe = context2d(plots[0].canvas);
  probe.font = `600 ${FONT_PX}px ${theme.font}`;
  const longer = (/** @type {string} */ best, /** @type {string} */ label) =>
    probe.measureText(label).width > probe.measureText(best).width ? label : best;
  return plots.map((plot, i) => {
    const alike = plots.filter((_, j) => widths[j] === widths[i]);
    const longest = (/** @type {"rows" | "cols"} */ axis) =>
      alike.flatMap((other) => other[axis]).reduce(longer, "");
    const layout = layoutAxes(probe, {
      rowLabels: [longest("rows"), ...plot.rows.slice(1)],
      colLabels: [longest("cols"), ...plot.cols.slice(1)],
      width: widths[i],
      theme,
      font: FONT_PX,
      maxLabel: widths[i] < ROOMY_PX ? LONGEST_LABEL_PX : LONGEST_PAIR_PX,
      maxCell: MAX_CELL_PX,
      ...titles,
    });
    return { ...plot, layout };
  });
}

/** Paints the cells alone, at device resolution. */
export function paintPlot(/** @type {Plot} */ plot, /** @type {Theme} */ theme) {
  const { cells, values, toLevel, lut, signed, blocked } = plot;
  const { geom } = plot.layout;
  const ctx = fitCanvas(cells, geom.w, geom.h);
  drawMatrix(ctx, { ...geom, x: 0, y: 0, values, toLevel, lut, signed, blocked, theme, grid: true });
}

/**
 * Draws cells, axes and frames.
 * @param {Plot} plot
 * @param {Theme} theme
 * @param {Titles} titles
 * @param {SlotCell} pinned in rows and columns of this plot, null where it has no such cell
 * @param {SlotCell | null} hover
 * @param {Record<string, string | number>} facts written to the canvas's data
 */
export function drawPlot(plot, theme, titles, pinned, hover, facts) {
  const { canvas, cells, layout } = plot;
  const { geom } = layout;
  const ctx = fitCanvas(canvas, layout.width, layout.height);
  const shown = hover ?? pinned;
  ctx.drawImage(cells, 0, 0, cells.width, cells.height, geom.x, geom.y, geom.w, geom.h);
  if (pinned.row !== null && geom.h / geom.rows >= 5)
    frameCell(ctx, geom, pinned.row, null, theme, { width: 1.5 });
  if (pinned.row !== null && pinned.col !== null)
    markCell(ctx, cellRect(geom, pinned.row, pinned.col), theme);
  if (hover && hover.row !== null && hover.col !== null)
    frameCell(ctx, geom, hover.row, hover.col, theme, { width: 1.5, colour: theme.text });
  const { rowMarks, colMarks } = plot;
  const marks = { rowHi: shown.row, colHi: shown.col, rowMarks, colMarks };
  drawAxes(ctx, layout, plot.rows, plot.cols, { theme, ...marks, ...titles });
  const over = { overRow: hover?.row, overCol: hover?.col };
  setData(canvas, { ...facts, row: pinned.row, col: pinned.col, ...over, ...geom });
  markDrawn(canvas);
}

/** What of a plot lies under a point: a cell, a row label (its row), or nothing. @returns {SlotCell | null} */
export function hitPlot(/** @type {Plot} */ plot, /** @type {{x: number, y: number}} */ point) {
  const { geom } = plot.layout;
  const cell = cellAt(point.x, point.y, geom);
  if (cell) return cell;
  const label = cellAt(geom.x, point.y, geom);
  return label && point.x < geom.x ? { row: label.row, col: null } : null;
}

/**
 * Draws B − A of every head on one scale, and below each a bar of its share; the longest is the largest share.
 * @param {HTMLCanvasElement} canvas
 * @param {Squares} squares
 * @param {number[]} shares NaN for none
 * @param {Theme} theme
 * @param {{size: number, gap: number, rowGap: number, heads: number}} layout
 */
export function drawSquares(canvas, { each, limit, rows, cols }, shares, theme, layout) {
  const { size, gap, rowGap, heads } = layout;
  const [across, down] = [size + gap, size + rowGap];
  const most = Math.max(...shares.filter((share) => !Number.isNaN(share)), 0);
  const ctx = fitCanvas(canvas, NAMES.left + heads * across - gap, NAMES.top + (each.length / heads) * down);
  ctx.font = `${FONT_PX}px ${theme.font}`;
  const toLevel = (/** @type {number} */ value) => signedLevel(value, limit);
  each.forEach(({ values }, at) => {
    const [layer, head] = [Math.floor(at / heads), at % heads];
    const [x, y] = [NAMES.left + head * across, NAMES.top + layer * down];
    ctx.fillStyle = theme.muted;
    ctx.textAlign = "center";
    if (!layer) ctx.fillText(`H${head}`, x + size / 2, NAMES.top - 7);
    ctx.textAlign = "left";
    if (!head) ctx.fillText(`L${layer}`, 0, y + size / 2 + 4);
    ctx.fillStyle = theme.faint;
    ctx.fillRect(x, y, size, size);
    const lut = diverging(theme.dark);
    drawMatrix(ctx, { x, y, w: size, h: size, rows, cols, values, lut, toLevel, signed: true });
    ctx.fillRect(x, y + size + BAR_ABOVE_PX, size, MOVED_PX);
    ctx.fillStyle = theme.roles.off;
    ctx.fillRect(x, y + size + BAR_ABOVE_PX, most > 0 ? (size * (shares[at] || 0)) / most : 0, MOVED_PX);
  });
  setData(canvas, { size, gap, row_gap: rowGap, most, limit });
  markDrawn(canvas);
}

/**
 * Draws every head in the colour of how much of its attention moved; the largest has the last colour.
 * @param {HTMLCanvasElement} canvas
 * @param {FloatArray} moved
 * @param {Uint32Array} lut
 * @param {{size: number, gap: number}} grid
 */
export function drawMoved(canvas, moved, lut, grid) {
  const [layers, heads] = moved.shape;
  const step = grid.size + grid.gap;
  const most = Math.max(...moved.data);
  const ctx = fitCanvas(canvas, heads * step - grid.gap, layers * step - grid.gap);
  moved.data.forEach((share, i) => {
    ctx.fillStyle = colourAt(lut, most > 0 ? Math.round((255 * share) / most) : 0);
    ctx.fillRect((i % heads) * step, Math.floor(i / heads) * step, grid.size, grid.size);
  });
  setData(canvas, { ...grid, most });
  markDrawn(canvas);
}

/**
 * Draws a bar from 0 to the largest share, its ends printed.
 * @param {HTMLCanvasElement} canvas
 * @param {Uint32Array} lut
 * @param {Theme} theme
 * @param {number} width
 * @param {[string, string]} ends
 */
export function drawMovedBar(canvas, lut, theme, width, ends) {
  const { height, pad, font } = BAR;
  const ctx = fitCanvas(canvas, width, height + font + 6);
  const span = width - 2 * pad;
  paintRamp(ctx, lut, theme, { x: pad, width: span, height });
  ctx.font = `${font}px ${theme.font}`;
  ctx.fillStyle = theme.muted;
  ctx.textAlign = "center";
  ctx.fillText(ends[0], pad, height + font + 3);
  ctx.fillText(ends[1], pad + span, height + font + 3);
  markDrawn(canvas);
}
