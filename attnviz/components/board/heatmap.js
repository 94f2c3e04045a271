// @ts-check
// A large matrix as a heatmap: one canvas with thinned labels; the cell under the pointer or cursor is named in words.

import { drawAxes, layoutAxes } from "../shared/axes.js";
import { el, fitCanvas, localPoint, markDrawn, setData, watchSize } from "../shared/dom.js";
import { cellAt, cellRect, drawMatrix } from "../shared/matrix.js";
import { frameBox, moveBy } from "../shared/panel.js";
import { cellWords, panelColours } from "./table.js";

const WIDEST_PX = 560;
const WIDEST_NARROW_PX = 340;
const LEAST_PX = 220;
const LEAST_NARROW_PX = 110;
const LARGEST_CELL_PX = 26;
const FONT = 11;

/**
 * @param {any} view
 * @param {any} panel
 * @param {any} data
 * @param {any} on
 * @returns {any}
 */
export function drawHeatmap(view, panel, data, on) {
  const canvas = el("canvas", { role: "img", tabIndex: 0, "aria-label": heatmapWords(view, panel) });
  const asks = panel.asks && view.header.open;
  const node = el("div", { class: asks ? "av-board-heatmap av-board-asks" : "av-board-heatmap" }, canvas);
  /** @type {any} */
  const state = { cursor: null, layout: null, width: 0 };
  const [least, most] = view.header.narrow ? [LEAST_NARROW_PX, WIDEST_NARROW_PX] : [LEAST_PX, WIDEST_PX];
  const room = () => Math.min(most, Math.max(least, view.top.clientWidth - 8));
  const draw = () => {
    const width = room();
    state.width = width;
    paintHeatmap(view, panel, data, canvas, state, width);
  };
  const stop = watchSize(view.top, () => {
    if (room() !== state.width) draw();
  });
  const move = (/** @type {{row: number, col: number} | null} */ cell) => {
    state.cursor = cell;
    paintHeatmap(view, panel, data, canvas, state, state.width);
    on.say(cell ? cellWords(view, panel, data, cell.row, cell.col) : "");
  };
  const hit = (/** @type {MouseEvent} */ event) => {
    const { x, y } = localPoint(event, canvas);
    return cellAt(x, y, state.layout.geom);
  };
  canvas.addEventListener("pointermove", (event) => {
    const cell = hit(event);
    if (cell) move(cell);
  });
  canvas.addEventListener("pointerleave", () => move(null));
  canvas.addEventListener("click", (event) => {
    const cell = hit(event);
    if (cell) on.choose(cell.row, cell.col);
  });
  canvas.addEventListener("keydown", (event) => {
    if ((event.key === "Enter" || event.key === " ") && state.cursor) {
      event.preventDefault();
      on.choose(state.cursor.row, state.cursor.col);
      return;
    }
    const next = moveBy(event, state.cursor ?? { row: null, col: null }, {
      rows: panel.rows.length,
      cols: panel.columns.length,
    });
    if (next) {
      event.preventDefault();
      move(next);
    }
  });
  return { node, draw, stop };
}

/** What a screen reader says of a heatmap: its caption, and the answer once that is known. */
function heatmapWords(/** @type {any} */ view, /** @type {any} */ panel) {
  const { answers, strings } = view.header;
  if (!panel.asks || !answers.length) return panel.caption;
  const [row, column] = answers[0];
  return `${panel.caption}. ${strings.answer}: ${panel.rows[row]}, ${panel.columns[column]}`;
}

/**
 * @param {any} view
 * @param {any} panel
 * @param {any} data
 * @param {any} canvas
 * @param {any} state
 * @param {number} width
 */
function paintHeatmap(view, panel, data, canvas, state, width) {
  const { rows, columns, hidden } = panel;
  const { theme, header } = view;
  const colours = panelColours(view, panel);
  const layout = layoutAxes(canvas.getContext("2d"), {
    rowLabels: rows,
    colLabels: columns,
    width,
    font: FONT,
    maxCell: LARGEST_CELL_PX,
    maxLabel: 90,
    theme,
  });
  const ctx = fitCanvas(canvas, layout.width, layout.height);
  const { geom } = layout;
  state.layout = layout;
  if (!hidden)
    drawMatrix(ctx, {
      ...geom,
      values: data.values,
      lut: colours.lut,
      toLevel: colours.level,
      signed: panel.signed,
      theme,
      blocked: data.blocked,
    });
  const { row = null, col = null } = state.cursor ?? {};
  drawAxes(ctx, layout, rows, columns, { theme, rowHi: row, colHi: col });
  ctx.strokeStyle = theme.border;
  ctx.strokeRect(geom.x - 0.5, geom.y - 0.5, geom.w + 1, geom.h + 1);
  for (const [r, c] of panel.marked)
    frameBox(ctx, cellRect(geom, r, c), { colour: theme.accent, theme, width: 2 });
  if (state.cursor) frameBox(ctx, cellRect(geom, row, col), { colour: theme.text, theme, width: 1 });
  const answers = panel.asks ? header.answers : [];
  for (const [r, c] of answers)
    frameBox(ctx, cellRect(geom, r, c), { colour: theme.primary, theme, width: 3 });
  if (panel.asks && header.chosen)
    frameBox(ctx, cellRect(geom, header.chosen[0], header.chosen[1]), {
      colour: header.right === false ? theme.danger : theme.primary,
      theme,
      width: 3,
    });
  setData(canvas, { plot: [geom.x, geom.y, geom.w, geom.h].join(",") });
  markDrawn(canvas);
}
