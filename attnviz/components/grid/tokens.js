// @ts-check
// The text above the overview: its tokens light up with the strongest rows of what is shown large, or with one row.

import { weightOf } from "../shared/buffer.js";
import { lightChips, strongestRows } from "../shared/chips.js";
import { levelTable } from "../shared/colors.js";
import { el, fillNodes } from "../shared/dom.js";
import { fmtFixed } from "../shared/fmt.js";

const STRONGEST = 3;

/** Chips and the line below them: the strongest rows of the head, or the row of a token: the one under the pointer, else the chosen one. */
export function showTokens(
  /** @type {any} */ state,
  /** @type {{values: ArrayLike<number>, dtype: any}} */ { values, dtype },
  /** @type {number | null} */ chip,
) {
  const { header, chips, keyChips, lut } = state;
  const { strings, tokens, key_tokens: keys, n_query: nQuery, n_key: nKey } = header;
  const levels = levelTable(dtype, "sqrt");
  const asking = new Set();
  const looked = new Map();
  const number = (/** @type {number} */ code) => `≈\u2009${fmtFixed(weightOf(code, dtype), 2)}`;
  /** @type {Node[]} */
  let items;
  if (chip !== null && chip < nQuery) {
    const row = Array.from({ length: nKey }, (_, key) => ({ key, code: values[chip * nKey + key] }));
    asking.add(chip);
    for (const { key, code } of row) looked.set(key, levels[code]);
    const top = row.sort((a, b) => b.code - a.code).slice(0, STRONGEST);
    items = [
      ...fillItem(strings.looks, tokens[chip]),
      ...top.map(({ key, code }) => el("span", {}, el("bdi", {}, keys[key]), number(code))),
    ];
  } else {
    const rows = strongestRows(values, nQuery, nKey, header.special, STRONGEST);
    for (const { query, key, code } of rows) {
      asking.add(query);
      looked.set(key, Math.max(levels[code], looked.get(key) ?? 0));
    }
    items = [
      el("span", {}, strings.strongest),
      ...rows.map(({ query, key, code }) =>
        el("span", {}, el("bdi", {}, tokens[query]), "→", el("bdi", {}, keys[key]), number(code)),
      ),
    ];
  }
  lightChips(chips, asking, keyChips ? new Map() : looked, lut);
  if (keyChips) lightChips(keyChips, new Set(), looked, lut);
  if (state.chip === null) scrollToChip(state.chipBox, chips[Math.min(...asking)]);
  state.strongest.replaceChildren(...items);
}

/** Scrolls the chips, never the page, so that a chip is in sight. */
function scrollToChip(/** @type {HTMLElement} */ box, /** @type {HTMLElement | undefined} */ chip) {
  if (!chip || box.scrollHeight <= box.clientHeight) return;
  const top = chip.offsetTop - box.offsetTop;
  const low = top + chip.offsetHeight - box.clientHeight;
  if (top < box.scrollTop || low > box.scrollTop) box.scrollTop = Math.max(0, top - 30);
}

function fillItem(/** @type {string} */ template, /** @type {string} */ query) {
  return [el("span", {}, ...fillNodes(template, { query: el("bdi", {}, query) }))];
}
