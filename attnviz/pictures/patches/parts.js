// @ts-check
// The elements of the picture view, built once for a capture; canvas.js fills and draws them.

import { SCALES } from "../shared/colors.js";
import { button, checkbox, segmented } from "../shared/controls.js";
import { el, fillNodes, foreign, keycaps } from "../shared/dom.js";
import { fill, headName } from "../shared/fmt.js";
import { headPicker } from "../shared/head_picker.js";
import { nameRow } from "../shared/name_row.js";

/** @import { Selection } from "../shared/selection.js" */
/** @import { Strings } from "./types.js" */
/** @import { Header } from "./state.js" */

/** How the heads are shown. @typedef {{mean: boolean, stretch: boolean}} Look */
/**
 * @typedef {{choose: (change: Partial<Selection>) => void, step: (by: number) => void,
 *   open: (page: "head" | "steps") => void, ask: (token: number) => void,
 *   hoverHead: (at: {layer: number, head: number}) => void, look: (change: Partial<Look>) => void}} Actions
 */
/** A token beside the patches, and what it is given. @typedef {{node: HTMLElement, weight: HTMLElement}} ExtraChip */
/** @typedef {ReturnType<typeof buildParts>} Parts */

/**
 * Builds the view for a header; `approximate` says that weights came through 8 bits.
 * @param {Header} header
 * @param {Selection} selection
 * @param {boolean} approximate
 * @param {Actions} actions
 */
export function buildParts(header, selection, approximate, actions) {
  const { strings } = header;
  const top = buildTop(header, selection, actions);
  const hint = makeHint(strings);
  const picture = el("canvas", {
    role: "img",
    tabIndex: 0,
    class: "av-patches-picture",
    "aria-describedby": hint.id,
  });
  const chips = header.tokens
    .slice(0, header.patches.first)
    .map((token, i) => extraChip(strings, token, () => actions.ask(i)));
  const extras = el(
    "div",
    { class: "av-row av-extras", role: "group", "aria-label": strings.extras, hidden: !chips.length },
    el("span", { class: "av-note" }, strings.extras),
    ...chips.map((chip) => chip.node),
  );
  const readout = el("p", { class: "av-readout av-number", role: "status", "aria-live": "polite" });
  const note = approximate ? el("p", { class: "av-note" }, strings.approximate) : null;
  const left = el("div", { class: "av-side av-patches-left" }, picture, extras, readout, hint, note);
  const thumbs = el("canvas", { "aria-hidden": "true" });
  const picker = makePicker(header, thumbs, actions);
  const allHeads = el("h3", { class: "av-heading" });
  const right = el("div", { class: "av-main av-patches-right" }, allHeads, picker.node);
  const nodes = [top.node, el("div", { class: "av-body av-patches-body" }, left, right)];
  return { ...top, nodes, picker, thumbs, picture, readout, allHeads, chips };
}

/** The head's name, options and the colour scale. */
function buildTop(
  /** @type {Header} */ { strings, kept },
  /** @type {Selection} */ selection,
  /** @type {Actions} */ actions,
) {
  const scale = segmented({
    label: strings.scale,
    value: selection.scale,
    options: SCALES.map((value) => ({ value, label: strings[`scale_${value}`] })),
    onChange: (value) => actions.choose({ scale: value }),
  });
  const option = (/** @type {string} */ label, /** @type {(on: boolean) => void} */ onChange) =>
    checkbox({ label, checked: false, onChange }).node;
  const mean = option(strings.mean, (on) => actions.look({ mean: on }));
  const stretch = option(strings.stretch, (on) => actions.look({ stretch: on }));
  const title = el("h2", { class: "av-title" });
  const sentence = el("p", { class: "av-sentence" });
  const bar = el("canvas", { role: "img" });
  const stretched = el("p", { class: "av-note av-number" });
  const openHead = button({ label: strings.open_head, kind: "primary", onClick: () => actions.open("head") });
  const openSteps = button({ label: strings.open_steps, onClick: () => actions.open("steps") });
  const row = nameRow(strings, title, actions.step, openHead, openSteps);
  const scaleRow = el(
    "div",
    { class: "av-row" },
    el("span", { class: "av-note" }, strings.scale),
    scale.node,
  );
  const node = el(
    "div",
    { class: "av-patches-top" },
    el("div", { class: "av-name av-patches-name" }, row, sentence),
    el("div", { class: "av-patches-options" }, ...(kept.length ? [] : [mean]), stretch),
    el("div", { class: "av-scale av-patches-scale" }, scaleRow, bar, stretched),
  );
  return { node, scale, title, sentence, bar, stretched };
}

function makePicker(
  /** @type {Header} */ header,
  /** @type {HTMLCanvasElement} */ under,
  /** @type {Actions} */ actions,
) {
  const { strings, sentences } = header;
  return headPicker({
    label: strings.heads,
    nLayers: header.n_layers,
    nHeads: header.n_heads,
    kept: header.kept,
    under,
    onHover: actions.hoverHead,
    labelOf: (layer, head) =>
      fill(strings.status, { head: headName(layer, head), sentence: sentences[layer][head] }),
    onMove: (layer, head) => actions.choose({ layer, head }),
  });
}

/**
 * A token beside the patches, [CLS] for instance: it can ask, and it shows what it is given.
 * @param {Strings} strings
 * @param {string} token
 * @param {() => void} ask
 * @returns {ExtraChip}
 */
function extraChip(strings, token, ask) {
  const weight = el("span", { class: "av-number" });
  const props = {
    class: "av-extra",
    type: "button",
    "aria-pressed": "false",
    title: fill(strings.extra, { token }),
    on: { click: ask },
  };
  return { node: el("button", props, foreign(token), weight), weight };
}

function makeHint(/** @type {Strings} */ strings) {
  const keys = {
    arrows: keycaps("←", "→", "↑", "↓"),
    home: keycaps("Home"),
    brackets: keycaps("[", "]"),
    shift: keycaps("Shift+↑", "Shift+↓"),
    escape: keycaps("Esc"),
  };
  return el("p", { class: "av-hint", id: "av-patches-hint" }, ...fillNodes(strings.hint, keys));
}
