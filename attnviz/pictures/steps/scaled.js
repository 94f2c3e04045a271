// @ts-check
// What is said of a model's scaling: of the scores, or of q and k before their dot product. Pure functions to text.

import { fill, fmtList, fmtReal } from "../shared/fmt.js";

/** @import { Header } from "./types.js" */

const SAME = 1e-5;

/** True if the scores are divided by √d_k, as usual. */
export function isUsualScaling(/** @type {Header} */ { scaling, d_head }) {
  return Math.abs(scaling * Math.sqrt(d_head) - 1) < SAME;
}

/** What the scores are multiplied by; a plain 1 where the model leaves them as they are. */
export function scalingText(/** @type {number} */ scaling, /** @type {number} */ digits) {
  return scaling === 1 ? "1" : fmtReal(scaling, digits);
}

/** That q or k were multiplied before the dot product, in words; null where they were not. */
export function scaledBefore(/** @type {Header} */ { factors, strings }) {
  const texts = [factors.q, factors.k].filter((text) => text !== undefined);
  return texts.length ? fill(strings.scaled_before, { factors: fmtList(texts) }) : null;
}
