// @ts-check
// The elements around the plot of a long head: picker, scale, zoom buttons, map, search, strongest cells, readouts.

import { SCALES } from "../shared/colors.js";
import { button, segmented } from "../shared/controls.js";
import { el, fillNodes, keycaps } from "../shared/dom.js";
import { heardNote } from "../shared/spectrum.js";
import { makeCells } from "./cells.js";
import { makeFinder } from "./find.js";

/** @import { Picker } from "../shared/picker.js" */
/** @import { Scale } from "../shared/selection.js" */
/** @import { CellActions } from "./cells.js" */
/** @import { FoundPlace } from "./find.js" */
/** @import { Header, Strings } from "./types.js" */

/**
 * @typedef {CellActions & {scale: (scale: Scale) => void, zoom: (factor: number) => void, whole: () => void,
 *   look: (wanted: string) => FoundPlace[], go: (place: FoundPlace | null) => void}} Actions
 */
/** @typedef {ReturnType<typeof buildParts>} Parts */

/**
 * Builds the page for a text.
 * @param {Header} header
 * @param {Picker} picker
 * @param {Scale} scaleNow
 * @param {Actions} actions
 */
export function buildParts(header, picker, scaleNow, actions) {
  const { strings, heard } = header;
  const top = buildTop(header, picker, scaleNow, actions);
  const hint = makeHint(strings);
  const props = { role: "img", tabIndex: 0, class: "av-tiles-plot", "aria-describedby": hint.id };
  const plot = el("canvas", props);
  const note = heard && heardNote(heard, strings.heard_note, strings.heard_rest);
  const readout = el("p", { class: "av-readout av-number", role: "status", "aria-live": "polite" });
  const pinned = el("p", { class: "av-readout av-number av-tiles-pinned" });
  const lines = [plot, note ? el("p", { class: "av-note" }, note) : null, readout, pinned, hint];
  const map = el("canvas", { role: "img", class: "av-tiles-map" });
  const finder = makeFinder(strings, actions);
  const cells = makeCells(header, actions);
  const right = el("div", { class: "av-side av-tiles-right" }, map, finder.node, cells.node);
  const body = el(
    "div",
    { class: "av-body av-tiles-body" },
    el("div", { class: "av-main av-tiles-left" }, ...lines),
    right,
  );
  return { ...top, nodes: [top.node, body], plot, map, readout, pinned, finder, cells, right };
}

/**
 * The head's name, its picker, zoom and scale.
 * @param {Header} header
 * @param {Picker} picker
 * @param {Scale} scaleNow
 * @param {Actions} actions
 */
function buildTop({ strings }, picker, scaleNow, actions) {
  const title = el("h2", { class: "av-title" });
  const bar = el("canvas", { role: "img" });
  const scale = segmented({
    label: strings.scale,
    value: scaleNow,
    options: SCALES.map((value) => ({ value, label: strings[`scale_${value}`] })),
    onChange: actions.scale,
  });
  const zoomButton = (
    /** @type {string} */ text,
    /** @type {string} */ label,
    /** @type {number} */ factor,
  ) => {
    const node = button({ label, text, onClick: () => actions.zoom(factor) });
    node.classList.add("av-find-step");
    return node;
  };
  const zooms = [zoomButton("−", strings.zoom_out, 0.5), zoomButton("+", strings.zoom_in, 2)];
  const whole = button({ label: strings.zoom_whole, onClick: actions.whole });
  const scaleRow = el(
    "div",
    { class: "av-row" },
    el("span", { class: "av-note" }, strings.scale),
    scale.node,
  );
  const node = el(
    "div",
    { class: "av-tiles-top" },
    el("div", { class: "av-row" }, title, picker.node),
    el("span", { class: "av-spring" }),
    el("div", { class: "av-row" }, ...zooms, whole),
    el("div", { class: "av-scale" }, scaleRow, bar),
  );
  return { node, title, bar, scale };
}

function makeHint(/** @type {Strings} */ strings) {
  const keys = {
    wheel: el("kbd", {}, "⇅"),
    plus: keycaps("+", "−"),
    drag: el("kbd", {}, "✥"),
    arrows: keycaps("←", "→", "↑", "↓"),
    home: keycaps("Home"),
    enter: keycaps("Enter"),
    escape: keycaps("Esc"),
  };
  return el("p", { class: "av-hint av-hint-row", id: "av-tiles-hint" }, ...fillNodes(strings.hint, keys));
}
