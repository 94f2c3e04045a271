// @ts-check
// The canvas of the overview: a small heatmap in every place, with the names of layers and heads, or, where heads are
// sorted, with the name and the number of each below it. Under each: how strongly the chosen row looks at the chosen key,
// and how far the answer moves without the head, each on a track with its control as a tick.

import { shownLabels } from "../shared/axes.js";
import { fitCanvas, markDrawn, pixelRatio, setData } from "../shared/dom.js";
import { effectAt, lookAt } from "../shared/effects.js";
import { headName } from "../shared/fmt.js";
import { crossOut, stampHead, thumbRect } from "../shared/thumbs.js";
import { measureText } from "./order.js";
import { summaryOf, summaryPlaces } from "./summaries.js";

/** @import { PackedArray } from "../shared/buffer.js" */
/** @import { CellAt, HeadEffects } from "../shared/effects.js" */
/** @import { Arrangement } from "../shared/head_picker.js" */
/** @import { LayeredHeader } from "../shared/layers.js" */
/** @import { Theme } from "../shared/theme.js" */
/** @import { Atlas, ThumbGeom } from "../shared/thumbs.js" */
/** @import { Sorting } from "./order.js" */
/** @import { Header } from "./types.js" */

/** A head, or a summary of several. @typedef {{layer: number, head: number, extra: null} | {layer: null, head: null, extra: number}} Subject */
/** @typedef {{layer: number, head: number}} HeadPlace */
/** `bars` is the room for the two bars below each place; `isNamed`: there is a name below these. */
/** @typedef {ThumbGeom & {rowGap: number, bars: number, isNamed: boolean}} BoardGeom */
/** What the bars show: a cell of every head, and the effects as soon as they are known. */
/** @typedef {{weights: PackedArray, has: (layer: number, head: number) => boolean, isWhole: () => boolean, visible: PackedArray | null, cell: CellAt | null, effects: HeadEffects | null}} BarsView */
/**
 * `at` is shown large, `row` is the chosen row of it; `own` has the tokens of its layer.
 * @typedef {{header: Header, own: LayeredHeader<Header>, rows: Arrangement, geom: BoardGeom, atlas: Atlas,
 *   summaryAtlas: Atlas | null, theme: Theme, at: Subject, row: number | null, sorting: Sorting | null,
 *   bars: BarsView, hits: readonly HeadPlace[] | null}} BoardView
 */

const LEFT_PX = 36;
const ABOVE_PX = 20;
const UNDER_PX = 28;
const NAMED_PX = 44;
const BARS_PX = 13; // two bars, below the frame of the chosen head
const UNDER_FRAME_PX = 5;
const BAR_PX = 3;
const CORNER_PX = 9;
const FADED = 0.72;
const MAX_PIXELS = 48e6;
const [SIDE_PX, LARGEST_PX, TALL_PX] = [84, 160, 640]; // of many heads; of few, whose board is no higher than that
const WIDE_STEP_PX = 34; // room for the word of a summary over its column

/** How many heads stand in a row when they are sorted: as many as their names have room for. */
export function sortedColumns(/** @type {Header} */ header, /** @type {number} */ width) {
  return Math.max(1, Math.min(header.n_heads, Math.floor(width / (NAMED_PX + 6))));
}

/**
 * Side and gap of the thumbnails: as large as fits, whole device pixels per cell where that costs little.
 * @param {Arrangement} rows
 * @param {boolean} isSorted
 * @param {number} width
 * @param {number} n tokens of a head
 * @param {boolean} hasBars
 * @returns {BoardGeom}
 */
export function boardGeometry(rows, isSorted, width, n, hasBars) {
  const x = isSorted ? 3 : LEFT_PX;
  const y = isSorted ? 3 : ABOVE_PX;
  const columns = rows[0].length;
  const ratio = pixelRatio();
  const room = Math.floor((width - x - 6) / columns);
  const gap = room >= 34 ? 6 : 3;
  const bars = hasBars ? BARS_PX : 0;
  const tall = (TALL_PX - y) / rows.length - gap - bars;
  const most = Math.max(10, Math.min(Math.max(SIDE_PX, Math.min(tall, LARGEST_PX)), room - gap));
  const whole = (Math.floor((most * ratio) / n) * n) / ratio;
  const size = whole >= 0.85 * most ? whole : Math.floor(most * ratio) / ratio;
  const pixels = width * rows.length * (size + gap + BARS_PX + UNDER_PX) * ratio ** 2;
  const isNamed = isSorted && pixels <= MAX_PIXELS;
  const rowGap = gap + bars + (isNamed ? UNDER_PX : 0);
  return { x, y, size, gap, rowGap, bars, isNamed, layers: rows.length, heads: columns };
}

/** Draws the board. */
export function drawBoard(/** @type {HTMLCanvasElement} */ canvas, /** @type {BoardView} */ view) {
  const { rows, geom, atlas, summaryAtlas, at, header, row: chosen, sorting } = view;
  const { x, y, size, gap } = geom;
  const step = size + gap;
  const ctx = fitCanvas(canvas, x + geom.heads * step, y + geom.layers * (size + geom.rowGap));
  ctx.imageSmoothingEnabled = false;
  const count = header.n_layers * header.n_heads;
  const places = summaryPlaces(header);
  eachPlace(rows, (index, row, column) => {
    const box = thumbRect(geom, row, column);
    const extra = index - count;
    if (extra < 0) stampHead(ctx, atlas, Math.floor(index / header.n_heads), index % header.n_heads, box);
    else if (summaryAtlas) stampHead(ctx, summaryAtlas, Math.floor(extra / places), extra % places, box);
  });
  if (!sorting) crossOut(ctx, { ...geom, heads: header.n_heads }, { kept: header.kept, theme: view.theme });
  if (chosen !== null) markRows(ctx, view, chosen);
  if (view.hits) fadeOthers(ctx, view, view.hits);
  if (geom.bars) drawBars(ctx, view);
  if (!sorting) labelSides(ctx, view);
  else if (geom.isNamed) labelPlaces(ctx, view, sorting);
  const place = { layer: at.layer, head: at.head, extra: at.extra, query: chosen, order: sorting?.name };
  const { cell, effects, isWhole } = view.bars;
  const weights = isWhole() ? "all" : "first";
  const hits = view.hits?.map((hit) => headName(hit.layer, hit.head)).join(" ");
  setData(canvas, { ...place, key: cell?.key, effects: effects?.most, weights, hits });
  setData(canvas, { x, y, size, gap, step: size + geom.rowGap, columns: geom.heads });
  markDrawn(canvas);
}

/** Calls back with every filled place: its content, row and column. */
function eachPlace(
  /** @type {Arrangement} */ rows,
  /** @type {(index: number, row: number, column: number) => void} */ callback,
) {
  rows.forEach((line, row) =>
    line.forEach((index, column) => {
      if (index !== null) callback(index, row, column);
    }),
  );
}

/** What a search has found keeps its colours, framed; all others fade. */
function fadeOthers(
  /** @type {CanvasRenderingContext2D} */ ctx,
  /** @type {BoardView} */ { rows, geom, theme, header },
  /** @type {readonly HeadPlace[]} */ hits,
) {
  const found = new Set(hits.map(({ layer, head }) => layer * header.n_heads + head));
  eachPlace(rows, (index, row, column) => {
    const { x, y } = thumbRect(geom, row, column);
    if (found.has(index)) {
      ctx.strokeStyle = theme.roles.key;
      ctx.lineWidth = 2;
      ctx.strokeRect(x - 1, y - 1, geom.size + 2, geom.size + 2);
      return;
    }
    ctx.globalAlpha = FADED;
    ctx.fillStyle = theme.bg;
    ctx.fillRect(x - 1, y - 1, geom.size + 2, geom.size + 2);
    ctx.globalAlpha = 1;
  });
}

/** Two bars under every head: how strongly the chosen row looks at the chosen key, how far the answer moves without it. */
function drawBars(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {BoardView} */ view) {
  const { rows, geom, theme, header, at } = view;
  const { weights, has, visible, cell, effects } = view.bars;
  const isUneven = header.layers.length > 0;
  eachPlace(rows, (index, row, column) => {
    const [layer, head] = [Math.floor(index / header.n_heads), index % header.n_heads];
    if (layer >= header.n_layers) return; // a summary
    const { x, y } = thumbRect(geom, row, column);
    const top = y + geom.size + UNDER_FRAME_PX;
    const bar = barPen(ctx, theme, x, geom.size);
    const look =
      cell && has(layer, head) && (!isUneven || layer === at.layer)
        ? lookAt(weights, visible, { layer, head }, cell)
        : null;
    if (look) bar(top, theme.roles.key, look.weight, look.others);
    const effect = effectAt(effects, layer, head);
    if (effects && effect !== null)
      bar(top + BAR_PX + 2, theme.roles.answer, effect / effects.most, effects.median / effects.most);
    if (effects && effect !== null && effect > effects.least) markCorner(ctx, theme, x + geom.size, y);
  });
}

/** The upper right corner of a head that matters. */
function markCorner(
  /** @type {CanvasRenderingContext2D} */ ctx,
  /** @type {Theme} */ theme,
  /** @type {number} */ right,
  /** @type {number} */ top,
) {
  ctx.beginPath();
  ctx.moveTo(right - CORNER_PX, top);
  ctx.lineTo(right, top);
  ctx.lineTo(right, top + CORNER_PX);
  ctx.closePath();
  ctx.fillStyle = theme.roles.answer;
  ctx.fill();
  ctx.strokeStyle = theme.bg;
  ctx.lineWidth = 1;
  ctx.stroke();
}

/**
 * Draws bars on tracks of one width, each with the tick of its control; both are parts of the track.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Theme} theme
 * @param {number} x
 * @param {number} width
 * @returns {(y: number, colour: string, part: number, control: number) => void}
 */
function barPen(ctx, theme, x, width) {
  return (y, colour, part, control) => {
    ctx.fillStyle = theme.faint;
    ctx.fillRect(x, y, width, BAR_PX);
    ctx.fillStyle = colour;
    ctx.fillRect(x, y, Math.max(1, width * Math.min(1, part)), BAR_PX);
    ctx.fillStyle = theme.text;
    ctx.fillRect(x + Math.min(width - 1, width * Math.min(1, control)), y - 0.5, 1, BAR_PX + 1);
  };
}

/** A pair of lines across every small heatmap, around the row that is chosen. */
function markRows(
  /** @type {CanvasRenderingContext2D} */ ctx,
  /** @type {BoardView} */ { rows, geom, theme, header, own, at },
  /** @type {number} */ chosen,
) {
  const share = 1 / own.n_query;
  const height = Math.max(2, share * geom.size);
  const top = (chosen + 0.5) * share * geom.size - height / 2;
  ctx.strokeStyle = theme.roles.query;
  ctx.lineWidth = 1;
  eachPlace(rows, (index, row, column) => {
    const isOther = header.layers.length > 0 && Math.floor(index / header.n_heads) !== at.layer;
    if (isOther) return; // another layer's tokens are others
    const { x, y } = thumbRect(geom, row, column);
    ctx.strokeRect(x - 0.5, y + top - 0.5, geom.size + 1, height + 1);
  });
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {Theme} theme
 * @returns {(text: string, isChosen: boolean, x: number, y: number) => void}
 */
function labelPen(ctx, theme) {
  return (text, isChosen, x, y) => {
    ctx.font = `${isChosen ? "600 " : ""}11.5px ${theme.font}`;
    ctx.fillStyle = isChosen ? theme.roles.chosen : theme.muted;
    ctx.fillText(text, x, y);
  };
}

/** Names layers down the left side and heads along the top; names thin out where there is no room. */
function labelSides(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {BoardView} */ view) {
  const { geom, theme, at, header } = view;
  const { n_layers: layers, n_heads: heads } = header;
  const step = geom.size + geom.gap;
  const down = geom.size + geom.rowGap;
  const label = labelPen(ctx, theme);
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  for (const layer of shownLabels(layers, down, 13, at.layer))
    label(`L${layer}`, layer === at.layer, 0, geom.y + layer * down + geom.size / 2);
  ctx.textAlign = "center";
  for (const head of shownLabels(heads, step, 26, at.head))
    label(`H${head}`, head === at.head, geom.x + head * step + geom.size / 2, 7);
  if (geom.heads > heads) labelSummaries(ctx, view);
}

/** Writes "mean" and "max" over the two last columns and beside the two last rows; one name for both where they are narrow. */
function labelSummaries(
  /** @type {CanvasRenderingContext2D} */ ctx,
  /** @type {BoardView} */ { geom, theme, header, at },
) {
  const { strings, n_layers: layers, n_heads: heads } = header;
  const step = geom.size + geom.gap;
  const down = geom.size + geom.rowGap;
  const label = labelPen(ctx, theme);
  const summary = at.extra === null ? null : summaryOf(header, at.extra);
  const words = [strings.mean, strings.max];
  const isChosen = (/** @type {number} */ i, /** @type {boolean} */ inColumn) =>
    summary !== null && (summary.kind === "max") === (i === 1) && summary.place < layers === inColumn;
  if (step >= WIDE_STEP_PX)
    words.forEach((word, i) =>
      label(word, isChosen(i, true), geom.x + (heads + i) * step + geom.size / 2, 7),
    );
  else {
    ctx.textAlign = "right";
    const text = words.join(" · ");
    const right = geom.x + geom.heads * step - geom.gap;
    ctx.clearRect(right - ctx.measureText(text).width - 4, 0, geom.heads * step, geom.y - 2);
    label(text, false, right, 7);
  }
  ctx.textAlign = "left";
  words.forEach((word, i) =>
    label(word, isChosen(i, false), 0, geom.y + (layers + i) * down + geom.size / 2),
  );
}

/** Writes name and number below each small heatmap. */
function labelPlaces(
  /** @type {CanvasRenderingContext2D} */ ctx,
  /** @type {BoardView} */ { rows, geom, theme, at, header },
  /** @type {Sorting} */ sorting,
) {
  ctx.textBaseline = "alphabetic";
  ctx.textAlign = "center";
  eachPlace(rows, (index, row, column) => {
    const layer = Math.floor(index / header.n_heads);
    const head = index % header.n_heads;
    const isChosen = layer === at.layer && head === at.head;
    const { x, y } = thumbRect(geom, row, column);
    const middle = x + geom.size / 2;
    const room = geom.size + geom.gap;
    ctx.font = `${isChosen ? "600 " : ""}10px ${theme.font}`;
    ctx.fillStyle = isChosen ? theme.roles.chosen : theme.muted;
    ctx.fillText(headName(layer, head), middle, y + geom.size + geom.bars + 14, room);
    ctx.font = `600 11px ${theme.font}`;
    ctx.fillStyle = isChosen ? theme.roles.chosen : theme.text;
    ctx.fillText(measureText(sorting, index), middle, y + geom.size + geom.bars + 26, room);
  });
}
