// @ts-check
// The list of the strongest cells of a long head, and how far apart their tokens are at least.

import { isolate } from "../shared/axes.js";
import { el, elementAt, fillNodes } from "../shared/dom.js";
import { fill } from "../shared/fmt.js";
import { printed } from "../shared/panel.js";

/** @import { Cell } from "./camera.js" */
/** @import { AxisTokens, Text } from "./scene.js" */
/** @import { Header, Strings } from "./types.js" */

/**
 * `point` says which cell the list points at, `pin` which one was clicked, `distance` how far apart tokens are to be.
 * @typedef {{point: (cell: Cell | null) => void, pin: (cell: Cell) => void,
 *   distance: (distance: number) => void}} CellActions
 */

/**
 * The list; `set` shows other cells.
 * @param {Header} header
 * @param {CellActions} actions
 */
export function makeCells({ strings, distances }, actions) {
  const list = el("ol", { class: "av-cells", "aria-label": strings.strongest });
  const none = el("p", { class: "av-note", hidden: true }, strings.strongest_none);
  const options = distances.map((distance) => {
    const label = fill(strings.distance_of, { count: distance });
    return el("option", { value: String(distance) }, label);
  });
  const onChange = () => actions.distance(Number(select.value));
  const select = el("select", { class: "av-cells-distance", on: { change: onChange } }, ...options);
  const label = el("label", { class: "av-note av-cells-label" }, strings.distance, select);
  const heading = el("h3", { class: "av-heading" }, strings.strongest);
  const node = el("div", { class: "av-cells-box" }, heading, distances.length ? label : null, list, none);
  const point = (/** @type {Event} */ event) => {
    const cell = cellOf(event);
    if (cell) actions.point(cell);
  };
  const leave = (/** @type {Event} */ event) => {
    if (cellOf(event)) actions.point(null);
  };
  list.addEventListener("pointerover", point);
  list.addEventListener("focusin", point);
  list.addEventListener("pointerout", leave);
  list.addEventListener("focusout", leave);
  const set = (/** @type {Header} */ { cells, distance }, /** @type {Text} */ text) => {
    if (distances.length) select.value = String(distance);
    none.hidden = cells.length > 0;
    const buttons = cells.map((cell) => cellButton(strings, text, cell, actions));
    list.replaceChildren(...buttons.map((button) => el("li", {}, button)));
  };
  return { node, set };
}

/** The cell of the button that an event happened at. */
function cellOf(/** @type {Event} */ event) {
  const button = elementAt(event)?.closest("button");
  return button ? { query: Number(button.dataset.query), key: Number(button.dataset.key) } : null;
}

/**
 * @param {Strings} strings
 * @param {Text} text
 * @param {Header["cells"][number]} cell
 * @param {CellActions} actions
 */
function cellButton(strings, { axes }, [query, key, weight], actions) {
  const named = (/** @type {AxisTokens} */ { labels }, /** @type {number} */ i) =>
    el("span", { class: "av-cells-token" }, isolate(labels[i]), el("small", {}, i));
  const names = { query: named(axes.rows, query), key: named(axes.columns, key) };
  return el(
    "button",
    {
      type: "button",
      class: "av-cells-cell",
      dataset: { query, key, weight },
      on: { click: () => actions.pin({ query, key }) },
    },
    el("span", { class: "av-cells-names" }, ...fillNodes(strings.cell, names)),
    el("b", { class: "av-number" }, printed(weight)),
  );
}
