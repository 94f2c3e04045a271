// @ts-check
// The sentence as wrapping chips. For a head, its strongest rows light up: the token that asks gets an outline, the
// token it looks at gets the colour of the weight. With the pointer on a chip, that token's whole row lights up.

import { SPECIAL, WRITTEN } from "./axes.js";
import { colourAt, inkOn } from "./colors.js";
import { swallow } from "./controls.js";
import { el, elementAt, languageOf } from "./dom.js";

/** A chip for each token. @typedef {HTMLElement[]} Chips */

/** What each chip was made of. @type {WeakMap<Element, string>} */
const MADE_OF = new WeakMap();

/**
 * Fills `node` with a chip for each token, and returns the chips; those that would be the same again stay.
 * @param {HTMLElement} node
 * @param {readonly string[]} tokens
 * @param {ArrayLike<number>} marks
 * @param {string} writtenWord what a token is called that the model wrote
 * @param {"span" | "button"} tag of a chip
 * @returns {Chips}
 */
export function makeChips(node, tokens, marks, writtenWord, tag = "span") {
  const chips = tokens.map((token, i) => {
    const written = (marks[i] & WRITTEN) !== 0;
    const kind = `${marks[i] & SPECIAL ? " av-special" : ""}${written ? " av-written" : ""}`;
    const title = written ? writtenWord : null;
    const type = tag === "button" ? "button" : null;
    const lang = languageOf(token);
    const madeOf = JSON.stringify([tag, kind, title, token, lang]);
    const there = node.children[i];
    const isPlain = there?.firstChild instanceof Text; // no picture was put into it
    if (there instanceof HTMLElement && isPlain && MADE_OF.get(there) === madeOf) return there;
    const chip = el(
      tag,
      { class: `av-chip${kind}`, type, dir: "auto", lang, title, dataset: { token: i } },
      token,
      written ? el("span", { class: "av-visually-hidden" }, ` (${writtenWord})`) : null,
    );
    MADE_OF.set(chip, madeOf);
    return chip;
  });
  putChildren(node, chips);
  return chips;
}

/** Makes some elements the children of a node, and touches only those that change. */
function putChildren(/** @type {HTMLElement} */ node, /** @type {readonly HTMLElement[]} */ children) {
  children.forEach((child, i) => {
    const there = node.children[i];
    if (!there) node.append(child);
    else if (there !== child) there.replaceWith(child);
  });
  while (node.children.length > children.length) node.lastElementChild?.remove();
}

/** Moves the focus from chip to chip with the arrow keys; one of them is in the tab order. */
export function moveAlongChips(/** @type {KeyboardEvent} */ event, /** @type {Chips} */ chips) {
  const from = chips.findIndex((chip) => chip === elementAt(event)?.closest("button"));
  /** @type {Readonly<Record<string, number | undefined>>} */
  const places = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: chips.length - 1 };
  const place = places[event.key];
  if (place === undefined || from < 0) return;
  swallow(event);
  const to = chips[place];
  if (!to) return;
  chips[from].tabIndex = -1;
  to.tabIndex = 0;
  to.focus();
}

/**
 * The queries whose largest weight is largest, with the key of that weight; special queries only where there are no
 * others.
 * @param {ArrayLike<number>} values one head, [query, key]
 * @param {number} nQuery
 * @param {number} nKey
 * @param {ArrayLike<number>} special
 * @param {number} count
 */
export function strongestRows(values, nQuery, nKey, special, count) {
  const rows = [];
  for (let query = 0; query < nQuery; query++) {
    let key = 0;
    for (let j = 1; j < nKey; j++) if (values[query * nKey + j] > values[query * nKey + key]) key = j;
    rows.push({ query, key, code: values[query * nKey + key], special: !!special[query] });
  }
  const words = rows.filter((row) => !row.special);
  return (words.length ? words : rows).sort((a, b) => b.code - a.code).slice(0, count);
}

/**
 * Lights chips: `asking` get an outline, `looked` (token -> colour index) the colour; all others go dark.
 * @param {Chips} chips
 * @param {Set<number>} asking
 * @param {Map<number, number>} looked
 * @param {Uint32Array} lut
 */
export function lightChips(chips, asking, looked, lut) {
  chips.forEach((chip, i) => {
    const level = looked.get(i);
    chip.classList.toggle("av-asks", asking.has(i));
    chip.classList.toggle("av-lit", level !== undefined);
    chip.style.backgroundColor = level === undefined ? "" : colourAt(lut, level);
    chip.style.color = level === undefined ? "" : inkOn(lut, level);
  });
}
