// @ts-check
// Paints the lower canvas of a panel: the matrix with its axes and, where they fit, its numbers. The colour of every cell
// is the table's colour for that number.

import { drawAxes, layoutAxes } from "../shared/axes.js";
import { context2d, fitCanvas, isTracing, markDrawn, setData } from "../shared/dom.js";
import { drawMatrix } from "../shared/matrix.js";
import { fittingDecimals, layoutCells, layoutStrip, printNumbers } from "../shared/panel.js";
import { baseIsOld } from "./paper.js";
import { scaleOf } from "./scales.js";
import { isSquare, LINES, rowAxis } from "./stages.js";
import { placesOf } from "./window.js";

/** @import { AxesLayout } from "../shared/axes.js" */
/** @import { FloatArray } from "../shared/buffer.js" */
/** @import { Geom } from "../shared/matrix.js" */
/** @import { Theme } from "../shared/theme.js" */
/** @import { ColourScale } from "./scales.js" */
/** @import { Picture, Show } from "./state.js" */
/** @import { ShownPanel } from "./types.js" */
/** @import { Span } from "./window.js" */

const FONT_PX = 11;
const MAX_LABEL_PX = 58;
const STRIP_TOP_PX = 18;
const HIGHEST_EARLY_ROW_PX = 18;
const GRID_FROM_PX = 12; // a line between the cells would hide smaller ones

/** The numbers of a panel; null where the stage is absent. */
export function matrixOf(/** @type {ShownPanel} */ info, /** @type {Pick<Show, "arrays">} */ { arrays }) {
  return arrays[info.stage] ?? null;
}

/**
 * The part of a panel that is on show: its rows are queries or keys, its columns keys, or components, all of them.
 * @param {ShownPanel} info
 * @param {Show} show
 * @returns {{rows: Span, cols: Span}}
 */
function partOf({ stage, shape }, { shown }) {
  return { rows: shown[rowAxis(stage)], cols: isSquare(stage) ? shown.key : { from: 0, count: shape[1] } };
}

/** The tokens along an axis that are on show. */
function tokensOn(/** @type {"query" | "key"} */ axis, /** @type {Show} */ { header, marks, shown }) {
  const { from, count } = shown[axis];
  const labels = axis === "key" ? header.key_tokens : header.tokens;
  return { labels: labels.slice(from, from + count), marks: marks[axis].slice(from, from + count) };
}

/**
 * Where everything of a panel lies; `show.widths` holds the room of the panels.
 * @param {CanvasRenderingContext2D} ctx
 * @param {ShownPanel} info
 * @param {Show} show
 * @returns {AxesLayout}
 */
function layoutOf(ctx, info, show) {
  const { theme, widths } = show;
  if (isSquare(info.stage)) return layoutSquare(ctx, show);
  const isLate = LINES[2].includes(info.stage);
  return layoutStrip(ctx, {
    theme,
    font: FONT_PX,
    maxLabel: MAX_LABEL_PX,
    rowLabels: tokensOn(rowAxis(info.stage), show).labels,
    cols: info.shape[1],
    rowHeight: isLate ? widths.cell : Math.min(widths.cell, HIGHEST_EARLY_ROW_PX),
    maxCell: 34,
    width: isLate ? widths.late : widths.early,
    top: STRIP_TOP_PX,
  });
}

/** Layout of the panels with tokens on both axes: with room for numbers where they are printed, else square cells. */
function layoutSquare(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {Show} */ show) {
  const rowLabels = tokensOn("query", show).labels;
  const colLabels = tokensOn("key", show).labels;
  const most = Math.max(rowLabels.length, colLabels.length);
  const common = { theme: show.theme, font: FONT_PX, rowLabels, colLabels, width: show.widths.square };
  if (!show.widths.numbers) return layoutAxes(ctx, { ...common, maxLabel: MAX_LABEL_PX, maxCell: 44 });
  return layoutCells(ctx, { ...common, maxCell: 52, maxHeight: 26, maxLabel: most > 6 ? 46 : MAX_LABEL_PX });
}

/** The height of a row in the square panels, which the others share. */
export function squareCell(/** @type {Show} */ show) {
  const { geom } = layoutSquare(context2d(document.createElement("canvas")), show);
  return geom.h / geom.rows;
}

/** The lower canvas: cells, axes, numbers; nothing where it shows them already. */
export function paintBase(/** @type {Picture} */ picture, /** @type {Show} */ show) {
  const { info, base } = picture;
  const { theme, header, shown } = show;
  const matrix = matrixOf(info, show);
  if (!matrix) return;
  const scale = scaleOf(info, matrix, show);
  if (!isTracing() && !baseIsOld(picture, show, matrix.data, scale)) return;
  const layout = layoutOf(context2d(base), info, show);
  const { geom } = layout;
  const { rows, cols } = partOf(info, show);
  const ctx = fitCanvas(base, layout.width, layout.height);
  const hasNumbers = !shown.part && show.widths.numbers;
  const grid = hasNumbers && geom.w >= GRID_FROM_PX * geom.cols;
  drawCells(ctx, geom, { info, matrix, scale, theme, grid, part: shown.part ? { rows, cols } : null });
  drawPanelAxes(ctx, layout, info, show);
  const digits = hasNumbers ? printCells(ctx, geom, matrix.data, scale, theme) : null;
  ctx.strokeStyle = theme.border;
  ctx.lineWidth = 1;
  ctx.strokeRect(geom.x - 0.5, geom.y - 0.5, geom.w + 1, geom.h + 1);
  setData(base, {
    plot: [geom.x, geom.y, geom.w, geom.h].join(","),
    rows_count: geom.rows,
    cols_count: geom.cols,
    layer: header.layer,
    head: header.head,
    digits,
    from: shown.part ? `${rows.from},${cols.from}` : null,
  });
  markDrawn(base);
  picture.drawn = { layout, scale, digits, from: { row: rows.from, col: cols.from } };
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {Geom} geom
 * @param {{info: ShownPanel, matrix: FloatArray, scale: ColourScale, theme: Theme, grid: boolean,
 *   part: {rows: Span, cols: Span} | null}} cells
 */
function drawCells(ctx, geom, { info, matrix, scale, theme, grid, part }) {
  const isMasked = info.stage === "masked";
  drawMatrix(ctx, {
    ...geom,
    values: matrix.data,
    stride: matrix.shape[1],
    rowIndex: part ? placesOf(part.rows) : undefined,
    colIndex: part ? placesOf(part.cols) : undefined,
    lut: scale.lut,
    toLevel: scale.toLevel,
    signed: info.signed,
    blocked: isMasked ? Uint8Array.from(matrix.data, (v) => Number(v === -Infinity)) : undefined,
    theme,
    grid,
  });
}

/**
 * Numbers into the cells where they fit. Returns their decimals, null where none are printed.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Geom} geom
 * @param {Float32Array} values
 * @param {ColourScale} scale
 * @param {Theme} theme
 */
function printCells(ctx, geom, values, { lut, toLevel }, theme) {
  for (const size of [10.5, 9.5, 8.5, 7.5]) {
    const font = `${size}px ${theme.font}`;
    const decimals = fittingDecimals(ctx, values, geom, font);
    if (decimals === null || (decimals < 2 && size > 8.5)) continue;
    printNumbers(ctx, geom, values, { lut, toLevel, decimals, font, plain: theme.text });
    return decimals;
  }
  return null;
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {AxesLayout} layout
 * @param {ShownPanel} info
 * @param {Show} show
 */
function drawPanelAxes(ctx, layout, info, show) {
  const { geom } = layout;
  const { theme } = show;
  const rows = tokensOn(rowAxis(info.stage), show);
  if (isSquare(info.stage)) {
    const keys = tokensOn("key", show);
    drawAxes(ctx, layout, rows.labels, keys.labels, { theme, rowMarks: rows.marks, colMarks: keys.marks });
    return;
  }
  drawAxes(ctx, { ...layout, geom: { ...geom, cols: 0 } }, rows.labels, [], { theme, rowMarks: rows.marks });
  drawNumberedColumns(ctx, geom, info, show);
}

/**
 * First and last column number, and the axis word between them.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Geom} geom
 * @param {ShownPanel} info
 * @param {Show} show
 */
function drawNumberedColumns(ctx, geom, info, { theme, header }) {
  const y = geom.y - 5;
  const last = String(geom.cols - 1);
  ctx.font = `10px ${theme.font}`;
  ctx.fillStyle = theme.muted;
  ctx.textBaseline = "alphabetic";
  ctx.textAlign = "left";
  const unit = geom.w / geom.cols;
  const [start, stop] = info.stage === "concat" ? header.head_slice : [geom.cols, 0];
  if (start * unit > 12) ctx.fillText("0", geom.x, y);
  ctx.textAlign = "right";
  if ((geom.cols - stop) * unit > ctx.measureText(last).width + 4) ctx.fillText(last, geom.x + geom.w, y);
  const word = info.stage === "concat" ? "" : info.cols;
  const room = geom.w - 2 * ctx.measureText(last).width - 12;
  ctx.textAlign = "center";
  if (word && ctx.measureText(word).width <= room) ctx.fillText(word, geom.x + geom.w / 2, y);
}
