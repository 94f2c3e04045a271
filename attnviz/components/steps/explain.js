// @ts-check
// The arithmetic box: the chosen cell's way from q · k to its part of the mixed row, with real numbers.
// In: the view (header, arrays, query, key). Out: DOM. The numbers come from arithmetic.js; here they are
// rounded for print, and where a sum is printed its last term carries the rounding.

import { cueScroll, el } from "../shared/dom.js";
import { fill, fmtFixed, fmtReal } from "../shared/fmt.js";
import { isolate } from "../shared/axes.js";
import { subscripted } from "../shared/panel.js";
import { beforeMask, dotProduct, effectOf, mixedOf, reasonsOf, softmaxOf, valueAt } from "./arithmetic.js";
import { termsTable } from "./microscope.js";
import { scaledBefore, scalingText } from "./scaled.js";

const DECIMALS = 4;
const SHOWN_COMPONENTS = 8;

/** Rebuilds the box for the chosen cell; without one it says how to choose. */
export function drawArithmetic(/** @type {any} */ view) {
  const { box } = view.nodes;
  const { strings, tokens, key_tokens: keys } = view.header;
  const { query, key } = view;
  if (query === null || key === null) {
    box.replaceChildren(el("p", { class: "hint" }, strings.hint));
    return;
  }
  const steps = [
    scoreStep(view),
    scaledStep(view),
    maskStep(view),
    softmaxStep(view),
    mixedStep(view),
    projectedStep(view),
  ];
  box.replaceChildren(
    el(
      "header",
      {},
      el("h2", {}, strings.arithmetic),
      el(
        "p",
        { class: "asks" },
        ...namedTokens(strings.asks, {
          query: tokenMark("query", tokens[query]),
          key: tokenMark("key", keys[key]),
        }),
      ),
      el("p", { class: "precision" }, strings.precision),
    ),
    el("ol", { class: "sums" }, ...steps),
  );
}

/** A token's name in the colour of its role. */
export function tokenMark(/** @type {"query" | "key"} */ role, /** @type {string} */ label) {
  return el("bdi", { class: `token ${role}` }, label);
}

/** A template with elements in the place of its {placeholders}. */
export function namedTokens(/** @type {string} */ template, /** @type {Record<string, any>} */ nodes) {
  return template.split(/\{(\w+)\}/).map((part, i) => (i % 2 ? (nodes[part] ?? `{${part}}`) : part));
}

function stepCard(/** @type {string} */ stage, /** @type {string} */ title, /** @type {any[]} */ children) {
  return el("li", { dataset: { sum: stage } }, el("h3", {}, ...subscripted(title)), ...children);
}

function missingCard(/** @type {any} */ view, /** @type {string} */ stage, /** @type {string} */ title) {
  return stepCard(stage, title, [el("p", { class: "hint" }, view.header.strings.step_unavailable)]);
}

function mathLine(/** @type {any[]} */ ...parts) {
  return el("p", { class: "math" }, ...parts);
}

function resultOf(/** @type {string} */ text) {
  return el("b", { class: "result" }, text);
}

function fractionOf(/** @type {any[]} */ above, /** @type {any[]} */ below) {
  return el(
    "span",
    { class: "fraction" },
    el("span", {}, ...above),
    el("span", { class: "av-visually-hidden" }, " ÷ "),
    el("span", {}, ...below),
  );
}

/** q · k: the largest products as bars, the rest in one number. */
function scoreStep(/** @type {any} */ view) {
  const { strings } = view.header;
  const dot = dotProduct(view.arrays, view.query, view.key);
  if (!dot) return missingCard(view, "scores", strings.step_score);
  const { terms, score } = dot;
  const n = terms.length;
  return stepCard("scores", strings.step_score, [
    el("p", { class: "hint" }, fill(strings.step_score_text, { n })),
    termsTable(terms, score, strings, view.allTerms),
    mathLine("q · k = ", resultOf(fmtFixed(score, DECIMALS))),
    el(
      "button",
      {
        type: "button",
        class: "av-button terms",
        "aria-expanded": String(view.allTerms),
        on: { click: () => view.toggleTerms() },
      },
      fill(view.allTerms ? strings.hide_terms : strings.show_terms, { n }),
    ),
  ]);
}

function scaledStep(/** @type {any} */ view) {
  const { strings, scaling, d_head: width } = view.header;
  const { query, key } = view;
  const score = valueAt(view.arrays.scores, query, key);
  const scaled = valueAt(view.arrays.scaled, query, key);
  if (score === null || scaled === null) return missingCard(view, "scaled", strings.step_scaled);
  const usual = Math.abs(scaling * Math.sqrt(width) - 1) < 1e-5;
  const by = usual
    ? [" ÷ ", rootOf(width), ` = ${fmtFixed(score, DECIMALS)} ÷ ${fmtFixed(1 / scaling, DECIMALS)}`]
    : [` × ${scalingText(scaling, 6)}`];
  const title = usual
    ? strings.step_scaled
    : fill(strings.step_scaled_by, { scaling: scalingText(scaling, 6) });
  const before = scaledBefore(view.header);
  return stepCard("scaled", title, [
    before ? el("p", { class: "hint" }, ...subscripted(before)) : null,
    mathLine(fmtFixed(score, DECIMALS), ...by, " = ", resultOf(fmtFixed(scaled, DECIMALS))),
  ]);
}

function rootOf(/** @type {number} */ width) {
  return el("span", { class: "root" }, "√", el("span", {}, String(width)));
}

/** 0 or −∞, and why; a bias that is neither is printed as the number it is. */
function maskStep(/** @type {any} */ view) {
  const { strings, mask_reasons: reasons } = view.header;
  const { query, key } = view;
  const scaled = valueAt(beforeMask(view.arrays), query, key);
  const masked = valueAt(view.arrays.masked, query, key);
  if (scaled === null || masked === null) return missingCard(view, "masked", strings.step_masked);
  const closed = masked === -Infinity;
  const term = closed ? "(−∞)" : masked === scaled ? "0" : fmtFixed(masked - scaled, DECIMALS);
  const why = closed ? reasonsOf(valueAt(view.arrays.blocked, query, key) ?? 0, reasons) : [];
  return stepCard("masked", strings.step_masked, [
    el("p", { class: "hint" }, closed ? strings.mask_blocked : strings.mask_open),
    why.length ? el("p", { class: "reasons" }, why.join("; ")) : null,
    mathLine(`${fmtFixed(scaled, DECIMALS)} + ${term} = `, resultOf(fmtFixed(masked, DECIMALS))),
  ]);
}

function softmaxStep(/** @type {any} */ view) {
  const { strings, key_tokens: keys } = view.header;
  const soft = softmaxOf(view.arrays, view.query, view.key);
  if (!soft) return missingCard(view, "weights", strings.step_weight);
  if (!soft.live)
    return stepCard("weights", strings.step_weight, [
      el("p", { class: "hint" }, strings.softmax_dead),
      mathLine(resultOf("0")),
    ]);
  const max = fmtFixed(soft.max, DECIMALS);
  const exact = (v) => fmtReal(v, 5);
  const minus = soft.max < 0 ? `(${max})` : max;
  return stepCard("weights", strings.step_weight, [
    el("p", { class: "hint" }, fill(strings.softmax_text, { max, n: keys.length })),
    mathLine(
      fractionOf([`exp(${fmtFixed(soft.score, DECIMALS)} − ${minus})`], ["Σ exp(s − ", minus, ")"]),
      " = ",
      fractionOf([exact(soft.exp)], [exact(soft.sum)]),
      " = ",
      resultOf(exact(soft.weight)),
    ),
  ]);
}

/** weight × v, component by component, beside the mixed row it goes into. */
function mixedStep(/** @type {any} */ view) {
  const { strings, tokens, key_tokens: keys } = view.header;
  const part = mixedOf(view.arrays, view.query, view.key);
  if (!part) return missingCard(view, "mixed", strings.step_mixed);
  const count = Math.min(SHOWN_COMPONENTS, part.v.length);
  const first = Array.from({ length: count }, (_, d) => d);
  const rows = [
    [namedTokens(strings.value_row, { key: tokenMark("key", keys[view.key]) }), part.v],
    [[strings.weighted_row], part.weighted],
    [namedTokens(strings.mixed_row, { query: tokenMark("query", tokens[view.query]) }), part.mixed],
  ];
  const line = ([name, values]) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, ...name),
      ...first.map((d) => el("td", {}, fmtFixed(values[d], DECIMALS))),
    );
  const table = el(
    "table",
    {},
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        el("th", { scope: "col" }, strings.component),
        ...first.map((d) => el("th", { scope: "col" }, String(d))),
      ),
    ),
    el("tbody", {}, ...rows.map(line)),
  );
  const share =
    part.share === null
      ? null
      : fill(strings.mixed_share, {
          share: `${Math.abs(part.share) < 1e-3 ? fmtReal(100 * part.share, 2) : fmtFixed(100 * part.share, 1)}\u2009%`,
        });
  return stepCard("mixed", strings.step_mixed, [
    el("p", { class: "hint" }, fill(strings.mixed_text, { n: count, d_head: part.v.length })),
    cueScroll(
      el("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": strings.step_mixed }, table),
    ),
    share ? el("p", { class: "share", dataset: { share: String(part.share) } }, share) : null,
  ]);
}

/** Where the mixed row goes, and how much of what W_O writes comes from this key: ‖α·f(x)‖. */
function projectedStep(/** @type {any} */ view) {
  const { strings, tokens, key_tokens: keys, n_heads: heads, head_slice: slice } = view.header;
  const effect = effectOf(view.arrays, view.query, view.key);
  const goes = namedTokens(strings.projected_text, {
    query: tokenMark("query", tokens[view.query]),
    first: slice[0],
    last: slice[1] - 1,
    n_heads: heads,
  }).flatMap((part) => (typeof part === "string" ? subscripted(part) : [part]));
  const writes = effect && [
    mathLine(
      "‖α · f(x)‖ = ",
      `${fmtReal(effect.weight, 5)} × ${fmtFixed(effect.norm, DECIMALS)} = `,
      resultOf(fmtReal(effect.effect, 5)),
    ),
    el(
      "p",
      { class: "share", dataset: { effect: String(effect.effect), rank: String(effect.rank) } },
      ...namedTokens(strings.effect_ranks, {
        key: tokenMark("key", keys[view.key]),
        rank: String(effect.rank),
        by_weight: String(effect.rankByWeight),
        n: String(effect.count),
      }),
    ),
  ];
  return stepCard("projected", strings.step_projected, [
    el("p", { class: "hint" }, ...goes),
    ...(writes ? [el("p", { class: "hint" }, ...subscripted(strings.effect_text)), ...writes] : []),
  ]);
}
