// @ts-check
// One sentence's heatmap on the Masks page: weights of the switched-on masks, blocked cells hatched, tokens on both
// axes. In: the view (header, arrays, variant, choice). What a cell means in words is here too.

import { levelFor, sequential } from "../shared/colors.js";
import { fitCanvas, markDrawn, setData } from "../shared/dom.js";
import { axisMarks, drawAxes, isolate, layoutAxes } from "../shared/axes.js";
import { cellRect, drawMatrix } from "../shared/matrix.js";
import { fill } from "../shared/fmt.js";
import {
  fittingDecimals,
  frameBox,
  layoutCells,
  markCell,
  printNumbers,
  printed,
  roleColours,
  rowRect,
  tagCol,
  tagRow,
} from "../shared/panel.js";
import { hatchMasks } from "./hatching.js";

const NUMBERS_UP_TO = 12;
const FONT_PX = 12;

/** One sentence's matrix of an array. */
export function sliceOf(/** @type {any} */ view, /** @type {string} */ name, /** @type {number} */ sentence) {
  const { data, shape } = view.arrays[name];
  const size = shape[1] * shape[2];
  return data.subarray(sentence * size, (sentence + 1) * size);
}

/**
 * The score of a cell behind the masks that are on.
 * @param {any} view
 * @param {number} sentence
 * @param {number} i
 */
export function maskedScore(view, sentence, i) {
  return view.numbers[sentence].bits[i] & view.masks.variant
    ? -Infinity
    : sliceOf(view, "scaled", sentence)[i];
}

/** Rows in which the switched-on masks block every key. */
export function deadRows(/** @type {any} */ view, /** @type {number} */ sentence) {
  const { bits } = view.numbers[sentence];
  const n = view.header.key_tokens[sentence].length;
  return view.header.tokens[sentence]
    .map((_, row) => row)
    .filter((row) => bits.subarray(row * n, (row + 1) * n).every((b) => b & view.masks.variant));
}

/**
 * The reasons why a cell is blocked, empty where it may attend.
 * @param {any} view
 * @param {number} sentence
 * @param {number} row
 * @param {number} col
 * @returns {string[]}
 */
export function reasonsAt(view, sentence, row, col) {
  const n = view.header.key_tokens[sentence].length;
  const bits = view.numbers[sentence].bits[row * n + col] & view.masks.variant;
  const { mask_names: names, mask_reasons: reasons } = view.header;
  return names
    .filter((_, bit) => (bits >> bit) & 1)
    .map((name) => fill(reasons[names.indexOf(name)], { size: view.masks.sizes[name] ?? "" }));
}

/**
 * A cell in a sentence: its tokens, its numbers, and why it is blocked.
 * @param {any} view
 * @param {number} sentence
 * @param {number} row
 * @param {number} col
 */
export function cellSentence(view, sentence, row, col) {
  const { strings, tokens } = view.header;
  const names = tokens[sentence];
  const keys = view.header.key_tokens[sentence];
  const i = row * keys.length + col;
  const why = reasonsAt(view, sentence, row, col);
  return fill(strings.readout_pair, {
    query: isolate(names[row]),
    key: isolate(keys[col]),
    weight: printed(view.numbers[sentence].weights[i]),
    scaled: printed(sliceOf(view, "scaled", sentence)[i]),
    masked: printed(maskedScore(view, sentence, i)),
    reason: why.length ? `${strings.blocked}: ${why.join("; ")}` : strings.may_attend,
  });
}

/** Whether a matrix has room for numbers in its cells. */
function isSmall(/** @type {string[]} */ names, /** @type {string[]} */ keys) {
  return Math.max(names.length, keys.length) <= NUMBERS_UP_TO;
}

/** Cells, hatches, axes and numbers of one sentence. */
export function paintMap(/** @type {any} */ map, /** @type {any} */ view) {
  const { base, sentence } = map;
  const { theme, header, scale } = view;
  const { variant } = view.masks;
  const names = header.tokens[sentence];
  const keys = header.key_tokens[sentence];
  const { layout } = map;
  const { geom } = layout;
  const ctx = fitCanvas(base, layout.width, layout.height);
  const lut = sequential(theme.dark);
  const { weights: values, bits } = view.numbers[sentence];
  const toLevel = (v) => (Number.isNaN(v) ? -1 : levelFor(v, scale));
  drawMatrix(ctx, { ...geom, values, lut, toLevel, theme, grid: isSmall(names, keys) });
  if (isSmall(names, keys)) printWeights(ctx, geom, values, { lut, toLevel, theme });
  hatchMasks(ctx, geom, bits, variant, theme);
  const rowMarks = axisMarks(header.special[sentence], header.written[sentence]);
  const colMarks = axisMarks(header.key_special[sentence], header.key_written[sentence]);
  drawAxes(ctx, layout, names, keys, { theme, rowMarks, colMarks, rowTitle: "query", colTitle: "key" });
  ctx.strokeStyle = theme.border;
  ctx.lineWidth = 1;
  ctx.strokeRect(geom.x - 0.5, geom.y - 0.5, geom.w + 1, geom.h + 1);
  for (const row of deadRows(view, sentence))
    frameBox(ctx, rowRect(geom, row), { colour: theme.danger, theme, width: 1.5 });
  setData(base, {
    plot: [geom.x, geom.y, geom.w, geom.h].join(","),
    rows_count: geom.rows,
    cols_count: geom.cols,
    layer: header.layer,
    head: header.head,
    variant,
    sentence,
  });
  markDrawn(base);
}

/** Lays out all sentences alike: cells of one size, matrices at the same height and the same distance from the left. */
export function layoutMaps(/** @type {any} */ view) {
  for (const map of view.maps) map.layout = layoutMap(map.base.getContext("2d"), map.sentence, view);
  const top = Math.max(...view.maps.map((map) => map.layout.top));
  const left = Math.max(...view.maps.map((map) => map.layout.left));
  const wide = Math.min(...view.maps.map(({ layout }) => layout.geom.w / layout.geom.cols));
  const tall = Math.min(...view.maps.map(({ layout }) => layout.geom.h / layout.geom.rows));
  for (const { layout } of view.maps) {
    const { geom } = layout;
    const [w, h] = [wide * geom.cols, tall * geom.rows];
    const [dx, dy] = [left - layout.left, top - layout.top];
    Object.assign(layout, {
      left,
      top,
      width: layout.width + dx + w - geom.w,
      height: layout.height + dy + h - geom.h,
    });
    Object.assign(geom, { x: geom.x + dx, y: geom.y + dy, w, h });
  }
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} sentence
 * @param {any} view
 */
function layoutMap(ctx, sentence, view) {
  const names = view.header.tokens[sentence];
  const keys = view.header.key_tokens[sentence];
  const common = { rowLabels: names, colLabels: keys, width: view.width, theme: view.theme, font: FONT_PX };
  if (!isSmall(names, keys))
    return layoutAxes(ctx, {
      ...common,
      font: FONT_PX - 1,
      maxLabel: 84,
      maxCell: 30,
      rowTitle: "query",
      colTitle: "key",
    });
  const layout = layoutCells(ctx, {
    ...common,
    width: view.width - 20,
    maxCell: 52,
    maxHeight: 32,
    maxLabel: 76,
  });
  const geom = { ...layout.geom, x: layout.geom.x + 20, y: layout.geom.y + 20 };
  return {
    ...layout,
    geom,
    left: layout.left + 20,
    top: layout.top + 20,
    width: layout.width + 20,
    height: layout.height + 20,
  };
}

function printWeights(ctx, geom, values, { lut, toLevel, theme }) {
  for (const size of [11.5, 10.5, 9.5, 8.5]) {
    const font = `${size}px ${theme.font}`;
    const decimals = fittingDecimals(ctx, values, geom, font);
    if (decimals === null || (decimals < 2 && size > 8.5)) continue;
    printNumbers(ctx, geom, values, {
      lut,
      toLevel,
      decimals: Math.min(decimals, 3),
      font,
      plain: theme.text,
    });
    return;
  }
}

/** The chosen row and cell, and the cell under the pointer. */
export function paintMapMarks(/** @type {any} */ map, /** @type {any} */ view) {
  const { base, over, layout, sentence } = map;
  const { theme, query, key } = view;
  const { geom } = layout;
  const names = view.header.tokens[sentence];
  const keys = view.header.key_tokens[sentence];
  const ctx = fitCanvas(over, layout.width, layout.height);
  const colours = roleColours(theme);
  const here = view.sentence === sentence && query !== null;
  if (here) {
    frameBox(ctx, rowRect(geom, query), { colour: colours.query, theme });
    tagRow(ctx, layout, names[query], query, { colour: colours.query, theme });
    if (key !== null) {
      tagCol(ctx, layout, keys[key], key, { colour: colours.key, theme });
      markCell(ctx, cellRect(geom, query, key), colours, theme);
    }
  }
  if (map.hover)
    frameBox(ctx, cellRect(geom, map.hover.row, map.hover.col), { colour: theme.text, theme, width: 1 });
  if (map.stroke) {
    const { top, left, bottom, right } = map.stroke;
    const from = cellRect(geom, top, left);
    const to = cellRect(geom, bottom, right);
    frameBox(
      ctx,
      { ...from, w: to.x + to.w - from.x, h: to.y + to.h - from.y },
      { colour: theme.primary, theme, width: 2 },
    );
  }
  setData(base, {
    rows: here ? query : null,
    cell: here && key !== null ? `${query},${key}` : null,
    query: here ? query : null,
    key: here ? key : null,
  });
}
