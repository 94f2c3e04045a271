// @ts-check
// The words under the switches: each is a button under a signed bar, what the chosen head, or all of them, write from it
// into the answer. A click forbids the look at it; below stand the same look forbidden in each head alone.

import { dataAt, el, foreign, quotingNodes, setData } from "../shared/dom.js";
import { fill, fmtFixed } from "../shared/fmt.js";

/** @import { FloatArray } from "../shared/buffer.js" */
/** @import { Arrays, Header, WordsView } from "./types.js" */

const MOST_HEADS = 16; // whose cuts are listed
const PRINTED = 0.04; // of the longest bar: shorter ones have no number

/** The look that was chosen, as Python reads it. */
export function lookText(/** @type {string} */ head, /** @type {number | null} */ key) {
  return head + (key === null ? "" : `@${key}`);
}

/**
 * The words of a view, folded until somebody wants them; `look` is called with the head and the word of another look.
 * @param {Header} header
 * @param {Arrays} arrays
 * @param {boolean} isOpen
 * @param {(head: string, key: number | null) => void} look
 */
export function makeWords(header, arrays, isOpen, look) {
  const { words, strings } = header;
  if (!words) return null;
  const values = arrays["words.values"];
  const heading = el("span", { class: "av-heading" }, ...quotingNodes(words.title));
  const shares = sharesOf(words, values, words.through);
  const most = largest(words, values);
  const buttons = words.tokens.map((token, at) => wordButton(header, words, token, at, shares[at], most));
  const row = el("div", { class: "av-words", role: "group", "aria-label": words.title }, ...buttons);
  setData(row, { up: shares.every((share) => share >= -PRINTED * most) ? "1" : null });
  row.addEventListener("click", (event) => {
    const at = dataAt(event, "word");
    if (at !== undefined) look(words.through, Number(at) === words.chosen ? null : Number(at));
  });
  const said = el(
    "div",
    { class: "av-words-said", "aria-live": "polite" },
    ...words.sentences.map((sentence) => el("p", { class: "av-sentence" }, sentence)),
    ...words.notes.map((note) => el("p", { class: "av-note" }, note)),
  );
  const hint = el("p", { class: "av-note" }, strings.words_hint);
  if (header.forbids) hint.append(` ${strings.rows_hint}`);
  if (header.off.length) hint.append(` ${strings.words_off}`);
  const node = el(
    "details",
    { class: "av-words-box" },
    el("summary", {}, heading),
    headChoice(header, words, look),
    row,
    said,
    cutList(header, words, arrays["words.cut"] ?? null, look),
    hint,
  );
  node.open = isOpen || words.chosen !== null || words.through !== "";
  return { node, focus: (/** @type {number} */ at) => buttons[at]?.focus({ preventScroll: true }) };
}

/** What one head writes from each word, or all of them together. */
function sharesOf(
  /** @type {WordsView} */ words,
  /** @type {FloatArray} */ values,
  /** @type {string} */ through,
) {
  const n = words.tokens.length;
  const heads = through ? [words.heads.indexOf(through)] : words.heads.map((_, head) => head);
  return words.tokens.map((_, at) => heads.reduce((sum, head) => sum + values.data[head * n + at], 0));
}

/** The longest bar that any choice of a head shows, so that all have one scale. */
function largest(/** @type {WordsView} */ words, /** @type {FloatArray} */ values) {
  const together = sharesOf(words, values, "");
  return Math.max(1e-9, ...Array.from(values.data, Math.abs), ...together.map(Math.abs));
}

/**
 * @param {Header} header
 * @param {WordsView} words
 * @param {string} token
 * @param {number} at
 * @param {number} share
 * @param {number} most
 */
function wordButton({ strings }, words, token, at, share, most) {
  const pressed = at === words.chosen;
  const value = signed(share, words.decimals);
  const bar = el("span", { class: "av-word-bar" });
  const number = el(
    "span",
    { class: "av-word-number av-number" },
    Math.abs(share) < PRINTED * most ? "" : value,
  );
  const track = el(
    "span",
    { class: `av-word-track${share < 0 ? " av-word-down" : ""}`, "aria-hidden": "true" },
    bar,
    number,
  );
  track.style.setProperty("--av-share", String(Math.abs(share) / most));
  const label = fill(pressed ? strings.words_forbidden : strings.words_word, { word: token.trim(), value });
  return el(
    "button",
    {
      class: `av-word${words.special[at] ? " av-word-special" : ""}`,
      type: "button",
      "aria-pressed": String(pressed),
      "aria-label": label,
      title: label,
      dataset: { word: String(at) },
    },
    track,
    foreign(token.trim() || "␣", { class: "av-word-text" }),
  );
}

/** The choice of the head through which words are read. */
function headChoice(
  /** @type {Header} */ { strings },
  /** @type {WordsView} */ words,
  /** @type {(head: string, key: number | null) => void} */ look,
) {
  const options = ["", ...words.heads].map((head) =>
    el("option", { value: head }, head || strings.words_all),
  );
  const select = el(
    "select",
    { class: "av-select", on: { change: () => look(select.value, words.chosen) } },
    ...options,
  );
  select.value = words.through;
  return el("label", { class: "av-note" }, `${strings.words_through} `, select);
}

/** The exact change with the same look forbidden in each head alone, the largest ones; a click chooses a head. */
function cutList(
  /** @type {Header} */ { strings },
  /** @type {WordsView} */ words,
  /** @type {FloatArray | null} */ cut,
  /** @type {(head: string, key: number | null) => void} */ look,
) {
  if (!cut) return null;
  const places = words.heads.map((_, head) => head);
  const first = [...places]
    .sort((a, b) => Math.abs(cut.data[b]) - Math.abs(cut.data[a]))
    .slice(0, MOST_HEADS);
  const shown = places.filter((head) => first.includes(head) || words.heads[head] === words.through);
  const most = Math.max(1e-9, ...Array.from(cut.data, Math.abs));
  const chips = shown.map((head) => {
    const name = words.heads[head];
    const value = signed(cut.data[head], words.decimals);
    const chip = el(
      "button",
      {
        class: "av-words-head",
        type: "button",
        "aria-pressed": String(name === words.through),
        dataset: { through: name },
      },
      el("span", {}, name),
      el("span", { class: "av-number" }, value),
    );
    chip.style.setProperty("--av-share", String(Math.abs(cut.data[head]) / most));
    return chip;
  });
  const list = el(
    "div",
    { class: "av-words-heads", role: "group", "aria-label": strings.words_each },
    ...chips,
  );
  list.addEventListener("click", (event) => {
    const name = dataAt(event, "through");
    if (name !== undefined) look(name === words.through ? "" : name, words.chosen);
  });
  return el("div", {}, el("p", { class: "av-note" }, strings.words_each), list);
}

function signed(/** @type {number} */ value, /** @type {number} */ decimals) {
  const rounded = Number(value.toFixed(decimals));
  return `${rounded > 0 ? "+" : ""}${fmtFixed(rounded || 0, decimals)}`;
}
