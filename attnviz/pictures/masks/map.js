// @ts-check
// One sentence's heatmap on the Masks page: weights of the masks that are on, blocked cells hatched, tokens on both axes.

import { axisMarks, drawAxes, layoutAxes } from "../shared/axes.js";
import { levelFor, sequential } from "../shared/colors.js";
import { context2d, fitCanvas, markDrawn, setData } from "../shared/dom.js";
import { cellRect, drawMatrix, frameBox, markCell } from "../shared/matrix.js";
import { fittingDecimals, layoutCells, printNumbers, rowRect, tagCol, tagRow } from "../shared/panel.js";
import { hatchMasks } from "./hatching.js";
import { deadRows } from "./words.js";

/** @import { AxesLayout } from "../shared/axes.js" */
/** @import { Geom } from "../shared/matrix.js" */
/** @import { Theme } from "../shared/theme.js" */
/** @import { SentenceMap, State } from "./state.js" */
/** @import { Header } from "./types.js" */

const NUMBERS_UP_TO = 12;
const FONT_PX = 12;
const titlesOf = (/** @type {Header} */ { strings }) => ({
  rowTitle: strings.query_axis,
  colTitle: strings.key_axis,
});
const TITLE_PX = 20;

/** True if a matrix has room for numbers in its cells. */
function isSmall(/** @type {string[]} */ names, /** @type {string[]} */ keys) {
  return Math.max(names.length, keys.length) <= NUMBERS_UP_TO;
}

/** Cells, hatches, axes and numbers of one sentence. */
export function paintMap(/** @type {SentenceMap} */ map, /** @type {State} */ state) {
  const { base, sentence, layout } = map;
  const { theme, header, selection, masks } = state;
  if (!layout) return;
  const names = header.tokens[sentence];
  const keys = header.key_tokens[sentence];
  const { geom } = layout;
  const ctx = fitCanvas(base, layout.width, layout.height);
  const lut = sequential(theme.dark);
  const { weights: values, bits } = state.numbers[sentence];
  const toLevel = (/** @type {number} */ weight) =>
    Number.isNaN(weight) ? -1 : levelFor(weight, selection.scale);
  drawMatrix(ctx, { ...geom, values, lut, toLevel, theme, grid: isSmall(names, keys) });
  if (isSmall(names, keys)) printWeights(ctx, geom, values, { lut, toLevel, theme });
  hatchMasks(ctx, geom, bits, masks.variant, theme);
  const rowMarks = axisMarks(header.special[sentence], header.written[sentence]);
  const colMarks = axisMarks(header.key_special[sentence], header.key_written[sentence]);
  drawAxes(ctx, layout, names, keys, { theme, rowMarks, colMarks, ...titlesOf(header) });
  ctx.strokeStyle = theme.border;
  ctx.lineWidth = 1;
  ctx.strokeRect(geom.x - 0.5, geom.y - 0.5, geom.w + 1, geom.h + 1);
  for (const row of deadRows(state, sentence))
    frameBox(ctx, rowRect(geom, row), { colour: theme.danger, theme, width: 1.5 });
  setData(base, {
    plot: [geom.x, geom.y, geom.w, geom.h].join(","),
    rows_count: geom.rows,
    cols_count: geom.cols,
    layer: header.layer,
    head: header.head,
    variant: masks.variant,
    sentence,
  });
  markDrawn(base);
}

/** Lays out all sentences alike: cells of one size, matrices at the same height and the same distance from the left. */
export function layoutMaps(/** @type {State} */ state) {
  const layouts = state.maps.map((map) => layoutMap(context2d(map.base), map.sentence, state));
  const top = Math.max(...layouts.map((layout) => layout.top));
  const left = Math.max(...layouts.map((layout) => layout.left));
  const wide = Math.min(...layouts.map(({ geom }) => geom.w / geom.cols));
  const tall = Math.min(...layouts.map(({ geom }) => geom.h / geom.rows));
  state.maps.forEach((map, i) => {
    const layout = layouts[i];
    const { geom } = layout;
    const [w, h] = [wide * geom.cols, tall * geom.rows];
    const [dx, dy] = [left - layout.left, top - layout.top];
    map.layout = {
      ...layout,
      left,
      top,
      width: layout.width + dx + w - geom.w,
      height: layout.height + dy + h - geom.h,
      geom: { ...geom, x: geom.x + dx, y: geom.y + dy, w, h },
    };
  });
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} sentence
 * @param {State} state
 * @returns {AxesLayout}
 */
function layoutMap(ctx, sentence, { header, width, theme }) {
  const names = header.tokens[sentence];
  const keys = header.key_tokens[sentence];
  const labels = { rowLabels: names, colLabels: keys, theme };
  if (!isSmall(names, keys))
    return layoutAxes(ctx, {
      ...labels,
      width,
      font: FONT_PX - 1,
      maxLabel: 84,
      maxCell: 30,
      ...titlesOf(header),
    });
  const sizes = { font: FONT_PX, maxCell: 52, maxHeight: 32, maxLabel: 76 };
  const layout = layoutCells(ctx, { ...labels, ...sizes, width: width - TITLE_PX });
  const { geom } = layout;
  return {
    ...layout,
    geom: { ...geom, x: geom.x + TITLE_PX, y: geom.y + TITLE_PX },
    left: layout.left + TITLE_PX,
    top: layout.top + TITLE_PX,
    width: layout.width + TITLE_PX,
    height: layout.height + TITLE_PX,
  };
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {Geom} geom
 * @param {Float32Array} values
 * @param {{lut: Uint32Array, toLevel: (weight: number) => number, theme: Theme}} look
 */
function printWeights(ctx, geom, values, { lut, toLevel, theme }) {
  for (const size of [11.5, 10.5, 9.5, 8.5]) {
    const font = `${size}px ${theme.font}`;
    const fitting = fittingDecimals(ctx, values, geom, font);
    if (fitting === null || (fitting < 2 && size > 8.5)) continue;
    const decimals = Math.min(fitting, 3);
    printNumbers(ctx, geom, values, { lut, toLevel, decimals, font, plain: theme.text });
    return;
  }
}

/** The chosen row and cell, and the cell under the pointer. */
export function paintMapMarks(/** @type {SentenceMap} */ map, /** @type {State} */ state) {
  const { base, over, layout, sentence } = map;
  if (!layout) return;
  const { theme, header } = state;
  const isHere = state.sentence === sentence && state.selection.query !== null;
  const query = isHere ? state.selection.query : null;
  const key = isHere ? state.selection.key : null;
  const { geom } = layout;
  const ctx = fitCanvas(over, layout.width, layout.height);
  const colours = theme.roles;
  if (query !== null) {
    frameBox(ctx, rowRect(geom, query), { colour: colours.query, theme });
    tagRow(ctx, layout, header.tokens[sentence][query], query, { colour: colours.query, theme });
    if (key !== null) {
      tagCol(ctx, layout, header.key_tokens[sentence][key], key, { colour: colours.key, theme });
      markCell(ctx, cellRect(geom, query, key), theme);
    }
  }
  if (map.hover)
    frameBox(ctx, cellRect(geom, map.hover.row, map.hover.col), { colour: theme.text, theme, width: 1 });
  if (map.stroke) {
    const { top, left, bottom, right } = map.stroke;
    const from = cellRect(geom, top, left);
    const to = cellRect(geom, bottom, right);
    const box = { ...from, w: to.x + to.w - from.x, h: to.y + to.h - from.y };
    frameBox(ctx, box, { colour: theme.primary, theme, width: 2 });
  }
  const cell = query !== null && key !== null ? `${query},${key}` : null;
  setData(base, { rows: query, cell, query, key });
}
