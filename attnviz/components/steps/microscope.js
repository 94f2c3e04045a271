// @ts-check
// The cell microscope: q and k of one cell as paired bars, component by component, with product and running sum.
// In: the terms of arithmetic.js, largest product first. Out: a table. Its printed numbers add up to the score.

import { el } from "../shared/dom.js";
import { fill, fmtFixed } from "../shared/fmt.js";
import { addUp } from "./arithmetic.js";

/** @import { Strings } from "../shared/heads.js" */
/** @import { Term } from "./arithmetic.js" */
/** @import { StringKey } from "./types.js" */

const FEW_TERMS = 8;
const FEW_DECIMALS = 4;
const ALL_DECIMALS = 6;

/**
 * The products as rows, the first few or all of them; what is not shown stands in one row of its own.
 * @param {Term[]} terms
 * @param {number} score
 * @param {Strings<StringKey>} strings
 * @param {boolean} all
 */
export function termsTable(terms, score, strings, all) {
  const decimals = all ? ALL_DECIMALS : FEW_DECIMALS;
  const whole = all || terms.length <= FEW_TERMS;
  const shown = whole ? terms : terms.slice(0, FEW_TERMS);
  // in the full table the last product carries the rounding of the others, so that what is printed adds up
  const exact = whole ? shown.slice(0, -1) : shown;
  const sum = addUp(
    exact.map((term) => term.product),
    score,
    decimals,
  );
  const products = whole ? [...sum.shown, sum.rest] : sum.shown;
  const left = terms.length - shown.length;
  const largest = {
    q: largestOf(terms, "q"),
    k: largestOf(terms, "k"),
    product: largestOf(terms, "product"),
  };
  let running = 0;
  const rows = shown.map((term, i) => {
    running += products[i];
    return termRow(term, products[i], running, largest, decimals);
  });
  const rest = left
    ? [
        el(
          "tr",
          { class: "rest", dataset: { rest: String(sum.rest) } },
          el("th", { scope: "row", colspan: 3 }, fill(strings.more_terms, { n: left })),
          barCell("product", sum.rest, largest.product, decimals),
          el("td", {}, fmtFixed(running + sum.rest, decimals)),
        ),
      ]
    : [];
  const head = [strings.component, "q", "k", strings.product, strings.running].map((text) =>
    el("th", { scope: "col" }, text),
  );
  return el(
    "div",
    {
      class: "scroll",
      tabIndex: 0,
      role: "region",
      "aria-label": fill(strings.terms_caption, { n: terms.length }),
    },
    el(
      "table",
      { class: "terms" },
      el("thead", {}, el("tr", {}, ...head)),
      el("tbody", {}, ...rows, ...rest),
      el(
        "tfoot",
        {},
        el(
          "tr",
          {},
          el("th", { scope: "row", colspan: 3 }, strings.sum),
          el("td", {}, fmtFixed(sum.total, decimals)),
          el("td"),
        ),
      ),
    ),
  );
}

function largestOf(/** @type {Term[]} */ terms, /** @type {"q" | "k" | "product"} */ name) {
  return terms.reduce((most, term) => Math.max(most, Math.abs(term[name])), 0);
}

/**
 * @param {Term} term
 * @param {number} product as it is printed
 * @param {number} running the sum so far, as it is printed
 * @param {{q: number, k: number, product: number}} largest
 * @param {number} decimals
 */
function termRow(term, product, running, largest, decimals) {
  return el(
    "tr",
    { class: "term", dataset: { component: String(term.component), value: String(product) } },
    el("th", { scope: "row" }, String(term.component)),
    barCell("query", term.q, largest.q, decimals),
    barCell("key", term.k, largest.k, decimals),
    barCell("product", product, largest.product, decimals),
    el("td", {}, fmtFixed(running, decimals)),
  );
}

/**
 * A number over a bar from the middle of its cell: to the right where it is positive.
 * @param {"query" | "key" | "product"} role
 * @param {number} value
 * @param {number} largest
 * @param {number} decimals
 */
function barCell(role, value, largest, decimals) {
  const bar = el("i", { class: value < 0 ? "below" : "above" });
  bar.style.width = `${largest > 0 ? Math.min(50, (50 * Math.abs(value)) / largest) : 0}%`;
  return el("td", { class: `bar-of ${role}-bar` }, bar, el("span", {}, fmtFixed(value, decimals)));
}
