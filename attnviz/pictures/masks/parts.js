// @ts-check
// The elements of Masks that stay as long as the component; their texts come with the data.

import { el, setText } from "../shared/dom.js";
import { fill } from "../shared/fmt.js";
import { gradientOf } from "../shared/panel.js";
import { makePicker } from "../shared/picker.js";
import { sequential } from "../shared/colors.js";
import { hatchSwatch } from "./boxes.js";
import { maskTitle } from "./words.js";

/** @import { Scale } from "../shared/selection.js" */
/** @import { Theme } from "../shared/theme.js" */
/** @import { Masks } from "./layers.js" */
/** @import { Actions, SentenceMap } from "./state.js" */
/** @import { Header } from "./types.js" */

/** @typedef {ReturnType<typeof buildParts>} Parts */

/**
 * `clear` lets the chosen cell go, `reset` goes back to the model's masks.
 * @param {Actions & {clear: () => void, reset: () => void}} actions
 */
export function buildParts(actions) {
  const textButton = (/** @type {string} */ name, /** @type {() => void} */ click) =>
    el("button", { type: "button", class: `av-button ${name}`, on: { click } });
  const picker = makePicker(actions.head);
  const layers = el("fieldset", { class: "layers" });
  const clear = textButton("clear", actions.clear);
  const undraw = textButton("undraw", () => actions.masks({ strokes: [] }));
  const reset = textButton("reset", actions.reset);
  const banner = el("p", { class: "banner", role: "status" });
  const drawHint = el("span");
  const draw = el("p", { class: "av-hint draw" }, drawHint, undraw);
  const maps = el("div", { class: "maps" });
  const legend = el("div", { class: "legend" });
  const readout = el("p", { class: "readout" });
  const status = el("p", { class: "av-visually-hidden", role: "status", "aria-live": "polite" });
  const box = el("section", { class: "row-table" });
  const nodes = [
    maps,
    el("div", { class: "av-dock bar" }, picker.node, layers),
    el("div", { class: "status" }, banner, reset),
    draw,
    legend,
    el("div", { class: "said" }, readout, clear),
    status,
    box,
  ];
  return {
    picker,
    layers,
    clear,
    undraw,
    reset,
    banner,
    drawHint,
    draw,
    maps,
    legend,
    readout,
    status,
    box,
    nodes,
  };
}

/** Writes the texts that depend on the language alone. */
export function writeParts(/** @type {Parts} */ parts, /** @type {Header} */ header) {
  const { strings } = header;
  parts.picker.update(strings, header, header.layer, header.head);
  setText(parts.clear, strings.clear_cell);
  setText(parts.undraw, strings.undraw);
  setText(parts.reset, strings.reset);
  setText(parts.drawHint, strings.draw_hint, true);
}

/** The elements of a sentence. @returns {SentenceMap} */
export function makeMap(/** @type {number} */ sentence) {
  const base = el("canvas", { role: "img", tabIndex: 0 });
  const over = el("canvas", { class: "over", "aria-hidden": "true" });
  const title = el("h2");
  const count = el("span", { class: "count" });
  const dead = el("p", { class: "dead" });
  const node = el(
    "section",
    { class: "map", dataset: { sentence } },
    el("div", { class: "plot" }, base, over),
    el("header", {}, title, count),
    dead,
  );
  return { sentence, base, over, title, count, dead, node, layout: null, hover: null, stroke: null };
}

/**
 * What colours and hatches mean.
 * @param {HTMLElement} legend
 * @param {Header} header
 * @param {Masks} masks
 * @param {Theme} theme
 * @param {Scale} scale
 */
export function writeLegend(legend, header, { variant }, theme, scale) {
  const { strings } = header;
  const entry = (/** @type {(Node | string)[]} */ ...children) => el("span", { class: "entry" }, ...children);
  const ramp = el("span", { class: "ramp", style: { background: gradientOf(sequential(theme.dark)) } });
  const scaleName = { sqrt: " (√)", log: " (log)", linear: "" }[scale];
  const blocked = header.mask_names.flatMap((name, bit) => {
    if (!(variant & (1 << bit))) return [];
    const text = fill(strings.legend_blocked, { mask: maskTitle(header, name) });
    return [entry(hatchSwatch(theme, 1 << bit), text)];
  });
  const isSeveral = variant & (variant - 1);
  legend.replaceChildren(
    entry(strings.legend_weight, " 0", ramp, `1${scaleName}`),
    ...blocked,
    ...(isSeveral ? [entry(hatchSwatch(theme, variant), strings.legend_both)] : []),
  );
}
