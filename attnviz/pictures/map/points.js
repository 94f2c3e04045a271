// @ts-check
// The points of the map: where the query and the key of each token stand in a head's plane, which text they belong to,
// and the weights between them. Places are −1 to 1; the edge holds everything that is further out.

import { weightOf } from "../shared/buffer.js";

/** @import { Arrays, Header, MapText } from "./types.js" */

export const QUERY = 0;
export const KEY = 1;
export const SHOWN = 1; // of a text's `own`: the text that other pages show
const MIDDLE = 32768;
const HALF = 32767;

/** A token as it asks or as it answers. @typedef {{token: number, side: number}} Point */
/**
 * `textOf` is the text of each token, `cells` where each text's weights begin, `counts` how often each label occurs.
 * @typedef {{header: Header, arrays: Arrays, n: number, textOf: Uint16Array<ArrayBuffer>, cells: number[], counts: Uint32Array<ArrayBuffer>}} Points
 */

/** @param {Header} header @param {Arrays} arrays @returns {Points} */
export function readPoints(header, arrays) {
  const n = arrays.label_of.data.length;
  const textOf = new Uint16Array(n);
  const cells = [0];
  header.texts.forEach(([start, stop], text) => {
    textOf.fill(text, start, stop);
    cells.push(cells[text] + (stop - start) ** 2);
  });
  const counts = new Uint32Array(header.labels.length);
  for (const label of arrays.label_of.data) counts[label]++;
  return { header, arrays, n, textOf, cells, counts };
}

/** The codes x, y, x, y … of one side of a head. */
export function codesOf(
  /** @type {Points} */ { arrays, n },
  /** @type {number} */ head,
  /** @type {number} */ side,
) {
  const start = 2 * n * (2 * head + side);
  return arrays.places.data.subarray(start, start + 2 * n);
}

/** Where a point stands, and whether it is further out than the edge. */
export function placeOf(
  /** @type {Points} */ points,
  /** @type {number} */ head,
  /** @type {Point} */ { token, side },
) {
  const codes = codesOf(points, head, side);
  const [x, y] = [codes[2 * token], codes[2 * token + 1]].map((code) => (code - MIDDLE) / HALF);
  return { x, y, edge: Math.max(Math.abs(x), Math.abs(y)) >= 1 };
}

export function labelOf(/** @type {Points} */ { header, arrays }, /** @type {number} */ token) {
  return header.labels[arrays.label_of.data[token]];
}

/** The text of a token: its number, and its place in it. @returns {{text: number, span: MapText, position: number}} */
export function textAt(/** @type {Points} */ { header, textOf }, /** @type {number} */ token) {
  const text = textOf[token];
  const span = header.texts[text];
  return { text, span, position: token - span[0] };
}

/**
 * The weights between a point and the tokens of its text: from a query to each key, or to a key from each query.
 * @param {Points} points
 * @param {number} head
 * @param {Point} point
 * @returns {Float32Array<ArrayBuffer>}
 */
export function weightsOf({ header, arrays, textOf, cells }, head, { token, side }) {
  const text = textOf[token];
  const [start, stop] = header.texts[text];
  const n = stop - start;
  const base = head * cells[cells.length - 1] + cells[text];
  const { data, dtype } = arrays.weights;
  const own = token - start;
  return Float32Array.from({ length: n }, (_, other) =>
    weightOf(data[base + (side === QUERY ? own * n + other : other * n + own)], dtype),
  );
}

/**
 * The point nearest to a place, or null: a plain pass over both sides, 50,000 points take a fraction of a millisecond.
 * @param {Points} points
 * @param {number} head
 * @param {number} x
 * @param {number} y
 * @param {number} within
 * @returns {Point | null}
 */
export function nearest(points, head, x, y, within) {
  const [px, py, reach] = [x * HALF + MIDDLE, y * HALF + MIDDLE, within * HALF];
  let best = reach * reach;
  /** @type {Point | null} */
  let found = null;
  for (const side of [QUERY, KEY]) {
    const codes = codesOf(points, head, side);
    for (let token = 0, at = 0; token < points.n; token++, at += 2) {
      const distance = (codes[at] - px) ** 2 + (codes[at + 1] - py) ** 2;
      if (distance < best) {
        best = distance;
        found = { token, side };
      }
    }
  }
  return found;
}

/**
 * The points inside a polygon, by the even-odd rule: bit 1 a query, bit 2 a key of each token.
 * @param {Points} points
 * @param {number} head
 * @param {readonly {x: number, y: number}[]} corners
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function inside(points, head, corners) {
  const marks = new Uint8Array(points.n);
  const polygon = corners.map(({ x, y }) => [x * HALF + MIDDLE, y * HALF + MIDDLE]);
  for (const side of [QUERY, KEY]) {
    const codes = codesOf(points, head, side);
    for (let token = 0; token < points.n; token++)
      if (isInside(polygon, codes[2 * token], codes[2 * token + 1])) marks[token] |= 1 << side;
  }
  return marks;
}

function isInside(/** @type {number[][]} */ polygon, /** @type {number} */ x, /** @type {number} */ y) {
  let odd = false;
  let [px, py] = polygon[polygon.length - 1];
  for (const [qx, qy] of polygon) {
    if (py > y !== qy > y && x < ((qx - px) * (y - py)) / (qy - py) + px) odd = !odd;
    [px, py] = [qx, qy];
  }
  return odd;
}

/** The tokens whose label has a text in it, upper case or not, as `inside` marks them. */
export function search(/** @type {Points} */ { header, arrays, n }, /** @type {string} */ wanted) {
  const needle = wanted.trim().toLowerCase();
  const fits = header.labels.map((label) => label.toLowerCase().includes(needle));
  return Uint8Array.from({ length: n }, (_, token) => (fits[arrays.label_of.data[token]] ? 3 : 0));
}

/** All tokens of a text, as `inside` marks them. */
export function wholeText(/** @type {Points} */ { header, n }, /** @type {number} */ text) {
  const [start, stop] = header.texts[text];
  return new Uint8Array(n).fill(3, start, stop);
}
