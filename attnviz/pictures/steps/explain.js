// @ts-check
// The arithmetic beside the row's picture: the chosen cell's way from its words to its part of the output, a line with the
// result for each stop, and the whole of the one that is looked at. In: the head's numbers and the chosen cell. Out: DOM.
// The numbers come from arithmetic.js; here they are rounded for print, and where a sum is printed its last term carries
// the rounding.

import { INVITES, cueScroll, el, fillNodes, foreign } from "../shared/dom.js";
import { fill, fmtFixed, fmtReal, withPercent } from "../shared/fmt.js";
import { subscripted, typeset } from "../shared/panel.js";
import { beforeMask, dotProduct, effectOf, mixedOf, reasonsOf, softmaxOf, valueAt } from "./arithmetic.js";
import { filmRow, filmSentence } from "./film_scenes.js";
import { termsTable } from "./microscope.js";
import { isUsualScaling, scaledBefore, scalingText } from "./scaled.js";

/** @import { Child } from "../shared/dom.js" */
/** @import { FilmStage } from "./film_scenes.js" */
/** @import { Arrays, Header } from "./types.js" */

/**
 * A chosen cell of a head, and its numbers; `toggleTerms` shows all products, or the largest; `stop` is the one that is
 * looked at, `choose` looks at another.
 * @typedef {{header: Header, arrays: Arrays, query: number, key: number, areAllTerms: boolean,
 *   toggleTerms: () => void, stop: FilmStage | null, choose: (stop: FilmStage) => void}} Followed
 */
/** The same before a cell is chosen. */
/** @typedef {Omit<Followed, "query" | "key"> & {query: number | null, key: number | null}} Following */

const DECIMALS = 4;
const SHOWN_COMPONENTS = 8;

/** Rebuilds the box for the chosen cell; without one it says how to choose. */
export function drawArithmetic(/** @type {HTMLElement} */ box, /** @type {Following} */ following) {
  const { strings } = following.header;
  const { query, key } = following;
  if (query === null || key === null) {
    box.replaceChildren(el("p", { class: `hint ${INVITES}` }, strings.hint));
    return;
  }
  const cell = { ...following, query, key };
  const { queryToken, keyToken } = tokensOf(cell);
  const isHidden = valueAt(cell.arrays.masked, query, key) === -Infinity;
  const question = isHidden ? strings.question_hidden : strings.question;
  box.replaceChildren(
    el("h2", { class: "asks" }, ...fillNodes(question, { query: queryToken(), key: keyToken() })),
    el(
      "ol",
      { class: "sums" },
      inputStep(cell),
      scoreStep(cell),
      scaledStep(cell),
      maskStep(cell),
      softmaxStep(cell),
      mixedStep(cell),
      projectedStep(cell),
    ),
  );
}

/** A token's name in the colour of its role. */
export function tokenMark(/** @type {"query" | "key"} */ role, /** @type {string} */ label) {
  return foreign(label, { class: `token ${role}` });
}

/** The names of the cell's tokens, a new element each time. */
function tokensOf(/** @type {Followed} */ { header, query, key }) {
  return {
    queryToken: () => tokenMark("query", header.rows[query]),
    keyToken: () => tokenMark("key", header.key_tokens[key]),
  };
}

/**
 * A step: its title with the result, and the whole of it where it is looked at.
 * @param {Followed} cell
 * @param {FilmStage} stage
 * @param {string} title
 * @param {Child[]} children
 * @param {string} [result]
 */
function stepCard(cell, stage, title, children, result = "") {
  const isOpen = cell.stop === stage;
  const head = el(
    "button",
    {
      type: "button",
      class: "step-head",
      "aria-expanded": String(isOpen),
      on: { click: () => cell.choose(stage) },
    },
    el("span", {}, ...subscripted(title)),
    el("b", { class: "av-number" }, result),
  );
  const said = sentenceOf(cell, stage);
  return el(
    "li",
    { dataset: { sum: stage } },
    el("h3", {}, head),
    el("div", { class: "step-body", hidden: !isOpen }, said && el("p", {}, ...typeset(said)), ...children),
  );
}

/** What happens in a step, as the film says it, of the chosen key; who gets the largest weight is said of that key. */
function sentenceOf(/** @type {Followed} */ { header, arrays, query, key }, /** @type {FilmStage} */ stage) {
  const row = filmRow(arrays, query);
  const isThere = stage === "q" || arrays[stage] !== undefined;
  return row && isThere
    ? filmSentence(header, arrays, { ...row, top: stage === "scores" ? row.top : key }, stage)
    : null;
}

/** The card of a step whose numbers are not there. */
function missingCard(
  /** @type {Followed} */ cell,
  /** @type {FilmStage} */ stage,
  /** @type {string} */ title,
) {
  return stepCard(cell, stage, title, [el("p", { class: "hint" }, cell.header.strings.step_unavailable)]);
}

/** The words, or the rows that were typed, become q, k and v. */
function inputStep(/** @type {Followed} */ cell) {
  const { strings, by_kernel: isTyped } = cell.header;
  return stepCard(cell, "q", isTyped ? strings.step_input_typed : strings.step_input, []);
}

function mathLine(/** @type {Child[]} */ ...parts) {
  return el("p", { class: "math" }, ...parts);
}

function resultOf(/** @type {string} */ text) {
  return el("b", { class: "result" }, text);
}

function fractionOf(/** @type {Child[]} */ above, /** @type {Child[]} */ below) {
  return el(
    "span",
    { class: "fraction" },
    el("span", {}, ...above),
    el("span", { class: "av-visually-hidden" }, " ÷ "),
    el("span", {}, ...below),
  );
}

/** q · k: the largest products as bars, the rest in one number. */
function scoreStep(/** @type {Followed} */ cell) {
  const { strings } = cell.header;
  const dot = dotProduct(cell.arrays, cell.query, cell.key);
  if (!dot) return missingCard(cell, "scores", strings.step_score);
  const { terms, score } = dot;
  const n = terms.length;
  return stepCard(
    cell,
    "scores",
    strings.step_score,
    [
      el("p", { class: "hint" }, fill(strings.step_score_text, { n })),
      termsTable(terms, score, strings, cell.areAllTerms),
      mathLine("q · k = ", resultOf(fmtFixed(score, DECIMALS))),
      el(
        "button",
        {
          type: "button",
          class: "av-button terms",
          "aria-expanded": String(cell.areAllTerms),
          on: { click: cell.toggleTerms },
        },
        fill(cell.areAllTerms ? strings.hide_terms : strings.show_terms, { n }),
      ),
    ],
    fmtReal(score, 4),
  );
}

function scaledStep(/** @type {Followed} */ cell) {
  const { strings, scaling, d_head: width } = cell.header;
  const { query, key } = cell;
  const score = valueAt(cell.arrays.scores, query, key);
  const scaled = valueAt(cell.arrays.scaled, query, key);
  if (score === null || scaled === null) return missingCard(cell, "scaled", strings.step_scaled);
  const usual = isUsualScaling(cell.header);
  const by = usual
    ? [" ÷ ", rootOf(width), ` = ${fmtFixed(score, DECIMALS)} ÷ ${fmtFixed(1 / scaling, DECIMALS)}`]
    : [` × ${scalingText(scaling, 6)}`];
  const title = usual
    ? strings.step_scaled
    : fill(strings.step_scaled_by, { scaling: scalingText(scaling, 6) });
  const before = scaledBefore(cell.header);
  return stepCard(
    cell,
    "scaled",
    title,
    [
      before ? el("p", { class: "hint" }, ...subscripted(before)) : null,
      mathLine(fmtFixed(score, DECIMALS), ...by, " = ", resultOf(fmtFixed(scaled, DECIMALS))),
    ],
    fmtReal(scaled, 4),
  );
}

function rootOf(/** @type {number} */ width) {
  return el("span", { class: "root" }, "√", el("span", {}, String(width)));
}

/** 0 or −∞, and why; a bias that is neither is printed as the number it is. */
function maskStep(/** @type {Followed} */ cell) {
  const { strings, mask_reasons: reasons } = cell.header;
  const { query, key } = cell;
  const scaled = valueAt(beforeMask(cell.arrays), query, key);
  const masked = valueAt(cell.arrays.masked, query, key);
  if (scaled === null || masked === null) return missingCard(cell, "masked", strings.step_masked);
  const closed = masked === -Infinity;
  const term = closed ? "(−∞)" : masked === scaled ? "0" : fmtFixed(masked - scaled, DECIMALS);
  const why = closed ? reasonsOf(valueAt(cell.arrays.blocked, query, key) ?? 0, reasons) : [];
  return stepCard(
    cell,
    "masked",
    strings.step_masked,
    [
      el("p", { class: "hint" }, closed ? strings.mask_blocked : strings.mask_open),
      why.length ? el("p", { class: "reasons" }, why.join("; ")) : null,
      mathLine(`${fmtFixed(scaled, DECIMALS)} + ${term} = `, resultOf(fmtFixed(masked, DECIMALS))),
    ],
    fmtReal(masked, 4),
  );
}

function softmaxStep(/** @type {Followed} */ cell) {
  const { strings, key_tokens: keys } = cell.header;
  const soft = softmaxOf(cell.arrays, cell.query, cell.key);
  if (!soft) return missingCard(cell, "weights", strings.step_weight);
  if (!soft.live)
    return stepCard(
      cell,
      "weights",
      strings.step_weight,
      [el("p", { class: "hint" }, strings.softmax_dead), mathLine(resultOf("0"))],
      "0",
    );
  const max = fmtFixed(soft.max, DECIMALS);
  const exact = (/** @type {number} */ v) => fmtReal(v, 5);
  const minus = soft.max < 0 ? `(${max})` : max;
  return stepCard(
    cell,
    "weights",
    strings.step_weight,
    [
      el("p", { class: "hint" }, fill(strings.softmax_text, { max, n: keys.length })),
      mathLine(
        fractionOf([`exp(${fmtFixed(soft.score, DECIMALS)} − ${minus})`], ["Σ exp(s − ", minus, ")"]),
        " = ",
        fractionOf([exact(soft.exp)], [exact(soft.sum)]),
        " = ",
        resultOf(exact(soft.weight)),
      ),
    ],
    fmtFixed(soft.weight, DECIMALS),
  );
}

/** weight × v, component by component, beside the mixed row it goes into. */
function mixedStep(/** @type {Followed} */ cell) {
  const { strings } = cell.header;
  const part = mixedOf(cell.arrays, cell.query, cell.key);
  if (!part) return missingCard(cell, "mixed", strings.step_mixed);
  const n = Math.min(SHOWN_COMPONENTS, part.v.length);
  const region = { class: "scroll", tabIndex: 0, role: "region", "aria-label": strings.step_mixed };
  return stepCard(
    cell,
    "mixed",
    strings.step_mixed,
    [
      el("p", { class: "hint" }, fill(strings.mixed_text, { n, d_head: part.v.length })),
      cueScroll(el("div", region, mixedTable(cell, part, n))),
      shareLine(cell, part),
    ],
    part.share === null ? "" : fill(strings.mixed_part, { share: percentOf(part.share) }),
  );
}

/** A line for each of the first components: of v, of its weighted copy and of the mixed row. */
function mixedTable(
  /** @type {Followed} */ cell,
  /** @type {NonNullable<ReturnType<typeof mixedOf>>} */ { v, weighted, mixed },
  /** @type {number} */ count,
) {
  const { strings } = cell.header;
  const { queryToken, keyToken } = tokensOf(cell);
  /** @type {(readonly [name: Child[], values: ArrayLike<number>])[]} */
  const columns = [
    [fillNodes(strings.value_row, { key: keyToken() }), v],
    [[strings.weighted_row], weighted],
    [fillNodes(strings.mixed_row, { query: queryToken() }), mixed],
  ];
  const titles = [[strings.component], ...columns.map(([name]) => name)];
  const head = titles.map((title) => el("th", { scope: "col" }, ...title));
  const rows = Array.from({ length: count }, (_, d) => {
    const numbers = columns.map(([, values]) => el("td", {}, fmtFixed(values[d], DECIMALS)));
    return el("tr", {}, el("th", { scope: "row" }, String(d)), ...numbers);
  });
  return el("table", { class: "mixed" }, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows));
}

/** The share of the mixed row that comes from this key, in percent. */
function percentOf(/** @type {number | null} */ share) {
  if (share === null) return "";
  return withPercent(Math.abs(share) < 1e-3 ? fmtReal(100 * share, 2) : fmtFixed(100 * share, 1));
}

/** What that share is: of weight × v the part along the mixed row z, by the square of the length of z. */
function shareLine(
  /** @type {Followed} */ { header },
  /** @type {NonNullable<ReturnType<typeof mixedOf>>} */ { share, along, length },
) {
  if (share === null) return null;
  const text = fill(header.strings.mixed_share, { share: percentOf(share) });
  return el(
    "div",
    { class: "share", dataset: { share: String(share) } },
    el("p", {}, text),
    mathLine(
      fractionOf(["(α · v) · z"], ["z · z"]),
      " = ",
      fractionOf([fmtReal(along, 5)], [fmtReal(length, 5)]),
      " = ",
      resultOf(percentOf(share)),
    ),
  );
}

/** Where the mixed row goes, and how much of what W_O writes comes from this key: ‖α·f(x)‖. */
function projectedStep(/** @type {Followed} */ cell) {
  const { strings, n_heads: heads, head_slice: slice } = cell.header;
  const { queryToken } = tokensOf(cell);
  const texts = { first: String(slice[0]), last: String(slice[1] - 1), n_heads: String(heads) };
  const goes = fillNodes(strings.projected_text, { query: queryToken(), ...texts });
  return stepCard(cell, "projected", strings.step_projected, [
    el("p", { class: "hint" }, ...typeset(goes)),
    ...effectLines(cell),
  ]);
}

/** The length of what this key writes, and its rank; nothing where W_O is not known. */
function effectLines(/** @type {Followed} */ cell) {
  const { strings } = cell.header;
  const effect = effectOf(cell.arrays, cell.query, cell.key);
  if (!effect) return [];
  const ranks = fillNodes(strings.effect_ranks, {
    key: tokensOf(cell).keyToken(),
    rank: String(effect.rank),
    by_weight: String(effect.rankByWeight),
    n: String(effect.count),
  });
  const factors = `${fmtReal(effect.weight, 5)} × ${fmtFixed(effect.norm, DECIMALS)} = `;
  return [
    el("p", { class: "hint" }, ...subscripted(strings.effect_text)),
    mathLine("‖α · f(x)‖ = ", factors, resultOf(fmtReal(effect.effect, 5))),
    el(
      "p",
      { class: "share", dataset: { effect: String(effect.effect), rank: String(effect.rank) } },
      ...ranks,
    ),
  ];
}
