// @ts-check
// The elements of Compare, built once for a pair of captures; canvas.js fills and draws them.

import { SCALES } from "../shared/colors.js";
import { button, checkbox, segmented } from "../shared/controls.js";
import { el, fillNodes, keycaps } from "../shared/dom.js";
import { fill, fmtPercent, headName } from "../shared/fmt.js";
import { headPicker } from "../shared/head_picker.js";
import { makePicker } from "../shared/picker.js";
import { makeNotes } from "./notes.js";

/** @import { FloatArray } from "../shared/buffer.js" */
/** @import { Scale } from "../shared/selection.js" */
/** @import { Head } from "./numbers.js" */
/** @import { Header, Strings } from "./types.js" */

/** The left side, the right side, and the difference. @typedef {"a" | "b" | "d"} PlotName */
/**
 * @typedef {{head: (side: "a" | "b", head: Head) => void, both: (head: Head) => void, link: (on: boolean) => void,
 *   scale: (scale: Scale) => void, largest: () => void}} Actions
 */
/** What the controls show first. @typedef {{scale: Scale, isLinked: boolean, approximate: boolean}} Options */
/** @typedef {ReturnType<typeof buildParts>} Parts */

export const PLOTS = /** @type {const} */ (["a", "b", "d"]);

/**
 * Builds Compare for a header; `moved` colours a matrix of heads, where there is one.
 * @param {Header} header
 * @param {FloatArray | undefined} moved
 * @param {Options} options
 * @param {Actions} actions
 */
export function buildParts(header, moved, options, actions) {
  const { strings } = header;
  const controls = buildControls(header, options, actions);
  const grid = moved ? buildGrid(header, moved, actions) : null;
  const plots = { a: buildPlot("a"), b: buildPlot("b"), d: buildPlot("d") };
  const limit = el("p", { class: "av-note av-number" });
  const hatched = el("p", { class: "av-note", hidden: true }, strings.hatched);
  const ends = makeEnds(strings);
  plots.d.node.append(ends, limit, hatched);
  const readout = el("p", { class: "av-readout av-number", role: "status", "aria-live": "polite" });
  const top = el("div", { class: "av-pair-top" }, grid?.node, controls.node);
  const body = el("div", { class: "av-pair-body" }, ...PLOTS.map((name) => plots[name].node));
  const notes = makeNotes(header, options.approximate);
  const nodes = [top, ...(notes ? [notes] : []), readout, body, makeHint(strings)];
  return { ...controls, grid, plots, limit, ends, hatched, readout, top, body, nodes };
}

/** The heads of both sides, the scale, and what differs most. */
function buildControls(
  /** @type {Header} */ { strings, alike },
  /** @type {Options} */ { scale: scaleNow, isLinked },
  /** @type {Actions} */ actions,
) {
  const pickers = {
    a: makePicker((layer, head) => actions.head("a", { layer, head })),
    b: makePicker((layer, head) => actions.head("b", { layer, head })),
  };
  const link = checkbox({ label: strings.link, checked: isLinked, onChange: actions.link });
  link.node.hidden = !alike;
  const scale = segmented({
    label: strings.scale,
    value: scaleNow,
    options: SCALES.map((value) => ({ value, label: strings[`scale_${value}`] })),
    onChange: actions.scale,
  });
  const summary = el("p", { class: "av-sentence av-number" });
  const largest = el("p", { class: "av-sentence av-number av-pair-largest", hidden: true });
  const goLargest = button({ label: strings.go_largest, onClick: actions.largest });
  goLargest.hidden = true;
  const most = el("div", { class: "av-row av-pair-most", role: "group", "aria-label": strings.most_label });
  const node = el(
    "div",
    { class: "av-pair-controls" },
    el(
      "div",
      { class: "av-pair-heads" },
      sideRow("A", pickers.a.node),
      sideRow("B", pickers.b.node),
      link.node,
    ),
    el("div", { class: "av-row" }, el("span", { class: "av-note" }, strings.scale), scale.node),
    largest,
    goLargest,
    summary,
    most,
  );
  return { node, pickers, link, scale, largest, goLargest, summary, most };
}

function sideRow(/** @type {string} */ letter, /** @type {Node} */ picker) {
  return el("div", { class: "av-row av-pair-side" }, el("span", { class: "av-pair-letter" }, letter), picker);
}

function buildPlot(/** @type {PlotName} */ name) {
  const heading = el("h3", { class: "av-heading" });
  const bar = el("canvas", { role: "img" });
  const props = { role: "img", tabIndex: 0, dataset: { side: name }, "aria-describedby": "av-pair-hint" };
  const canvas = el("canvas", props);
  const node = el("div", { class: "av-pair-plot" }, heading, canvas, bar);
  return { node, canvas, heading, bar, cells: document.createElement("canvas") };
}

/** What both ends of a scale of differences say, below it. */
function makeEnds(/** @type {Strings} */ strings) {
  return el(
    "p",
    { class: "av-note av-pair-ends" },
    el("span", {}, strings.more_in_a),
    el("span", {}, strings.more_in_b),
  );
}

/** The matrix of all heads, coloured by how much of their attention moved. */
function buildGrid(
  /** @type {Header} */ { strings, a },
  /** @type {FloatArray} */ moved,
  /** @type {Actions} */ actions,
) {
  const { n_layers: nLayers, n_heads: nHeads } = a;
  const canvas = el("canvas", { "aria-hidden": "true" });
  const bar = el("canvas", { role: "img", "aria-label": strings.grid_bar });
  const picker = headPicker({
    label: strings.grid,
    nLayers,
    nHeads,
    under: canvas,
    labelOf(layer, head) {
      const percent = fmtPercent(moved.data[layer * nHeads + head]);
      return fill(strings.cell, { head: headName(layer, head), percent });
    },
    onMove: (layer, head) => actions.both({ layer, head }),
  });
  const heading = el("h3", { class: "av-heading" }, strings.grid);
  const note = el("p", { class: "av-note" }, strings.grid_note);
  const ends = makeEnds(strings);
  const node = el("div", { class: "av-pair-grid" }, picker.node, heading, bar, ends, note);
  return { node, picker, canvas, bar, ends, note };
}

function makeHint(/** @type {Strings} */ strings) {
  const keys = {
    arrows: keycaps("←", "→", "↑", "↓"),
    brackets: keycaps("[", "]"),
    shift: keycaps("Shift+↑", "Shift+↓"),
    escape: keycaps("Esc"),
  };
  return el("p", { class: "av-hint av-hint-row", id: "av-pair-hint" }, ...fillNodes(strings.hint, keys));
}

/**
 * Shows buttons for the rows that differ most.
 * @param {Parts} parts
 * @param {Header} header
 * @param {{row: number, label: string}[]} rows
 * @param {(row: number) => void} go
 */
export function fillMost({ most }, { strings }, rows, go) {
  const buttons = rows.map(({ row, label }) => {
    const node = button({ label, onClick: () => go(row) });
    node.dataset.row = String(row);
    return node;
  });
  most.hidden = !rows.length;
  most.replaceChildren(el("span", { class: "av-note" }, strings.most_label), ...buttons);
}
