// @ts-check
// What the head page shows, worked out from selection and data: axes in tokens or words, the numbers of the heads that are
// drawn, colours, sums. Whatever costs more than a look into the buffer is worked out once and kept with the state.

import { headValues } from "../shared/buffer.js";
import { levelFor, levelTable } from "../shared/colors.js";
import { colouredHeads, keptHeads, topOf } from "./lineoptions.js";
import { axisSums, evenWeights } from "./sums.js";
import { mergeHead } from "./words.js";

const MOST_MERGED = 16;

/** What is on screen, worked out from selection and data. */
export function makeView(/** @type {any} */ state) {
  const { header, weights, selection, specials = {} } = state;
  const { layer, head, scale, special, more } = selection;
  const axes = (more.words && state.words) || state.tokens;
  const values = headValues(weights, layer, head);
  const inWords = axes === state.words;
  const name = `${special} ${inWords}`;
  const shown = (/** @type {ArrayLike<number>} */ flags) =>
    Array.from(flags, (_, i) => i).filter((i) => special === "show" || !flags[i]);
  const same = specials.header === header && specials.name === name;
  const rows = same ? specials.rows : shown(axes.query.special);
  const cols = same ? specials.cols : shown(axes.key.special);
  state.specials = { header, name, rows, cols };
  const size = { nQuery: axes.query.labels.length, nKey: axes.key.labels.length, rows, cols };
  const data = { ...size, ...dataOf(state, axes, { layer, head }) };
  const kept = keptHeads(more.beside, header).filter((one) => one.layer === layer || !header.layers.length);
  const heads = colouredHeads({ layer, head }, kept, state.theme).map((one, i) => ({
    ...one,
    data: i ? { ...data, ...dataOf(state, axes, one) } : data,
  }));
  const seen = (/** @type {readonly number[]} */ list, /** @type {number | null} */ place) =>
    place !== null && (special === "show" || list.includes(place)) ? place : null;
  const query = seen(rows, axes.query.placeOf(selection.query));
  const key = query === null ? null : seen(cols, axes.key.placeOf(selection.key));
  return {
    header,
    strings: header.strings,
    axes,
    inWords,
    labels: axes.query.labels,
    keyLabels: axes.key.labels,
    marks: axes.query.marks,
    keyMarks: axes.key.marks,
    specialMode: special,
    layer,
    head,
    scale,
    data,
    lut: state.lut,
    theme: state.theme,
    ...coloursOf(data.dtype, scale),
    approx: weights.dtype === "u8",
    pinned: { query, key },
    hover: state.hover,
    focus: state.focus,
    width: state.heatWidth,
    linesWidth: state.linesWidth,
    heads,
    kept,
    top: topOf(more.top),
    across: more.across !== null && !header.patches,
    heard: isRun(cols) ? state.heard : null,
    pieces: { strings: header.strings, head: values, dtype: weights.dtype },
    sums: more.sums ? axisSums(data, evenOnce(state, axes, layer)) : null,
  };
}

/** Whether columns follow one another, so that a picture can stand under them. */
function isRun(/** @type {readonly number[]} */ cols) {
  return cols.length > 0 && cols[cols.length - 1] - cols[0] + 1 === cols.length;
}

/** What a layer may see, from its first cell on. */
function seenFrom(/** @type {any} */ visible, /** @type {number} */ layer, /** @type {any} */ header) {
  return visible.shapes
    ? headValues(visible, layer, 0)
    : visible.data.subarray(layer * header.n_query * header.n_key);
}

/** How a stored number finds its colour: codes by a table, numbers by the scale. */
function coloursOf(/** @type {string} */ dtype, /** @type {any} */ scale) {
  return dtype === "f32"
    ? { toLevel: (/** @type {number} */ weight) => levelFor(weight, scale) }
    : { levels: levelTable(/** @type {"u8" | "u16"} */ (dtype), scale) };
}

/** The numbers of a head on the axes as they are: its codes, or its weights between words, each worked out once. */
function dataOf(
  /** @type {any} */ state,
  /** @type {any} */ axes,
  /** @type {{layer: number, head: number}} */ { layer, head },
) {
  const { weights, merged, header } = state;
  const values = headValues(weights, layer, head);
  const name = `${layer} ${head}`;
  if (axes !== state.words) return { values, dtype: weights.dtype };
  if (!merged.has(name)) {
    if (merged.size >= MOST_MERGED) merged.clear();
    merged.set(name, mergeHead(values, weights.dtype, header.n_key, axes.query.spans, axes.key.spans));
  }
  return { values: merged.get(name), dtype: "f32" };
}

/** What uniform attention gives, on the axes as they are; worked out once for a layer whose mask differs. */
function evenOnce(/** @type {any} */ state, /** @type {any} */ axes, /** @type {number} */ layer) {
  const { header, visible } = state;
  const from = visible && (visible.shapes || visible.shape[0] > 1) ? layer : 0;
  const name = `${from} ${axes === state.words}`;
  if (state.even?.header === header && state.even.name === name) return state.even.values;
  const even = evenWeights(header.n_query, header.n_key, visible && seenFrom(visible, from, header));
  const values =
    axes === state.words ? mergeHead(even, "f32", header.n_key, axes.query.spans, axes.key.spans) : even;
  state.even = { header, name, values };
  return values;
}
