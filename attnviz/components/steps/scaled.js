// @ts-check
// What is said of a model's scaling: of the scores, or of q and k before their dot product. Pure functions to text.

import { fill, fmtReal } from "../shared/fmt.js";

/** What the scores are multiplied by; a plain 1 where the model leaves them as they are. */
export function scalingText(/** @type {number} */ scaling, /** @type {number} */ digits) {
  return scaling === 1 ? "1" : fmtReal(scaling, digits);
}

/** That q or k were multiplied before the dot product, in words; null where they were not. */
export function scaledBefore(/** @type {any} */ header) {
  const factors = ["q", "k"].filter((stage) => stage in header.factors).map((stage) => header.factors[stage]);
  return factors.length ? fill(header.strings.scaled_before, { factors: factors.join(", ") }) : null;
}
