// @ts-check
// Which part of long matrices is on show: all of it up to 64 tokens, beyond that the neighbourhood of the chosen cell,
// with the whole as a small map beside the title. In: tokens and the chosen query and key. Out: the first row and
// column on show and how many, for all panels alike, so that neighbouring panels keep their rows in line.

import { el, fitCanvas, localPoint, markDrawn, setData } from "../shared/dom.js";
import { fill } from "../shared/fmt.js";
import { cellAt, drawMatrix, frameBox } from "../shared/matrix.js";

/** @import { Cell, Mini, Panel, Picture, Show } from "./state.js" */

const WHOLE_UP_TO = 64;
const ACROSS = 24;
const MARGIN = 3;
const MINI_PX = 64;

/** The part of an axis: its first token and how many. @typedef {{from: number, count: number}} Span */
/** What is on show of queries and keys; `part` is true where that is not all. @typedef {{query: Span, key: Span, part: boolean}} Shown */

/**
 * What is on show. It stays where it is while the chosen cell lies well inside of it.
 * @param {number} nQuery
 * @param {number} nKey
 * @param {number | null} query
 * @param {number | null} key
 * @param {Shown | null} before
 * @returns {Shown}
 */
export function shownOf(nQuery, nKey, query, key, before) {
  if (Math.max(nQuery, nKey) <= WHOLE_UP_TO)
    return { query: { from: 0, count: nQuery }, key: { from: 0, count: nKey }, part: false };
  return { query: spanOf(nQuery, query, before?.query), key: spanOf(nKey, key, before?.key), part: true };
}

/**
 * @param {number} n
 * @param {number | null} at
 * @param {Span | undefined} before
 * @returns {Span}
 */
function spanOf(n, at, before) {
  const count = Math.min(n, ACROSS);
  const last = n - count;
  const kept = before && before.count === count && before.from <= last ? before.from : 0;
  if (at === null) return { from: kept, count };
  const low = kept === 0 ? 0 : kept + MARGIN;
  const high = kept === last ? n : kept + count - MARGIN;
  if (before && at >= low && at < high) return { from: kept, count };
  return { from: Math.max(0, Math.min(last, at - (count >> 1))), count };
}

/** Positions of a span, for the painter of matrices. */
export function placesOf(/** @type {Span} */ { from, count }) {
  return Array.from({ length: count }, (_, i) => from + i);
}

/**
 * The small map of a square panel; a click on it chooses the cell there, as arrow keys on the panel do.
 * @param {(cell: Cell) => void} choose
 * @returns {Mini}
 */
export function makeMini(choose) {
  const [map, frame] = ["mini", "mini over"].map((name) =>
    el("canvas", { class: name, "aria-hidden": "true", hidden: true }),
  );
  /** @type {Mini} */
  const mini = { map, frame, geom: null };
  map.addEventListener("click", (event) => {
    const { x, y } = localPoint(event, map);
    const cell = mini.geom && cellAt(x, y, mini.geom);
    if (cell) choose(cell);
  });
  return mini;
}

/**
 * The whole matrix, small. Its colours are those of the panel.
 * @param {Panel} panel
 * @param {Picture} picture
 * @param {Show} show
 */
export function paintMini(panel, { info, mini, drawn }, { shown, theme, arrays }) {
  const matrix = arrays[info.stage];
  if (!mini || !drawn || !matrix) return;
  const { map, frame } = mini;
  const [rows, cols] = matrix.shape;
  map.hidden = frame.hidden = !shown.part;
  panel.section.classList.toggle("mapped", shown.part);
  if (!shown.part) return;
  const unit = MINI_PX / Math.max(rows, cols);
  const geom = { x: 1, y: 1, w: Math.max(4, unit * cols), h: Math.max(4, unit * rows), rows, cols };
  mini.geom = geom;
  const ctx = fitCanvas(map, MINI_PX + 2, MINI_PX + 2);
  const { lut, toLevel } = drawn.scale;
  drawMatrix(ctx, { ...geom, values: matrix.data, lut, toLevel, signed: info.signed });
  ctx.strokeStyle = theme.border;
  ctx.strokeRect(geom.x - 0.5, geom.y - 0.5, geom.w + 1, geom.h + 1);
  markDrawn(map);
}

/** Where on the small map the part lies that is on show. */
export function paintMiniFrame(/** @type {Picture} */ { mini }, /** @type {Show} */ show) {
  const { shown, theme, header } = show;
  if (!mini?.geom || !shown.part) return;
  const { frame, map, geom } = mini;
  const ctx = fitCanvas(frame, MINI_PX + 2, MINI_PX + 2);
  const { query, key } = shown;
  const cw = geom.w / geom.cols;
  const ch = geom.h / geom.rows;
  const at = { x: geom.x + key.from * cw, y: geom.y + query.from * ch };
  frameBox(ctx, { ...at, w: key.count * cw, h: query.count * ch }, { colour: theme.text, theme, width: 1.5 });
  setData(map, { from: `${query.from},${key.from}` });
  map.title = fill(header.strings.mini_label, {
    first: query.from,
    last: query.from + query.count - 1,
    n_query: header.tokens.length,
    key_first: key.from,
    key_last: key.from + key.count - 1,
    n_key: header.key_tokens.length,
  });
}
