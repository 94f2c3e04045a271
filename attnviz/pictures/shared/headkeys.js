// @ts-check
// The keys that change the head wherever all heads are in the browser: "[" and "]" and Shift+arrows.

import { headsOf } from "./buffer.js";
import { isKept } from "./selection.js";

/** @import { Kept } from "./selection.js" */
/** @typedef {{n_layers: number, n_heads: number, shapes?: readonly (readonly number[])[] | null, kept?: Kept}} Size */
/** @typedef {{layer: number, head: number}} Head */

/**
 * The head that a key leads to, or null for another key.
 * @param {KeyboardEvent} event
 * @param {Size} header
 * @param {Head} selection
 * @returns {Head | null}
 */
export function headStep(event, header, selection) {
  const { layer, head } = selection;
  const shift = event.shiftKey;
  if (event.key === "[" || (shift && event.key === "ArrowLeft")) return neighbour(header, selection, -1);
  if (event.key === "]" || (shift && event.key === "ArrowRight")) return neighbour(header, selection, 1);
  if (shift && event.key === "ArrowUp") return { layer: nextLayer(header, layer, -1), head };
  if (shift && event.key === "ArrowDown") return { layer: nextLayer(header, layer, 1), head };
  return null;
}

/** The layer above or below that has a head, or the same one. */
function nextLayer(/** @type {Size} */ header, /** @type {number} */ layer, /** @type {number} */ by) {
  for (let next = layer + by; next >= 0 && next < header.n_layers; next += by)
    if (!header.kept?.length || header.kept[next].length) return next;
  return layer;
}

/**
 * The head before or after that was kept, across layers; the first and the last have no further neighbour.
 * @param {Size} header
 * @param {Head} from
 * @param {number} by −1 or 1
 * @returns {Head}
 */
export function neighbour(header, from, by) {
  for (let at = from; ;) {
    const next = headBeside(header, at, by);
    if (next.layer === at.layer && next.head === at.head) return from;
    if (isKept(header, next.layer, next.head)) return next;
    at = next;
  }
}

/** @returns {Head} */
function headBeside(
  /** @type {Size} */ header,
  /** @type {Head} */ { layer, head },
  /** @type {number} */ by,
) {
  const next = head + by;
  const last = headsOf(header, layer) - 1;
  if (next >= 0 && next <= last) return { layer, head: next };
  if (next < 0)
    return layer > 0 ? { layer: layer - 1, head: headsOf(header, layer - 1) - 1 } : { layer, head: 0 };
  return layer < header.n_layers - 1 ? { layer: layer + 1, head: 0 } : { layer, head: last };
}
