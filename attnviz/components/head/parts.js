// @ts-check
// The elements of the head page, built once for a capture; component.js fills and draws them.

import { button, checkbox, headPicker, segmented } from "../shared/controls.js";
import { SCALES } from "../shared/colors.js";
import { el, fillNodes, keycaps } from "../shared/dom.js";
import { lineOptions } from "./lineoptions.js";
import { heardNote } from "../shared/spectrum.js";
import { hasPieces } from "./words.js";

/**
 * @param {any} header
 * @param {any} selection
 * @param {{change: (change: any) => void, option: (change: any) => void, open: () => void}} act
 */
export function buildParts(header, selection, act) {
  const { strings, n_layers: nLayers, n_heads: nHeads } = header;
  const thumbs = el("canvas", { "aria-hidden": "true" });
  const picker = headPicker({
    label: strings.heads,
    nLayers,
    nHeads,
    heads: header.shapes?.map((/** @type {number[]} */ of) => of[0]),
    under: thumbs,
    onMove: (layer, head) => act.change({ layer, head }),
  });
  const scale = segmented({
    label: strings.scale,
    value: selection.scale,
    options: SCALES.map((value) => ({ value, label: strings[`scale_${value}`] })),
    onChange: (value) => act.change({ scale: value }),
  });
  const special = checkbox({
    label: strings.hide_special,
    checked: selection.special === "hide",
    onChange: (on) => act.change({ special: on ? "hide" : "show" }),
  });
  const sums = checkbox({
    label: strings.sums,
    checked: false,
    onChange: (on) => act.option({ sums: on ? "1" : null }),
  });
  const words = hasPieces(header)
    ? checkbox({
        label: strings.words,
        checked: false,
        onChange: (on) => act.option({ words: on ? "1" : null }),
      })
    : null;
  const text = /** @type {Record<string, any>} */ ({
    title: el("h2", { class: "av-title" }),
    sentence: el("p", { class: "av-sentence" }),
    readout: el("p", { class: "av-readout av-number", role: "status", "aria-live": "polite" }),
    caption: el("h3", { class: "av-heading" }),
    pictured: el("p", { class: "av-note" }),
    blocks: el("p", { class: "av-note" }),
    wordsNote: el("p", { class: "av-note", hidden: true }, strings.words_note),
    pieces: el("div", { class: "av-pieces", hidden: true }),
    sumsSaid: el("p", { class: "av-note av-number av-sums", hidden: true }),
    hidden: el("p", { class: "av-note av-hidden-mass", "aria-live": "polite" }),
    empty: el("p", { class: "av-panel", hidden: true }, strings.all_special),
  });
  const hint = makeHint(strings);
  const heatmap = el("canvas", { role: "img", tabIndex: 0, "aria-describedby": hint.id });
  const options = lineOptions(strings, act.option);
  const lines = el("canvas", { role: "img", tabIndex: 0, "aria-describedby": hint.id });
  const bar = el("canvas", { role: "img" });
  const picture = el("canvas", { role: "img", class: "av-picture" });
  const ranked = el("div", { class: "av-ranked" });
  const name = el("div", { class: "av-head-name" }, nameRow(header, text.title, act), text.sentence);
  const scaleBox = el(
    "div",
    { class: "av-head-scale" },
    el("div", { class: "av-row" }, el("span", { class: "av-note" }, strings.scale), scale.node),
    bar,
    words?.node,
    text.wordsNote,
    sums.node,
    special.node,
    text.hidden,
  );
  const right = el(
    "div",
    { class: "av-head-right" },
    header.patches
      ? el("div", { class: "av-pictured" }, picture, text.pictured, text.blocks)
      : el("div", { class: "av-lines" }, options.node, text.caption, lines),
    ranked,
  );
  const left = el(
    "div",
    { class: "av-head-left" },
    heatmap,
    header.heard
      ? el("p", { class: "av-note" }, heardNote(header.heard, strings.heard_note, strings.heard_rest))
      : null,
    text.readout,
    text.sumsSaid,
    text.pieces,
    hint,
    header.approximate ? el("p", { class: "av-note" }, strings.approximate) : null,
  );
  const body = el("div", { class: "av-head-body" }, left, right);
  const top = el("div", { class: "av-head-top" }, picker.node, name, scaleBox);
  return {
    ...text,
    thumbs,
    picker,
    scale,
    special,
    sums,
    words,
    lineOptions: options,
    heatmap,
    lines,
    picture,
    bar,
    ranked,
    right,
    body,
    nodes: [top, text.empty, body],
  };
}

function nameRow(/** @type {any} */ header, /** @type {Node} */ title, /** @type {any} */ act) {
  const { strings } = header;
  const step = (/** @type {string} */ label, /** @type {string} */ text, /** @type {number} */ by) => {
    const node = button({ label, text, onClick: () => act.change({ step: by }) });
    node.classList.add("av-step-button");
    return node;
  };
  return el(
    "div",
    { class: "av-row" },
    step(strings.previous_head, "‹", -1),
    title,
    step(strings.next_head, "›", 1),
    button({ label: strings.open_steps, kind: "primary", onClick: act.open }),
  );
}

function makeHint(/** @type {Record<string, string>} */ strings) {
  const keys = {
    arrows: keycaps("←", "→", "↑", "↓"),
    brackets: keycaps("[", "]"),
    shift: keycaps("Shift+↑", "Shift+↓"),
    escape: keycaps("Esc"),
  };
  return el("p", { class: "av-hint", id: "av-head-hint" }, ...fillNodes(strings.hint, keys));
}
