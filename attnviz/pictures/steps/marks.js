// @ts-check
// Paints the upper canvas of a panel: what feeds the chosen cell and what it feeds, and the cell under the pointer.

import { fitCanvas, setData } from "../shared/dom.js";
import { cellRect, frameBox, markCell } from "../shared/matrix.js";
import { rowRect, tagCol, tagRow } from "../shared/panel.js";
import { marksOf } from "./highlight.js";
import { marksAreOld } from "./paper.js";

/** @import { Geom } from "../shared/matrix.js" */
/** @import { Theme } from "../shared/theme.js" */
/** @import { Marks, RowMark } from "./highlight.js" */
/** @import { Drawn, Picture, Show } from "./state.js" */

/** Nothing is painted where the marks are there already. */
export function paintMarks(/** @type {Picture} */ picture, /** @type {Show} */ show) {
  const { info, over, base, hover, drawn } = picture;
  const { theme, header } = show;
  const { query, key } = show.selection;
  if (!drawn || !marksAreOld(picture, show, drawn)) return;
  const { geom, width, height } = drawn.layout;
  const { from } = drawn;
  const ctx = fitCanvas(over, width, height);
  const marks = marksOf(info.stage, query, key, header);
  if (marks.cols) bracketColumns(ctx, geom, marks.cols, theme);
  for (const mark of marks.rows)
    if (mark.row >= from.row && mark.row < from.row + geom.rows) markRow(ctx, drawn, mark, show);
  if (marks.cols && query !== null) {
    const colour = theme.roles.query;
    frameBox(ctx, sliceRect(geom, query - from.row, marks.cols), { colour, theme, width: 3 });
  }
  markChosen(ctx, drawn, marks, show);
  if (hover) {
    const box = cellRect(geom, hover.row - from.row, hover.col - from.col);
    frameBox(ctx, box, { colour: theme.text, theme, width: 1 });
  }
  setData(base, {
    rows: marks.rows.map((mark) => mark.row).join(",") || null,
    cell: marks.cell ? marks.cell.join(",") : null,
    cols: marks.cols ? marks.cols.join(",") : null,
    query,
    key,
  });
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {Drawn} drawn
 * @param {RowMark} mark
 * @param {Show} show
 */
function markRow(ctx, { layout, from }, { row, role }, { theme, header }) {
  const colour = theme.roles[role];
  const at = row - from.row;
  frameBox(ctx, rowRect(layout.geom, at), { colour, theme, dashed: role === "key" });
  tagRow(ctx, layout, (role === "key" ? header.key_tokens : header.rows)[row], at, { colour, theme });
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {Drawn} drawn
 * @param {Marks} marks
 * @param {Show} show
 */
function markChosen(ctx, { layout, from }, { cell, rows }, { theme, header }) {
  if (!cell) return;
  const [query, key] = cell;
  const colours = theme.roles;
  const [row, col] = [query - from.row, key - from.col];
  if (!rows.length) tagRow(ctx, layout, header.rows[query], row, { colour: colours.query, theme });
  tagCol(ctx, layout, header.key_tokens[key], col, { colour: colours.key, theme });
  markCell(ctx, cellRect(layout.geom, row, col), theme);
}

/**
 * A bracket over the columns of concat that belong to this head.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Geom} geom
 * @param {[start: number, stop: number]} columns
 * @param {Theme} theme
 */
function bracketColumns(ctx, geom, [start, stop], theme) {
  const x0 = geom.x + (start / geom.cols) * geom.w;
  const x1 = geom.x + (stop / geom.cols) * geom.w;
  const y = geom.y - 4;
  ctx.strokeStyle = theme.text;
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

/** The columns of a row. */
function sliceRect(
  /** @type {Geom} */ geom,
  /** @type {number} */ row,
  /** @type {[start: number, stop: number]} */ [start, stop],
) {
  const box = rowRect(geom, row);
  const unit = geom.w / geom.cols;
  return { x: geom.x + start * unit, y: box.y, w: (stop - start) * unit, h: box.h };
}
