// @ts-check
// The elements of the alignment view, built once for a capture; component.js fills and draws them.

import { barList } from "../shared/bars.js";
import { button, headPicker, segmented } from "../shared/controls.js";
import { el, fillNodes, keycaps } from "../shared/dom.js";
import { fill, fmtPercent } from "../shared/fmt.js";

const RANKED = 8;

/**
 * @param {any} header
 * @param {import("./numbers.js").Choice} choice
 * @param {{choose: (change: any) => void, open: () => void}} act
 */
export function buildAlignment(header, choice, act) {
  const { strings, n_layers: nLayers, n_heads: nHeads } = header;
  const thumbs = el("canvas", { "aria-hidden": "true" });
  const picker = headPicker({
    label: strings.heads,
    nLayers,
    nHeads,
    under: thumbs,
    onMove: (layer, head) => act.choose({ layer, head }),
  });
  const mean = segmented({
    label: strings.what,
    value: choice.mean ?? "head",
    onChange: (value) => act.choose({ mean: value === "head" ? null : value }),
    options: [
      { value: "head", label: strings.one_head },
      { value: "layer", label: strings.mean_layer },
      { value: "all", label: strings.mean_all },
    ],
  });
  const title = el("h3", { class: "av-title" });
  const sentence = el("p", { class: "av-sentence" });
  const open = button({ label: strings.open_heatmap, onClick: act.open });
  const rows = {
    source: wordRow("source", header, strings.source_words),
    target: wordRow("target", header, strings.target_words),
  };
  const canvas = el("canvas", { role: "img" });
  const inner = el("div", { class: "av-align-inner" }, rows.source.node, canvas, rows.target.node);
  const scroll = el("div", { class: "av-align-scroll" }, inner);
  const list = barList({ label: strings.ranked_label });
  const heading = el("h4", { class: "av-heading" });
  const spoken = el("div", { class: "av-visually-hidden", role: "status", "aria-live": "polite" });
  const idle = el("p", { class: "av-note" }, strings.idle);
  const total = totalLine(header);
  const keys = {
    arrows: keycaps("←", "→", "↑", "↓"),
    enter: keycaps("Enter"),
    brackets: keycaps("[", "]"),
    escape: keycaps("Esc"),
  };
  const hint = el("p", { class: "av-hint" }, ...fillNodes(strings.hint, keys));
  const name = el("div", { class: "av-align-name" }, el("div", { class: "av-row" }, title, open), sentence);
  const top = el("div", { class: "av-align-top" }, el("div", {}, mean.node, picker.node), name);
  const side = el("div", { class: "av-align-side" }, heading, idle, list.node);
  const body = el(
    "div",
    { class: "av-align-body" },
    el("div", { class: "av-align-left" }, scroll, total, hint),
    side,
  );
  return {
    nodes: [top, body, spoken],
    side,
    thumbs,
    picker,
    mean,
    title,
    sentence,
    canvas,
    scroll,
    inner,
    list,
    heading,
    idle,
    spoken,
    chips: { source: rows.source.chips, target: rows.target.chips },
  };
}

/**
 * One row of words: buttons, of which one is in the tab order.
 * @param {"source" | "target"} side
 * @param {any} header
 * @param {string} label
 */
function wordRow(side, header, label) {
  const chips = header[side].map((/** @type {any} */ word, /** @type {number} */ i) =>
    el(
      "button",
      {
        type: "button",
        tabIndex: i ? -1 : 0,
        dir: "auto",
        dataset: { side, word: i },
        class: `av-word${word.special ? " av-special" : ""}`,
        "aria-pressed": "false",
      },
      word.text,
      ...probabilityOf(word, header.strings),
    ),
  );
  return {
    chips,
    node: el(
      "div",
      { class: "av-align-row" },
      el("span", { class: "av-note av-align-label" }, label),
      el("div", { class: "av-words", role: "group", "aria-label": label }, ...chips),
    ),
  };
}

function probabilityOf(/** @type {any} */ word, /** @type {Record<string, string>} */ strings) {
  if (word.probability === undefined || word.probability === null) return [];
  const percent = fmtPercent(word.probability);
  return [
    el("span", { class: "av-word-p av-number", "aria-hidden": "true" }, `${percent}\u2009%`),
    el("span", { class: "av-visually-hidden" }, ` (${fill(strings.probability, { percent })})`),
  ];
}

function totalLine(/** @type {any} */ header) {
  const { strings, probability } = header;
  return probability === null
    ? null
    : el("p", { class: "av-note av-number" }, fill(strings.total, { percent: fmtPercent(probability) }));
}

/**
 * The list beside the words: what a word is aligned with, the largest first, the rest as one row.
 * @param {any} parts
 * @param {any} header
 * @param {{side: string, word: number} | null} at
 * @param {{word: number, weight: number}[]} rows
 */
export function fillRanked(parts, header, at, rows) {
  parts.idle.hidden = !!at;
  parts.list.node.hidden = !at;
  parts.heading.hidden = !at;
  if (!at) return;
  const { strings } = header;
  const others = at.side === "target" ? header.source : header.target;
  const mine = header[at.side][at.word];
  const shown = rows.slice(0, RANKED);
  const rest = rows.slice(RANKED);
  const bars = shown.map(({ word, weight }) => ({
    label: others[word].text,
    value: weight,
    muted: !!others[word].special,
  }));
  if (rest.length && at.side === "target")
    bars.push({
      label: fill(strings.rest, { count: rest.length }),
      value: rest.reduce((sum, { weight }) => sum + weight, 0),
      muted: true,
    });
  parts.list.set(bars);
  parts.side.style.minHeight = `${Math.max(parseFloat(parts.side.style.minHeight) || 0, 26 * (bars.length + 1))}px`; // what is below stays where it is
  parts.heading.replaceChildren(
    ...fillNodes(at.side === "target" ? strings.looks_at : strings.looked_at, {
      word: el("bdi", {}, mine.text),
    }),
  );
}
