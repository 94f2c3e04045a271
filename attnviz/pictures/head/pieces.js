// @ts-check
// The pieces of two words: a table of the weights between their tokens, below the heatmap in words.

import { isolate } from "../shared/axes.js";
import { weightOf } from "../shared/buffer.js";
import { colourFor, inkOn, levelFor } from "../shared/colors.js";
import { el, foreign } from "../shared/dom.js";
import { fill, fmtWeight } from "../shared/fmt.js";

/** @import { Word } from "../shared/heads.js" */
/** @import { View } from "./view.js" */

/** Shows the pieces behind the pinned cell of two words; nothing where both words are one token. */
export function showPieces(/** @type {HTMLElement} */ node, /** @type {View} */ view) {
  const { axes, pinned } = view;
  const rows = pinned.query === null ? null : axes.query.spans?.[pinned.query];
  const cols = pinned.key === null ? null : axes.key.spans?.[pinned.key];
  const hasSeveral = rows && cols && rows[2] - rows[1] + cols[2] - cols[1] > 2;
  node.hidden = !hasSeveral;
  if (hasSeveral) node.replaceChildren(makeTable(view, rows, cols));
  else node.replaceChildren();
}

function makeTable(/** @type {View} */ view, /** @type {Word} */ rows, /** @type {Word} */ cols) {
  const { header } = view;
  const name = (/** @type {string} */ scope, /** @type {string} */ label) =>
    el("th", { scope }, foreign(label));
  const names = tokensOf(cols).map((key) => name("col", header.key_tokens[key]));
  const lines = tokensOf(rows).map((query) => {
    const cells = tokensOf(cols).map((key) => weightCell(view, query, key));
    return el("tr", {}, name("row", header.tokens[query]), ...cells);
  });
  return el(
    "table",
    { class: "av-pieces-table" },
    el("caption", { class: "av-note" }, captionOf(view, rows, cols)),
    el("thead", {}, el("tr", {}, el("td"), ...names)),
    el("tbody", {}, ...lines),
  );
}

function tokensOf(/** @type {Word} */ [, start, stop]) {
  return Array.from({ length: stop - start }, (_, i) => start + i);
}

/** Both words, and the weight between them. */
function captionOf(
  /** @type {View} */ { header, data, pinned, approximate },
  /** @type {Word} */ [query],
  /** @type {Word} */ [key],
) {
  const between = data.values[(pinned.query ?? 0) * data.nKey + (pinned.key ?? 0)];
  const weight = fmtWeight(between, approximate);
  return fill(header.strings.pieces, { query: isolate(query), key: isolate(key), weight });
}

function weightCell(
  /** @type {View} */ { tokenData, scale, lut, approximate },
  /** @type {number} */ query,
  /** @type {number} */ key,
) {
  const weight = weightOf(tokenData.values[query * tokenData.nKey + key], tokenData.dtype);
  const backgroundColor = colourFor(lut, weight, scale);
  const style = { backgroundColor, color: inkOn(lut, levelFor(weight, scale)) };
  return el("td", { class: "av-number", style }, fmtWeight(weight, approximate));
}
