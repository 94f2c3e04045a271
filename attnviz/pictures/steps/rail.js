// @ts-check
// The rail: the way of the chosen cell in seven stops, each with its number there. A stop leads to its panels; what a head
// has no matrix for is no stop.

import { wantsLessMotion } from "../shared/clock.js";
import { el, setData, setText } from "../shared/dom.js";
import { fmtFixed, fmtReal } from "../shared/fmt.js";
import { subscripted } from "../shared/panel.js";
import { beforeMask, valueAt } from "./arithmetic.js";
import { isUsualScaling, scalingText } from "./scaled.js";

/** @import { Arrays, Header, Stage } from "./types.js" */

/** Of each stop its stages, and its sign; the mask's is a word. @type {readonly (readonly [sign: string, stages: readonly Stage[]])[]} */
const STOPS = [
  ["x → q, k, v", ["q", "k", "v", "x", "unrotated_q", "unrotated_k"]],
  ["q · k", ["scores"]],
  ["÷ √d_k", ["scaled", "capped", "biased"]],
  ["", ["masked"]],
  ["softmax", ["weights"]],
  ["· V", ["mixed"]],
  ["· W_O", ["projected", "concat"]],
];
const [SCALED, MASK] = [2, 3];
const CIRCLED = "①②③④⑤⑥⑦";

/** @returns {{node: HTMLElement, write: (header: Header) => void, show: (arrays: Arrays, cell: {query: number | null, key: number | null}) => void}} */
export function makeRail(/** @type {(stage: Stage) => HTMLElement | null} */ panelOf) {
  const stops = STOPS.map(([sign, stages], at) => {
    const name = el("span", {}, ...subscripted(sign));
    const value = el("b", { class: "av-number" });
    const number = el("i", { "aria-hidden": "true" }, CIRCLED[at]);
    const go = () => open(at);
    const node = el("button", { type: "button", class: "stop", on: { click: go } }, number, name, value);
    return { node, name, value, stages };
  });
  const node = el("nav", { class: "rail" }, ...stops.map((stop) => stop.node));
  const firstPanel = (/** @type {number} */ at) =>
    stops[at].stages.map(panelOf).find((panel) => panel !== null) ?? null;
  const open = (/** @type {number} */ at) => {
    const panel = firstPanel(at);
    if (!panel) return;
    stops.forEach((stop, other) => {
      if (other === at) stop.node.setAttribute("aria-current", "step");
      else stop.node.removeAttribute("aria-current");
      for (const stage of stop.stages) {
        const of = panelOf(stage);
        if (of) setData(of, { stop: other === at ? "1" : null });
      }
    });
    panel.scrollIntoView({ behavior: wantsLessMotion() ? "auto" : "smooth", block: "center" });
  };
  node.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const here = stops.findIndex((stop) => stop.node === event.target);
    const next = by && stops[here + by];
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    next.node.focus({ preventScroll: true });
  });
  return {
    node,
    write(header) {
      const { strings, scaling } = header;
      node.setAttribute("aria-label", strings.rail);
      setText(stops[MASK].name, strings.stop_mask);
      if (!isUsualScaling(header)) setText(stops[SCALED].name, `· ${scalingText(scaling, 4)}`);
      stops.forEach((stop, at) => (stop.node.disabled = firstPanel(at) === null));
    },
    show(arrays, { query, key }) {
      const numbers = query === null || key === null ? {} : numbersOf(arrays, query, key);
      stops.forEach(({ value, stages }) => setText(value, numbers[stages[0]] ?? ""));
    },
  };
}

/**
 * The numbers of a cell at the stops that have one.
 * @param {Arrays} arrays
 * @param {number} query
 * @param {number} key
 * @returns {Partial<Record<Stage, string>>}
 */
function numbersOf(arrays, query, key) {
  const print = (/** @type {number | null} */ value) => (value === null ? "" : fmtReal(value, 4));
  const weight = valueAt(arrays.weights, query, key);
  return {
    scores: print(valueAt(arrays.scores, query, key)),
    scaled: print(valueAt(beforeMask(arrays), query, key)),
    masked: print(valueAt(arrays.masked, query, key)),
    weights: weight === null ? "" : fmtFixed(weight, 4),
  };
}
