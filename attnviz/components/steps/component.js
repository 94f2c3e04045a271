// @ts-check
// The Steps strip: mounts once per element, redraws on new data, theme, width or choice.
// The chosen query and key live here and in the URL; layer and head are asked of the server, which computes them.

import { axisMarks } from "../shared/axes.js";
import { parse } from "../shared/buffer.js";
import { el, localPoint, oncePerFrame, setBusy, setData, setText, watchSize } from "../shared/dom.js";
import { fill } from "../shared/fmt.js";
import { cellAt } from "../shared/matrix.js";
import { moveBy, roleColours } from "../shared/panel.js";
import { mounted } from "../shared/mounted.js";
import { askForHead, makePicker } from "../shared/picker.js";
import { clampSelection, makeCommitter, readSelection, writeSelection } from "../shared/selection.js";
import { sequential } from "../shared/colors.js";
import { pictureSource } from "../shared/picture.js";
import { drawPlaced, makePlaced } from "../shared/picture_panel.js";
import { theme } from "../shared/theme.js";
import { paperOf } from "./paper.js";
import { EDITABLE, arraysOf, makeEditBar, readEdit, showEditBar } from "./edit.js";
import { KEY_STAGES, SQUARE_STAGES } from "./highlight.js";
import { endPlay, haltPlay, makePlay, playKey, showPlay } from "./play.js";
import { buildPanels, chosenIn, drawStrip, markPanel, markStrip, roomKey, spoken } from "./strip.js";
import { drawArithmetic, namedTokens, tokenMark } from "./explain.js";

/**
 * The header of the buffer; beside it travel one f32 matrix per panel that is not absent, by its stage's name, and
 * blocked u8 [query, key], the bits of the masks that block a cell, reach f32 [key], ‖v·W_O‖, where W_O
 * is known, and was_<stage> f32 for what edits have changed.
 * @typedef {{strings: Record<string, string>, tokens: string[], special: number[], written: number[], key_tokens: string[],
 *   key_special: number[], key_written: number[], cross: 0 | 1, layer: number, head: number,
 *   n_layers: number, n_heads: number, d_head: number, d_model: number | null, scaling: number, turned: string[], factors: Record<string, string>, mask_names: string[],
 *   mask_reasons: string[], head_slice: [number, number], editable: 0 | 1, given: 0 | 1, source: string,
 *   patches: import("../shared/picture_panel.js").PlacedPatches | null, edits: import("./edit.js").Edit[], panels: PanelInfo[]}} StepsHeader
 */
/**
 * One panel: its stage with shape, axes, colour range and error, or the reason why it is absent.
 * @typedef {{stage: string, title: string, formula: string, absent: string | null, shape: [number, number] | null,
 *   rows?: string, cols?: string, signed?: boolean, range?: [number, number] | null, rows_sum_to?: number | null,
 *   error?: number | null, ok?: boolean, tolerance?: number}} PanelInfo
 */

/** Streamlit calls this with new data or a new theme. */
export default function steps(/** @type {any} */ component) {
  return mounted(component, mountSteps, updateSteps);
}

function mountSteps(/** @type {any} */ root) {
  const view = /** @type {any} */ ({
    root,
    nodes: {},
    panels: [],
    shape: "",
    selection: null,
    query: null,
    key: null,
    allTerms: false,
    mode: "edited",
    target: null,
  });
  const { nodes } = view;
  view.picker = makePicker((layer, head) => askForHead(view, layer, head));
  nodes.asks = el("p", { class: "asks" });
  nodes.status = el("p", { class: "av-visually-hidden", role: "status", "aria-live": "polite" });
  nodes.clear = el("button", {
    type: "button",
    class: "av-button clear",
    on: { click: () => choose(view, null, null) },
  });
  nodes.bar = el("div", { class: "bar" }, view.picker.node, nodes.asks, nodes.clear);
  view.editBar = makeEditBar(view);
  view.play = makePlay(view);
  view.choose = (/** @type {number} */ query, /** @type {number} */ key) => choose(view, query, key);
  view.setMode = (/** @type {string} */ mode) => setMode(view, mode);
  nodes.legend = el("p", { class: "legend" });
  view.placed = makePlaced();
  nodes.strip = el("div", { class: "strip", role: "group" });
  nodes.box = el("section", { class: "arithmetic" });
  nodes.top = el(
    "div",
    { class: "av steps", on: { keydown: (/** @type {KeyboardEvent} */ event) => playKey(view, event) } },
    el("div", { class: "tops" }, nodes.bar, view.play.node),
    view.editBar.node,
    nodes.status,
    nodes.strip,
    nodes.legend,
    view.placed.node,
    nodes.box,
  );
  root.append(nodes.top);
  view.committer = makeCommitter(nodes.top, (/** @type {any} */ selection) => followSteps(view, selection));
  view.toggleTerms = () => toggleTerms(view);
  const redraw = oncePerFrame(() => view.header && view.drawnFor !== roomKey(view) && drawStrip(view));
  const stop = watchSize(nodes.strip, redraw);
  view.destroy = () => {
    stop();
    haltPlay(view);
    redraw.cancel();
    view.committer.destroy();
    nodes.top.remove();
  };
  return view;
}

function updateSteps(/** @type {any} */ view, /** @type {Uint8Array} */ data) {
  const { header, arrays } = parse(data);
  const { nodes } = view;
  const first = !view.header;
  const from = { ...(view.selection ?? readSelection()), layer: header.layer, head: header.head };
  view.selection = clampSelection(from, {
    ...header,
    n_query: header.tokens.length,
    n_key: header.key_tokens.length,
  });
  header.edits = header.edits.map(readEdit);
  header.marks = axisMarks(header.special, header.written);
  header.key_marks = axisMarks(header.key_special, header.key_written);
  Object.assign(view, {
    header,
    edited: arrays,
    whole: arrays.picture && header.patches ? pictureSource(arrays.picture) : null,
    theme: theme(view.root),
    scale: view.selection.scale,
    query: view.selection.query,
    key: view.selection.key,
  });
  view.arrays = arraysOf(view);
  view.paper = paperOf(view);
  const colours = roleColours(view.theme);
  nodes.top.style.setProperty("--query", colours.query);
  nodes.top.style.setProperty("--key", colours.key);
  nodes.top.classList.toggle("dark", view.theme.dark);
  setBusy(nodes.top, false);
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
  const { header, nodes } = view;
  const { strings, layer, head } = header;
  view.picker.update(strings, header, layer, head);
  setText(nodes.clear, strings.clear_cell);
  nodes.strip.setAttribute("aria-label", fill(strings.strip_label, { layer, head }));
  setData(nodes.top, { layer, head });
  nodes.legend.replaceChildren(
    ...["query", "key", "cell"].map((name) =>
      el(
        "span",
        { class: `swatch ${name}` },
        { query: strings.query_row, key: strings.key_row, cell: strings.chosen_cell }[name],
      ),
    ),
  );
}

/** The sentence in the bar, the live region and the arithmetic, after the choice or the data changed. */
function showChoice(/** @type {any} */ view) {
  const { nodes, header, query, key } = view;
  const { strings, tokens, key_tokens: keys } = header;
  const both = query !== null && key !== null;
  nodes.clear.hidden = query === null && key === null;
  setData(nodes.top, { query, key });
  const asks = both
    ? namedTokens(strings.asks, {
        query: tokenMark("query", tokens[query]),
        key: tokenMark("key", keys[key]),
      })
    : query !== null
      ? [tokenMark("query", tokens[query])]
      : key !== null
        ? [tokenMark("key", keys[key])]
        : [strings.hint];
  nodes.asks.classList.toggle("empty", query === null && key === null);
  nodes.asks.replaceChildren(...asks);
  showEditBar(view);
  showPlaced(view);
  showSums(view);
}

/** Where in the picture the chosen cell is, with the weights of its query. */
function showPlaced(/** @type {any} */ view) {
  const { header, edited, query, key, scale } = view;
  const { strings } = header;
  const { data, shape } = edited.weights;
  drawPlaced(view.placed, {
    whole: view.whole,
    patches: header.patches,
    labels: header.tokens,
    query,
    key,
    scale,
    lut: sequential(view.theme.dark),
    theme: view.theme,
    rowOf: (row) => data.subarray(row * shape[1], (row + 1) * shape[1]),
    width: view.nodes.top.clientWidth,
    texts: { picture: strings.picture, idle: strings.picture_idle },
  });
}

/** The arithmetic is that of the numbers on show; of a difference there is none, so that the edited ones are taken. */
function showSums(/** @type {any} */ view) {
  drawArithmetic(view.mode === "difference" ? { ...view, arrays: view.edited } : view);
  showPlay(view);
}

/** Edited numbers, the original ones, or the difference. */
function setMode(/** @type {any} */ view, /** @type {string} */ mode) {
  view.mode = mode;
  view.arrays = arraysOf(view);
  drawStrip(view);
  showChoice(view);
  view.editBar.modes.querySelector(`[data-mode=${mode}]`)?.focus();
}

/** A row or cell was chosen elsewhere on the page; which head is shown is the server's word. */
function followSteps(/** @type {any} */ view, /** @type {any} */ selection) {
  if (!view.header) return;
  const { query, key } = clampSelection(selection, {
    ...view.header,
    n_query: view.header.tokens.length,
    n_key: view.header.key_tokens.length,
  });
  Object.assign(view, { query, key, selection: { ...view.selection, query, key } });
  markStrip(view);
  showChoice(view);
}

/**
 * Another cell, row or nothing is chosen: marks, arithmetic, URL; the server hears of it later.
 * @param {any} view
 * @param {number | null} query
 * @param {number | null} key
 */
function choose(view, query, key) {
  if (query === view.query && key === view.key) return;
  Object.assign(view, { query, key, selection: { ...view.selection, query, key } });
  view.committer.update(view.selection);
  writeSelection(view.selection);
  markStrip(view);
  showChoice(view);
}

function toggleTerms(/** @type {any} */ view) {
  view.allTerms = !view.allTerms;
  showSums(view);
  view.nodes.box.querySelector("button.terms")?.focus();
}

/** Pointer and keys of one panel. */
function wirePanel(/** @type {any} */ panel, /** @type {any} */ view) {
  const { base } = panel;
  const remark = oncePerFrame(() => markPanel(panel, view));
  const hit = (event) => {
    const { x, y } = localPoint(event, base);
    const cell = cellAt(x, y, panel.layout.geom);
    const { from } = panel;
    return cell && { row: cell.row + from.row, col: cell.col + from.col };
  };
  base.addEventListener("pointermove", (event) => {
    panel.hover = hit(event);
    remark();
  });
  base.addEventListener("pointerleave", () => {
    panel.hover = null;
    remark();
  });
  base.addEventListener("click", (event) => {
    const cell = hit(event);
    if (cell) take(panel, view, cell);
  });
  base.addEventListener("dblclick", () => view.target && view.editBar.input.select());
  base.addEventListener("keydown", (event) => keyIn(panel, view, event));
}

function keyIn(/** @type {any} */ panel, /** @type {any} */ view, /** @type {KeyboardEvent} */ event) {
  if (event.key === "Escape") {
    endPlay(view);
    return choose(view, null, null);
  }
  const [rows, cols] = view.arrays[panel.info.stage].shape;
  const square = SQUARE_STAGES.includes(panel.info.stage);
  const role = KEY_STAGES.includes(panel.info.stage) ? "key" : "query";
  const from = square ? { row: view.query, col: view.key } : { row: view[role], col: panel.col };
  const cell = moveBy(event, from, { rows, cols });
  if (!cell) return undefined;
  event.preventDefault();
  return take(panel, view, cell);
}

/**
 * A cell of a panel was chosen: in square panels query and key, else the position of the panel's rows.
 * @param {any} panel
 * @param {any} view
 * @param {{row: number, col: number}} cell
 */
function take(panel, view, cell) {
  const { stage } = panel.info;
  view.target = EDITABLE.includes(stage) ? { stage, row: cell.row, column: cell.col } : null;
  if (SQUARE_STAGES.includes(stage)) choose(view, cell.row, cell.col);
  else {
    panel.col = cell.col;
    if (KEY_STAGES.includes(stage)) choose(view, view.query, cell.row);
    else choose(view, cell.row, view.key);
    markPanel(panel, view);
  }
  showEditBar(view);
  if (chosenIn(panel, view)) setText(view.nodes.status, spoken(panel, view));
}
