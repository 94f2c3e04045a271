// @ts-check
// The keys that change the head wherever all heads are at hand: "[" and "]" and Shift+arrows.

import { headsOf } from "./buffer.js";

/**
 * The head that a key leads to, or null.
 * @param {KeyboardEvent} event
 * @param {any} header
 * @param {any} selection
 */
export function headStep(event, header, selection) {
  const { layer } = selection;
  const shift = event.shiftKey;
  if (event.key === "[" || (shift && event.key === "ArrowLeft")) return neighbour(header, selection, -1);
  if (event.key === "]" || (shift && event.key === "ArrowRight")) return neighbour(header, selection, 1);
  if (shift && event.key === "ArrowUp") return { layer: Math.max(0, layer - 1) };
  if (shift && event.key === "ArrowDown") return { layer: Math.min(header.n_layers - 1, layer + 1) };
  return null;
}

/** The head before or after, across layers; the first and the last have no further neighbour. */
export function neighbour(
  /** @type {any} */ header,
  /** @type {{layer: number, head: number}} */ { layer, head },
  /** @type {number} */ by,
) {
  const next = head + by;
  const last = headsOf(header, layer) - 1;
  if (next >= 0 && next <= last) return { layer, head: next };
  if (next < 0)
    return layer > 0 ? { layer: layer - 1, head: headsOf(header, layer - 1) - 1 } : { layer, head: 0 };
  return layer < header.n_layers - 1 ? { layer: layer + 1, head: 0 } : { layer, head: last };
}
