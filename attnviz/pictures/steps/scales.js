// @ts-check
// How the numbers of a stage become colours, and the ends of that scale in words: the printed ends say what the first and
// the last colour stand for.

import { diverging, levelFor, sequential, signedLevel } from "../shared/colors.js";
import { fmtReal } from "../shared/fmt.js";
import { beforeMask } from "./arithmetic.js";
import { before } from "./edits.js";
import { LINES } from "./stages.js";

/** @import { FloatArray } from "../shared/buffer.js" */
/** @import { Scale } from "../shared/selection.js" */
/** @import { Theme } from "../shared/theme.js" */
/** @import { Show } from "./state.js" */
/** @import { ShownPanel } from "./types.js" */

/**
 * `name` is what stands behind the upper end: a scale, or Δ.
 * @typedef {{lut: Uint32Array, toLevel: (value: number) => number, ends: [low: number, high: number], low: string,
 *   high: string, name: string}} ColourScale
 */

/** @type {WeakMap<Float32Array, number>} */
const LIMITS = new WeakMap();
const SCORES = LINES[1];
/** @type {Record<Scale, string>} */
const SCALE_NAMES = { sqrt: "√", log: "log", linear: "" };

/** The largest finite |value| of a matrix, found once. */
export function limitOf(/** @type {FloatArray} */ { data }) {
  const known = LIMITS.get(data);
  if (known !== undefined) return known;
  const limit = data.reduce((most, v) => (Number.isFinite(v) ? Math.max(most, Math.abs(v)) : most), 0);
  LIMITS.set(data, limit);
  return limit;
}

/**
 * @param {ShownPanel} info
 * @param {FloatArray} matrix
 * @param {Show} show
 * @returns {ColourScale}
 */
export function scaleOf(info, matrix, { arrays, edited, mode, theme, selection }) {
  if (mode === "difference" && before(edited, info.stage))
    return { ...signedScale(limitOf(matrix) || 1, theme), name: "Δ" };
  if (info.signed) {
    if (!SCORES.includes(info.stage)) return signedScale(limitOf(matrix), theme);
    // one scale from q · k to the mask: what the division does is seen as a loss of colour, and the mask changes none
    const along = [arrays.scores, beforeMask(arrays)].flatMap((one) => (one ? [limitOf(one)] : []));
    return signedScale(Math.max(0, ...along) || limitOf(matrix), theme);
  }
  const [low, high] = info.range ?? [0, limitOf(matrix)];
  if (low === 0 && high === 1) return weightScale(selection.scale, theme);
  const span = high - low || 1;
  const toLevel = (/** @type {number} */ v) =>
    Number.isFinite(v) ? Math.round(255 * Math.min(1, Math.max(0, (v - low) / span))) : -1;
  const ends = { low: fmtReal(low), high: fmtReal(high) };
  return { lut: sequential(theme.dark), toLevel, ends: [low, high], ...ends, name: "" };
}

/** From 0 to 1. @returns {ColourScale} */
function weightScale(/** @type {Scale} */ scale, /** @type {Theme} */ theme) {
  const toLevel = (/** @type {number} */ v) => (Number.isNaN(v) ? -1 : levelFor(v, scale));
  const lut = sequential(theme.dark);
  return { lut, toLevel, ends: [0, 1], low: "0", high: "1", name: SCALE_NAMES[scale] };
}

/** Both directions from 0 to the limit. @returns {ColourScale} */
function signedScale(/** @type {number} */ limit, /** @type {Theme} */ theme) {
  return {
    lut: diverging(theme.dark),
    toLevel: (v) => signedLevel(v, limit),
    ends: [-limit, limit],
    low: fmtReal(-limit),
    high: fmtReal(limit),
    name: "",
  };
}
