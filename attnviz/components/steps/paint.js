// @ts-check
// Paints one panel of the strip: the matrix with its axes on the lower canvas, the marks of the chosen cell on the
// upper one. In: the panel, and what is shown (header, arrays, theme, selection). The colour of every cell is the
// table's colour for that number; the printed ends of the scale say what the first and last colour stand for.

import { diverging, levelFor, sequential, signedLevel } from "../shared/colors.js";
import { context2d, fitCanvas, markDrawn, setData } from "../shared/dom.js";
import { drawAxes, layoutAxes } from "../shared/axes.js";
import { cellRect, drawMatrix } from "../shared/matrix.js";
import {
  fittingDecimals,
  frameBox,
  layoutCells,
  layoutStrip,
  markCell,
  printNumbers,
  roleColours,
  rowRect,
  tagCol,
  tagRow,
} from "../shared/panel.js";
import { fmtReal } from "../shared/fmt.js";
import { beforeMask } from "./arithmetic.js";
import { baseIsOld, marksAreOld } from "./paper.js";
import { KEY_STAGES, SQUARE_STAGES, marksOf } from "./highlight.js";
import { placesOf } from "./window.js";

const FONT_PX = 11;
const MAX_LABEL_PX = 58;
const STRIP_TOP_PX = 18;
const NUMBERS_UP_TO = 12;

/** The largest finite |value| of a matrix, remembered with it. */
function limitOf(/** @type {any} */ matrix) {
  if (matrix.limit === undefined) {
    matrix.limit = matrix.data.reduce(
      (most, v) => (Number.isFinite(v) ? Math.max(most, Math.abs(v)) : most),
      0,
    );
  }
  return matrix.limit;
}

/**
 * How numbers of a stage become colours, and the ends of that scale in words.
 * @param {any} info the panel's header entry
 * @param {any} show
 */
export function scaleOf(info, show) {
  const matrix = show.arrays[info.stage];
  if (show.mode === "difference" && show.edited[`was_${info.stage}`]) {
    const limit = limitOf(matrix) || 1;
    return { ...signedScale(limit, show), name: "Δ" };
  }
  if (info.signed) {
    // masked scores keep the scale of those before the mask, so that the two panels can be compared by eye
    const limit = limitOf(info.stage === "masked" ? (beforeMask(show.arrays) ?? matrix) : matrix);
    return signedScale(limit, show);
  }
  const [low, high] = info.range ?? [0, limitOf(matrix)];
  if (low === 0 && high === 1) {
    const toLevel = (v) => (Number.isNaN(v) ? -1 : levelFor(v, show.scale));
    return {
      lut: sequential(show.theme.dark),
      toLevel,
      ends: [low, high],
      low: "0",
      high: "1",
      name: { sqrt: "√", log: "log", linear: "" }[show.scale],
    };
  }
  const span = high - low || 1;
  const toLevel = (v) =>
    Number.isFinite(v) ? Math.round(255 * Math.min(1, Math.max(0, (v - low) / span))) : -1;
  return {
    lut: sequential(show.theme.dark),
    toLevel,
    ends: [low, high],
    low: fmtReal(low),
    high: fmtReal(high),
    name: "",
  };
}

/** Both directions from 0 to the limit. */
function signedScale(/** @type {number} */ limit, /** @type {any} */ show) {
  return {
    lut: diverging(show.theme.dark),
    toLevel: (v) => signedLevel(v, limit),
    ends: [-limit, limit],
    low: fmtReal(-limit),
    high: fmtReal(limit),
    name: "",
  };
}

/** The part of a panel that is on show: its rows are queries or keys, its columns keys, or components, all of them. */
export function partOf(/** @type {string} */ stage, /** @type {any} */ show) {
  const { query, key } = show.shown;
  const cols = show.arrays[stage].shape[1];
  return {
    rows: KEY_STAGES.includes(stage) ? key : query,
    cols: SQUARE_STAGES.includes(stage) ? key : { from: 0, count: cols },
  };
}

/** The tokens along an axis that are on show. */
function tokensOf(/** @type {"query" | "key"} */ axis, /** @type {any} */ { header, shown }) {
  const { from, count } = shown[axis];
  const [labels, marks] =
    axis === "key" ? [header.key_tokens, header.key_marks] : [header.tokens, header.marks];
  return { labels: labels.slice(from, from + count), marks: marks.slice(from, from + count) };
}

/** The tokens along a panel's rows. */
function rowsOf(/** @type {string} */ stage, /** @type {any} */ show) {
  return tokensOf(KEY_STAGES.includes(stage) ? "key" : "query", show);
}

/**
 * Where everything of a panel lies. `show.widths` holds the room of square and other panels.
 * @param {CanvasRenderingContext2D} ctx
 * @param {any} info
 * @param {any} show
 */
function layoutOf(ctx, info, show) {
  const common = {
    theme: show.theme,
    font: FONT_PX,
    maxLabel: MAX_LABEL_PX,
    rowLabels: rowsOf(info.stage, show).labels,
  };
  if (SQUARE_STAGES.includes(info.stage)) return layoutSquare(ctx, show);
  const late = ["mixed", "concat", "projected"].includes(info.stage);
  const cell = show.widths.cell;
  const rowHeight = late ? cell : Math.min(cell, 18);
  return layoutStrip(ctx, {
    ...common,
    cols: show.arrays[info.stage].shape[1],
    rowHeight,
    maxCell: 34,
    width: late ? show.widths.late : show.widths.early,
    top: STRIP_TOP_PX,
  });
}

/** Layout of the panels with tokens on both axes: with room for numbers up to 12 tokens, square cells above. */
function layoutSquare(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {any} */ show) {
  const { labels: tokens } = tokensOf("query", show);
  const { labels: keys } = tokensOf("key", show);
  const most = Math.max(tokens.length, keys.length);
  const common = {
    theme: show.theme,
    font: FONT_PX,
    rowLabels: tokens,
    colLabels: keys,
    width: show.widths.square,
  };
  if (most > NUMBERS_UP_TO) return layoutAxes(ctx, { ...common, maxLabel: MAX_LABEL_PX, maxCell: 44 });
  return layoutCells(ctx, { ...common, maxCell: 52, maxHeight: 26, maxLabel: most > 6 ? 46 : MAX_LABEL_PX });
}

/** The height of a row in the square panels, which the others share. */
export function squareCell(/** @type {any} */ show) {
  const ctx = fitCanvas(document.createElement("canvas"), 1, 1);
  const { geom } = layoutSquare(ctx, show);
  return geom.h / geom.rows;
}

/** The lower canvas: cells, axes, numbers; nothing where it shows them already. */
export function paintBase(/** @type {any} */ panel, /** @type {any} */ show) {
  const { info, base } = panel;
  const matrix = show.arrays[info.stage];
  const { theme, header } = show;
  const scale = scaleOf(info, show);
  if (!baseIsOld(panel, show, scale)) return;
  panel.layout = layoutOf(context2d(base), info, show);
  const { layout } = panel;
  const { geom } = layout;
  const { rows, cols } = partOf(info.stage, show);
  const whole = !show.shown.part;
  const ctx = fitCanvas(base, layout.width, layout.height);
  const blocked =
    info.stage === "masked" ? Uint8Array.from(matrix.data, (v) => (v === -Infinity ? 1 : 0)) : undefined;
  drawMatrix(ctx, {
    ...geom,
    values: matrix.data,
    stride: matrix.shape[1],
    rowIndex: whole ? undefined : placesOf(rows),
    colIndex: whole ? undefined : placesOf(cols),
    lut: scale.lut,
    toLevel: scale.toLevel,
    signed: info.signed,
    blocked,
    theme,
    grid: geom.rows <= NUMBERS_UP_TO && geom.cols <= NUMBERS_UP_TO,
  });
  drawPanelAxes(ctx, panel, show);
  const digits =
    whole && geom.rows <= NUMBERS_UP_TO ? printCells(ctx, geom, matrix.data, scale, theme) : null;
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
    from: whole ? null : `${rows.from},${cols.from}`,
  });
  markDrawn(base);
  Object.assign(panel, { digits, scale, from: { row: rows.from, col: cols.from } });
}

/** Numbers into the cells where they fit. Returns their decimals, null where none are printed. */
function printCells(ctx, geom, values, scale, theme) {
  for (const size of [10.5, 9.5, 8.5, 7.5]) {
    const font = `${size}px ${theme.font}`;
    const decimals = fittingDecimals(ctx, values, geom, font);
    if (decimals === null || (decimals < 2 && size > 8.5)) continue;
    printNumbers(ctx, geom, values, {
      lut: scale.lut,
      toLevel: scale.toLevel,
      decimals,
      font,
      plain: theme.text,
    });
    return decimals;
  }
  return null;
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {any} panel
 * @param {any} show
 */
function drawPanelAxes(ctx, panel, show) {
  const { info, layout } = panel;
  const { geom } = layout;
  const rows = rowsOf(info.stage, show);
  if (SQUARE_STAGES.includes(info.stage)) {
    const keys = tokensOf("key", show);
    drawAxes(ctx, layout, rows.labels, keys.labels, {
      theme: show.theme,
      rowMarks: rows.marks,
      colMarks: keys.marks,
    });
    return;
  }
  drawAxes(ctx, { ...layout, geom: { ...geom, cols: 0 } }, rows.labels, [], {
    theme: show.theme,
    rowMarks: rows.marks,
  });
  drawNumberedColumns(ctx, geom, info, show);
}

/** First and last column number, and the axis word between them. */
function drawNumberedColumns(ctx, geom, info, show) {
  const { theme } = show;
  const y = geom.y - 5;
  const last = String(geom.cols - 1);
  ctx.font = `10px ${theme.font}`;
  ctx.fillStyle = theme.muted;
  ctx.textBaseline = "alphabetic";
  ctx.textAlign = "left";
  const unit = geom.w / geom.cols;
  const [start, stop] = info.stage === "concat" ? show.header.head_slice : [geom.cols, 0];
  if (start * unit > 12) ctx.fillText("0", geom.x, y);
  ctx.textAlign = "right";
  if ((geom.cols - stop) * unit > ctx.measureText(last).width + 4) ctx.fillText(last, geom.x + geom.w, y);
  const word = info.stage === "concat" ? "" : info.cols;
  const room = geom.w - 2 * ctx.measureText(last).width - 12;
  ctx.textAlign = "center";
  if (word && ctx.measureText(word).width <= room) ctx.fillText(word, geom.x + geom.w / 2, y);
}

/** The upper canvas: what feeds the chosen cell and what it feeds, and the cell under the pointer. */
export function paintMarks(/** @type {any} */ panel, /** @type {any} */ show) {
  if (!marksAreOld(panel, show)) return;
  const { info, over, base, layout, from } = panel;
  const { theme, header, query, key } = show;
  const { geom } = layout;
  const ctx = fitCanvas(over, layout.width, layout.height);
  const colours = roleColours(theme);
  const marks = marksOf(info.stage, query, key, header);
  if (marks.cols) markColumns(ctx, geom, marks.cols, show);
  const seen = (/** @type {number} */ row) => row >= from.row && row < from.row + geom.rows;
  for (const { row, role } of marks.rows.filter((mark) => seen(mark.row))) {
    frameBox(ctx, rowRect(geom, row - from.row), { colour: colours[role], theme, dashed: role === "key" });
    tagRow(ctx, layout, (role === "key" ? header.key_tokens : header.tokens)[row], row - from.row, {
      colour: colours[role],
      theme,
    });
  }
  if (marks.cols && query !== null) {
    frameBox(ctx, sliceRect(geom, query - from.row, marks.cols), { colour: colours.query, theme, width: 3 });
  }
  if (marks.cell) {
    if (!marks.rows.length)
      tagRow(ctx, layout, header.tokens[query], query - from.row, { colour: colours.query, theme });
    tagCol(ctx, layout, header.key_tokens[key], key - from.col, { colour: colours.key, theme });
    markCell(ctx, cellRect(geom, query - from.row, key - from.col), colours, theme);
  }
  if (panel.hover)
    frameBox(ctx, cellRect(geom, panel.hover.row - from.row, panel.hover.col - from.col), {
      colour: theme.text,
      theme,
      width: 1,
    });
  setData(base, {
    rows: marks.rows.map((mark) => mark.row).join(",") || null,
    cell: marks.cell ? marks.cell.join(",") : null,
    cols: marks.cols ? marks.cols.join(",") : null,
    query,
    key,
  });
}

/** A bracket over the columns of concat that belong to this head. */
function markColumns(ctx, geom, [start, stop], show) {
  const x0 = geom.x + (start / geom.cols) * geom.w;
  const x1 = geom.x + (stop / geom.cols) * geom.w;
  const y = geom.y - 4;
  ctx.strokeStyle = show.theme.text;
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  ctx.moveTo(x0 + 0.5, y + 4);
  ctx.lineTo(x0 + 0.5, y);
  ctx.lineTo(x1 - 0.5, y);
  ctx.lineTo(x1 - 0.5, y + 4);
  ctx.stroke();
  ctx.globalAlpha = 0.55;
  ctx.strokeRect(x0, geom.y, x1 - x0, geom.h);
  ctx.globalAlpha = 1;
}

function sliceRect(geom, row, [start, stop]) {
  const box = rowRect(geom, row);
  const unit = geom.w / geom.cols;
  return { x: geom.x + start * unit, y: box.y, w: (stop - start) * unit, h: box.h };
}
