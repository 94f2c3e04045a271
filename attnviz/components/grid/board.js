// @ts-check
// The canvas of the overview: a small heatmap in every place, with the names of layers and heads, or, where heads are
// sorted, with the name and the number of each below it.

import { shownLabels } from "../shared/axes.js";
import { fitCanvas, markDrawn, pixelRatio, setData } from "../shared/dom.js";
import { headName } from "../shared/fmt.js";
import { stampHead, thumbRect } from "../shared/thumbs.js";
import { measureText } from "./order.js";
import { summaryOf, summaryPlaces } from "./summaries.js";

const LEFT = 36;
const ABOVE = 20;
const UNDER = 28;
const NAMED = 44;
const MOST_PIXELS = 48e6;

/** How many heads stand in a row when they are sorted: as many as their names have room for. */
export function sortedColumns(/** @type {any} */ header, /** @type {number} */ width) {
  return Math.max(1, Math.min(header.n_heads, Math.floor(width / (NAMED + 6))));
}

/**
 * Side and gap of the thumbnails: as large as fits, whole device pixels per cell where that costs little.
 * @param {import("../shared/controls.js").Arrangement} rows
 * @param {boolean} sorted
 * @param {number} width
 * @param {number} n
 */
export function boardGeometry(rows, sorted, width, n) {
  const x = sorted ? 3 : LEFT;
  const y = sorted ? 3 : ABOVE;
  const columns = rows[0].length;
  const ratio = pixelRatio();
  const room = Math.floor((width - x - 6) / columns);
  const gap = room >= 34 ? 6 : 3;
  const most = Math.max(10, Math.min(84, room - gap));
  const whole = (Math.floor((most * ratio) / n) * n) / ratio;
  const size = whole >= 0.85 * most ? whole : Math.floor(most * ratio) / ratio;
  const named = sorted && width * rows.length * (size + gap + UNDER) * ratio ** 2 <= MOST_PIXELS;
  return { x, y, size, gap, rowGap: gap + (named ? UNDER : 0), named, layers: rows.length, heads: columns };
}

/**
 * Draws the board. `at` is the head that is shown large, `row` the part of the height that the chosen row takes.
 * @param {HTMLCanvasElement} canvas
 * @param {{rows: import("../shared/controls.js").Arrangement, geom: any, atlas: any, summaryAtlas: any, theme: import("../shared/theme.js").Theme,
 *   header: any, at: any, query: number | null, sorting: import("./order.js").Sorting | null}} view
 */
export function drawBoard(canvas, view) {
  const { rows, geom, atlas, at, header, query, sorting } = view;
  const step = geom.size + geom.gap;
  const down = geom.size + geom.rowGap;
  const ctx = fitCanvas(canvas, geom.x + geom.heads * step, geom.y + geom.layers * down);
  ctx.imageSmoothingEnabled = false;
  const count = header.n_layers * header.n_heads;
  const stamp = (
    /** @type {any} */ from,
    /** @type {number} */ i,
    /** @type {number} */ inRow,
    /** @type {any} */ box,
  ) => stampHead(ctx, from, Math.floor(i / inRow), i % inRow, box);
  eachPlace(rows, (index, row, column) => {
    if (index < count) stamp(atlas, index, header.n_heads, thumbRect(geom, row, column));
    else stamp(view.summaryAtlas, index - count, summaryPlaces(header), thumbRect(geom, row, column));
  });
  if (query !== null) markRows(ctx, view, query);
  if (!sorting) labelSides(ctx, view);
  else if (geom.named) labelPlaces(ctx, view, sorting);
  setData(canvas, {
    layer: at.layer,
    head: at.head,
    extra: at.extra,
    query,
    order: sorting?.name,
    x: geom.x,
    y: geom.y,
    size: geom.size,
    gap: geom.gap,
    step: down,
    columns: geom.heads,
  });
  markDrawn(canvas);
}

/**
 * Calls back with every filled place: what stands there, row and column.
 * @param {import("../shared/controls.js").Arrangement} rows
 * @param {(index: number, row: number, column: number) => void} then
 */
function eachPlace(rows, then) {
  rows.forEach((line, row) =>
    line.forEach((index, column) => {
      if (index !== null) then(index, row, column);
    }),
  );
}

/**
 * A pair of lines across every small heatmap, around the row that is chosen.
 * @param {CanvasRenderingContext2D} ctx
 * @param {any} view
 * @param {number} query
 */
function markRows(ctx, view, query) {
  const { geom, theme: look, header, at: shown } = view;
  const own = header.layers.length ? header.layers[shown.layer] : header;
  const share = 1 / own.n_query;
  const h = Math.max(2, share * geom.size);
  const at = (query + 0.5) * share * geom.size - h / 2;
  ctx.strokeStyle = look.accent;
  ctx.lineWidth = 1;
  eachPlace(view.rows, (index, row, column) => {
    if (header.layers.length && Math.floor(index / header.n_heads) !== shown.layer) return; // another layer's tokens are others
    const { x, y } = thumbRect(geom, row, column);
    ctx.strokeRect(x - 0.5, y + at - 0.5, geom.size + 1, h + 1);
  });
}

/** Layers down the left side, heads along the top; they thin out where there is no room. */
function labelSides(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {any} */ view) {
  const { geom, theme: look, at } = view;
  const step = geom.size + geom.gap;
  const down = geom.size + geom.rowGap;
  const label = (
    /** @type {string} */ text,
    /** @type {boolean} */ on,
    /** @type {number} */ x,
    /** @type {number} */ y,
  ) => {
    ctx.font = `${on ? "600 " : ""}11.5px ${look.font}`;
    ctx.fillStyle = on ? look.accent : look.muted;
    ctx.fillText(text, x, y);
  };
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  const { n_layers: layers, n_heads: heads } = view.header;
  const middle = (/** @type {number} */ i, /** @type {number} */ pitch) => i * pitch + geom.size / 2;
  for (const layer of shownLabels(layers, down, 13, at.layer ?? null))
    label(`L${layer}`, layer === at.layer, 0, geom.y + middle(layer, down));
  ctx.textAlign = "center";
  for (const head of shownLabels(heads, step, 26, at.head ?? null))
    label(`H${head}`, head === at.head, geom.x + middle(head, step), 7);
  if (geom.heads > heads) labelSummaries(view, label, ctx, middle);
}

/**
 * "mean" and "max" over the two last columns and beside the two last rows; one name for both where columns are narrow.
 * @param {any} view
 * @param {(text: string, on: boolean, x: number, y: number) => void} label
 * @param {CanvasRenderingContext2D} ctx
 * @param {(i: number, pitch: number) => number} middle
 */
function labelSummaries(view, label, ctx, middle) {
  const { geom, header, at } = view;
  const { strings, n_layers: layers, n_heads: heads } = header;
  const step = geom.size + geom.gap;
  const down = geom.size + geom.rowGap;
  const summary = at.extra === undefined ? null : summaryOf(header, at.extra);
  const words = [strings.mean, strings.max];
  const on = (/** @type {number} */ i, /** @type {boolean} */ inColumn) =>
    summary !== null && (summary.kind === "max") === (i === 1) && summary.place < layers === inColumn;
  if (step >= 34) words.forEach((word, i) => label(word, on(i, true), geom.x + middle(heads + i, step), 7));
  else {
    ctx.textAlign = "right";
    const text = words.join(" · ");
    const right = geom.x + geom.heads * step - geom.gap;
    ctx.clearRect(right - ctx.measureText(text).width - 4, 0, geom.heads * step, geom.y - 2);
    label(text, false, right, 7);
  }
  ctx.textAlign = "left";
  words.forEach((word, i) => label(word, on(i, false), 0, geom.y + middle(layers + i, down)));
}

/**
 * Name and number below each small heatmap.
 * @param {CanvasRenderingContext2D} ctx
 * @param {any} view
 * @param {import("./order.js").Sorting} sorting
 */
function labelPlaces(ctx, view, sorting) {
  const { geom, theme: look, at, header } = view;
  ctx.textBaseline = "alphabetic";
  ctx.textAlign = "center";
  eachPlace(view.rows, (index, row, column) => {
    const layer = Math.floor(index / header.n_heads);
    const head = index % header.n_heads;
    const on = layer === at.layer && head === at.head;
    const { x, y } = thumbRect(geom, row, column);
    const middle = x + geom.size / 2;
    ctx.font = `${on ? "600 " : ""}10px ${look.font}`;
    ctx.fillStyle = on ? look.accent : look.muted;
    ctx.fillText(headName(layer, head), middle, y + geom.size + 14, geom.size + geom.gap);
    ctx.font = `600 11px ${look.font}`;
    ctx.fillStyle = on ? look.accent : look.text;
    ctx.fillText(measureText(sorting, index), middle, y + geom.size + 26, geom.size + geom.gap);
  });
}
