// @ts-check
// The elements of the writing page, built once for a capture; canvas.js fills them.

import { axisMarks } from "../shared/axes.js";
import { makeChips } from "../shared/chips.js";
import { button, checkbox, segmented } from "../shared/controls.js";
import { cueScroll, dataAt, el, fillNodes, keycaps } from "../shared/dom.js";
import { fill, headName } from "../shared/fmt.js";
import { headPicker } from "../shared/head_picker.js";

/** @import { WritingView } from "./types.js" */

/** What the bars show: what the token was drawn from, or what follows it. @typedef {"from" | "next"} Mode */
/**
 * `player` is null where nothing was written; `mean` and `mode` are what is shown first.
 * @typedef {{player: HTMLElement | null, mean: boolean, mode: Mode, choose: (layer: number, head: number) => void,
 *   setMean: (mean: boolean) => void, setMode: (mode: Mode) => void, pick: (token: number) => void,
 *   open: () => void}} Options
 */
/** @typedef {ReturnType<typeof buildParts>} Parts */

export const THUMB = { size: 26, gap: 4 };

/** Builds the page for a header. */
export function buildParts(/** @type {WritingView} */ header, /** @type {Options} */ options) {
  const text = buildText(header, options);
  const heads = buildHeads(header, options);
  const bars = buildBars(header, options);
  const strongest = el("div", { class: "av-strongest" });
  const spoken = el("p", { class: "av-visually-hidden", role: "status", "aria-live": "polite" });
  const hint = makeHint(header, options.player !== null);
  const left = el("div", { class: "av-main av-writing-left" }, heads.node, ...text.nodes, strongest, hint);
  const body = el("div", { class: "av-body av-writing-body" }, left, bars.node);
  const nodes = options.player ? [options.player, body, spoken] : [body, spoken];
  return {
    nodes,
    text: text.node,
    chips: text.chips,
    keyChips: text.keyChips,
    thumbs: heads.thumbs,
    picker: heads.picker,
    title: heads.title,
    sentence: heads.sentence,
    drawTitle: bars.title,
    bars: bars.bars,
    drawn: bars.drawn,
    strongest,
    spoken,
  };
}

/** The text as chips; where its keys are another text, that stands above. */
function buildText(/** @type {WritingView} */ header, /** @type {Options} */ { player, pick }) {
  const { strings } = header;
  const group = (/** @type {string} */ name, /** @type {string} */ label) =>
    cueScroll(el("div", { class: `av-chips ${name}`, role: "group", tabIndex: 0, "aria-label": label }));
  const node = group("av-text", player ? strings.text_written : strings.text_given);
  const keys = group("av-keys-read", strings.key_axis);
  const chips = makeChips(node, header.tokens, axisMarks(header.special, header.written), strings.written);
  const keyMarks = axisMarks(header.key_special, header.key_written);
  const keyChips = header.cross ? makeChips(keys, header.key_tokens, keyMarks, strings.written) : null;
  node.addEventListener("click", (event) => {
    const token = dataAt(event, "token");
    if (token !== undefined) pick(Number(token));
  });
  const note = (/** @type {string} */ words) => el("p", { class: "av-note" }, words);
  const nodes = header.cross ? [note(strings.key_axis), keys, note(strings.query_axis), node] : [node];
  return { node, chips, keyChips, nodes };
}

/** All heads as thumbnails, and the chosen one by name. */
function buildHeads(/** @type {WritingView} */ header, /** @type {Options} */ options) {
  const { strings, sentences } = header;
  const thumbs = el("canvas", { "aria-hidden": "true" });
  const picker = headPicker({
    label: strings.heads,
    nLayers: header.n_layers,
    nHeads: header.n_heads,
    under: thumbs,
    onMove: options.choose,
    labelOf: (layer, head) =>
      fill(strings.status, { head: headName(layer, head), sentence: sentences[layer][head] }),
  });
  picker.resize(THUMB.size, THUMB.gap);
  const title = el("h3", { class: "av-title" });
  const sentence = el("p", { class: "av-sentence" });
  const mean = checkbox({ label: strings.mean, checked: options.mean, onChange: options.setMean });
  const open = button({ label: strings.open_head, onClick: options.open });
  const row = el("div", { class: "av-row" }, title, mean.node);
  const name = el("div", { class: "av-writing-head" }, row, sentence, open);
  return {
    node: el("div", { class: "av-writing-heads" }, picker.node, name),
    thumbs,
    picker,
    title,
    sentence,
  };
}

/** The place of the bars, and the choice of what they show. */
function buildBars(/** @type {WritingView} */ { strings, draws }, /** @type {Options} */ options) {
  const mode = segmented({
    label: strings.mode,
    value: options.mode,
    options: [
      { value: "from", label: strings.mode_from },
      { value: "next", label: strings.mode_next },
    ],
    onChange: options.setMode,
  });
  const title = el("h3", { class: "av-heading" });
  const bars = el("div", { class: "av-draw-bars" });
  const drawn = el("p", { class: "av-number av-drawn" });
  const sampling = el("p", { class: "av-note" }, draws.sampling);
  const node = el("div", { class: "av-side av-writing-right" }, mode.node, title, sampling, bars, drawn);
  return { node, title, bars, drawn };
}

function makeHint(/** @type {WritingView} */ { strings }, /** @type {boolean} */ hasPlayer) {
  const keys = { space: keycaps("␣"), arrows: keycaps("←", "→"), shift: keycaps("⇧ ←", "⇧ →") };
  return el("p", { class: "av-hint" }, ...fillNodes(hasPlayer ? strings.hint : strings.hint_given, keys));
}
