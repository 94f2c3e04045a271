// @ts-check
// The keyboard of the head page: "[" "]" and Shift+arrows change the head anywhere in the component, plain arrows move
// the pinned cell while the heatmap has the focus, Escape unpins.

import { swallow } from "../shared/controls.js";
import { headStep } from "../shared/headkeys.js";

/**
 * @param {KeyboardEvent} event
 * @param {any} state
 * @param {(change: any) => void} change
 * @param {() => any} pinned the places of what is pinned
 * @param {(place: any) => any} tokensAt what a place on the axes is in tokens
 */
export function onHeadKey(event, state, change, pinned, tokensAt) {
  if (event.ctrlKey || event.metaKey || event.altKey || !state.view) return;
  const cell = event.target === state.parts.heatmap ? cellStep(event, state.view.data, pinned()) : null;
  const next = headStep(event, state.header, state.selection) ?? (cell && tokensAt(cell));
  if (event.key === "Escape" && state.selection.query !== null) change({ query: null, key: null });
  else if (next) change(next);
  else return;
  swallow(event);
}

/** The cell that an arrow leads to from the pinned one; the first arrow pins the first cell. */
function cellStep(/** @type {KeyboardEvent} */ event, /** @type {any} */ data, /** @type {any} */ pinned) {
  const moves = /** @type {Record<string, [number, number]>} */ ({
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
  });
  const move = moves[event.key];
  const { rows, cols } = data;
  const { query, key } = pinned;
  if (!move || event.shiftKey || !rows.length) return null;
  const row = rows.indexOf(query);
  const col = cols.indexOf(key);
  if (row < 0) return { query: rows[0], key: cols[0] };
  if (col < 0) return { query, key: cols[0] };
  const clamp = (/** @type {number} */ v, /** @type {number} */ n) => Math.max(0, Math.min(n - 1, v));
  return { query: rows[clamp(row + move[0], rows.length)], key: cols[clamp(col + move[1], cols.length)] };
}
