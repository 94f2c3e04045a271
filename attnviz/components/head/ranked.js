// @ts-check
// The keys of one row, ranked by weight: label, bar, number; what is left over is summed in a last line.

import { isolate, SPECIAL } from "../shared/axes.js";
import { colourFor } from "../shared/colors.js";
import { el } from "../shared/dom.js";
import { fill, fmtWeight } from "../shared/fmt.js";
import { hiddenInRow, topKeys, weightAt } from "../shared/numbers.js";

const COUNT = 8;

/**
 * Fills `node` for a query, or with the sentence that says how to get there.
 * @param {HTMLElement} node
 * @param {any} view
 * @param {number | null} query
 */
export function showRanked(node, view, query) {
  const { strings, labels, data } = view;
  if (query === null) {
    node.replaceChildren(el("p", { class: "av-note" }, strings.ranked_idle));
    return;
  }
  const keys = topKeys(data, query, COUNT);
  const weights = keys.map((key) => weightAt(data, query, key));
  const rows = keys.map((key, i) => rankedRow(view, key, weights[i], weights[0]));
  const rest = data.cols.length - keys.length;
  const others = el("p", { class: "av-note av-number" });
  if (rest > 0) {
    const sum = Math.max(0, 1 - hiddenInRow(data, query) - weights.reduce((a, b) => a + b, 0));
    others.textContent = `${fill(strings.ranked_others, { count: rest })}: ${fmtWeight(sum, true)}`;
  }
  node.replaceChildren(
    el("h3", { class: "av-heading" }, fill(strings.ranked, { token: isolate(labels[query]) })),
    el("ol", { class: "av-ranked-list" }, ...rows),
    others,
  );
}

/**
 * @param {any} view
 * @param {number} key
 * @param {number} weight
 * @param {number} most
 */
function rankedRow(view, key, weight, most) {
  const bar = el("span", { class: "av-ranked-bar" });
  bar.style.width = `${most > 0 ? (100 * weight) / most : 0}%`;
  bar.style.backgroundColor = colourFor(view.lut, weight, view.scale);
  const name = el(
    "span",
    {
      class: `av-ranked-token${view.keyMarks[key] & SPECIAL ? " av-muted" : ""}`,
      title: `${view.keyLabels[key]} (${key})`,
    },
    el("bdi", {}, view.keyLabels[key]),
  );
  return el(
    "li",
    { dataset: { key } },
    name,
    el("span", { class: "av-ranked-track" }, bar),
    el("span", { class: "av-number" }, fmtWeight(weight, view.approx)),
  );
}
