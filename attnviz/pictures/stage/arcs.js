// @ts-check
// Where looks stand over the words: arcs as paths, and where a look goes instead when it is forbidden.

import { svg } from "../shared/svg.js";

/** The middle of a word, its edges. @typedef {{x: number, top: number, bottom: number}} Place */
/** @typedef {{d: string, x: number, y: number}} Arc */

const WIDEST = 12;
const THINNEST = 1.5;
const LEAST_SHOWN = 0.1; // of a row: fewer arcs than that cannot be told apart
const MOST_SHOWN = 3;

/** How wide a look is drawn. */
export function widthOf(/** @type {number} */ weight) {
  return THINNEST + (WIDEST - THINNEST) * weight;
}

/** An arc from one word to another whose highest point is at `apex`; `aside` parts those of several heads. */
export function arcBetween(
  /** @type {Place} */ from,
  /** @type {Place} */ to,
  /** @type {number} */ apex,
  aside = 0,
) {
  const [x0, x1] = [from.x + aside, to.x - aside];
  const end = (from.top + to.top) / 2 - 3;
  const bend = (apex - end / 4) / 0.75; // a cubic's middle lies at a quarter of its ends and three of its bends
  const d = `M${x0} ${from.top - 3}C${x0} ${bend},${x1} ${bend},${x1} ${to.top - 3}`;
  return { d, x: (x0 + x1) / 2, y: apex };
}

/** A look between words of two lines, through the room between these: from the lower one's top to the upper one's bottom. */
export function arcAcross(/** @type {Place} */ from, /** @type {Place} */ to, aside = 0) {
  const [lower, upper] = from.top > to.top ? [from, to] : [to, from];
  const [x0, x1] = [lower.x + aside, upper.x - aside];
  const [y0, y1] = [lower.top - 3, upper.bottom + 3];
  const bends = [0.2, 0.8].map((share) => y1 + share * (y0 - y1) + 2.5 * aside); // parted in the middle
  const d = `M${x0} ${y0}C${x0} ${bends[0]},${x1} ${bends[1]},${x1} ${y1}`;
  return { d, x: (x0 + x1) / 2, y: (y0 + y1) / 2 };
}

/**
 * Where a query looks instead when one key is forbidden: the rest of its row, grown to 1 again. `row` has the weights in
 * full, since what is left of a strong look is a difference of nearly equal numbers.
 * @param {ArrayLike<number>} row
 * @param {number} query
 * @param {number} key
 */
export function swung(row, query, key) {
  const rest = Array.from(row).reduce((sum, weight, at) => (at === key ? sum : sum + weight), 0);
  return Array.from(row, (weight, at) => ({ at, weight: at === key ? 0 : weight / rest }))
    .filter(({ at, weight }) => weight > LEAST_SHOWN && at !== query)
    .sort((a, b) => b.weight - a.weight)
    .slice(0, MOST_SHOWN);
}

/** A look as a path: `kind` is its class; it grows and falls by its length of 1. */
export function arcNode(/** @type {Arc} */ arc, /** @type {string} */ kind, /** @type {number} */ width) {
  return svg("path", { class: `stage-arc ${kind}`, d: arc.d, "stroke-width": width, pathLength: 1 });
}
