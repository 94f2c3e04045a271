// @ts-check
// The elements of the alignment view, built once for a capture; canvas.js fills and draws them.

import { barList } from "../shared/bars.js";
import { button, segmented } from "../shared/controls.js";
import { INVITES, el, fillNodes, keycaps } from "../shared/dom.js";
import { fill, fmtPercent, withPercent } from "../shared/fmt.js";
import { headPicker } from "../shared/head_picker.js";

/** @import { Bar } from "../shared/bars.js" */
/** @import { Ranked, Side, WordPlace } from "./numbers.js" */
/** @import { Header, Strings, ShownWord } from "./types.js" */
/** @import { Choice } from "./numbers.js" */

/** The buttons of the words. @typedef {Record<Side, HTMLElement[]>} Chips */
/** @typedef {ReturnType<typeof buildParts>} Parts */
/** @typedef {{choose: (change: Partial<Choice>) => void, open: () => void}} Actions */

const MAX_RANKED = 8;
const BAR_PX = 26;

/**
 * Builds the view for a header.
 * @param {Header} header
 * @param {Choice} choice
 * @param {Actions} actions
 */
export function buildParts(header, choice, actions) {
  const { strings } = header;
  const controls = buildControls(header, choice, actions);
  const source = wordRow("source", header, strings.source_words);
  const target = wordRow("target", header, strings.target_words);
  const canvas = el("canvas", { role: "img" });
  const inner = el("div", { class: "av-align-inner" }, source.node, canvas, target.node);
  const scroll = el("div", { class: "av-align-scroll" }, inner);
  const list = barList({ label: strings.ranked_label });
  const heading = el("h4", { class: "av-heading" });
  const idle = el("p", { class: `av-note ${INVITES}` }, strings.idle);
  const side = el("div", { class: "av-side av-align-side" }, heading, idle, list.node);
  const left = el("div", { class: "av-main" }, scroll, totalLine(header), makeHint(strings));
  const body = el("div", { class: "av-body" }, left, side);
  const spoken = el("div", { class: "av-visually-hidden", role: "status", "aria-live": "polite" });
  /** @type {Chips} */
  const chips = { source: source.chips, target: target.chips };
  const nodes = [controls.node, body, spoken];
  return { ...controls, nodes, chips, canvas, inner, scroll, side, heading, idle, list, spoken };
}

/**
 * What is chosen above the words: a head or a mean, its name and what it does.
 * @param {Header} header
 * @param {Choice} choice
 * @param {Actions} actions
 */
function buildControls(header, choice, actions) {
  const { strings, n_layers: nLayers, n_heads: nHeads } = header;
  const thumbs = el("canvas", { "aria-hidden": "true" });
  const onMove = (/** @type {number} */ layer, /** @type {number} */ head) => actions.choose({ layer, head });
  const picker = headPicker({ label: strings.heads, nLayers, nHeads, under: thumbs, onMove });
  const mean = segmented({
    label: strings.what,
    value: choice.mean ?? "head",
    onChange: (value) => actions.choose({ mean: value === "head" ? null : value }),
    options: [
      { value: "head", label: strings.one_head },
      { value: "layer", label: strings.mean_layer },
      { value: "all", label: strings.mean_all },
    ],
  });
  const title = el("h3", { class: "av-title" });
  const sentence = el("p", { class: "av-sentence" });
  const open = button({ label: strings.open_heatmap, onClick: actions.open });
  const name = el("div", { class: "av-align-name" }, el("div", { class: "av-row" }, title, open), sentence);
  const node = el("div", { class: "av-align-top" }, el("div", {}, mean.node, picker.node), name);
  return { node, thumbs, picker, mean, title, sentence };
}

/**
 * One row of words: buttons, of which one is in the tab order.
 * @param {Side} side
 * @param {Header} header
 * @param {string} label
 */
function wordRow(side, header, label) {
  const chips = header[side].map((word, i) => {
    const props = {
      type: "button",
      tabIndex: i ? -1 : 0,
      dir: "auto",
      dataset: { side, word: i },
      class: `av-word${word.special ? " av-special" : ""}`,
      "aria-pressed": "false",
    };
    return el("button", props, word.text, ...probabilityOf(word, header.strings));
  });
  const name = el("span", { class: "av-note av-align-label" }, label);
  const words = el("div", { class: "av-words", role: "group", "aria-label": label }, ...chips);
  return { chips, node: el("div", { class: "av-align-row" }, name, words) };
}

function probabilityOf(/** @type {ShownWord} */ { probability }, /** @type {Strings} */ strings) {
  if (probability === null) return [];
  const percent = fmtPercent(probability);
  return [
    el("span", { class: "av-word-p av-number", "aria-hidden": "true" }, withPercent(percent)),
    el("span", { class: "av-visually-hidden" }, ` (${fill(strings.probability, { percent })})`),
  ];
}

function totalLine(/** @type {Header} */ { strings, probability }) {
  if (probability === null) return null;
  const text = fill(strings.total, { percent: fmtPercent(probability) });
  return el("p", { class: "av-note av-number" }, text);
}

function makeHint(/** @type {Strings} */ strings) {
  const keys = {
    arrows: keycaps("←", "→", "↑", "↓"),
    enter: keycaps("Enter"),
    brackets: keycaps("[", "]"),
    escape: keycaps("Esc"),
  };
  return el("p", { class: "av-hint" }, ...fillNodes(strings.hint, keys));
}

/**
 * Fills the list beside the words: what a word is aligned with, the largest first, the rest as one row.
 * @param {Parts} parts
 * @param {Header} header
 * @param {WordPlace | null} at
 * @param {Ranked[]} ranked
 */
export function fillRanked(parts, header, at, ranked) {
  parts.idle.hidden = at !== null;
  parts.list.node.hidden = parts.heading.hidden = at === null;
  if (!at) return;
  const { strings } = header;
  const isTarget = at.side === "target";
  const bars = rankedBars(ranked, isTarget ? header.source : header.target);
  const rest = ranked.slice(MAX_RANKED);
  if (rest.length && isTarget) {
    const value = rest.reduce((sum, { weight }) => sum + weight, 0);
    bars.push({ label: fill(strings.rest, { count: rest.length }), value, muted: true });
  }
  parts.list.set(bars);
  const least = Math.max(parseFloat(parts.side.style.minHeight) || 0, BAR_PX * (bars.length + 1));
  parts.side.style.minHeight = `${least}px`; // what is below stays where it is
  const word = el("bdi", {}, header[at.side][at.word].text);
  parts.heading.replaceChildren(...fillNodes(isTarget ? strings.looks_at : strings.looked_at, { word }));
}

/** @returns {Bar[]} */
function rankedBars(/** @type {Ranked[]} */ ranked, /** @type {ShownWord[]} */ words) {
  return ranked.slice(0, MAX_RANKED).map(({ word, weight }) => {
    const { text, special } = words[word];
    return { label: text, value: weight, muted: special };
  });
}
