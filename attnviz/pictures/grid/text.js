// @ts-check
// The text above the overview: its tokens light up with the strongest rows of what is shown large, or with one row.

import { axisMarks } from "../shared/axes.js";
import { weightOf } from "../shared/buffer.js";
import { lightChips, makeChips, strongestRows } from "../shared/chips.js";
import { levelTable } from "../shared/colors.js";
import { cueScroll, el, fillNodes, foreign } from "../shared/dom.js";
import { fmtFixed } from "../shared/fmt.js";
import { patchPicture } from "../shared/picture.js";

/** @import { Dtype } from "../shared/buffer.js" */
/** @import { Chips } from "../shared/chips.js" */
/** @import { LayeredHeader } from "../shared/layers.js" */
/** @import { Header } from "./types.js" */

/** The elements: chips of the queries, in cross-attention those of the keys below, and a line of words. */
/** @typedef {ReturnType<typeof buildText>} TextNodes */
/** The chips of a layer's tokens; `keys` where they are another text. @typedef {{header: LayeredHeader<Header>, chips: Chips, keys: Chips | null}} TextChips */
/** What is shown large: the name and the numbers; of more than one `side` they are maxima, which are not said. @typedef {{name: string, values: ArrayLike<number>, dtype: Dtype, side: number}} Matrix */

const STRONGEST = 3;
const PATCH_PX = 20;

/** The elements, empty until there are tokens. */
export function buildText() {
  const chips = cueScroll(el("div", { class: "av-chips", role: "group" }));
  const keyChips = cueScroll(el("div", { class: "av-chips", role: "group" }));
  const queryNote = el("p", { class: "av-note" });
  const keyNote = el("p", { class: "av-note" });
  const answers = el("div", { class: "av-answers" }, keyNote, keyChips);
  const strongest = el("div", { class: "av-strongest" });
  const node = el("div", { class: "av-grid-text" }, queryNote, chips, answers);
  return { node, chips, keyChips, queryNote, keyNote, answers, strongest };
}

/**
 * Fills the chips with the tokens of a layer; a patch of a picture stands there as it looks.
 * @param {TextNodes} nodes
 * @param {LayeredHeader<Header>} header
 * @param {HTMLCanvasElement | null} whole the picture that the model saw
 * @returns {TextChips}
 */
export function fillText(nodes, header, whole) {
  const { strings } = header;
  const isCross = header.cross;
  const marks = axisMarks(header.special, header.written);
  const keyMarks = axisMarks(header.key_special, header.key_written);
  nodes.chips.setAttribute("aria-label", isCross ? strings.query_axis : strings.tokens);
  nodes.keyChips.setAttribute("aria-label", strings.key_axis);
  nodes.queryNote.hidden = nodes.answers.hidden = !isCross;
  nodes.queryNote.textContent = strings.query_axis;
  nodes.keyNote.textContent = strings.key_axis;
  const keys = isCross ? makeChips(nodes.keyChips, header.key_tokens, keyMarks, strings.written) : null;
  const chips = makeChips(nodes.chips, header.tokens, marks, strings.written, "button");
  chips.forEach((chip, i) => {
    chip.tabIndex = i ? -1 : 0;
    const { patches } = header;
    const picture = whole && patches && patchPicture(whole, patches, "query", i, PATCH_PX);
    if (!picture) return;
    chip.title = header.tokens[i];
    chip.replaceChildren(picture, el("span", { class: "av-visually-hidden" }, header.tokens[i]));
  });
  return { header, chips, keys };
}

/** Says which token's row is kept lit. */
export function pressChip(/** @type {TextChips} */ { chips }, /** @type {number | null} */ token) {
  chips.forEach((chip, i) => chip.setAttribute("aria-pressed", String(i === token)));
}

/**
 * Lights the chips and writes the line below: the name of what is shown, and its strongest rows or the row of a token.
 * @param {TextNodes} nodes
 * @param {TextChips} text
 * @param {Matrix} matrix
 * @param {Uint32Array} lut
 * @param {number | null} token
 */
export function lightText(nodes, text, matrix, lut, token) {
  const { header, chips, keys } = text;
  if (matrix.side > 1) {
    const asking = new Set(token === null ? [] : [token]);
    lightChips(chips, asking, new Map(), lut);
    if (keys) lightChips(keys, new Set(), new Map(), lut);
    nodes.strongest.replaceChildren();
    return token ?? 0;
  }
  const hasRow = token !== null && token < header.n_query;
  const { asking, levels, items } = hasRow ? rowOfToken(header, matrix, token) : strongest(header, matrix);
  lightChips(chips, asking, keys ? new Map() : levels, lut);
  if (keys) lightChips(keys, new Set(), levels, lut);
  nodes.strongest.replaceChildren(el("b", {}, matrix.name), ...items);
  return Math.min(...asking);
}

/** One row: the token, and its strongest keys. */
function rowOfToken(
  /** @type {LayeredHeader<Header>} */ header,
  /** @type {Matrix} */ { values, dtype },
  /** @type {number} */ token,
) {
  const { strings, key_tokens: keys, n_key: nKey } = header;
  const table = levelTable(dtype, "sqrt");
  const row = Array.from({ length: nKey }, (_, key) => ({ key, code: values[token * nKey + key] }));
  const levels = new Map(row.map(({ key, code }) => [key, table[code]]));
  const top = row.sort((a, b) => b.code - a.code).slice(0, STRONGEST);
  const items = [
    el("span", {}, ...fillNodes(strings.looks, { query: foreign(header.rows[token]) })),
    ...top.map(({ key, code }) => el("span", {}, foreign(keys[key]), numberText(code, dtype))),
  ];
  return { asking: new Set([token]), levels, items };
}

/** The strongest rows of the matrix, each with its strongest key. */
function strongest(/** @type {LayeredHeader<Header>} */ header, /** @type {Matrix} */ { values, dtype }) {
  const { strings, key_tokens: keys, n_query: nQuery, n_key: nKey, special } = header;
  const table = levelTable(dtype, "sqrt");
  const rows = strongestRows(values, nQuery, nKey, special, STRONGEST);
  /** @type {Map<number, number>} */
  const levels = new Map();
  for (const { key, code } of rows) levels.set(key, Math.max(table[code], levels.get(key) ?? 0));
  const named = rows.map(({ query, key, code }) => {
    const number = numberText(code, dtype);
    return el("span", {}, foreign(header.rows[query]), "→", foreign(keys[key]), number);
  });
  const asking = new Set(rows.map(({ query }) => query));
  return { asking, levels, items: [el("span", {}, strings.strongest), ...named] };
}

function numberText(/** @type {number} */ code, /** @type {Dtype} */ dtype) {
  return `≈\u2009${fmtFixed(weightOf(code, dtype), 2)}`;
}

/** Scrolls the chips, never the page, so that a chip is in sight. */
export function scrollToChip(/** @type {HTMLElement} */ box, /** @type {HTMLElement | undefined} */ chip) {
  if (!chip || box.scrollHeight <= box.clientHeight) return;
  const top = chip.offsetTop - box.offsetTop;
  const low = top + chip.offsetHeight - box.clientHeight;
  if (top < box.scrollTop || low > box.scrollTop) box.scrollTop = Math.max(0, top - 30);
}
