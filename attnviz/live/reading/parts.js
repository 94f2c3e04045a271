// @ts-check
// Reads the parts of a tokenizer.json, the file of a stranger: whatever is not as it should be is refused by its name.

import { Refusal } from "../refusal.js";

/** @typedef {Record<string, unknown>} Json */

const isObject = (/** @type {unknown} */ value) =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export function unknownPart(/** @type {string} */ found) {
  return new Refusal("tokenizer", { found: found.slice(0, 80) });
}

/** @returns {Json} */
export function objectOf(/** @type {unknown} */ value, /** @type {string} */ name) {
  if (isObject(value)) return /** @type {Json} */ (value);
  throw unknownPart(`${name}: ${JSON.stringify(value)}`);
}

/** @returns {unknown[]} */
export function listOf(/** @type {unknown} */ value, /** @type {string} */ name) {
  if (Array.isArray(value)) return value;
  throw unknownPart(`${name}: ${JSON.stringify(value)}`);
}

/** @returns {string} */
export function stringOf(/** @type {unknown} */ value, /** @type {string} */ name) {
  if (typeof value === "string") return value;
  throw unknownPart(`${name}: ${JSON.stringify(value)}`);
}

/** Refuses a setting with a value that is not among those that are done here. */
export function demand(/** @type {Json} */ part, /** @type {Record<string, readonly unknown[]>} */ allowed) {
  for (const [name, values] of Object.entries(allowed))
    if (!values.includes(part[name]))
      throw unknownPart(`${part.type} with ${name}: ${JSON.stringify(part[name])}`);
}

/**
 * What a table makes of a part of the file, by its type.
 * @template Made
 * @param {Record<string, (part: Json) => Made>} table
 * @param {unknown} part
 * @param {string} name
 * @returns {Made}
 */
export function made(table, part, name) {
  const json = objectOf(part, name);
  const type = String(json.type);
  if (!Object.hasOwn(table, type)) throw unknownPart(`${name}: ${type}`);
  return table[type](json);
}

/** @returns {RegExp} */
export function regexOf(/** @type {string} */ pattern) {
  try {
    return new RegExp(asRust(pattern), "gu");
  } catch {
    throw unknownPart(`a regular expression: ${pattern}`);
  }
}

// \w and \s as the library in Rust has them: JavaScript counts U+FEFF as space and knows only ASCII words
const WORD = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\u200c\\u200d";
const asRust = (/** @type {string} */ pattern) =>
  pattern.replaceAll("\\S", "\\P{White_Space}").replace(/\[(?:\\.|[^\]])*\]|\\w|\\s/g, (part) => {
    const inner = part.replaceAll("\\w", WORD).replaceAll("\\s", "\\p{White_Space}");
    return part.startsWith("[") ? inner : `[${inner}]`;
  });
