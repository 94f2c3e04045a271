// @ts-check
// The keyboard of the alignment: arrows move among the words, "[" and "]" change the head, Escape unpins.

import { rankedWords } from "./numbers.js";

/** @import { WordPlace } from "./numbers.js" */
/** @import { Header } from "./types.js" */

/**
 * The word that a key leads to: left and right stay on a side; up and down go to the word of the other side with the
 * largest weight; null for other keys.
 * @param {string} key
 * @param {Header} header
 * @param {ArrayLike<number>} matrix [target, source]
 * @param {WordPlace} at
 * @returns {WordPlace | null}
 */
export function stepFrom(key, header, matrix, { side, word }) {
  const last = header[side].length - 1;
  /** @type {Record<string, number>} */
  const along = { ArrowLeft: word - 1, ArrowRight: word + 1, Home: 0, End: last };
  if (key in along) return { side, word: Math.max(0, Math.min(last, along[key])) };
  const away = side === "target" ? "ArrowUp" : "ArrowDown";
  const other = side === "target" ? "source" : "target";
  if (key !== away || !header[other].length) return null;
  return { side: other, word: rankedWords(matrix, header.source.length, { side, word })[0].word };
}
