// @ts-check
// The elements around the plot of a long head: picker, scale, zoom buttons, map, search, strongest cells, readouts.

import { isolate } from "../shared/axes.js";
import { SCALES } from "../shared/colors.js";
import { button, segmented } from "../shared/controls.js";
import { el, fillNodes, keycaps } from "../shared/dom.js";
import { fill } from "../shared/fmt.js";
import { printed } from "../shared/panel.js";
import { heardNote } from "../shared/spectrum.js";
import { makeFinder } from "./find.js";

/**
 * @param {any} header
 * @param {any} picker
 * @param {string} scaleNow
 * @param {any} act
 */
export function buildTiles(header, picker, scaleNow, act) {
  const { strings } = header;
  const hint = makeTilesHint(strings);
  const plot = el("canvas", {
    role: "img",
    tabIndex: 0,
    class: "av-tiles-plot",
    "aria-describedby": hint.id,
  });
  const map = el("canvas", { role: "img", class: "av-tiles-map" });
  const bar = el("canvas", { role: "img" });
  const title = el("h2", { class: "av-title" });
  const scale = segmented({
    label: strings.scale,
    value: scaleNow,
    options: SCALES.map((value) => ({ value, label: strings[`scale_${value}`] })),
    onChange: act.scale,
  });
  const zoom = [
    ["−", strings.zoom_out, 0.5],
    ["+", strings.zoom_in, 2],
  ].map(([text, label, factor]) => {
    const node = button({ label: String(label), text: String(text), onClick: () => act.zoom(factor) });
    node.classList.add("av-find-step");
    return node;
  });
  const readout = el("p", { class: "av-readout av-number", role: "status", "aria-live": "polite" });
  const pinned = el("p", { class: "av-readout av-number av-tiles-pinned" });
  const finder = makeFinder(strings, act);
  const cells = makeCells(strings, header.distances, act);
  const top = el(
    "div",
    { class: "av-tiles-top" },
    el("div", { class: "av-row" }, title, picker.node),
    el("span", { class: "av-spring" }),
    el("div", { class: "av-row" }, ...zoom, button({ label: strings.zoom_whole, onClick: act.whole })),
    el(
      "div",
      { class: "av-tiles-scale" },
      el("div", { class: "av-row" }, el("span", { class: "av-note" }, strings.scale), scale.node),
      bar,
    ),
  );
  const left = el(
    "div",
    { class: "av-tiles-left" },
    plot,
    header.heard
      ? el("p", { class: "av-note" }, heardNote(header.heard, strings.heard_note, strings.heard_rest))
      : null,
    readout,
    pinned,
    hint,
  );
  const right = el("div", { class: "av-tiles-right" }, map, finder.node, cells.node);
  return {
    plot,
    map,
    bar,
    title,
    scale,
    readout,
    pinned,
    finder,
    cells,
    right,
    nodes: [top, el("div", { class: "av-tiles-body" }, left, right)],
  };
}

/**
 * The list of the strongest cells, and how far apart their tokens are at least.
 * @param {Record<string, string>} strings
 * @param {number[]} distances
 * @param {any} act
 */
function makeCells(strings, distances, act) {
  const list = el("ol", { class: "av-cells", "aria-label": strings.strongest });
  const none = el("p", { class: "av-note", hidden: true }, strings.strongest_none);
  const select = el(
    "select",
    { class: "av-cells-distance", on: { change: () => act.distance(Number(select.value)) } },
    ...distances.map((count) =>
      el(
        "option",
        { value: String(count) },
        fill(strings.distance_of, { count: count.toLocaleString("en") }),
      ),
    ),
  );
  const node = el(
    "div",
    { class: "av-cells-box" },
    el("h3", { class: "av-heading" }, strings.strongest),
    distances.length ? el("label", { class: "av-note av-cells-label" }, strings.distance, select) : null,
    list,
    none,
  );
  const point = (/** @type {Event} */ event, /** @type {boolean} */ on) => {
    const button = /** @type {any} */ (event.target).closest?.("button");
    if (button)
      act.point(on ? { query: Number(button.dataset.query), key: Number(button.dataset.key) } : null);
  };
  for (const [type, on] of [
    ["pointerover", true],
    ["pointerout", false],
    ["focusin", true],
    ["focusout", false],
  ]) {
    list.addEventListener(type, (/** @type {Event} */ event) => point(event, Boolean(on)));
  }
  const set = (/** @type {number[][]} */ cells, /** @type {any} */ axes, /** @type {number} */ distance) => {
    if (distances.length) select.value = String(distance);
    none.hidden = cells.length > 0;
    list.replaceChildren(
      ...cells.map(([query, key, weight]) =>
        el("li", {}, cellButton(strings, axes, { query, key, weight }, act)),
      ),
    );
  };
  return { node, set };
}

/**
 * @param {Record<string, string>} strings
 * @param {any} axes
 * @param {any} cell
 * @param {any} act
 */
function cellButton(strings, axes, cell, act) {
  const { query, key, weight } = cell;
  const named = (/** @type {any} */ axis, /** @type {number} */ i) =>
    el("span", { class: "av-cells-token" }, `${isolate(axis.labels[i])}`, el("small", {}, String(i)));
  return el(
    "button",
    {
      type: "button",
      class: "av-cells-cell",
      dataset: { query, key, weight },
      on: { click: () => act.pin({ query, key }) },
    },
    el(
      "span",
      { class: "av-cells-names" },
      ...fillNodes(strings.cell, { query: named(axes.rows, query), key: named(axes.columns, key) }),
    ),
    el("b", { class: "av-number" }, printed(weight)),
  );
}

function makeTilesHint(/** @type {Record<string, string>} */ strings) {
  const keys = {
    wheel: el("kbd", {}, "⇅"),
    plus: keycaps("+", "−"),
    drag: el("kbd", {}, "✥"),
    arrows: keycaps("←", "→", "↑", "↓"),
    home: keycaps("Home"),
    enter: keycaps("Enter"),
    escape: keycaps("Esc"),
  };
  return el("p", { class: "av-hint", id: "av-tiles-hint" }, ...fillNodes(strings.hint, keys));
}
