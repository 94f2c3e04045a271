// @ts-check
// The chosen row as a real table: scaled score → masked score, and why → weight for every key, and, when the masks are not
// those that the model ran with, what the model really gave and the difference.

import { cueScroll, el } from "../shared/dom.js";
import { fill, fmtFixed } from "../shared/fmt.js";
import { isolate } from "../shared/axes.js";
import { printed } from "../shared/panel.js";
import { isAsModel } from "./layers.js";
import { maskedScore, reasonsAt, sliceOf } from "./map.js";

const DECIMALS = 4;

/** Rebuilds the table of the chosen row; without one there is none. */
export function drawRowTable(/** @type {any} */ view) {
  const { box } = view.nodes;
  const { header, sentence, query } = view;
  const { strings } = header;
  box.hidden = query === null;
  box.replaceChildren();
  if (query === null) return;
  const whatIf = !isAsModel(view.masks, header);
  const caption = fill(strings.row_caption, {
    query: isolate(header.tokens[sentence][query]),
    sentence: sentence + 1,
  });
  const row = rowNumbers(view);
  const rows = header.key_tokens[sentence].map((name, key) => keyRow(view, row, name, key, whatIf));
  const scroll = cueScroll(
    el(
      "div",
      { class: "scroll", tabIndex: 0, role: "region", "aria-label": caption },
      el(
        "table",
        { dataset: { query: String(query), sentence: String(sentence) } },
        el("caption", {}, caption),
        headRow(strings, whatIf),
        el("tbody", {}, ...rows),
        footRow(strings, row, whatIf),
      ),
    ),
  );
  box.replaceChildren(scroll);
  const chosen = box.querySelector("tr.chosen");
  if (chosen) scroll.scrollTop = Math.max(0, chosen.offsetTop - scroll.clientHeight / 2);
}

/** The arrays of the chosen row. */
function rowNumbers(/** @type {any} */ view) {
  const { sentence, query, header } = view;
  const n = header.key_tokens[sentence].length;
  const cut = (values) => values.subarray(query * n, (query + 1) * n);
  const scaled = cut(sliceOf(view, "scaled", sentence));
  const masked = scaled.map((_, key) => maskedScore(view, sentence, query * n + key));
  return {
    scaled,
    masked,
    weights: cut(view.numbers[sentence].weights),
    model: cut(sliceOf(view, "weights", sentence)),
  };
}

function headRow(/** @type {Record<string, string>} */ strings, /** @type {boolean} */ whatIf) {
  const names = [
    strings.col_key,
    strings.col_scaled,
    strings.col_masked,
    strings.col_reason,
    strings.col_weight,
    ...(whatIf ? [strings.col_model, strings.col_difference] : []),
  ];
  return el("thead", {}, el("tr", {}, ...names.map((name) => el("th", { scope: "col" }, name))));
}

/**
 * @param {any} view
 * @param {any} row
 * @param {string} name
 * @param {number} key
 * @param {boolean} whatIf
 */
function keyRow(view, row, name, key, whatIf) {
  const why = reasonsAt(view, view.sentence, view.query, key);
  const { strings } = view.header;
  const share = `${(100 * row.weights[key]).toFixed(2)}%`;
  return el(
    "tr",
    {
      class: [key === view.key ? "chosen" : "", why.length ? "blocked" : ""].join(" ").trim() || null,
      dataset: { key: String(key) },
    },
    el("th", { scope: "row" }, el("span", { class: "place" }, String(key)), el("bdi", {}, name)),
    el("td", {}, printed(row.scaled[key])),
    el("td", { class: row.masked[key] === -Infinity ? "never" : null }, printed(row.masked[key])),
    el(
      "td",
      { class: "reason", title: why.length ? why.join("; ") : null },
      why.length ? blockersAt(view, key).join(", ") : strings.may_attend,
    ),
    el(
      "td",
      { class: "weight" },
      el("span", { class: "amount", style: { width: share } }),
      el("span", {}, fmtFixed(row.weights[key], DECIMALS)),
    ),
    whatIf ? el("td", {}, fmtFixed(row.model[key], DECIMALS)) : null,
    whatIf ? el("td", {}, signed(row.weights[key] - row.model[key])) : null,
  );
}

/** The titles of the masks that block a key of the chosen row; the full reasons are in the readout. */
function blockersAt(/** @type {any} */ view, /** @type {number} */ key) {
  const { header, sentence, query, masks } = view;
  const n = header.key_tokens[sentence].length;
  const bits = view.numbers[sentence].bits[query * n + key] & masks.variant;
  return header.mask_names.filter((_, bit) => (bits >> bit) & 1).map((name) => maskTitle(header, name));
}

/** What a mask is called; padding is called after what the keys are, a cross-attention's memory for instance. */
export function maskTitle(/** @type {any} */ header, /** @type {string} */ name) {
  return header.strings[name === "padding" ? header.padding_of : name];
}

/** A difference always carries its sign. */
function signed(/** @type {number} */ value) {
  const text = fmtFixed(value, DECIMALS);
  return value > 0 && /[1-9]/.test(text) ? `+${text}` : text;
}

/**
 * @param {Record<string, string>} strings
 * @param {any} row
 * @param {boolean} whatIf
 */
function footRow(strings, row, whatIf) {
  const total = (values) =>
    fmtFixed(
      values.reduce((sum, value) => sum + value, 0),
      DECIMALS,
    );
  return el(
    "tfoot",
    {},
    el(
      "tr",
      {},
      el("th", { scope: "row", colspan: 4 }, strings.total),
      el("td", {}, total(row.weights)),
      whatIf ? el("td", {}, total(row.model)) : null,
      whatIf ? el("td", {}, "") : null,
    ),
  );
}
