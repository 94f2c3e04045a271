// @ts-check
// The keys of one row, ranked by weight: label, bar, number; what is left over is summed in a last line.

import { isolate, SPECIAL } from "../shared/axes.js";
import { colourFor } from "../shared/colors.js";
import { INVITES, el, foreign } from "../shared/dom.js";
import { fill, fmtWeight } from "../shared/fmt.js";
import { hiddenInRow, topKeys, weightAt } from "../shared/numbers.js";

/** @import { View } from "./view.js" */

const COUNT = 8;

/** What the list of a query depends on. */
export function rankedName(/** @type {View} */ view, /** @type {number | null} */ query) {
  const { layer, head, scale, special, inWords, theme, header, forbidden } = view;
  return [
    layer,
    head,
    query,
    scale,
    special,
    inWords,
    theme.dark,
    header.tokens.length,
    forbidden?.query,
    forbidden?.key,
  ].join();
}

/** Fills `node` for a query, or with the sentence that says how to get there. */
export function showRanked(
  /** @type {HTMLElement} */ node,
  /** @type {View} */ view,
  /** @type {number | null} */ query,
) {
  const { strings } = view.header;
  const { data } = view;
  if (query === null) {
    node.replaceChildren(el("p", { class: `av-note ${INVITES}` }, strings.ranked_idle));
    return;
  }
  const off = view.forbidden?.query === query ? view.forbidden : null;
  const strongest = topKeys(data, query, COUNT);
  const keys = off ? [off.key, ...strongest.filter((key) => key !== off.key)].slice(0, COUNT) : strongest;
  const weights = keys.map((key) => weightAt(data, query, key));
  const most = Math.max(...weights);
  const rows = keys.map((key, i) => rankedRow(view, key, weights[i], most, off));
  const rest = data.cols.length - keys.length;
  const others = el("p", { class: "av-note av-number" });
  if (rest > 0) {
    const shown = weights.reduce((sum, weight) => sum + weight, 0);
    const sum = Math.max(0, 1 - hiddenInRow(data, query) - shown);
    others.textContent = `${fill(strings.ranked_others, { count: rest })}: ${fmtWeight(sum, true)}`;
  }
  const token = isolate(view.axes.query.labels[query]);
  const heading = el("h3", { class: "av-heading" }, fill(strings.ranked, { token }));
  node.replaceChildren(heading, el("ol", { class: "av-ranked-list" }, ...rows), others);
}

/**
 * @param {View} view
 * @param {number} key
 * @param {number} weight
 * @param {number} most the largest weight of the row
 * @param {View["forbidden"]} off the look of this row that is forbidden
 */
function rankedRow({ axes, lut, scale, approximate }, key, weight, most, off) {
  const label = axes.key.labels[key];
  const bar = el("span", { class: "av-ranked-bar" });
  bar.style.width = `${most > 0 ? (100 * weight) / most : 0}%`;
  bar.style.backgroundColor = colourFor(lut, weight, scale);
  const kind = axes.key.marks[key] & SPECIAL ? "av-ranked-token av-muted" : "av-ranked-token";
  const name = el("span", { class: kind, title: `${label} (${key})` }, foreign(label));
  const isOff = key === off?.key;
  const said = fmtWeight(isOff ? off.weight : weight, approximate);
  const number = el(isOff ? "s" : "span", { class: "av-number" }, said);
  return el("li", { dataset: { key } }, name, el("span", { class: "av-ranked-track" }, bar), number);
}
