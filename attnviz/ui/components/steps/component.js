// @ts-check
// The Steps strip: mounts once per element, redraws on new data, theme, width or choice.
// The chosen query and key live here and in the URL; layer and head are asked of the server, which computes them.

import { axisMarks } from "../shared/axes.js";
import { parse } from "../shared/buffer.js";
import { el, localPoint, oncePerFrame, setData, setText, watchSize } from "../shared/dom.js";
import { fill } from "../shared/fmt.js";
import { cellAt } from "../shared/matrix.js";
import { moveBy, roleColours } from "../shared/panel.js";
import { makePicker } from "../shared/picker.js";
import { clampSelection, makeCommitter, readSelection, writeSelection } from "../shared/selection.js";
import { theme } from "../shared/theme.js";
import { SQUARE_STAGES } from "./highlight.js";
import { buildPanels, chosenIn, drawStrip, markPanel, markStrip, roomKey, spoken } from "./strip.js";
import { drawArithmetic, namedTokens, tokenMark } from "./explain.js";

/**
 * The header of the buffer; beside it travel one f32 matrix per panel that is not absent, by its stage's name, and
 * blocked u8 [query, key], the bits of the masks that block a cell.
 * @typedef {{strings: Record<string, string>, tokens: string[], special: number[], written: number[], key_tokens: string[],
 *   key_special: number[], key_written: number[], cross: 0 | 1, layer: number, head: number,
 *   n_layers: number, n_heads: number, d_head: number, d_model: number | null, scaling: number, mask_names: string[],
 *   mask_reasons: string[], head_slice: [number, number], panels: PanelInfo[]}} StepsHeader
 */
/**
 * One panel: its stage with shape, axes, colour range and error, or the reason why it is absent.
 * @typedef {{stage: string, title: string, formula: string, absent: string | null, shape: [number, number] | null,
 *   rows?: string, cols?: string, signed?: boolean, range?: [number, number] | null, rows_sum_to?: number | null,
 *   error?: number | null, ok?: boolean, tolerance?: number}} PanelInfo
 */

/** How long the picture stays faded when the server does not answer. */
const BUSY_AT_MOST_MS = 8000;

/** @type {WeakMap<object, any>} */
const VIEWS = new WeakMap();

/** Streamlit calls this with new data or a new theme; the returned function runs when the component goes. */
export default function steps(/** @type {any} */ component) {
  const { data, parentElement, setStateValue } = component;
  if (!data) return undefined;
  let view = VIEWS.get(parentElement);
  if (!view) VIEWS.set(parentElement, (view = mountSteps(parentElement, setStateValue)));
  view.committer.bind(setStateValue);
  updateSteps(view, data);
  return () => {
    view.destroy();
    VIEWS.delete(parentElement);
  };
}

function mountSteps(/** @type {any} */ root, /** @type {any} */ setStateValue) {
  const view = /** @type {any} */ ({ root, nodes: {}, panels: [], shape: "", selection: null, query: null, key: null, allTerms: false });
  const { nodes } = view;
  view.picker = makePicker((layer, head) => askHead(view, layer, head));
  nodes.asks = el("p", { class: "asks" });
  nodes.status = el("p", { class: "av-visually-hidden", role: "status", "aria-live": "polite" });
  nodes.clear = el("button", { type: "button", class: "av-button clear", on: { click: () => choose(view, null, null) } });
  nodes.bar = el("div", { class: "bar" }, view.picker.node, nodes.asks, nodes.clear);
  nodes.legend = el("p", { class: "legend" });
  nodes.strip = el("div", { class: "strip", role: "group" });
  nodes.box = el("section", { class: "arithmetic" });
  nodes.top = el("div", { class: "av steps" }, nodes.bar, nodes.status, nodes.strip, nodes.legend, nodes.box);
  root.append(nodes.top);
  view.committer = makeCommitter(nodes.top, setStateValue);
  view.toggleTerms = () => toggleTerms(view);
  const redraw = oncePerFrame(() => view.header && view.drawnFor !== roomKey(view) && drawStrip(view));
  const stop = watchSize(nodes.strip, redraw);
  view.destroy = () => { stop(); redraw.cancel(); view.committer.destroy(); nodes.top.remove(); };
  return view;
}

function updateSteps(/** @type {any} */ view, /** @type {Uint8Array} */ data) {
  const { header, arrays } = parse(data), { nodes } = view, first = !view.header;
  const from = { ...(view.selection ?? readSelection()), layer: header.layer, head: header.head };
  view.selection = clampSelection(from, { ...header, n_query: header.tokens.length, n_key: header.key_tokens.length });
  header.marks = axisMarks(header.special, header.written);
  header.key_marks = axisMarks(header.key_special, header.key_written);
  Object.assign(view, { header, arrays, theme: theme(view.root), scale: view.selection.scale,
    query: view.selection.query, key: view.selection.key });
  const colours = roleColours(view.theme);
  nodes.top.style.setProperty("--query", colours.query);
  nodes.top.style.setProperty("--key", colours.key);
  nodes.top.classList.toggle("dark", view.theme.dark);
  nodes.top.removeAttribute("aria-busy");
  if (first) view.committer.start(view.selection);
  else view.committer.update(view.selection);
  writeSelection(view.selection);
  writeFrame(view);
  buildPanels(view, (panel) => wirePanel(panel, view));
  drawStrip(view);
  showChoice(view);
}

/** Everything around the panels. */
function writeFrame(/** @type {any} */ view) {
  const { header, nodes } = view, { strings, layer, head } = header;
  view.picker.update(strings, header, layer, head);
  setText(nodes.clear, strings.clear_cell);
  nodes.strip.setAttribute("aria-label", fill(strings.strip_label, { layer, head }));
  setData(nodes.top, { layer, head });
  nodes.legend.replaceChildren(...["query", "key", "cell"].map((name) =>
    el("span", { class: `swatch ${name}` }, { query: strings.query_row, key: strings.key_row, cell: strings.chosen_cell }[name])));
}

/** The sentence in the bar, the live region and the arithmetic, after the choice or the data changed. */
function showChoice(/** @type {any} */ view) {
  const { nodes, header, query, key } = view, { strings, tokens, key_tokens: keys } = header, both = query !== null && key !== null;
  nodes.clear.hidden = query === null && key === null;
  setData(nodes.top, { query, key });
  const asks = both
    ? namedTokens(strings.asks, { query: tokenMark("query", tokens[query]), key: tokenMark("key", keys[key]) })
    : query !== null ? [tokenMark("query", tokens[query])] : key !== null ? [tokenMark("key", keys[key])] : [strings.hint];
  nodes.asks.classList.toggle("empty", query === null && key === null);
  nodes.asks.replaceChildren(...asks);
  drawArithmetic(view);
}

/** Another cell, row or nothing is chosen: marks, arithmetic, URL; the server hears of it later. */
function choose(/** @type {any} */ view, /** @type {number | null} */ query, /** @type {number | null} */ key) {
  if (query === view.query && key === view.key) return;
  Object.assign(view, { query, key, selection: { ...view.selection, query, key } });
  view.committer.update(view.selection);
  writeSelection(view.selection);
  markStrip(view);
  showChoice(view);
}

/** Another head is asked of the server at once. */
function askHead(/** @type {any} */ view, /** @type {number} */ layer, /** @type {number} */ head) {
  view.selection = { ...view.selection, layer, head };
  view.nodes.top.setAttribute("aria-busy", "true");
  setTimeout(() => view.nodes.top.removeAttribute("aria-busy"), BUSY_AT_MOST_MS);
  view.committer.update(view.selection);
  view.committer.commit();
}

function toggleTerms(/** @type {any} */ view) {
  view.allTerms = !view.allTerms;
  drawArithmetic(view);
  view.nodes.box.querySelector("button.terms")?.focus();
}

/** Pointer and keys of one panel. */
function wirePanel(/** @type {any} */ panel, /** @type {any} */ view) {
  const { base } = panel, remark = oncePerFrame(() => markPanel(panel, view));
  const hit = (event) => { const { x, y } = localPoint(event, base); return cellAt(x, y, panel.layout.geom); };
  base.addEventListener("pointermove", (event) => { panel.hover = hit(event); remark(); });
  base.addEventListener("pointerleave", () => { panel.hover = null; remark(); });
  base.addEventListener("click", (event) => {
    const cell = hit(event);
    if (cell) take(panel, view, cell);
  });
  base.addEventListener("keydown", (event) => keyIn(panel, view, event));
}

function keyIn(/** @type {any} */ panel, /** @type {any} */ view, /** @type {KeyboardEvent} */ event) {
  if (event.key === "Escape") return choose(view, null, null);
  const { geom } = panel.layout, square = SQUARE_STAGES.includes(panel.info.stage);
  const role = ["k", "v"].includes(panel.info.stage) ? "key" : "query";
  const from = square ? { row: view.query, col: view.key } : { row: view[role], col: panel.col };
  const cell = moveBy(event, from, geom);
  if (!cell) return undefined;
  event.preventDefault();
  return take(panel, view, cell);
}

/** A cell of a panel was chosen: in square panels query and key, else the position of the panel's rows. */
function take(/** @type {any} */ panel, /** @type {any} */ view, /** @type {{row: number, col: number}} */ cell) {
  const { stage } = panel.info;
  if (SQUARE_STAGES.includes(stage)) choose(view, cell.row, cell.col);
  else {
    panel.col = cell.col;
    if (["k", "v"].includes(stage)) choose(view, view.query, cell.row);
    else choose(view, cell.row, view.key);
    markPanel(panel, view);
  }
  if (chosenIn(panel, view)) setText(view.nodes.status, spoken(panel, view));
}
