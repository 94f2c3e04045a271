// @ts-check
// The labels of the common axes: one where both sides agree, both where a token was replaced or is followed by another
// one, a sign before one without counterpart.

import { isolate, READS } from "../shared/axes.js";

/** @import { Header, Slot } from "./types.js" */

/** @typedef {{rows: string[], cols: string[], rowMarks: number[], colMarks: number[]}} AxisLabels */

/** @returns {AxisLabels} */
export function commonAxes(/** @type {Header} */ { a, b, rows, cols }) {
  return {
    rows: rows.map((slot) => label(slot, a.rows, b.rows)),
    cols: cols.map((slot) => label(slot, a.key_tokens, b.key_tokens)),
    rowMarks: rows.map(([x, y]) => (x >= 0 ? a.special[x] : b.special[y])),
    colMarks: cols.map(([x, y]) => (x >= 0 ? a.key_special[x] : b.key_special[y])),
  };
}

/** One name of two rows, or keys: what both have in common is said once, so that the rest is in sight. */
function label(
  /** @type {Slot} */ [x, y, same],
  /** @type {string[]} */ tokensA,
  /** @type {string[]} */ tokensB,
) {
  if (y < 0) return `−\u2009${tokensA[x]}`;
  if (x < 0) return `+\u2009${tokensB[y]}`;
  const [[a, nextA], [b, nextB]] = [tokensA[x].split(READS), tokensB[y].split(READS)];
  if (!same) return `${isolate(a)} → ${isolate(b)}`;
  if (tokensA[x] === tokensB[y]) return tokensA[x];
  if (a === b && nextA && nextB) return `${a}${READS}${nextA} / ${nextB}`;
  return `${tokensA[x]} / ${tokensB[y]}`;
}

/**
 * A label with the positions of its tokens on the left and on the right.
 * @param {string} text
 * @param {Slot} slot
 * @param {number[]} atA
 * @param {number[]} atB
 */
export function placedName(text, [x, y], atA, atB) {
  const positions = new Set([...(x < 0 ? [] : [atA[x]]), ...(y < 0 ? [] : [atB[y]])]);
  return `${isolate(text)} (${[...positions].join("/")})`;
}
