// @ts-check
// The scenes of a head's film: which there are for a row, what each says, and the panel that each stands for.

import { el, fillNodes } from "../shared/dom.js";
import { fill, fmtFixed } from "../shared/fmt.js";
import { momentOf } from "../shared/scenes.js";

/** @import { Scene } from "../shared/scenes.js" */
/** @import { Arrays, Header, Stage } from "./types.js" */

/** @typedef {"q" | "scores" | "scaled" | "masked" | "weights" | "mixed" | "projected"} FilmStage */
/** The row that the film follows, and the keys that it shows. @typedef {{query: number, keys: number[], top: number}} FilmRow */

/** All scenes of the film, in their order. @type {readonly Scene<FilmStage>[]} */
export const FILM_SCENES = [
  { name: "q", ms: 3200 },
  { name: "scores", ms: 6400 },
  { name: "scaled", ms: 2600 },
  { name: "masked", ms: 2600 },
  { name: "weights", ms: 3800 },
  { name: "mixed", ms: 4400 },
  { name: "projected", ms: 3400 },
];
const MAX_KEYS = 16;

/** The scenes that this head has: a model may keep no output of W_O, and some scale nothing after the dot product. */
export function filmScenes(/** @type {Header} */ { panels }) {
  const there = new Set(panels.filter(({ absent }) => absent === null).map(({ stage }) => stage));
  const needed = (/** @type {FilmStage} */ name) =>
    name === "projected" ? there.has("projected") && there.has("concat") : there.has(name);
  return FILM_SCENES.filter(({ name }) => needed(name));
}

/**
 * The row of a query: all keys, or the `chosen` one and those with the largest weights where there are many; `top` is the
 * one with the largest of all.
 * @param {Arrays} arrays
 * @param {number} query
 * @param {number | null} [chosen]
 * @returns {FilmRow | null}
 */
export function filmRow(arrays, query, chosen = null) {
  const weights = rowOf(arrays, "weights", query);
  if (!weights) return null;
  const order = [...weights.keys()].sort((a, b) => weights[b] - weights[a]);
  const shown = order.filter((key, place) => place < MAX_KEYS || key === chosen);
  return { query, keys: shown.sort((a, b) => a - b), top: order[0] };
}

/** The row that is shown while none is chosen: that of the first word. */
export function filmStart(/** @type {Header} */ { special }) {
  return Math.max(
    0,
    special.findIndex((one) => !one),
  );
}

/** A row of a stage; undefined where the stage is not there. */
export function rowOf(/** @type {Arrays} */ arrays, /** @type {Stage} */ stage, /** @type {number} */ row) {
  const matrix = arrays[stage];
  return matrix?.data.subarray(row * matrix.shape[1], (row + 1) * matrix.shape[1]);
}

/** How far a scene has come, at an even pace. */
export function partOf(
  /** @type {readonly Scene<FilmStage>[]} */ scenes,
  /** @type {number} */ time,
  /** @type {FilmStage} */ name,
) {
  const { at, part } = momentOf(scenes, time);
  const place = scenes.findIndex((scene) => scene.name === name);
  return at === place ? part : Number(at > place);
}

/**
 * The sentence of a scene about a row.
 * @param {Header} header
 * @param {Arrays} arrays
 * @param {FilmRow} row
 * @param {FilmStage} name
 */
export function filmSentence({ strings, ...header }, arrays, { query, keys, top }, name) {
  const number = (/** @type {Stage} */ stage) =>
    el("b", { class: "av-number" }, fmtFixed(rowOf(arrays, stage, query)?.[top] ?? NaN, 2));
  const masked = rowOf(arrays, "masked", query);
  const nBlocked = masked ? masked.filter((value) => value === -Infinity).length : 0;
  const template = name === "masked" && !nBlocked ? strings.film_unmasked : strings[`film_${name}`];
  const counts = { blocked: nBlocked, n_heads: header.n_heads, d_head: header.d_head };
  const nodes = fillNodes(fill(template, counts), {
    query: el("b", { class: "mark query", dir: "auto" }, header.rows[query]),
    key: el("b", { class: "mark key", dir: "auto" }, header.key_tokens[top]),
    score: number("scores"),
    scaled: number("scaled"),
    weight: number("weights"),
  });
  const hidden = header.key_tokens.length - keys.length;
  const rest = hidden ? [` ${fill(strings.film_rest, { n: keys.length })}`] : [];
  // a word that stands twice in a sentence is two nodes
  return [...nodes, ...rest].map((node) => (node instanceof Node ? node.cloneNode(true) : node));
}
