// @ts-check
// The rail: the way of the chosen cell in seven stops, each with its number there. A stop is looked at alone in the
// picture above; what a head has no matrix for is no stop. One stop is in the tab order, arrow keys lead to the others.

import { moveAlongChips } from "../shared/chips.js";
import { el, setText } from "../shared/dom.js";
import { fmtFixed, fmtReal } from "../shared/fmt.js";
import { subscripted } from "../shared/panel.js";
import { beforeMask, valueAt } from "./arithmetic.js";
import { isUsualScaling, scalingText } from "./scaled.js";
import { STOPS, circled } from "./stops.js";

/** @import { FilmStage } from "./film_scenes.js" */
/** @import { Arrays, Header, Stage } from "./types.js" */

/** @typedef {{query: number | null, key: number | null}} ChosenCell */
/**
 * `write` takes the texts of a head, `show` the numbers of its chosen cell, `mark` the stop that is looked at.
 * @typedef {{node: HTMLElement, write: (header: Header) => void, show: (arrays: Arrays, cell: ChosenCell) => void,
 *   mark: (stop: FilmStage | null) => void}} Rail
 */

/** @returns {Rail} */
export function makeRail(/** @type {(stop: FilmStage) => void} */ choose) {
  const stops = STOPS.map(({ name, sign, stages }) => {
    const label = el("span", {}, ...subscripted(sign));
    const value = el("b", { class: "av-number" });
    const number = el("i", { "aria-hidden": "true" }, circled(name));
    const go = () => choose(name);
    const node = el("button", { type: "button", class: "stop", on: { click: go } }, number, label, value);
    return { name, node, label, value, stages };
  });
  const node = el("div", { class: "rail", role: "toolbar" }, ...stops.map((stop) => stop.node));
  const open = () => stops.filter((stop) => !stop.node.disabled);
  node.addEventListener("keydown", (event) =>
    moveAlongChips(
      event,
      open().map((stop) => stop.node),
    ),
  );
  const labelOf = (/** @type {FilmStage} */ name) =>
    /** @type {(typeof stops)[number]} */ (stops.find((stop) => stop.name === name)).label;
  return {
    node,
    write(header) {
      const { strings, scaling, panels } = header;
      node.setAttribute("aria-label", strings.rail);
      setText(labelOf("masked"), strings.stop_mask);
      if (!isUsualScaling(header)) setText(labelOf("scaled"), `· ${scalingText(scaling, 4)}`);
      for (const stop of stops) stop.node.disabled = !panels.some(({ stage }) => stop.stages.includes(stage));
    },
    show(arrays, { query, key }) {
      const numbers = query === null || key === null ? {} : numbersOf(arrays, query, key);
      for (const { name, value } of stops) setText(value, numbers[name] ?? "");
    },
    mark(stop) {
      const first = open().find(({ name }) => name === stop) ?? open()[0];
      for (const { name, node: button } of stops) {
        if (name === stop) button.setAttribute("aria-current", "step");
        else button.removeAttribute("aria-current");
        button.tabIndex = button === first?.node ? 0 : -1;
      }
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
