// @ts-check
// The elements of Compare, built once for a pair of captures; component.js fills and draws them.

import { button, checkbox, headPicker, segmented } from "../shared/controls.js";
import { SCALES } from "../shared/colors.js";
import { el, fillNodes, keycaps } from "../shared/dom.js";
import { fill, fmtPercent, headName } from "../shared/fmt.js";
import { makePicker } from "../shared/picker.js";

export const PLOTS = /** @type {const} */ (["a", "b", "d"]);

/**
 * @param {any} header
 * @param {import("../shared/buffer.js").PackedArray | undefined} moved
 * @param {{scale: string, linked: boolean}} now
 * @param {{head: (side: "a" | "b", place: {layer: number, head: number}) => void, both: (layer: number, head: number) => void, link: (on: boolean) => void, scale: (value: string) => void}} act
 */
export function buildPair(header, moved, now, act) {
  const { strings } = header;
  const pickers = {
    a: makePicker((layer, head) => act.head("a", { layer, head })),
    b: makePicker((layer, head) => act.head("b", { layer, head })),
  };
  const link = checkbox({ label: strings.link, checked: now.linked, onChange: act.link });
  link.node.hidden = !header.alike;
  const scale = segmented({
    label: strings.scale,
    value: now.scale,
    options: SCALES.map((value) => ({ value, label: strings[`scale_${value}`] })),
    onChange: act.scale,
  });
  const grid = moved ? buildGrid(header, moved, act) : null;
  const text = {
    summary: el("p", { class: "av-sentence av-number" }),
    limit: el("p", { class: "av-note av-number" }),
    readout: el("p", { class: "av-readout av-number", role: "status", "aria-live": "polite" }),
  };
  const most = el("div", { class: "av-row av-pair-most", role: "group", "aria-label": strings.most_label });
  const plots = Object.fromEntries(PLOTS.map((name) => [name, buildPlot(name)]));
  plots.d.node.append(text.limit);
  const controls = el(
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
    text.summary,
    most,
  );
  const top = el("div", { class: "av-pair-top" }, grid?.node, controls);
  const body = el("div", { class: "av-pair-body" }, ...PLOTS.map((name) => plots[name].node));
  return {
    ...text,
    grid,
    pickers,
    link,
    scale,
    most,
    plots,
    body,
    nodes: [top, ...notes(header), text.readout, body, hint(strings)],
  };
}

function sideRow(/** @type {string} */ letter, /** @type {Node} */ picker) {
  return el("div", { class: "av-row av-pair-side" }, el("span", { class: "av-pair-letter" }, letter), picker);
}

function buildPlot(/** @type {string} */ name) {
  const heading = el("h3", { class: "av-heading" });
  const bar = el("canvas", { role: "img" });
  const canvas = el("canvas", {
    role: "img",
    tabIndex: 0,
    dataset: { side: name },
    "aria-describedby": "av-pair-hint",
  });
  return {
    canvas,
    heading,
    bar,
    cells: document.createElement("canvas"),
    node: el("div", { class: "av-pair-plot" }, heading, canvas, bar),
  };
}

/**
 * @param {any} header
 * @param {import("../shared/buffer.js").PackedArray} moved
 * @param {any} act
 */
function buildGrid(header, moved, act) {
  const {
    strings,
    a: { n_layers: nLayers, n_heads: nHeads },
  } = header;
  const canvas = el("canvas", { "aria-hidden": "true" });
  const bar = el("canvas", { role: "img", "aria-label": strings.grid_bar });
  const labelOf = (/** @type {number} */ layer, /** @type {number} */ head) =>
    fill(strings.cell, {
      head: headName(layer, head),
      percent: fmtPercent(moved.data[layer * nHeads + head]),
    });
  const picker = headPicker({
    label: strings.grid,
    nLayers,
    nHeads,
    under: canvas,
    labelOf,
    onMove: act.both,
  });
  const node = el(
    "div",
    { class: "av-pair-grid" },
    el("h3", { class: "av-heading" }, strings.grid),
    picker.node,
    bar,
    el("p", { class: "av-note" }, strings.grid_note),
  );
  return { node, picker, canvas, bar };
}

/** What was put side by side, what has no counterpart, and what was joined or rounded. */
function notes(/** @type {any} */ header) {
  const { strings, a, b } = header;
  const most = 8;
  const list = (/** @type {string[]} */ names) => {
    const counts = new Map(names.map((name) => [name, names.filter((other) => other === name).length]));
    const each = [...counts];
    const said = each
      .slice(0, most)
      .flatMap(([name, count], i) => [
        ...(i ? [", "] : []),
        el("bdi", {}, name),
        ...(count > 1 ? [`\u2009×\u2009${count}`] : []),
      ]);
    return el(
      "span",
      {},
      ...said,
      each.length > most ? ` ${fill(strings.and_more, { count: each.length - most })}` : null,
    );
  };
  const axes = [
    [header.rows, a.tokens, b.tokens],
    ...(header.cross ? [[header.cols, a.key_tokens, b.key_tokens]] : []),
  ];
  const pick = (
    /** @type {(slot: number[]) => boolean} */ which,
    /** @type {(slot: number[], inA: string[], inB: string[]) => string} */ name,
  ) =>
    axes.flatMap(([slots, inA, inB]) =>
      slots.filter(which).map((/** @type {number[]} */ slot) => name(slot, inA, inB)),
    );
  const said = {
    replaced: pick(
      ([x, y, same]) => x >= 0 && y >= 0 && !same,
      ([x, y], inA, inB) => `${inA[x]} → ${inB[y]}`,
    ),
    only_a: pick(
      ([, y]) => y < 0,
      ([x], inA) => inA[x],
    ),
    only_b: pick(
      ([x]) => x < 0,
      ([, y], _, inB) => inB[y],
    ),
  };
  const lines = [
    [strings.replaced, said.replaced],
    [strings.only_a, said.only_a],
    [strings.only_b, said.only_b],
  ];
  const found = lines
    .filter(([, names]) => names.length)
    .map(([template, names]) => el("p", { class: "av-note" }, ...fillNodes(template, { list: list(names) })));
  if (header.merged) found.push(el("p", { class: "av-note" }, strings.merged));
  if (header.approximate) found.push(el("p", { class: "av-note" }, strings.approximate));
  return found.length ? [el("div", { class: "av-pair-notes" }, ...found)] : [];
}

function hint(/** @type {Record<string, string>} */ strings) {
  const keys = {
    arrows: keycaps("←", "→", "↑", "↓"),
    brackets: keycaps("[", "]"),
    shift: keycaps("Shift+↑", "Shift+↓"),
    escape: keycaps("Esc"),
  };
  return el("p", { class: "av-hint", id: "av-pair-hint" }, ...fillNodes(strings.hint, keys));
}

/**
 * Buttons for the rows that differ most.
 * @param {any} parts
 * @param {any} strings
 * @param {{row: number, said: string}[]} rows
 * @param {(row: number) => void} go
 */
export function fillMost(parts, strings, rows, go) {
  parts.most.hidden = !rows.length;
  parts.most.replaceChildren(
    el("span", { class: "av-note" }, strings.most_label),
    ...rows.map(({ row, said }) => {
      const node = button({ label: said, onClick: () => go(row) });
      node.dataset.row = String(row);
      return node;
    }),
  );
}
