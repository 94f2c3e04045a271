// @ts-check
// Tokens joined into words: the axes in words, and the weights between words. A key's pieces are summed, a query's averaged,
// so that a row still sums to 1. Which tokens make a word comes from Python (attnviz/tokens/words.py); `mergeHead` does here
// what `merged` does there.

import { axisMarks, WRITTEN } from "../shared/axes.js";
import { weightOf } from "../shared/buffer.js";

/** @import { Dtype } from "../shared/buffer.js" */
/** @import { Word } from "../shared/heads.js" */

/**
 * An axis in tokens or words. `spans` has the tokens of each word; `placeOf` gives the place of a token, `tokenOf` the
 * token at a place, of a word the first one.
 * @typedef {{labels: string[], marks: number[], special: ArrayLike<number>, spans: Word[] | null,
 *   placeOf: (token: number | null) => number | null, tokenOf: (place: number | null) => number | null}} AxisPlaces
 */

/** True if any word has several tokens. */
export function hasPieces(/** @type {{words: Word[], key_words: Word[]}} */ header) {
  return [...header.words, ...header.key_words].some(([, start, stop]) => stop - start > 1);
}

/**
 * An axis whose places are the tokens.
 * @param {string[]} labels
 * @param {ArrayLike<number>} special
 * @param {ArrayLike<number>} written
 * @returns {AxisPlaces}
 */
export function tokenAxis(labels, special, written) {
  const same = (/** @type {number | null} */ i) => i;
  return { labels, marks: axisMarks(special, written), special, spans: null, placeOf: same, tokenOf: same };
}

/** An axis whose places are words: special as its token is, written where any piece is. @returns {AxisPlaces} */
export function wordAxis(/** @type {Word[]} */ spans, /** @type {AxisPlaces} */ tokens) {
  const places = new Int32Array(tokens.labels.length);
  spans.forEach(([, start, stop], i) => places.fill(i, start, stop));
  const markOf = (/** @type {Word} */ [, start, stop]) => {
    const all = tokens.marks.slice(start, stop).reduce((marks, mark) => marks | mark, 0);
    return (tokens.marks[start] & ~WRITTEN) | (all & WRITTEN);
  };
  return {
    labels: spans.map(([text]) => text),
    special: spans.map(([, start]) => tokens.special[start]),
    spans,
    marks: spans.map(markOf),
    placeOf: (token) => (token === null ? null : places[token]),
    tokenOf: (place) => (place === null ? null : spans[place][1]),
  };
}

/**
 * Weights between words, of one head stored as codes or of any matrix of the same shape.
 * @param {ArrayLike<number>} values
 * @param {Dtype} dtype
 * @param {number} nKey
 * @param {Word[]} queries
 * @param {Word[]} keys
 * @returns {Float32Array}
 */
export function mergeHead(values, dtype, nKey, queries, keys) {
  const merged = new Float32Array(queries.length * keys.length);
  queries.forEach(([, top, bottom], row) =>
    keys.forEach(([, left, right], col) => {
      let sum = 0;
      for (let query = top; query < bottom; query++)
        for (let key = left; key < right; key++) sum += weightOf(values[query * nKey + key], dtype);
      merged[row * keys.length + col] = sum / (bottom - top);
    }),
  );
  return merged;
}
