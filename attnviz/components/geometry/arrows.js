// @ts-check
// Arrows to drag: a query and some keys in one plane, their values in another. Angles, scores, weights and the output
// follow each movement; nothing is asked of the server.

import { button } from "../shared/controls.js";
import { el, setData, setText } from "../shared/dom.js";
import { fill, fmtFixed, fmtWeight } from "../shared/fmt.js";
import { angleBetween, attendArrows, readVectors, SCALING, writeVectors } from "./maths.js";
import { drawPlane, makePlane, makeTab, placeHandles } from "./plane.js";

/** @import { Theme } from "../shared/theme.js" */
/** @import { Arrow } from "./plane.js" */
/** @import { Answer, Header, Vector } from "./types.js" */

/** @typedef {ReturnType<typeof makeArrows>} Arrows */

const ADDED = /** @type {Vector} */ ([-1.5, -1.2]); // where another key and its value stand
const RINGS = [1, 2, 3];
const UNITS = ["₁", "₂", "₃", "₄", "₅", "₆"];

/** @param {{changed: (vectors: string) => void, redraw: () => void}} actions */
export function makeArrows({ changed, redraw }) {
  const asking = makePlane();
  const answering = makePlane();
  const note = el("p", { class: "av-sentence" });
  const table = el("table", { class: "av-geometry-table" });
  const mixed = el("p", { class: "av-geometry-sum av-number" });
  const status = el("p", { class: "av-status av-note", role: "status" });
  const hint = el("p", { class: "av-hint" });
  const [add, remove, reset] = [1, 2, 3].map(() => button({ label: "", onClick: () => undefined }));
  const { node, planes } = makeTab({
    above: [note],
    drawings: [asking.node, answering.node],
    side: [table, mixed, el("div", { class: "av-row" }, add, remove, reset), status, hint],
  });
  const state = { query: /** @type {Vector} */ ([1, 0]), answers: /** @type {Answer[]} */ ([]) };
  const tell = () => changed(writeVectors(state.query, state.answers));
  const take = (/** @type {string} */ text) => Object.assign(state, readVectors(text));
  /** @type {Header | null} */
  let header = null;
  const change = (/** @type {() => void} */ edit) => () => {
    edit();
    redraw();
    tell();
  };
  add.onclick = change(() => {
    const turn = state.answers.length;
    state.answers.push({ key: [ADDED[0] + turn / 4, ADDED[1]], value: [ADDED[1], ADDED[0] + turn / 4] });
  });
  remove.onclick = change(() => void state.answers.pop());
  reset.onclick = change(() => header && take(header.start));
  /** Says what moved, in the words of a handle. */
  const moved = (/** @type {string} */ name, /** @type {Vector} */ at) =>
    header && setText(status, tip(header, name, at));
  return {
    node,
    planes,
    update(/** @type {Header} */ data) {
      header = data;
      take(data.vectors);
      const { strings } = data;
      setText(note, strings.arrows_note);
      setText(hint, strings.moved);
      setText(asking.title, strings.asking);
      setText(answering.title, strings.answering);
      setText(add, strings.add);
      setText(remove, strings.remove);
      setText(reset, strings.reset);
    },
    draw(/** @type {Theme} */ theme, /** @type {number} */ room) {
      if (!header) return;
      const { strings, reach } = header;
      const row = attendArrows(state.query, state.answers);
      const size = { side: room, reach, rings: RINGS };
      add.disabled = state.answers.length >= header.max_keys;
      remove.disabled = state.answers.length < 2;
      drawPlane(asking, theme, size, questions(state, row.weights, theme));
      drawPlane(answering, theme, size, answersOf(state, row, theme));
      const keys = state.answers.map(({ key }, index) => ({
        at: key,
        label: tip(data(), keyName(index), key),
      }));
      placeHandles(
        asking,
        [{ at: state.query, label: tip(header, strings.query, state.query) }, ...keys],
        (index) => {
          return (to, isDone) => {
            if (index) state.answers[index - 1].key = to;
            else state.query = to;
            moved(index ? keyName(index - 1) : strings.query, to);
            redraw();
            if (isDone) tell();
          };
        },
      );
      const values = state.answers.map(({ value }, index) => ({
        at: value,
        label: tip(data(), valueName(index), value),
      }));
      placeHandles(answering, values, (index) => (to, isDone) => {
        state.answers[index].value = to;
        moved(valueName(index), to);
        redraw();
        if (isDone) tell();
      });
      fillTable(table, header, state, row);
      setText(mixed, `${strings.mixed} = (${row.output.map((x) => fmtFixed(x, 2)).join(", ")})`);
      asking.canvas.setAttribute("aria-label", strings.asking);
      answering.canvas.setAttribute("aria-label", strings.answering);
      setData(asking.canvas, { weights: row.weights.join(), scaled: row.scaled.join() });
      setData(answering.canvas, { output: row.output.join() });
    },
  };
  function data() {
    return /** @type {Header} */ (header);
  }
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
 * @param {{query: Vector, answers: Answer[]}} state
 * @param {number[]} weights
 * @param {Theme} theme
 * @returns {Arrow[]}
 */
function questions({ query, answers }, weights, theme) {
  const keys = answers.map(({ key }, index) => ({
    to: key,
    colour: theme.primary,
    label: keyName(index),
    share: weights[index],
  }));
  return [...keys, { to: query, colour: theme.accent, label: "q", thick: 3.5 }];
}

/**
 * The values dashed, the parts weight·value laid end to end, and the output, where they end.
 * @param {{answers: Answer[]}} state
 * @param {{weights: number[], output: Vector}} row
 * @param {Theme} theme
 * @returns {Arrow[]}
 */
function answersOf({ answers }, { weights, output }, theme) {
  const values = answers.map(({ value }, index) => ({
    to: value,
    colour: theme.primary,
    label: valueName(index),
    share: weights[index],
    thick: 1.5,
    dash: [5, 4],
  }));
  /** @type {Vector} */
  let from = [0, 0];
  const parts = answers.map(({ value }, index) => {
    /** @type {Vector} */
    const to = [from[0] + weights[index] * value[0], from[1] + weights[index] * value[1]];
    const part = { from, to, colour: theme.primary, thick: 2.5 };
    from = to;
    return part;
  });
  return [...values, ...parts, { to: output, colour: theme.text, label: "o", thick: 3.5 }];
}

/**
 * A row for each key: angle, score, weight.
 * @param {HTMLTableElement} table
 * @param {Header} header
 * @param {{query: Vector, answers: Answer[]}} state
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
