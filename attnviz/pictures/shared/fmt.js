// @ts-check
// Numbers and sentences as they are printed. Every number on screen goes through one of these.

import { chooseParticles } from "./particles.js";

const MINUS = "\u2212";

/**
 * Puts values into a translated template: fill("row {query}", {query: "cat"}). A plural, "{n:token|tokens}",
 * prints its first word for 1 and its second for any other number, as attnviz.i18n does.
 * @param {string | undefined} template
 * @param {Record<string, string | number>} values
 */
export function fill(template, values) {
  return chooseParticles(String(template ?? ""), values).replace(
    /\{(\w+)(?::([^{}|]*)\|([^{}|]*))?\}/g,
    (whole, name, one, others) => {
      if (!(name in values)) return whole;
      if (one === undefined) return String(values[name]);
      return String(values[name]) === "1" ? one : others;
    },
  );
}

/** A weight with 4 decimals; approx marks one that came through 8 bits with "≈". */
export function fmtWeight(/** @type {number} */ value, approx = false) {
  return (approx ? "≈\u2009" : "") + fmtFixed(value, 4);
}

/** A number with a fixed count of decimals, a true minus sign, and words for what is not finite. */
export function fmtFixed(/** @type {number} */ value, /** @type {number} */ decimals) {
  return fmtOdd(value) ?? withMinus(value.toFixed(decimals));
}

/** A real with 3 significant digits: 0.123, −12.3, 1.23e−5. */
export function fmtReal(/** @type {number} */ value, digits = 3) {
  const odd = fmtOdd(value);
  if (odd !== null) return odd;
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e5 || size < 1e-3) return withMinus(value.toExponential(digits - 1).replace("e+", "e"));
  return withMinus(value.toFixed(Math.max(0, digits - 1 - Math.floor(Math.log10(size)))));
}

/** An error bound: always scientific, 2 digits, "0" when exact. */
export function fmtError(/** @type {number} */ value) {
  return fmtOdd(value) ?? (value === 0 ? "0" : withMinus(value.toExponential(1).replace("e+", "e")));
}

/** A fraction as percent digits, without the sign: 98, 3.4, 0.12, "<0.01". The template carries the "%". */
export function fmtPercent(/** @type {number} */ fraction) {
  const percent = 100 * fraction;
  if (percent === 0) return "0";
  if (percent < 0.01) return "<\u20090.01";
  if (percent < 1) return percent.toFixed(2);
  return percent < 9.95 ? percent.toFixed(1) : percent.toFixed(0);
}

/** A head's name, 0-based: L5.H1. */
export function headName(/** @type {number} */ layer, /** @type {number} */ head) {
  return `L${layer}.H${head}`;
}

/** The heads that a text names, in their order: those of "L0.H2,L5.H11". It is the inverse of `headName`. */
export function headsNamed(/** @type {string} */ text) {
  return [...text.matchAll(/L(\d{1,4})\.H(\d{1,4})/g)].map(([, layer, head]) => ({
    layer: Number(layer),
    head: Number(head),
  }));
}

/** A shape as text: 12 × 384. */
export function fmtShape(/** @type {readonly number[]} */ shape) {
  return shape.join("\u2009×\u2009");
}

/** @param {number} value @returns {string | null} */
function fmtOdd(value) {
  if (Number.isNaN(value)) return "NaN";
  if (value === Infinity) return "∞";
  return value === -Infinity ? `${MINUS}∞` : null;
}

function withMinus(/** @type {string} */ text) {
  return /^-0(\.0*)?$/.test(text) ? text.slice(1) : text.replace(/-/g, MINUS);
}
