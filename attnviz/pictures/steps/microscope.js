// @ts-check
// The cell microscope: q and k of one cell as paired bars, component by component, with product and running sum.
// In: the terms of arithmetic.js, largest product first. Out: a table. Its printed numbers add up to the score.

import { el } from "../shared/dom.js";
import { fill, fmtFixed } from "../shared/fmt.js";
import { addUp } from "./arithmetic.js";

/** @import { Term } from "./arithmetic.js" */
/** @import { Strings } from "./types.js" */

const FEW_TERMS = 8;
const FEW_DECIMALS = 2;
const ALL_DECIMALS = 4;

/**
 * The products as rows, the first few or all of them; what is not shown stands in one row of its own.
 * @param {Term[]} terms
 * @param {number} score
 * @param {Strings} strings
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
  if (left) {
    const label = fill(strings.more_terms, { n: left });
    rows.push(restRow(label, sum.rest, running + sum.rest, largest.product, decimals));
  }
  const caption = fill(strings.terms_caption, { n: terms.length });
  return scrollingTable(caption, headRow(strings), rows, sumRow(strings.sum, sum.total, decimals));
}

/**
 * The table in a region of its own, which scrolls and takes the keyboard.
 * @param {string} caption
 * @param {HTMLElement} head
 * @param {HTMLElement[]} rows
 * @param {HTMLElement} foot
 */
function scrollingTable(caption, head, rows, foot) {
  return el(
    "div",
    { class: "scroll", tabIndex: 0, role: "region", "aria-label": caption },
    el("table", { class: "terms" }, el("thead", {}, head), el("tbody", {}, ...rows), el("tfoot", {}, foot)),
  );
}

function headRow(/** @type {Strings} */ strings) {
  const names = [strings.component, "q", "k", strings.product, strings.running];
  return el("tr", {}, ...names.map((name) => el("th", { scope: "col" }, name)));
}

/**
 * The products that no row shows, in one row.
 * @param {string} label
 * @param {number} rest their sum, as it is printed
 * @param {number} running the sum of all, as it is printed
 * @param {number} largest of all products
 * @param {number} decimals
 */
function restRow(label, rest, running, largest, decimals) {
  return el(
    "tr",
    { class: "rest", dataset: { rest: String(rest) } },
    el("th", { scope: "row", colspan: 3 }, label),
    barCell("product", rest, largest, decimals),
    el("td", {}, fmtFixed(running, decimals)),
  );
}

function sumRow(/** @type {string} */ label, /** @type {number} */ total, /** @type {number} */ decimals) {
  return el(
    "tr",
    {},
    el("th", { scope: "row", colspan: 3 }, label),
    el("td", {}, fmtFixed(total, decimals)),
    el("td"),
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
 * A number above a bar from the middle of its cell: to the right where it is positive.
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
