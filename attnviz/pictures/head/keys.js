// @ts-check
// The arrow keys on the heatmap: they move the pinned cell.

/** @import { HeadData } from "../shared/numbers.js" */
/** @import { CellPlace } from "./view.js" */

/** @type {Record<string, [down: number, across: number]>} */
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/**
 * The cell that an arrow leads to from the pinned one, null for other keys; the first arrow pins the first cell.
 * @param {KeyboardEvent} event
 * @param {HeadData} data
 * @param {CellPlace} pinned
 * @returns {CellPlace | null}
 */
export function cellStep(event, { rows, cols }, { query, key }) {
  const move = ARROWS[event.key];
  if (!move || event.shiftKey || !rows.length) return null;
  const row = query === null ? -1 : rows.indexOf(query);
  const col = key === null ? -1 : cols.indexOf(key);
  if (row < 0) return { query: rows[0], key: cols[0] };
  if (col < 0) return { query, key: cols[0] };
  const clamp = (/** @type {number} */ index, /** @type {number} */ count) =>
    Math.max(0, Math.min(count - 1, index));
  return { query: rows[clamp(row + move[0], rows.length)], key: cols[clamp(col + move[1], cols.length)] };
}
