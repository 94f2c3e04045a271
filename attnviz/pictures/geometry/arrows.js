// @ts-check
// Arrows to drag: a query and some keys in one plane, their values in another. Angles, scores, weights and the output
// follow each movement; nothing is asked of the server.

import { button } from "../shared/controls.js";
import { el, setData, setText } from "../shared/dom.js";
import { fill, fmtFixed, fmtVector, fmtWeight } from "../shared/fmt.js";
import { angleBetween, attendArrows, readVectors, SCALING, writeVectors } from "./maths.js";
import { drawPlane, makePlane, makeTab, placeHandles } from "./plane.js";

/** @import { Theme } from "../shared/theme.js" */
/** @import { Arrow } from "./plane.js" */
/** @import { Header } from "./types.js" */
/** @import { Answer, Vector } from "./maths.js" */

/** @typedef {ReturnType<typeof makeArrows>} Arrows */
/** @typedef {ReturnType<typeof buildParts>} Parts */
/** @typedef {{query: Vector, answers: Answer[]}} State */

const ADDED = /** @type {Vector} */ ([-1.5, -1.2]); // where another key and its value stand
const RINGS = [1, 2, 3];
const UNITS = ["₁", "₂", "₃", "₄", "₅", "₆"];

/** @param {{changed: (vectors: string) => void, redraw: () => void}} actions */
export function makeArrows({ changed, redraw }) {
  const parts = buildParts();
  /** @type {State} */
  const state = { query: [1, 0], answers: [] };
  const tell = () => changed(writeVectors(state.query, state.answers));
  const take = (/** @type {string} */ text) => Object.assign(state, readVectors(text));
  /** @type {Header | null} */
  let header = null;
  const change = (/** @type {() => void} */ edit) => () => {
    edit();
    redraw();
    tell();
  };
  parts.add.onclick = change(() => {
    const turn = state.answers.length;
    state.answers.push({ key: [ADDED[0] + turn / 4, ADDED[1]], value: [ADDED[1], ADDED[0] + turn / 4] });
  });
  parts.remove.onclick = change(() => void state.answers.pop());
  parts.reset.onclick = change(() => header && take(header.start));
  return {
    node: parts.node,
    planes: parts.planes,
    update(/** @type {Header} */ data) {
      header = data;
      take(data.vectors);
      translate(parts, data.strings);
    },
    draw(/** @type {Theme} */ theme, /** @type {number} */ room) {
      if (!header) return;
      drawTab(parts, { header, state, theme, room });
      /** Takes a handle's place, and says what moved in the words of the handle. */
      const moved = (/** @type {string} */ name, /** @type {Vector} */ to, /** @type {boolean} */ isDone) => {
        if (header) setText(parts.status, tip(header, name, to));
        redraw();
        if (isDone) tell();
      };
      placeHandles(parts.asking, askingHandles(header, state), (index) => (to, isDone) => {
        if (index) state.answers[index - 1].key = to;
        else state.query = to;
        moved(index ? keyName(index - 1) : String(header?.strings.query), to, isDone);
      });
      placeHandles(parts.answering, answeringHandles(header, state), (index) => (to, isDone) => {
        state.answers[index].value = to;
        moved(valueName(index), to, isDone);
      });
    },
  };
}

/** The elements: two planes, and the table, the sum and the buttons beside them. */
function buildParts() {
  const asking = makePlane();
  const answering = makePlane();
  const note = el("p", { class: "av-sentence" });
  const table = el("table", { class: "av-geometry-table" });
  const mixed = el("p", { class: "av-geometry-sum av-number" });
  const status = el("p", { class: "av-status av-note", role: "status" });
  const hint = el("p", { class: "av-hint" });
  const [add, remove, reset] = [1, 2, 3].map(() => button({ label: "", onClick: () => undefined }));
  const { node, planes } = makeTab({
    below: [note],
    drawings: [asking.node, answering.node],
    side: [table, mixed, el("div", { class: "av-row" }, add, remove, reset), status, hint],
  });
  return { node, planes, asking, answering, note, table, mixed, status, hint, add, remove, reset };
}

function translate(/** @type {Parts} */ parts, /** @type {Header["strings"]} */ strings) {
  setText(parts.note, strings.arrows_note);
  setText(parts.hint, strings.moved);
  setText(parts.asking.title, strings.asking);
  setText(parts.answering.title, strings.answering);
  setText(parts.add, strings.add);
  setText(parts.remove, strings.remove);
  setText(parts.reset, strings.reset);
}

/**
 * Draws both planes and writes the numbers of the row beside them.
 * @param {Parts} parts
 * @param {{header: Header, state: State, theme: Theme, room: number}} view
 */
function drawTab({ asking, answering, add, remove, table, mixed }, { header, state, theme, room }) {
  const { strings, reach } = header;
  const row = attendArrows(state.query, state.answers);
  const size = { side: room, reach, rings: RINGS };
  add.disabled = state.answers.length >= header.max_keys;
  remove.disabled = state.answers.length < 2;
  drawPlane(asking, theme, size, questions(state, row.weights, theme));
  drawPlane(answering, theme, size, answersOf(state, row, theme));
  fillTable(table, header, state, row);
  setText(mixed, `${strings.mixed} = ${fmtVector(row.output.map((x) => fmtFixed(x, 2)))}`);
  asking.canvas.setAttribute("aria-label", strings.asking);
  answering.canvas.setAttribute("aria-label", strings.answering);
  setData(asking.canvas, { weights: row.weights.join(), scaled: row.scaled.join() });
  setData(answering.canvas, { output: row.output.join() });
}

/** The tips of the query and of the keys, in this order. */
function askingHandles(/** @type {Header} */ header, /** @type {State} */ { query, answers }) {
  const keys = answers.map(({ key }, index) => ({ at: key, label: tip(header, keyName(index), key) }));
  return [{ at: query, label: tip(header, header.strings.query, query) }, ...keys];
}

/** The tips of the values. */
function answeringHandles(/** @type {Header} */ header, /** @type {State} */ { answers }) {
  return answers.map(({ value }, index) => ({ at: value, label: tip(header, valueName(index), value) }));
}

/** "k₂". */
function keyName(/** @type {number} */ index) {
  return `k${UNITS[index]}`;
}

/** "v₂". */
function valueName(/** @type {number} */ index) {
  return `v${UNITS[index]}`;
}

/** Where a tip stands, in words. */
function tip(/** @type {Header} */ { strings }, /** @type {string} */ name, /** @type {Vector} */ [x, y]) {
  return fill(strings.value, { name, x: fmtFixed(x, 2), y: fmtFixed(y, 2) });
}

/**
 * The query, and each key as visible as its weight is large.
 * @param {State} state
 * @param {number[]} weights
 * @param {Theme} theme
 * @returns {Arrow[]}
 */
function questions({ query, answers }, weights, theme) {
  const keys = answers.map(({ key }, index) => ({
    to: key,
    colour: theme.roles.key,
    label: keyName(index),
    share: weights[index],
  }));
  return [...keys, { to: query, colour: theme.roles.query, label: "q", thick: 3.5 }];
}

/**
 * The values dotted, the parts weight·value laid end to end, and the output, where they end.
 * @param {{answers: Answer[]}} state
 * @param {{weights: number[], output: Vector}} row
 * @param {Theme} theme
 * @returns {Arrow[]}
 */
function answersOf({ answers }, { weights, output }, theme) {
  const values = answers.map(({ value }, index) => ({
    to: value,
    colour: theme.roles.value,
    label: valueName(index),
    share: weights[index],
    thick: 1.5,
    dash: [2, 3],
  }));
  /** @type {Vector} */
  let from = [0, 0];
  const parts = answers.map(({ value }, index) => {
    /** @type {Vector} */
    const to = [from[0] + weights[index] * value[0], from[1] + weights[index] * value[1]];
    const part = { from, to, colour: theme.roles.value, thick: 2.5 };
    from = to;
    return part;
  });
  return [...values, ...parts, { to: output, colour: theme.roles.query, label: "o", thick: 3.5 }];
}

/**
 * A row for each key: angle, score, weight.
 * @param {HTMLTableElement} table
 * @param {Header} header
 * @param {State} state
 * @param {{scaled: number[], weights: number[]}} row
 */
function fillTable(table, { strings }, { query, answers }, { scaled, weights }) {
  const names = [strings.key, strings.angle, "q·k", strings.scaled, strings.weight];
  const head = el("tr", {}, ...names.map((name) => el("th", { scope: "col" }, name)));
  const rows = answers.map(({ key }, index) => {
    const bar = el("span", { class: "av-bar-fill" });
    bar.style.width = `${100 * weights[index]}%`;
    const track = el("span", { class: "av-bar-track", "aria-hidden": "true" }, bar);
    const angle = angleBetween(query, key);
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, keyName(index)),
      el("td", {}, Number.isNaN(angle) ? "–" : `${fmtFixed(angle, 0)}°`),
      el("td", {}, fmtFixed(scaled[index] / SCALING, 2)),
      el("td", {}, fmtFixed(scaled[index], 2)),
      el("td", { class: "av-geometry-weight" }, track, fmtWeight(weights[index])),
    );
  });
  table.replaceChildren(el("caption", {}, strings.keys), el("thead", {}, head), el("tbody", {}, ...rows));
}
