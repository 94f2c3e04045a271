// @ts-check
// Tokens joined into words: the axes in words, the weights between words, and the pieces of a word when it is chosen. A
// key's pieces are summed, a query's averaged, so that a row still sums to 1. Which tokens make a word comes from Python
// (attnviz/tokens/words.py); `mergeHead` does here what `merged` does there.

import { axisMarks, isolate, WRITTEN } from "../shared/axes.js";
import { colourFor, inkOn, levelFor } from "../shared/colors.js";
import { el } from "../shared/dom.js";
import { fill, fmtWeight } from "../shared/fmt.js";
import { weightOf } from "../shared/buffer.js";

/** First token, the one after the last, what they spell. @typedef {[number, number, string]} WordSpan */
/** An axis in tokens or words: names, marks, flags of special ones, the tokens of each place, and the place of each token.
 * @typedef {{labels: string[], marks: number[], special: ArrayLike<number>, spans: WordSpan[] | null, placeOf: (token: number | null) => number | null,
 *   tokenOf: (place: number | null) => number | null}} AxisPlaces */

/** Whether any word has several tokens. */
export function hasPieces(/** @type {any} */ header) {
  return [...header.words, ...header.key_words].some(([start, stop]) => stop - start > 1);
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
export function wordAxis(/** @type {WordSpan[]} */ spans, /** @type {AxisPlaces} */ tokens) {
  const place = new Int32Array(tokens.labels.length);
  spans.forEach(([start, stop], i) => place.fill(i, start, stop));
  const any = (/** @type {WordSpan} */ [start, stop], /** @type {number} */ bit) =>
    tokens.marks.slice(start, stop).reduce((all, mark) => all | (mark & bit), 0);
  return {
    labels: spans.map((span) => span[2]),
    special: spans.map(([start]) => tokens.special[start]),
    spans,
    marks: spans.map((span) => (tokens.marks[span[0]] & ~WRITTEN) | any(span, WRITTEN)),
    placeOf: (token) => (token === null ? null : place[token]),
    tokenOf: (i) => (i === null ? null : spans[i][0]),
  };
}

/**
 * Weights between words, of one head stored as codes or of any matrix of the same shape.
 * @param {ArrayLike<number>} values
 * @param {string} dtype
 * @param {number} nKey
 * @param {WordSpan[]} queries
 * @param {WordSpan[]} keys
 * @returns {Float32Array}
 */
export function mergeHead(values, dtype, nKey, queries, keys) {
  const out = new Float32Array(queries.length * keys.length);
  queries.forEach(([top, bottom], row) =>
    keys.forEach(([left, right], col) => {
      let sum = 0;
      for (let query = top; query < bottom; query++)
        for (let key = left; key < right; key++) sum += weightOf(values[query * nKey + key], dtype);
      out[row * keys.length + col] = sum / (bottom - top);
    }),
  );
  return out;
}

/** Shows the pieces behind the cell of two words as a table; nothing where both words are one token. */
export function showPieces(
  /** @type {HTMLElement} */ node,
  /** @type {any} */ view,
  /** @type {{query: number | null, key: number | null}} */ { query, key },
) {
  const { axes, header } = view;
  const rows = query === null ? null : axes.query.spans?.[query];
  const cols = key === null ? null : axes.key.spans?.[key];
  node.hidden = !rows || !cols || rows[1] - rows[0] + cols[1] - cols[0] === 2;
  if (node.hidden) {
    node.replaceChildren();
    return;
  }
  const { strings, head: values, dtype } = view.pieces;
  const range = (/** @type {WordSpan} */ [start, stop]) =>
    Array.from({ length: stop - start }, (_, i) => start + i);
  const cell = (/** @type {number} */ q, /** @type {number} */ k) => {
    const weight = weightOf(values[q * header.n_key + k], dtype);
    const level = levelFor(weight, view.scale);
    return el(
      "td",
      {
        class: "av-number",
        style: { backgroundColor: colourFor(view.lut, weight, view.scale), color: inkOn(view.lut, level) },
      },
      fmtWeight(weight, view.approx),
    );
  };
  const name = (/** @type {string} */ scope, /** @type {string} */ label) =>
    el("th", { scope }, el("bdi", {}, label));
  const said = fill(strings.pieces, {
    query: isolate(rows[2]),
    key: isolate(cols[2]),
    weight: fmtWeight(view.data.values[query * view.data.nKey + key], view.approx),
  });
  const table = el(
    "table",
    { class: "av-pieces-table" },
    el("caption", { class: "av-note" }, said),
    el("thead", {}, el("tr", {}, el("td"), ...range(cols).map((k) => name("col", header.key_tokens[k])))),
    el(
      "tbody",
      {},
      ...range(rows).map((q) =>
        el("tr", {}, name("row", header.tokens[q]), ...range(cols).map((k) => cell(q, k))),
      ),
    ),
  );
  node.replaceChildren(table);
}
