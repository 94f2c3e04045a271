// @ts-check
// What the head page shows, worked out from selection and data: axes in tokens or words, the numbers of the heads that are
// drawn, colours, sums. Whatever costs more than a look into the buffer is worked out once and kept.

import { headValues } from "../shared/buffer.js";
import { levelFor, levelTable } from "../shared/colors.js";
import { maskLayer, visibleCells } from "../shared/hidden.js";
import { weightAt, withoutLook } from "../shared/numbers.js";
import { windowSource } from "../shared/picture.js";
import { colouredHeads, keptHeads, topOf } from "./line_options.js";
import { axisSums, evenWeights } from "./sums.js";
import { hasPieces, mergeHead, tokenAxis, wordAxis } from "./words.js";

/** @import { Dtype, PackedArray } from "../shared/buffer.js" */
/** @import { CellAt } from "../shared/effects.js" */
/** @import { LayeredHeader } from "../shared/layers.js" */
/** @import { HeadData } from "../shared/numbers.js" */
/** @import { Scale, Selection, Special } from "../shared/selection.js" */
/** @import { Spectrum } from "../shared/spectrum.js" */
/** @import { Theme } from "../shared/theme.js" */
/** @import { HeadColour } from "./line_options.js" */
/** @import { Sums } from "./sums.js" */
/** @import { Header } from "./types.js" */
/** @import { AxisPlaces } from "./words.js" */

/** Places on both axes. @typedef {{query: number | null, key: number | null}} CellPlace */
/** @typedef {{query: AxisPlaces, key: AxisPlaces}} Axes */
/** What the address has beside the selection: "1" for what is on. */
/**
 * @typedef {{open: string | null, sums: string | null, words: string | null, across: string | null, top: string | null,
 *   beside: string | null}} Options
 */
/** @typedef {Selection & {more: Options}} HeadSelection */
/** What was worked out before, for as long as the data stay. */
/**
 * @typedef {{merged: Map<string, Float32Array>,
 *   shown: {header: LayeredHeader<Header>, name: string, rows: number[], cols: number[]} | null,
 *   even: {header: LayeredHeader<Header>, name: string, values: Float32Array, hidden: Uint8Array | null} | null}} Memo
 */
/**
 * The data. `whole` is the picture that the tokens are patches of, `heard` the sound that the keys are frames of.
 * @typedef {{header: Header, headers: LayeredHeader<Header>[], weights: PackedArray, visible: PackedArray | null,
 *   whole: HTMLCanvasElement | null, heard: Spectrum | null, memo: Memo}} Capture
 */
/** The tokens of a layer, as words where some have several, and the part of the picture that they are. */
/**
 * @typedef {{header: LayeredHeader<Header>, tokens: Axes, words: Axes | null,
 *   source: HTMLCanvasElement | null}} LayerAxes
 */
/** A head whose lines are drawn. @typedef {HeadColour & {data: HeadData}} DrawnHead */
/** How a stored number finds its colour: codes by a table, numbers by the scale. */
/** @typedef {{levels?: Uint8Array, toLevel?: (weight: number) => number}} Levels */
/**
 * Everything on screen that does not depend on the pointer. `data` is on the axes as they are, `tokenData` on tokens;
 * `hidden` are the cells that the mask hides, 1 each, null where it hides none; `top` is how many lines a query has, `kept`
 * the heads beside the chosen one; `forbidden` is the look that is, of which `data` has nothing, with its weight before.
 * @typedef {Levels & {header: LayeredHeader<Header>, axes: Axes, inWords: boolean, special: Special, layer: number,
 *   head: number, scale: Scale, data: HeadData, hidden: Uint8Array | null, tokenData: HeadData, lut: Uint32Array, theme: Theme,
 *   approximate: boolean, pinned: CellPlace, heads: DrawnHead[], kept: {layer: number, head: number}[], top: number,
 *   isAcross: boolean, heard: Spectrum | null, sums: Sums | null, forbidden: (CellAt & {weight: number}) | null}} View
 */
/** The cell under the pointer, and the token in focus. */
/** @typedef {{hover: {query: number, key: number} | null, focus: CellPlace | null}} Pointed */

const MAX_MERGED = 16;

/** The tokens of a layer, and the part of the picture that they are. @returns {LayerAxes} */
export function layerAxes(
  /** @type {LayeredHeader<Header>} */ header,
  /** @type {HTMLCanvasElement | null} */ whole,
) {
  const tokens = {
    query: tokenAxis(header.rows, header.special, header.written),
    key: tokenAxis(header.key_tokens, header.key_special, header.key_written),
  };
  const words = hasPieces(header)
    ? { query: wordAxis(header.words, tokens.query), key: wordAxis(header.key_words, tokens.key) }
    : null;
  return {
    header,
    tokens,
    words,
    source: whole && header.patches ? windowSource(whole, header.patches) : null,
  };
}

/** The axes as they are chosen: in words where that is asked for and there are any. */
export function chosenAxes(/** @type {LayerAxes} */ own, /** @type {HeadSelection} */ { more }) {
  return (more.words && own.words) || own.tokens;
}

/** True if the lines run from top to bottom, across the page. */
export function isAcross(/** @type {LayeredHeader<Header>} */ header, /** @type {HeadSelection} */ { more }) {
  return more.across !== null && !header.patches;
}

/**
 * The view of a selection.
 * @param {Capture} capture
 * @param {LayerAxes} own
 * @param {HeadSelection} selection
 * @param {{theme: Theme, lut: Uint32Array}} look
 * @param {CellAt | null} forbidden the look that is forbidden
 * @returns {View}
 */
export function makeView(capture, own, selection, { theme, lut }, forbidden) {
  const { weights, memo } = capture;
  const { header } = own;
  const { layer, head, scale, special, more } = selection;
  const axes = chosenAxes(own, selection);
  const inWords = axes === own.words;
  const { rows, cols } = shownPlaces(memo, own, axes, special);
  const dataOf = (/** @type {{layer: number, head: number}} */ at) => ({
    ...headData(capture, own, axes, at),
    rows,
    cols,
  });
  const pinned = pinnedPlaces(axes, selection, { rows, cols });
  const whole = dataOf({ layer, head });
  const off = inWords ? null : forbidden;
  const data = off ? withoutLook(whole, off) : whole;
  const kept = keptHeads(more.beside, header).filter(
    (other) => other.layer === layer || !header.layers.length,
  );
  const heads = colouredHeads({ layer, head }, kept, theme).map((drawn, i) => ({
    ...drawn,
    data: i ? dataOf(drawn) : data,
  }));
  return {
    header,
    axes,
    inWords,
    special,
    layer,
    head,
    scale,
    data,
    hidden: capture.visible && evenOnce(capture, own, axes, layer).hidden,
    tokenData: inWords ? headData(capture, own, own.tokens, { layer, head }) : data,
    lut,
    theme,
    ...levelsOf(data.dtype, scale),
    approximate: weights.dtype === "u8",
    pinned,
    heads,
    kept,
    top: topOf(more.top),
    isAcross: isAcross(header, selection),
    heard: isRun(cols) ? capture.heard : null,
    forbidden: off && { ...off, weight: weightAt(whole, off.query, off.key) },
    sums: more.sums ? axisSums(data, evenOnce(capture, own, axes, layer).values) : null,
  };
}

/** The places of both axes that are shown, without special tokens where these are hidden; kept while nothing changes. */
function shownPlaces(
  /** @type {Memo} */ memo,
  /** @type {LayerAxes} */ { header, words },
  /** @type {Axes} */ axes,
  /** @type {Special} */ special,
) {
  const name = `${special} ${axes === words}`;
  if (memo.shown?.header === header && memo.shown.name === name) return memo.shown;
  const shown = (/** @type {ArrayLike<number>} */ flags) =>
    Array.from(flags, (_, i) => i).filter((i) => special === "show" || !flags[i]);
  memo.shown = { header, name, rows: shown(axes.query.special), cols: shown(axes.key.special) };
  return memo.shown;
}

/** The places of what is pinned; null for a token that is hidden. */
function pinnedPlaces(
  /** @type {Axes} */ axes,
  /** @type {HeadSelection} */ selection,
  /** @type {{rows: number[], cols: number[]}} */ { rows, cols },
) {
  const seen = (/** @type {number[]} */ places, /** @type {number | null} */ place) =>
    place !== null && (selection.special === "show" || places.includes(place)) ? place : null;
  const query = seen(rows, axes.query.placeOf(selection.query));
  const key = query === null ? null : seen(cols, axes.key.placeOf(selection.key));
  return { query, key };
}

/** True if columns follow one another, so that a picture can stand under them. */
function isRun(/** @type {readonly number[]} */ cols) {
  return cols.length > 0 && cols[cols.length - 1] - cols[0] + 1 === cols.length;
}

/** @returns {Levels} */
function levelsOf(/** @type {Dtype} */ dtype, /** @type {Scale} */ scale) {
  if (dtype === "f32") return { toLevel: (weight) => levelFor(weight, scale) };
  return { levels: levelTable(dtype, scale) };
}

/**
 * The numbers of a head on the axes as they are: its codes, or its weights between words, each worked out once.
 * @param {Capture} capture
 * @param {LayerAxes} own
 * @param {Axes} axes
 * @param {{layer: number, head: number}} at
 * @returns {HeadData}
 */
function headData({ weights, memo }, { header }, axes, { layer, head }) {
  const values = headValues(weights, layer, head);
  const nKey = axes.key.labels.length;
  const size = { nQuery: axes.query.labels.length, nKey, rows: [], cols: [] };
  const { spans: queries } = axes.query;
  const { spans: keys } = axes.key;
  if (!queries || !keys) return { values, dtype: weights.dtype, ...size };
  const name = `${layer} ${head}`;
  let merged = memo.merged.get(name);
  if (!merged) {
    if (memo.merged.size >= MAX_MERGED) memo.merged.clear();
    merged = mergeHead(values, weights.dtype, header.n_key, queries, keys);
    memo.merged.set(name, merged);
  }
  return { values: merged, dtype: "f32", ...size };
}

/**
 * What uniform attention gives, and what is hidden, on the axes as they are; once for a layer whose mask differs. Where
 * uniform attention gives nothing, the mask hides all.
 */
function evenOnce(
  /** @type {Capture} */ { visible, memo },
  /** @type {LayerAxes} */ { header },
  /** @type {Axes} */ axes,
  /** @type {number} */ layer,
) {
  const { spans: queries } = axes.query;
  const { spans: keys } = axes.key;
  const name = `${visible ? maskLayer(visible, layer) : 0} ${queries !== null}`;
  if (memo.even?.header === header && memo.even.name === name) return memo.even;
  const even = evenWeights(header.n_query, header.n_key, visible && visibleCells(visible, layer).cells);
  const values = queries && keys ? mergeHead(even, "f32", header.n_key, queries, keys) : even;
  const hidden = visible && Uint8Array.from(values, (weight) => (weight === 0 ? 1 : 0));
  memo.even = { header, name, values, hidden };
  return memo.even;
}
