// @ts-check
// What the colour of a point says: each point has a level 0..255 in a table of colours. By side it is that of
// its role; in all ways a query is a disc and a key a square.

import { sequential } from "../shared/colors.js";
import { rgba } from "../shared/theme.js";
import { KEY, QUERY, SHOWN } from "./points.js";

/** @import { Theme } from "../shared/theme.js" */
/** @import { Points } from "./points.js" */

/** @typedef {"side" | "position" | "kind" | "norm" | "text" | "frequency"} Way */
/** `levels` are those of queries and of keys. @typedef {{levels: [Uint8Array, Uint8Array], table: Uint32Array}} Colours */

export const GREY = 4; // among the categories
/** @type {readonly Way[]} */
export const WAYS = ["side", "position", "kind", "norm", "text", "frequency"];
const LEAST = 70; // of a ramp: its first colours are those of the background
const LIGHT = ["#2563c9", "#b45309", "#15803d", "#a21caf", "#6b7280", "#0e7490", "#b91c1c", "#4d7c0f"];
const DARK = ["#7fb0ff", "#f0a860", "#6fd08c", "#e39bf0", "#a3acba", "#5fd0e6", "#ff9d94", "#b7d66a"];

/** The colours of a head's points. @param {Points} points @param {number} head @param {Way} way @param {Theme} theme @returns {Colours} */
export function coloursOf(points, head, way, theme) {
  if (way === "side") {
    const table = new Uint32Array(256).fill(packed(theme.roles.query));
    table[1] = packed(theme.roles.key);
    return { levels: [new Uint8Array(points.n), new Uint8Array(points.n).fill(1)], table };
  }
  if (way === "norm") {
    const { data } = points.arrays.norms;
    const of = (/** @type {number} */ side) => {
      const start = (2 * head + side) * points.n;
      return Uint8Array.from(data.subarray(start, start + points.n), (norm) => ramped(norm / 255));
    };
    return { levels: [of(QUERY), of(KEY)], table: sequential(theme.dark) };
  }
  const levels = levelsOf(points, way);
  const table = way === "kind" || way === "text" ? categories(theme) : sequential(theme.dark);
  return { levels: [levels, levels], table };
}

function levelsOf(/** @type {Points} */ points, /** @type {Exclude<Way, "side" | "norm">} */ way) {
  const { header, arrays, textOf, counts, n } = points;
  if (way === "kind") return Uint8Array.from(arrays.kind.data);
  if (way === "text") {
    const alone = !hasMore(points);
    return Uint8Array.from(textOf, (text) => {
      if (header.texts[text][2]) return 1;
      return alone ? ((text % 6) + 2) % 8 : GREY;
    });
  }
  if (way === "position") {
    const longest = Math.max(...header.texts.map(([start, stop]) => stop - start), 2) - 1;
    return Uint8Array.from({ length: n }, (_, token) =>
      ramped((token - header.texts[textOf[token]][0]) / longest),
    );
  }
  const most = Math.log(Math.max(2, ...counts));
  return Uint8Array.from(arrays.label_of.data, (label) => ramped(Math.log(counts[label]) / most));
}

/** Whether the visitor put more texts on the map than the one that is shown: only these are coloured then. */
export function hasMore(/** @type {Points} */ { header }) {
  return header.texts.some(([, , own]) => own > SHOWN);
}

function ramped(/** @type {number} */ share) {
  return Math.round(LEAST + (255 - LEAST) * share);
}

function categories(/** @type {Theme} */ { dark }) {
  const table = new Uint32Array(256);
  (dark ? DARK : LIGHT).forEach((colour, place) => (table[place] = packed(colour)));
  return table;
}

/** A colour as ImageData has it. */
export function packed(/** @type {string} */ colour) {
  const [r, g, b] = rgba(colour);
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}
