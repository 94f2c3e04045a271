// @ts-check
// The picture that Steps opens with: the way of the chosen row, a line for each key. Pointer and keys choose the key, and
// with the arrows left and right the row; the film of the row plays in its place.

import { el, fitCanvas, localPoint, markDrawn, setData } from "../shared/dom.js";
import { fill } from "../shared/fmt.js";
import { filmRow, filmStart } from "./film_scenes.js";
import { paintRow } from "./row_paint.js";

/** @import { Actions, State } from "./state.js" */
/** @import { RowLayout, RowShow } from "./row_paint.js" */

/** @typedef {ReturnType<typeof makeRowPicture>} RowPicture */

/**
 * @param {() => State} now
 * @param {Actions} actions
 */
export function makeRowPicture(now, actions) {
  const canvas = el("canvas", { class: "row-picture", role: "img", tabIndex: 0 });
  /** @type {{layout: RowLayout, show: RowShow} | null} */
  let drawn = null;
  const keyUnder = (/** @type {MouseEvent} */ event) => {
    if (!drawn) return undefined;
    const { layout, show } = drawn;
    return show.row.keys[Math.floor((localPoint(event, canvas).y - layout.top) / layout.lineHeight)];
  };
  canvas.addEventListener("click", (event) => {
    const key = keyUnder(event);
    if (drawn && key !== undefined) actions.choose(drawn.show.row.query, key);
  });
  canvas.addEventListener("keydown", (event) => {
    if (event.key === "Escape") actions.choose(null, null);
    const cell = drawn && moved(event, drawn.show);
    if (!cell) return;
    event.preventDefault();
    actions.choose(cell.query, cell.key);
  });
  return {
    node: canvas,
    /** Paints what the state says; nothing while a film plays in its place. */
    paint() {
      const state = now();
      const show = state.film === null ? showOf(state) : null;
      canvas.hidden = show === null;
      drawn = show && { show, layout: paintRow((width, height) => fitCanvas(canvas, width, height), show) };
      if (!drawn) return;
      const { strings, rows, key_tokens: keys } = state.header;
      const { query, keys: lines } = drawn.show.row;
      const { layout } = drawn;
      const names = { query: rows[query], key: keys[drawn.show.key] };
      canvas.setAttribute("aria-label", fill(strings.row_label, names));
      setData(canvas, {
        ...{ query, key: drawn.show.key, keys: lines.join(","), top: layout.top, line: layout.lineHeight },
        ...{ unit: layout.unit, zeros: `${layout.zeros.scores},${layout.zeros.scaled}` },
        weights: `${layout.weights.left},${layout.weights.width}`,
      });
      markDrawn(canvas);
    },
  };
}

/** What is to be painted; null where there are no weights. @returns {RowShow | null} */
function showOf(/** @type {State} */ state) {
  const { header, arrays, edited, mode, selection, theme, stop, parts } = state;
  const numbers = mode === "difference" ? edited : arrays;
  const row = filmRow(numbers, selection.query ?? filmStart(header), selection.key);
  if (!row) return null;
  const width = parts.left.clientWidth;
  return { header, arrays: numbers, row, key: selection.key ?? row.top, stop, theme, width };
}

/** The cell that a key leads to: up and down among the lines, left and right among the queries. */
function moved(/** @type {KeyboardEvent} */ event, /** @type {RowShow} */ { row, key, header }) {
  const by = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[event.key];
  if (!by) return null;
  const at = row.keys.indexOf(key) + by[1];
  const query = row.query + by[0];
  const next = row.keys[Math.max(0, Math.min(row.keys.length - 1, at))];
  return { query: Math.max(0, Math.min(header.tokens.length - 1, query)), key: next };
}
