// @ts-check
// The panels of the strip: their elements, built once for each set of stages, and what leads from one to the next.

import { el } from "../shared/dom.js";
import { subscripted } from "../shared/panel.js";
import { isUsualScaling, scalingText } from "./scaled.js";
import { hasKeyRows, isSquare, LINES } from "./stages.js";
import { makeMini } from "./window.js";

/** @import { Panel, Picture, State } from "./state.js" */
/** @import { Header, ShownPanel, Stage } from "./types.js" */
/** @import { PanelInfo } from "./state.js" */

/** @type {Record<Stage, string>} */
const OPERATORS = {
  x: "",
  unrotated_q: "X·W_Q",
  unrotated_k: "X·W_K",
  q: "X·W_Q",
  k: "X·W_K",
  v: "X·W_V",
  scores: "Q·Kᵀ",
  scaled: "÷ √d_k",
  capped: "softcap",
  biased: "+ B",
  masked: "+ mask",
  weights: "softmax",
  mixed: "· V",
  concat: "concat",
  projected: "· W_O",
};
/** @type {readonly Stage[]} */
const LAYERS = ["unrotated_q", "unrotated_k", "q", "k", "v"];
/** @type {readonly Stage[]} */
const ARROWLESS = ["x", "unrotated_k", "k", "v"];

/** What the panels depend on: others have to be built when it changes. */
function panelsKey(/** @type {Header} */ header) {
  return JSON.stringify([
    header.source,
    header.cross,
    header.scaling,
    header.turned,
    header.factors,
    header.panels.map((info) => [
      info.stage,
      info.absent === null,
      info.absent === null && info.error === null,
    ]),
  ]);
}

/**
 * Builds the panels when the data has another set of them; keeps them (and the focus) otherwise.
 * @param {State} state
 * @param {(panel: Panel, picture: Picture) => void} listen adds the listeners of a new panel
 * @param {(query: number, key: number) => void} choose
 */
export function buildPanels(state, listen, choose) {
  const { header, parts } = state;
  const builtFor = panelsKey(header);
  if (state.builtFor === builtFor) {
    state.panels.forEach((panel, i) => renewPanel(panel, header.panels[i]));
    return;
  }
  state.builtFor = builtFor;
  state.panels = header.panels.map((info) => makePanel(info, header, choose));
  const stepsOf = (/** @type {readonly Stage[]} */ stages) =>
    state.panels.filter((panel) => stages.includes(panel.info.stage)).map((panel) => panel.step);
  parts.strip.replaceChildren(...LINES.map((stages) => el("div", { class: "line" }, ...stepsOf(stages))));
  for (const panel of state.panels) if (panel.picture) listen(panel, panel.picture);
}

/** Another head's numbers of the same stage. */
function renewPanel(/** @type {Panel} */ panel, /** @type {PanelInfo} */ info) {
  panel.info = info;
  if (panel.picture && info.absent === null) panel.picture.info = info;
}

/** What leads into a panel, as this model computes it. */
function operatorOf(/** @type {PanelInfo} */ info, /** @type {Header} */ header) {
  const { stage } = info;
  if (header.turned.includes(stage)) return "RoPE";
  if (stage === "scaled" && !isUsualScaling(header)) return `× ${scalingText(header.scaling, 3)}`;
  if (!LAYERS.includes(stage)) return OPERATORS[stage];
  if (header.given) return "";
  const product = hasKeyRows(stage) ? OPERATORS[stage].replace("X", header.source) : OPERATORS[stage];
  const isByHand = header.edits.some((edit) => edit.stage === stage);
  if (info.absent === null && info.error === null && !isByHand) return `f(${product})`;
  return stage in header.factors ? `s_${stage.toUpperCase()}·${product}` : product;
}

/**
 * @param {PanelInfo} info
 * @param {Header} header
 * @param {(query: number, key: number) => void} choose
 * @returns {Panel}
 */
function makePanel(info, header, choose) {
  const title = el("h2");
  const formula = el("span", { class: "formula", lang: "en" });
  const shape = el("span", { class: "shape" });
  const badge = el("p", { class: "badge" });
  const note = el("p", { class: "note" });
  const reason = el("p", { class: "absent" });
  const picture = info.absent === null ? makePicture(info, choose) : null;
  const operator = operatorOf(info, header);
  const mini = picture?.mini;
  const section = el(
    "section",
    { class: "panel", dataset: { stage: info.stage } },
    operator ? el("span", { class: "operator", lang: "en" }, ...subscripted(operator)) : null,
    el("header", {}, title, formula, shape, note, ...(mini ? [mini.map, mini.frame] : [])),
    ...(picture ? [picture.plot, picture.scaleLine, picture.readout] : [reason]),
    badge,
  );
  const hasArrow = !ARROWLESS.includes(info.stage) && !header.turned.includes(info.stage);
  const arrow = el("span", { class: "arrow", "aria-hidden": "true" }, hasArrow ? "→" : "");
  const step = el("div", { class: "step" }, arrow, section);
  return { info, step, section, title, formula, shape, note, badge, reason, picture, wroteFormula: "" };
}

/**
 * @param {ShownPanel} info
 * @param {(query: number, key: number) => void} choose
 * @returns {Picture}
 */
function makePicture(info, choose) {
  const base = el("canvas", { role: "img", tabIndex: 0 });
  const over = el("canvas", { class: "over", "aria-hidden": "true" });
  const low = el("span");
  const high = el("span");
  const bar = el("span", { class: "ramp" });
  return {
    info,
    base,
    over,
    low,
    high,
    bar,
    scaleLine: el("p", { class: "scale" }, low, bar, high),
    readout: el("p", { class: "readout" }),
    plot: el("div", { class: "plot" }, base, over),
    mini: isSquare(info.stage) ? makeMini((cell) => choose(cell.row, cell.col)) : null,
    hover: null,
    col: null,
    drawn: null,
    painted: null,
    marked: null,
  };
}
