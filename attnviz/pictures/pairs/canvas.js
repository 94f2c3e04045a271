// @ts-check
// Pairs: a row for each head, component or state, with the mean over all pairs, its interval and a dot for each pair; beside
// it the pairs of the chosen row, the furthest from 0 first; a pair without a share of its own stands last.

import { parse } from "../shared/buffer.js";
import { segmented } from "../shared/controls.js";
import { cueScroll, dataAt, el, foreign, markDrawn, setText, watchSize } from "../shared/dom.js";
import { fill, fmtFixed } from "../shared/fmt.js";
import { makeAxis, makeStrip, scaleOf } from "./strip.js";

/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Arrays, Header } from "./types.js" */

const NARROW_PX = 900;
const FIRST_ROWS = 16;
const NAME_PX = 92;
const NUMBER_PX = 158;
const LEAST_PX = 110; // of a strip

/**
 * `row` is the chosen one, `all` True once all rows are wanted.
 * @typedef {{host: Host, data: Uint8Array | null, header: Header | null, arrays: Arrays | null, row: number, all: boolean,
 *   by: "size" | "pass"}} State
 */
/** @typedef {ReturnType<typeof buildParts>} Parts */

/** @returns {Mounted} */
export default function pairs(/** @type {Host} */ host) {
  /** @type {State} */
  const state = { host, data: null, header: null, arrays: null, row: 0, all: false, by: "size" };
  const parts = buildParts();
  host.root.append(parts.box);
  parts.rows.addEventListener("click", (event) => {
    const row = dataAt(event, "row");
    if (row !== undefined) choose(state, parts, Number(row));
  });
  parts.more.addEventListener("click", () => {
    state.all = true;
    show(state, parts);
  });
  parts.list.addEventListener("click", (event) => {
    const at = dataAt(event, "at");
    const text = at === undefined ? undefined : state.header?.texts[Number(at)]?.text;
    if (text !== undefined) host.trigger("text", text);
  });
  const unwatch = watchSize(parts.box, () => {
    parts.box.classList.toggle("av-pairs-narrow", parts.box.clientWidth < NARROW_PX);
    show(state, parts);
  });
  return {
    refresh(data) {
      if (state.data !== data) takeData(state, parts, data);
    },
    destroy() {
      unwatch();
      parts.box.remove();
    },
  };
}

function buildParts() {
  const solved = el("div", { class: "av-pairs-solved" });
  const sentences = el("div", { class: "av-facts" });
  const title = el("h3", { class: "av-heading" });
  const order = el("div", {});
  const axis = el("div", { class: "av-pairs-axis" });
  const rows = el("div", { class: "av-pairs-rows", role: "group" });
  const more = el("button", { class: "av-button", type: "button" });
  const legend = el("p", { class: "av-note av-row" });
  const left = el(
    "div",
    { class: "av-pairs-left" },
    el("div", { class: "av-row" }, title, order),
    axis,
    rows,
    more,
    legend,
  );
  const name = el("h3", { class: "av-heading" });
  const said = el("p", { class: "av-note", "aria-live": "polite" });
  const list = el("ol", { class: "av-pairs-list" });
  const rest = el("p", { class: "av-note" });
  const right = el("div", { class: "av-pairs-right av-panel" }, name, said, cueScroll(list), rest);
  const body = el("div", { class: "av-pairs-body" }, left, right);
  const box = el("section", { class: "av av-pairs" }, solved, sentences, body);
  return { box, solved, sentences, title, order, axis, rows, more, legend, left, name, said, list, rest };
}

function takeData(/** @type {State} */ state, /** @type {Parts} */ parts, /** @type {Uint8Array} */ data) {
  /** @type {{header: Header, arrays: Arrays}} */
  const { header, arrays } = parse(data);
  const { strings } = header;
  Object.assign(state, { data, header, arrays, all: false, row: header.order[0] ?? 0 });
  state.by = header.ask === "lens" ? "pass" : "size";
  parts.solved.replaceChildren(...solvedBar(header));
  parts.sentences.replaceChildren(
    ...header.sentences.map((text, at) => el("p", { class: at ? "av-note" : "av-sentence" }, text)),
  );
  setText(parts.title, header.title);
  const { node } = segmented({
    label: strings.order,
    options: [
      { value: "size", label: strings.by_size },
      { value: "pass", label: strings.by_pass },
    ],
    value: state.by,
    onChange: (by) => {
      state.by = by === "pass" ? "pass" : "size";
      show(state, parts);
    },
  });
  parts.order.replaceChildren(node);
  parts.rows.setAttribute("aria-label", header.title);
  const signs = ["dot", "mean", ...(arrays.control ? ["control"] : [])];
  parts.legend.replaceChildren(
    ...signs.map((sign) =>
      el("span", { class: `av-pairs-sign av-pairs-sign-${sign}` }, strings[/** @type {"dot"} */ (sign)]),
    ),
  );
  show(state, parts);
}

/** How many pairs the model solves, as a bar and in words. */
function solvedBar(/** @type {Header} */ { n_solved: solved, n_asked: asked, strings }) {
  const bar = el(
    "span",
    { class: "av-pairs-full" },
    el("span", { style: { width: `${(100 * solved) / Math.max(1, asked)}%` } }),
  );
  return [el("span", {}, fill(strings.solved, { n: solved, total: asked })), bar];
}

function choose(/** @type {State} */ state, /** @type {Parts} */ parts, /** @type {number} */ row) {
  state.row = row;
  for (const node of parts.rows.querySelectorAll("[data-row]"))
    node.setAttribute("aria-pressed", String(node.getAttribute("data-row") === String(row)));
  showRow(state, parts);
}

function show(/** @type {State} */ state, /** @type {Parts} */ parts) {
  const { header, arrays } = state;
  if (!header || !arrays) return;
  const all = state.by === "size" ? header.order : header.rows.map((_, at) => at);
  const rows = state.all ? all : all.slice(0, FIRST_ROWS);
  const n = Math.max(1, header.slots.length);
  const narrow = parts.box.classList.contains("av-pairs-narrow");
  const beside = NAME_PX + (narrow && n > 1 ? 0 : NUMBER_PX);
  const width = Math.max(LEAST_PX, Math.floor((parts.left.clientWidth - beside - 24) / n) - 8);
  const scale = scaleOf(arrays, width);
  parts.axis.replaceChildren(
    el("span", { style: { width: `${NAME_PX}px` } }),
    ...Array.from({ length: n }, (_, slot) =>
      makeAxis(scale, header.slots[slot] ?? "", header.ask === "patching"),
    ),
  );
  parts.rows.replaceChildren(
    ...rows.map((row) =>
      el(
        "button",
        { class: "av-pairs-row", type: "button", dataset: { row }, "aria-pressed": row === state.row },
        el("span", { class: "av-pairs-name", style: { width: `${NAME_PX}px` } }, header.rows[row]),
        ...Array.from({ length: n }, (_, slot) => makeStrip(scale, header, arrays, row, slot)),
        ...(narrow && n > 1
          ? []
          : [el("span", { class: "av-number av-pairs-number" }, number(header, arrays, row))]),
      ),
    ),
  );
  parts.more.hidden = rows.length === all.length;
  setText(parts.more, fill(header.strings.more, { n: all.length }));
  showRow(state, parts);
  markDrawn(parts.box);
}

/** The mean with its interval; of several slots that of the one where it is largest. */
function number(/** @type {Header} */ header, /** @type {Arrays} */ arrays, /** @type {number} */ row) {
  const n = Math.max(1, header.slots.length);
  const { data } = arrays.mean;
  let at = row * n;
  for (let cell = at; cell < (row + 1) * n; cell++) if (Math.abs(data[cell]) > Math.abs(data[at])) at = cell;
  const says = (/** @type {number} */ value) => printed(header, value);
  return `${says(data[at])} [${says(arrays.low.data[at])}, ${says(arrays.high.data[at])}]`;
}

/** Logits with two digits, or percent; with a sign, but for what prints as 0. */
function printed(/** @type {Header} */ { ask }, /** @type {number} */ value) {
  if (Number.isNaN(value)) return "–";
  const share = ask === "patching";
  const shown = share ? Math.round(100 * value) || 0 : Math.round(100 * value) / 100 || 0;
  return `${shown > 0 ? "+" : ""}${fmtFixed(shown, share ? 0 : 2)}${share ? "%" : ""}`;
}

/** The pairs of the chosen row. */
function showRow(/** @type {State} */ { header, arrays, row }, /** @type {Parts} */ parts) {
  if (!header || !arrays || row >= header.rows.length) return;
  const { strings, texts, slots } = header;
  const [n, count] = [Math.max(1, slots.length), texts.length];
  const numbers = Array.from({ length: count }, (_, at) => {
    const cells = Array.from({ length: n }, (__, slot) => arrays.values.data[(row * n + slot) * count + at]);
    return cells.reduce((most, cell) => (Math.abs(cell) > Math.abs(most) ? cell : most), cells[0]);
  });
  const size = (/** @type {number} */ value) => (Number.isNaN(value) ? -1 : Math.abs(value));
  const order = numbers.map((_, at) => at).sort((a, b) => size(numbers[b]) - size(numbers[a]));
  setText(parts.name, fill(strings.pairs_of, { row: header.rows[row] }));
  setText(parts.said, n > 1 ? `${strings.each_note} ${strings.largest_slot}` : strings.each_note);
  parts.list.replaceChildren(...order.map((at) => pairItem(header, at, printed(header, numbers[at]))));
  setText(parts.rest, fill(strings.rest, { n: count }));
  parts.rest.hidden = parts.list.scrollHeight <= parts.list.clientHeight;
}

/** A pair: its number, the text with its answer, and the partner with its own; a click opens the text. */
function pairItem(
  /** @type {Header} */ { texts, strings },
  /** @type {number} */ at,
  /** @type {string} */ number,
) {
  const pair = texts[at];
  const lead = (/** @type {string} */ template, /** @type {number} */ before) =>
    el("span", { class: "av-note" }, fill(template, { before: fmtFixed(before, 2) }));
  const line = (/** @type {string} */ text, /** @type {string} */ answer) => [
    foreign(text),
    " → ",
    el("strong", {}, foreign(answer)),
    " ",
  ];
  return el(
    "li",
    {},
    el(
      "button",
      { class: "av-pairs-pair", type: "button", dataset: { at }, title: strings.open },
      el("span", { class: "av-number" }, number),
      el(
        "span",
        {},
        ...line(pair.text, pair.answer),
        lead(pair.solved ? strings.before : strings.before_wrong, pair.before),
        el(
          "span",
          { class: "av-pairs-partner av-note" },
          `${strings.partner} `,
          ...line(pair.other, pair.other_answer),
          lead(strings.before, pair.source),
        ),
      ),
    ),
  );
}
