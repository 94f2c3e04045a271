// @ts-check
// Numbers and sentences as they are printed. Every number on screen goes through one of these.

import { chooseParticles } from "./particles.js";

const MINUS = "\u2212";
const FULL_WIDTH = /^(?:ja|zh)/; // languages whose lists have the sign 、
const NUMBER = /-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?/g;

/** The signs of a language, those of `Intl`; whole numbers are grouped from so many digits on.
 * @typedef {{decimal: string, group: string, grouped: number, percent: string}} Signs
 */
/** @type {Map<string, Signs>} */
const SIGNS = new Map();
let spoken = "";

/** Has numbers be written in a language where no document names one: in a worker. */
export function speakNumbers(/** @type {string} */ language) {
  spoken = language;
}

function speech() {
  return spoken || globalThis.document?.documentElement?.lang || "en";
}

/** @returns {Signs} */
function signs() {
  const language = speech();
  const known = SIGNS.get(language);
  if (known) return known;
  const found = signsOf(language);
  SIGNS.set(language, found);
  return found;
}

/** @returns {Signs} */
function signsOf(/** @type {string} */ language) {
  const parts = new Intl.NumberFormat(language).formatToParts(12345.5);
  const part = (/** @type {string} */ type) => parts.find((one) => one.type === type)?.value ?? "";
  const digits = (/** @type {number} */ number) => new Intl.NumberFormat(language).format(number);
  return {
    decimal: part("decimal"),
    group: part("group"),
    grouped: digits(1000) === "1000" ? 5 : 4,
    percent: new Intl.NumberFormat(language, { style: "percent" }).format(0.19).replace("19", ""),
  };
}

/** Every number in a text that a script or Python wrote, with the signs of the language. */
export function local(/** @type {string} */ written) {
  const { decimal, group, grouped } = signs();
  return written.replace(NUMBER, (found) => {
    const [mantissa, exponent] = withoutNothing(found).split("e");
    const [whole, decimals] = mantissa.split(".");
    const plain = whole.replace(/\D/g, "").length < grouped ? whole.replaceAll(",", "") : whole;
    const power = exponent === undefined ? "" : `e${Number(exponent)}`;
    const digits = plain.replaceAll(",", group) + (decimals === undefined ? "" : decimal + decimals);
    return (digits + power).replaceAll("-", MINUS);
  });
}

function withoutNothing(/** @type {string} */ digits) {
  return /^-0(\.0*)?$/.test(digits) ? digits.slice(1) : digits;
}

/** A whole number, in groups of three digits. */
export function fmtCount(/** @type {number} */ count) {
  return local(String(count).replace(/\B(?=(\d{3})+$)/g, ","));
}

/** Words as the language writes a list of them. */
export function fmtList(/** @type {readonly string[]} */ words) {
  return words.join(listSign());
}

/** What stands between the words of a list. */
export function listSign() {
  return FULL_WIDTH.test(speech()) ? "、" : ", ";
}

/** The numbers of a vector, apart by another sign than the one within them. */
export function fmtVector(/** @type {readonly string[]} */ numbers) {
  return `(${numbers.join(signs().decimal === "," ? "; " : ", ")})`;
}

/** Digits with the percent sign of the language, apart from them where it has a space there. */
export function withPercent(/** @type {string} */ digits) {
  return digits + signs().percent;
}

const WIDE = /[ぁ-んァ-ヶー一-鿿々「」、。（）]/;
const SPACE_AFTER = new RegExp(`\\{(\\w+)\\} (?=${WIDE.source})`, "g");
const SPACE_BEFORE = new RegExp(`(?<=${WIDE.source}) \\{(\\w+)\\}`, "g");

/**
 * Puts values into a translated template: fill("row {query}", {query: "cat"}). A plural, "{n:token|tokens}",
 * prints its first word for 1 and its second for any other number, as attnviz.i18n does.
 * @param {string | undefined} template
 * @param {Record<string, string | number>} values
 */
export function fill(template, values) {
  const said = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, printed(value)]));
  const chosen = closeUp(chooseParticles(String(template ?? ""), said), said);
  return choosePlurals(chosen, said).replace(/\{(\w+)\}/g, (whole, name) =>
    name in said ? said[name] : whole,
  );
}

/**
 * The template without a space between Japanese or Chinese signs of its own and of a value, as attnviz.i18n closes up.
 * @param {string} template
 * @param {Record<string, string>} said
 */
export function closeUp(template, said) {
  if (!WIDE.test(template)) return template;
  const closed = (/** @type {string} */ whole, /** @type {string} */ sign) =>
    WIDE.test(sign) ? whole.trim() : whole;
  return template
    .replace(SPACE_AFTER, (whole, name) => closed(whole, said[name]?.at(-1) ?? ""))
    .replace(SPACE_BEFORE, (whole, name) => closed(whole, said[name]?.at(0) ?? ""));
}

/**
 * The template with each plural in the form that fits the printed value of its placeholder.
 * @param {string} template
 * @param {Record<string, string>} said
 */
export function choosePlurals(template, said) {
  return template.replace(/\{(\w+):([^{}|]*)\|([^{}|]*)\}/g, (whole, name, one, others) => {
    if (!(name in said)) return whole;
    return said[name] === "1" ? one : others;
  });
}

function printed(/** @type {string | number} */ value) {
  if (typeof value === "string") return value;
  return Number.isInteger(value) ? fmtCount(value) : local(String(value));
}

/** A weight with 4 decimals; approx marks one that came through 8 bits with "≈". */
export function fmtWeight(/** @type {number} */ value, approx = false) {
  return (approx ? "≈\u2009" : "") + fmtFixed(value, 4);
}

/** A number with a fixed count of decimals, a true minus sign, and words for what is not finite. */
export function fmtFixed(/** @type {number} */ value, /** @type {number} */ decimals) {
  return fmtOdd(value) ?? local(value.toFixed(decimals));
}

/** A real with 3 significant digits: 0.123, −12.3, 1.23e−5. */
export function fmtReal(/** @type {number} */ value, digits = 3) {
  const odd = fmtOdd(value);
  if (odd !== null) return odd;
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e5 || size < 1e-3) return local(value.toExponential(digits - 1));
  return local(value.toFixed(Math.max(0, digits - 1 - Math.floor(Math.log10(size)))));
}

/** An error bound: always scientific, 2 digits, "0" when exact. */
export function fmtError(/** @type {number} */ value) {
  return fmtOdd(value) ?? (value === 0 ? "0" : local(value.toExponential(1)));
}

/** A fraction as percent digits, without the sign: 98, 3.4, 0.12, "<0.01". The template carries the "%". */
export function fmtPercent(/** @type {number} */ fraction) {
  const percent = 100 * fraction;
  if (percent === 0) return "0";
  if (percent < 0.01) return local("<\u20090.01");
  return local(percent.toFixed(percent < 1 ? 2 : percent < 9.95 ? 1 : 0));
}

/** A number with so many significant digits, without zeros at its end, a true minus sign. */
export function fmtShort(/** @type {number} */ value, /** @type {number} */ digits) {
  return fmtOdd(value) ?? local(String(Number(value.toPrecision(digits))));
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
