// @ts-check
// A circuit that is cut out: a slider of how many edges are kept, the curve of what they keep beside random edges, and the
// kept edges as a drawing and as a list. All of it is here: the server is only told where the slider was left.

import { parse } from "../shared/buffer.js";
import { cueScroll, el, markDrawn, setText, watchSize } from "../shared/dom.js";
import { fill, fmtFixed } from "../shared/fmt.js";
import { makeCurve } from "./curve.js";
import { drawEdges, sideClass } from "./drawing.js";

/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Arrays, Header } from "./types.js" */

const NARROW_PX = 860;
const LISTED = 24;
const SIDES = /** @type {const} */ (["q", "k", "v", null]);

/**
 * @typedef {{host: Host, data: Uint8Array | null, header: Header | null, arrays: Arrays | null, at: number,
 *   told: number | null}} State `told`: the edges kept that the server was told last and has not answered
 */
/** @typedef {ReturnType<typeof buildParts>} Parts */

/** @returns {Mounted} */
export default function cutOut(/** @type {Host} */ host) {
  /** @type {State} */
  const state = { host, data: null, header: null, arrays: null, at: 0, told: null };
  const parts = buildParts();
  host.root.append(parts.box);
  parts.slider.addEventListener("input", () => {
    state.at = Number(parts.slider.value);
    show(state, parts);
  });
  parts.slider.addEventListener("change", () => {
    const kept = state.header?.points[state.at];
    if (kept === undefined) return;
    state.told = kept;
    host.address.set({ kept: String(kept) });
    host.trigger("kept", kept);
  });
  const unwatch = watchSize(parts.box, () => {
    parts.box.classList.toggle("av-cut-narrow", parts.box.clientWidth < NARROW_PX);
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
  const summary = el("div", { class: "av-cut-summary" });
  const slider = el("input", { type: "range", class: "av-cut-slider", min: 0, step: 1 });
  const label = el("label", { class: "av-cut-label" }, el("span", {}), slider);
  const said = el("div", { class: "av-cut-said", "aria-live": "polite" });
  const curve = el("div", { class: "av-cut-curve" });
  const drawing = el("div", { class: "av-cut-drawing" });
  const legend = el("p", { class: "av-note av-row" });
  const list = el("table", { class: "av-cut-list" });
  const left = el("div", { class: "av-cut-left" }, label, said, curve);
  const scroll = cueScroll(el("div", { class: "av-cut-scroll" }, list));
  const right = el("div", { class: "av-cut-right" }, cueScroll(drawing), legend, scroll);
  const body = el("div", { class: "av-cut-body" }, left, right);
  const box = el("section", { class: "av av-cut" }, summary, body);
  return { box, summary, slider, label, said, curve, drawing, legend, list };
}

function takeData(/** @type {State} */ state, /** @type {Parts} */ parts, /** @type {Uint8Array} */ data) {
  /** @type {{header: Header, arrays: Arrays}} */
  const { header, arrays } = parse(data);
  const { strings } = header;
  const isAnother = `${state.header?.points}` !== `${header.points}`;
  Object.assign(state, { data, header, arrays });
  // an answer to an earlier place of the slider comes while a hand moves on
  if (isAnother || state.told === null || state.told === header.kept) {
    state.told = null;
    state.at = Math.max(0, header.points.indexOf(header.kept));
  }
  parts.summary.replaceChildren(
    ...header.sentences.map((text, at) => el("p", { class: at ? "av-note" : "av-sentence" }, text)),
  );
  parts.slider.max = String(header.points.length - 1);
  parts.slider.value = String(state.at);
  if (parts.label.firstElementChild) setText(parts.label.firstElementChild, strings.kept);
  parts.legend.replaceChildren(
    ...SIDES.map((side) =>
      el("span", { class: `av-cut-sign ${sideClass(side)}` }, strings[`side_${side ?? "other"}`]),
    ),
  );
  show(state, parts);
}

/** What the slider says: sentences, the mark on the curve, the edges. */
function show(/** @type {State} */ { header, arrays, at }, /** @type {Parts} */ parts) {
  if (!header || !arrays) return;
  const n = header.points[at];
  parts.slider.setAttribute("aria-valuetext", `${n}`);
  parts.said.replaceChildren(...sentences(header, arrays, at));
  parts.curve.replaceChildren(makeCurve(header, arrays, at, Math.max(260, parts.curve.clientWidth)));
  parts.drawing.replaceChildren(drawEdges(header, n));
  parts.list.replaceChildren(...rows(header, n));
  markDrawn(parts.box);
}

function sentences(/** @type {Header} */ header, /** @type {Arrays} */ arrays, /** @type {number} */ at) {
  const { strings, points, n_edges: total } = header;
  const values = { n: points[at], total };
  const of = (/** @type {number} */ share) => ({ ...values, share: percent(share) });
  return [
    el("p", { class: "av-sentence" }, fill(strings.says_kept, of(arrays.faithful.data[at]))),
    el(
      "p",
      { class: "av-note" },
      fill(strings.random_kept, spread(arrays.random_faithful, points.length, at)),
    ),
    el("p", { class: "av-sentence" }, fill(strings.says_cut, of(arrays.complete.data[at]))),
    el(
      "p",
      { class: "av-note" },
      fill(strings.random_cut, spread(arrays.random_complete, points.length, at)),
    ),
  ];
}

/** Mean, least and most of the draws at a point. */
function spread(
  /** @type {{data: ArrayLike<number>}} */ { data },
  /** @type {number} */ n,
  /** @type {number} */ at,
) {
  const draws = Array.from({ length: data.length / n }, (_, draw) => data[draw * n + at]);
  const mean = draws.reduce((sum, share) => sum + share, 0) / draws.length;
  return { mean: percent(mean), low: percent(Math.min(...draws)), high: percent(Math.max(...draws)) };
}

/** A share as percent digits; it may lie below 0 or above 100. */
function percent(/** @type {number} */ share) {
  return fmtFixed(Math.round(100 * share) || 0, 0);
}

function rows(/** @type {Header} */ header, /** @type {number} */ n) {
  const { strings, edges } = header;
  const head = el(
    "tr",
    {},
    el("th", { scope: "col" }, strings.edge),
    el("th", { scope: "col" }, strings.change),
  );
  const body = edges
    .slice(0, Math.min(n, LISTED))
    .map((edge) =>
      el(
        "tr",
        {},
        el("td", {}, el("span", { class: `av-cut-sign ${sideClass(edge.side)}` }), edgeName(header, edge)),
        el(
          "td",
          { class: "av-number" },
          `${edge.change > 0 ? "+" : ""}${fmtFixed(edge.change, 2)}${edge.exact ? "" : ` (${strings.estimated})`}`,
        ),
      ),
    );
  return [el("caption", {}, strings.list), el("thead", {}, head), el("tbody", {}, ...body)];
}

function edgeName(/** @type {Header} */ { strings }, /** @type {Header["edges"][number]} */ edge) {
  const name = (/** @type {string} */ node) =>
    node === "embeddings" ? strings.embeddings : node === "answer" ? strings.answer : node;
  return `${name(edge.sender)} → ${name(edge.receiver)}${edge.side ? `.${edge.side}` : ""}`;
}
