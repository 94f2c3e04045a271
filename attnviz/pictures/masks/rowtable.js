// @ts-check
// The chosen row as a real table: scaled score → masked score, and why → weight for every key, and, when the masks are not
// those that the model ran with, what the model really gave and the difference.

import { isolate } from "../shared/axes.js";
import { cueScroll, el, foreign } from "../shared/dom.js";
import { fill, fmtFixed, fmtList } from "../shared/fmt.js";
import { printed } from "../shared/panel.js";
import { isAsModel, sliceOf } from "./layers.js";
import { blockersAt, maskedScore, maskTitle, reasonsAt } from "./words.js";

/** @import { Laid, State } from "./state.js" */
/** @import { Strings } from "./types.js" */

/** The numbers of a row. @typedef {Record<"scaled" | "masked" | "weights" | "model", Float32Array>} RowNumbers */
/** A row of a sentence. @typedef {{sentence: number, query: number, key: number | null}} Chosen */

const DECIMALS = 4;

/** Rebuilds the table of the chosen row; without one there is none. */
export function drawRowTable(/** @type {State} */ state) {
  const { box } = state.parts;
  const { header, sentence } = state;
  const { strings } = header;
  const { query, key } = state.selection;
  box.hidden = query === null;
  box.replaceChildren();
  if (query === null) return;
  const isWhatIf = !isAsModel(state.masks, header);
  const token = isolate(header.tokens[sentence][query]);
  const caption = fill(strings.row_caption, { query: token, sentence: sentence + 1 });
  const numbers = rowNumbers(state, sentence, query);
  const keys = header.key_tokens[sentence].keys();
  const rows = Array.from(keys, (at) => keyRow(state, { sentence, query, key }, numbers, at, isWhatIf));
  const table = el(
    "table",
    { dataset: { query, sentence } },
    el("caption", {}, caption),
    headRow(strings, isWhatIf),
    el("tbody", {}, ...rows),
    footRow(strings, numbers, isWhatIf),
  );
  const region = { class: "scroll", tabIndex: 0, role: "region", "aria-label": caption };
  const scroll = cueScroll(el("div", region, table));
  box.replaceChildren(scroll);
  const chosen = key === null ? null : rows[key];
  if (chosen) scroll.scrollTop = Math.max(0, chosen.offsetTop - scroll.clientHeight / 2);
}

/**
 * @param {Laid} laid
 * @param {number} sentence
 * @param {number} query
 * @returns {RowNumbers}
 */
function rowNumbers(laid, sentence, query) {
  const n = laid.header.key_tokens[sentence].length;
  const rowOf = (/** @type {Float32Array} */ values) => values.subarray(query * n, (query + 1) * n);
  const scaled = rowOf(sliceOf(laid.arrays, "scaled", sentence));
  const masked = scaled.map((_, key) => maskedScore(laid, sentence, query * n + key));
  const weights = rowOf(laid.numbers[sentence].weights);
  return { scaled, masked, weights, model: rowOf(sliceOf(laid.arrays, "weights", sentence)) };
}

function headRow(/** @type {Strings} */ strings, /** @type {boolean} */ isWhatIf) {
  const names = [
    strings.key,
    strings.col_scaled,
    strings.col_masked,
    strings.col_reason,
    strings.col_weight,
    ...(isWhatIf ? [strings.col_model, strings.col_difference] : []),
  ];
  return el("thead", {}, el("tr", {}, ...names.map((name) => el("th", { scope: "col" }, name))));
}

/**
 * The line of a key. The titles of what blocks it stand in the table, the full reasons in the readout.
 * @param {Laid} laid
 * @param {Chosen} chosen
 * @param {RowNumbers} numbers
 * @param {number} key
 * @param {boolean} isWhatIf
 */
function keyRow(laid, chosen, { scaled, masked, weights, model }, key, isWhatIf) {
  const { header } = laid;
  const { sentence, query } = chosen;
  const reasons = reasonsAt(laid, sentence, query, key);
  const titles = blockersAt(laid, sentence, query, key).map((bit) =>
    maskTitle(header, header.mask_names[bit]),
  );
  const classes = [key === chosen.key ? "chosen" : "", reasons.length ? "blocked" : ""];
  const name = foreign(header.key_tokens[sentence][key]);
  const amount = el("span", { class: "amount", style: { width: `${(100 * weights[key]).toFixed(2)}%` } });
  return el(
    "tr",
    { class: classes.join(" ").trim() || null, dataset: { key } },
    el("th", { scope: "row" }, el("span", { class: "place" }, String(key)), name),
    el("td", {}, printed(scaled[key])),
    el("td", { class: masked[key] === -Infinity ? "never" : null }, printed(masked[key])),
    el(
      "td",
      { class: "reason", title: reasons.join("; ") || null },
      fmtList(titles) || header.strings.may_attend,
    ),
    el("td", { class: "weight" }, amount, el("span", {}, fmtFixed(weights[key], DECIMALS))),
    isWhatIf ? el("td", {}, fmtFixed(model[key], DECIMALS)) : null,
    isWhatIf ? el("td", {}, signed(weights[key] - model[key])) : null,
  );
}

/** A difference always carries its sign. */
function signed(/** @type {number} */ value) {
  const text = fmtFixed(value, DECIMALS);
  return value > 0 && /[1-9]/.test(text) ? `+${text}` : text;
}

/**
 * @param {Strings} strings
 * @param {RowNumbers} numbers
 * @param {boolean} isWhatIf
 */
function footRow(strings, { weights, model }, isWhatIf) {
  const total = (/** @type {Float32Array} */ values) =>
    el(
      "td",
      {},
      fmtFixed(
        values.reduce((sum, value) => sum + value, 0),
        DECIMALS,
      ),
    );
  const name = el("th", { scope: "row", colspan: 4 }, strings.total);
  const others = isWhatIf ? [total(model), el("td")] : [];
  return el("tfoot", {}, el("tr", {}, name, total(weights), ...others));
}
