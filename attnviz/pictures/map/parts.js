// @ts-check
// The elements of the map: the small maps, the controls, the large plane, and the panel beside it.

import { button, segmented } from "../shared/controls.js";
import { cueScroll, el } from "../shared/dom.js";
import { WAYS } from "./colours.js";

/** @import { Way } from "./colours.js" */
/** @import { Header } from "./types.js" */

/** @typedef {ReturnType<typeof buildParts>} Parts */
/**
 * @typedef {{way: (way: Way) => void, search: (text: string) => void, tool: (isLasso: boolean) => void, zoom: (factor: number) => void,
 *   clear: () => void}} Controls
 */

/** @param {Header} header @param {Way} way @param {Controls} on */
export function buildParts({ strings }, way, on) {
  const { left, maps, mapMarks } = smallMaps(strings);
  const points = el("canvas", { class: "av-map-points" });
  const marks = el("canvas", { class: "av-map-above av-map-marks", tabIndex: 0, role: "application" });
  const plane = el("div", { class: "av-map-stack" }, points, marks);
  const colour = segmented({
    label: strings.colour,
    options: WAYS.map((value) => ({ value, label: strings[`by_${value}`] })),
    value: way,
    onChange: on.way,
  });
  const find = el("input", {
    class: "av-map-search",
    type: "search",
    placeholder: strings.search,
    "aria-label": strings.search,
    on: { input: () => on.search(find.value) },
  });
  const title = el("h3", { class: "av-title" });
  const legend = el("div", { class: "av-row av-map-legend" });
  const status = el("p", { class: "av-status av-note", "aria-live": "polite" });
  const facts = el("div", { class: "av-map-facts" });
  const detail = el("div", { class: "av-map-detail", "aria-live": "polite" });
  const right = el(
    "div",
    { class: "av-map-right" },
    el("div", { class: "av-row" }, title, el("span", { class: "av-spring" }), find),
    cueScroll(el("div", { class: "av-map-scroll" }, colour.node)),
    legend,
    plane,
    zoomRow(strings, on),
    el("p", { class: "av-hint" }, strings.hint),
  );
  const words = el("div", { class: "av-map-words" }, status, detail, facts);
  return {
    nodes: [left, right, words],
    maps,
    mapMarks,
    left,
    right,
    points,
    marks,
    title,
    legend,
    status,
    facts,
    detail,
    find,
  };
}

/** The small maps of all heads, and the canvas above them for the marks. */
function smallMaps(/** @type {Header["strings"]} */ strings) {
  const maps = el("canvas", { class: "av-map-all", tabIndex: 0, role: "img" });
  const mapMarks = el("canvas", { class: "av-map-above", "aria-hidden": "true" });
  const stack = el("div", { class: "av-map-stack" }, maps, mapMarks);
  const left = el(
    "div",
    { class: "av-map-left" },
    cueScroll(el("div", { class: "av-map-scroll" }, stack)),
    el("p", { class: "av-hint" }, strings.all),
  );
  return { left, maps, mapMarks };
}

/** The buttons that zoom, switch the lasso on and off, and clear the choice. */
function zoomRow(/** @type {Header["strings"]} */ strings, /** @type {Controls} */ on) {
  const lasso = el("button", { class: "av-button", type: "button", "aria-pressed": "false" }, strings.lasso);
  lasso.addEventListener("click", () => {
    const isLasso = lasso.getAttribute("aria-pressed") !== "true";
    lasso.setAttribute("aria-pressed", String(isLasso));
    on.tool(isLasso);
  });
  return el(
    "div",
    { class: "av-row av-map-zoom" },
    button({ label: "+", onClick: () => on.zoom(1.6) }),
    button({ label: "\u2212", onClick: () => on.zoom(1 / 1.6) }),
    button({ label: strings.whole, onClick: () => on.zoom(0) }),
    lasso,
    button({ label: strings.clear, onClick: on.clear }),
  );
}
