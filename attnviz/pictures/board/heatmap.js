// @ts-check
// A large matrix as a heatmap: one canvas with thinned labels; the cell under the pointer or cursor is named in words.

import { drawAxes, layoutAxes } from "../shared/axes.js";
import { context2d, el, fitCanvas, localPoint, markDrawn, setData, watchSize } from "../shared/dom.js";
import { cellAt, cellRect, drawMatrix, frameBox } from "../shared/matrix.js";
import { moveBy } from "../shared/panel.js";
import { cellWords, panelColours } from "./cells.js";

/** @import { AxesLayout } from "../shared/axes.js" */
/** @import { PanelEvents, PanelPart, PanelView } from "./cells.js" */

/** The canvas of a panel, the cell that is pointed at, and the layout for the width it was drawn with. */
/**
 * @typedef {{canvas: HTMLCanvasElement, cursor: {row: number, col: number} | null, layout: AxesLayout,
 *   width: number}} Heatmap
 */

const WIDEST_PX = 560;
const WIDEST_NARROW_PX = 340;
const MIN_PX = 220;
const MIN_NARROW_PX = 110;
const MAX_CELL_PX = 26;
const FONT_PX = 11;
const LONGEST_LABEL_PX = 90;

/**
 * A heatmap as wide as `around` allows.
 * @param {PanelView} view
 * @param {PanelEvents} events
 * @param {HTMLElement} around
 * @returns {PanelPart}
 */
export function makeHeatmap(view, events, around) {
  const { header, panel } = view;
  const [least, most] = header.narrow ? [MIN_NARROW_PX, WIDEST_NARROW_PX] : [MIN_PX, WIDEST_PX];
  const room = () => Math.min(most, Math.max(least, around.clientWidth - 8));
  const canvas = el("canvas", { role: "img", tabIndex: 0, "aria-label": heatmapWords(view) });
  const asks = panel.asks && header.is_open;
  const node = el("div", { class: asks ? "av-board-heatmap av-board-asks" : "av-board-heatmap" }, canvas);
  /** @type {Heatmap} */
  const heatmap = { canvas, cursor: null, layout: layoutHeatmap(canvas, view, least), width: 0 };
  const draw = () => {
    heatmap.width = room();
    heatmap.layout = layoutHeatmap(canvas, view, heatmap.width);
    paint(view, heatmap);
  };
  const stop = watchSize(around, () => {
    if (room() !== heatmap.width) draw();
  });
  listen(view, heatmap, events);
  return { node, draw, stop };
}

/**
 * @param {PanelView} view
 * @param {Heatmap} heatmap
 * @param {PanelEvents} events
 */
function listen(view, heatmap, events) {
  const { canvas } = heatmap;
  const hit = (/** @type {MouseEvent} */ event) => {
    const { x, y } = localPoint(event, canvas);
    return cellAt(x, y, heatmap.layout.geom);
  };
  const move = (/** @type {Heatmap["cursor"]} */ cell) => {
    heatmap.cursor = cell;
    paint(view, heatmap);
    events.say(cell ? cellWords(view, cell.row, cell.col) : "");
  };
  canvas.addEventListener("pointermove", (event) => {
    const cell = hit(event);
    if (cell) move(cell);
  });
  canvas.addEventListener("pointerleave", () => move(null));
  canvas.addEventListener("click", (event) => {
    const cell = hit(event);
    if (cell) events.choose(cell.row, cell.col);
  });
  canvas.addEventListener("keydown", (event) => {
    const { cursor } = heatmap;
    const size = { rows: view.panel.rows.length, cols: view.panel.columns.length };
    const next = moveBy(event, cursor ?? { row: null, col: null }, size);
    if ((event.key === "Enter" || event.key === " ") && cursor) events.choose(cursor.row, cursor.col);
    else if (next) move(next);
    else return;
    event.preventDefault();
  });
}

/** The name of a heatmap for a screen reader: its caption, and the answer once that is known. */
function heatmapWords(/** @type {PanelView} */ { header, panel }) {
  const { answers, strings } = header;
  if (!panel.asks || !answers.length) return panel.caption;
  const [row, column] = answers[0];
  return `${panel.caption}. ${strings.answer}: ${panel.rows[row]}, ${panel.columns[column]}`;
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {PanelView} view
 * @param {number} width
 */
function layoutHeatmap(canvas, { panel, theme }, width) {
  return layoutAxes(context2d(canvas), {
    rowLabels: panel.rows,
    colLabels: panel.columns,
    width,
    font: FONT_PX,
    maxCell: MAX_CELL_PX,
    maxLabel: LONGEST_LABEL_PX,
    theme,
  });
}

function paint(/** @type {PanelView} */ view, /** @type {Heatmap} */ { canvas, cursor, layout }) {
  const { panel, data, theme } = view;
  const { geom } = layout;
  const { lut, level: toLevel } = panelColours(panel, theme);
  const ctx = fitCanvas(canvas, layout.width, layout.height);
  const { values, blocked } = data;
  if (!panel.hidden) drawMatrix(ctx, { ...geom, values, lut, toLevel, signed: panel.signed, theme, blocked });
  drawAxes(ctx, layout, panel.rows, panel.columns, { theme, rowHi: cursor?.row, colHi: cursor?.col });
  ctx.strokeStyle = theme.border;
  ctx.strokeRect(geom.x - 0.5, geom.y - 0.5, geom.w + 1, geom.h + 1);
  frameCells(ctx, view, layout, cursor);
  setData(canvas, { plot: [geom.x, geom.y, geom.w, geom.h].join(",") });
  markDrawn(canvas);
}

/**
 * Frames what is marked, pointed at, the answer, and what was chosen.
 * @param {CanvasRenderingContext2D} ctx
 * @param {PanelView} view
 * @param {AxesLayout} layout
 * @param {Heatmap["cursor"]} cursor
 */
function frameCells(ctx, { header, panel, theme }, { geom }, cursor) {
  const frame = (
    /** @type {number[]} */ [row, col],
    /** @type {string} */ colour,
    /** @type {number} */ width,
  ) => frameBox(ctx, cellRect(geom, row, col), { colour, theme, width });
  for (const cell of panel.marked) frame(cell, theme.roles.chosen, 2);
  if (cursor) frame([cursor.row, cursor.col], theme.text, 1);
  if (!panel.asks) return;
  for (const cell of header.answers) frame(cell, theme.primary, 3);
  if (header.chosen) frame(header.chosen, header.right === false ? theme.danger : theme.primary, 3);
}
