// @ts-check
// The elements of the head page, built once for a capture; canvas.js fills and draws them.

import { headCounts } from "../shared/buffer.js";
import { SCALES } from "../shared/colors.js";
import { button, checkbox, segmented } from "../shared/controls.js";
import { el, fillNodes, keycaps } from "../shared/dom.js";
import { headPicker } from "../shared/head_picker.js";
import { nameRow } from "../shared/name_row.js";
import { heardNote } from "../shared/spectrum.js";
import { lineOptions } from "./line_options.js";
import { hasPieces } from "./words.js";

/** @import { Header } from "./types.js" */
/** @import { HeadSelection, Options } from "./view.js" */

/**
 * @typedef {{change: (change: Partial<HeadSelection>) => void, step: (by: number) => void,
 *   option: (change: Partial<Options>) => void, open: () => void, close: () => void, forbid: () => void,
 *   links: () => void}} Actions
 */
/** @typedef {ReturnType<typeof buildParts>} Parts */

/**
 * Builds the page for a header; `approximate` says that weights came through 8 bits.
 * @param {Header} header
 * @param {HeadSelection} selection
 * @param {boolean} approximate
 * @param {Actions} actions
 */
export function buildParts(header, selection, approximate, actions) {
  const { strings } = header;
  const hint = makeHint(header.grows ? strings.hint_grown : strings.hint);
  const top = buildTop(header, selection, actions);
  const left = buildLeft(header, approximate, hint, top.scaleNode);
  const right = buildRight(header, hint.id, actions, top.node);
  const empty = el("p", { class: "av-panel", hidden: true }, strings.all_special);
  const body = el("div", { class: "av-body av-head-body" }, left.node, right.node);
  return { ...top, ...left, ...right, right: right.node, empty, body, nodes: [empty, body] };
}

/** The picker of heads, the name of the chosen one, and how it is shown. */
function buildTop(
  /** @type {Header} */ header,
  /** @type {HeadSelection} */ selection,
  /** @type {Actions} */ actions,
) {
  const { strings } = header;
  const thumbs = el("canvas", { "aria-hidden": "true" });
  const picker = headPicker({
    label: strings.heads,
    nLayers: header.n_layers,
    nHeads: header.n_heads,
    heads: headCounts(header),
    kept: header.kept,
    under: thumbs,
    onMove: (layer, head) => actions.change({ layer, head }),
  });
  const title = el("h2", { class: "av-title" });
  const facts = el("p", { class: "av-facts", role: "status", "aria-live": "polite" });
  const sentence = el("p", { class: "av-sentence" });
  const open = button({ label: strings.open_steps, kind: "primary", onClick: actions.open });
  const close = header.grows ? [button({ label: strings.all_heads, onClick: actions.close })] : [];
  const row = nameRow(strings, title, actions.step, open, ...close);
  const forbid = button({ label: strings.forbid, onClick: actions.forbid });
  const links = button({ label: strings.who_else, onClick: actions.links });
  const choose = el("p", { class: "av-note" }, strings.choose_look);
  const asks = el(
    "div",
    { class: "av-row", hidden: !header.grows },
    header.forbids ? forbid : null,
    links,
    choose,
  );
  const name = el("div", { class: "av-name" }, row, facts, asks, sentence);
  const scales = buildScales(header, selection, actions);
  const node = el("div", { class: "av-head-top" }, name, picker.node);
  return {
    ...scales,
    scaleNode: scales.node,
    node,
    thumbs,
    picker,
    title,
    facts,
    forbid,
    links,
    choose,
    sentence,
  };
}

/** The colour scale, and what may be shown beside or left out. */
function buildScales(
  /** @type {Header} */ header,
  /** @type {HeadSelection} */ selection,
  /** @type {Actions} */ actions,
) {
  const { strings } = header;
  const scale = segmented({
    label: strings.scale,
    value: selection.scale,
    options: SCALES.map((value) => ({ value, label: strings[`scale_${value}`] })),
    onChange: (value) => actions.change({ scale: value }),
  });
  const special = checkbox({
    label: strings.hide_special,
    checked: selection.special === "hide",
    onChange: (on) => actions.change({ special: on ? "hide" : "show" }),
  });
  const option = (/** @type {"sums" | "words"} */ name) =>
    checkbox({
      label: strings[name],
      checked: false,
      onChange: (on) => actions.option({ [name]: on ? "1" : null }),
    });
  const sums = option("sums");
  const words = hasPieces(header) ? option("words") : null;
  const bar = el("canvas", { role: "img" });
  const wordsNote = el("p", { class: "av-note", hidden: true }, strings.words_note);
  const hiddenMass = el("p", { class: "av-note av-hidden-mass", "aria-live": "polite" });
  const row = el("div", { class: "av-row" }, el("span", { class: "av-note" }, strings.scale), scale.node);
  const lines = [row, bar, words?.node, wordsNote, sums.node, special.node, hiddenMass];
  const node = el("div", { class: "av-dock av-scale" }, ...lines);
  return { node, scale, special, sums, words, bar, wordsNote, hiddenMass };
}

/** The heatmap and what is said below it. */
function buildLeft(
  /** @type {Header} */ { strings, heard, predicts },
  /** @type {boolean} */ approximate,
  /** @type {HTMLElement} */ hint,
  /** @type {HTMLElement} */ scale,
) {
  const note = (/** @type {string} */ text) => el("p", { class: "av-note" }, text);
  const heatmap = el("canvas", { role: "img", tabIndex: 0, "aria-describedby": hint.id });
  const readout = el("p", { class: "av-readout av-number", role: "status", "aria-live": "polite" });
  const sumsReadout = el("p", { class: "av-note av-number av-sums", hidden: true });
  const pieces = el("div", { class: "av-pieces", hidden: true });
  const heardLine = heard ? note(heardNote(heard, strings.heard_note, strings.heard_rest)) : null;
  const rounded = approximate ? note(strings.approximate) : null;
  const named = predicts ? note(strings.predicts_note) : null;
  const lines = [heatmap, readout, sumsReadout, scale, heardLine, named, pieces, hint, rounded];
  const node = el("div", { class: "av-main av-head-left" }, ...lines);
  return { node, heatmap, readout, sumsReadout, pieces };
}

/** The card of the head, the lines, or the picture where the tokens are patches, and the ranked keys. */
function buildRight(
  /** @type {Header} */ { strings, patches },
  /** @type {string} */ hintId,
  /** @type {Actions} */ actions,
  /** @type {HTMLElement} */ top,
) {
  const options = lineOptions(strings, actions.option);
  const caption = el("h3", { class: "av-heading" });
  const lines = el("canvas", { role: "img", tabIndex: 0, "aria-describedby": hintId });
  const picture = el("canvas", { role: "img", class: "av-picture" });
  const pictured = el("p", { class: "av-note" });
  const blocks = el("p", { class: "av-note" });
  const ranked = el("div", { class: "av-ranked" });
  const panel = patches
    ? el("div", { class: "av-pictured" }, picture, pictured, blocks)
    : el("div", { class: "av-lines" }, options.node, caption, lines);
  const node = el("div", { class: "av-side av-head-right" }, top, panel, ranked);
  return { node, lineOptions: options, caption, lines, picture, pictured, blocks, ranked };
}

function makeHint(/** @type {string} */ text) {
  const keys = {
    arrows: keycaps("←", "→", "↑", "↓"),
    brackets: keycaps("[", "]"),
    shift: keycaps("Shift+↑", "Shift+↓"),
    escape: keycaps("Esc"),
  };
  return el("p", { class: "av-hint av-hint-row", id: "av-head-hint" }, ...fillNodes(text, keys));
}
