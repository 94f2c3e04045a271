// @ts-check
// A long head in words: the level of detail, the cell under the pointer, and the pinned cell with its weight.

import { isolate } from "../shared/axes.js";
import { fill } from "../shared/fmt.js";
import { printed } from "../shared/panel.js";
import { levelOf } from "./camera.js";

/** @import { Cell } from "./camera.js" */
/** @import { Scene } from "./scene.js" */

/** A weight as it is shown: of a cell, or the largest of an area. */
/** @typedef {{weight: number, isExact: boolean, level: number}} ShownWeight */

/** The weight shown at a cell: of the finest level that is here; null where none is. @returns {ShownWeight | null} */
export function weightAtCell(
  /** @type {Scene} */ { camera, header, store },
  /** @type {Cell} */ { query, key },
) {
  for (let level = levelOf(camera, header.top); level <= header.top; level++) {
    const shown = store.weight(level, query, key);
    if (shown) return { ...shown, level };
  }
  return null;
}

/** How fine the plot is: exact cells, or the largest of several. */
export function detailText(/** @type {Scene} */ { camera, header }) {
  const level = levelOf(camera, header.top);
  return level ? fill(header.strings.pooled, { side: 2 ** level }) : header.strings.exact;
}

/** The cell under the pointer, or what to do where there is none. */
export function readout(/** @type {Scene} */ scene) {
  const { header, hover } = scene;
  const { strings } = header;
  const shown = hover && weightAtCell(scene, hover);
  if (hover && shown) return cellText(scene, hover, shown);
  return header.ready ? fill(strings.idle, { detail: capital(detailText(scene)) }) : strings.waiting;
}

/**
 * @param {Scene} scene
 * @param {Cell} cell
 * @param {ShownWeight} shown
 */
function cellText(scene, cell, { weight: number, isExact, level }) {
  const { strings, n_query: nQuery, n_key: nKey } = scene.header;
  const weight = printed(number);
  if (isExact) return fill(strings.point, { ...namesOf(scene, cell), weight });
  const side = 2 ** level;
  const from = (/** @type {number} */ i) => Math.floor(i / side) * side;
  const to = (/** @type {number} */ i, /** @type {number} */ n) => Math.min(n, from(i) + side) - 1;
  return fill(strings.area, {
    from_query: from(cell.query),
    to_query: to(cell.query, nQuery),
    from_key: from(cell.key),
    to_key: to(cell.key, nKey),
    weight,
  });
}

function namesOf(/** @type {Scene} */ { text }, /** @type {Cell} */ { query, key }) {
  const { rows, columns } = text.axes;
  return {
    query: `${isolate(rows.labels[query])} (${query})`,
    key: `${isolate(columns.labels[key])} (${key})`,
  };
}

/** The pinned cell and its weight, which the server tells where the tile of level 0 is not here. */
export function pinnedText(/** @type {Scene} */ scene) {
  const { pinned, header, store } = scene;
  if (!pinned) return "";
  const { query, key } = pinned;
  const told = header.pinned?.[0] === query && header.pinned[1] === key ? header.pinned[2] : null;
  const exact = store.weight(0, query, key)?.weight ?? told;
  const weight = exact === null ? "…" : printed(exact);
  return fill(header.strings.pinned, { ...namesOf(scene, pinned), weight });
}

function capital(/** @type {string} */ text) {
  return text.charAt(0).toLocaleUpperCase() + text.slice(1);
}
