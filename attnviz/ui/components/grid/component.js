// @ts-check
// Overview: every head of the model as a small heatmap, the sentence above, the head under the pointer enlarged.
// Pointing and moving never leave the browser; a click or Enter asks the server to open a head (trigger "open").
// Data: HeadsHeader of shared/buffer.js, weights u8. In cross-attention the keys are other tokens, with chips of their own.

import { parse, headValues, weightOf } from "../shared/buffer.js";
import { axisMarks } from "../shared/axes.js";
import { lightChips, makeChips, strongestRows } from "../shared/chips.js";
import { headPicker } from "../shared/controls.js";
import { levelTable, sequential } from "../shared/colors.js";
import { el, fillNodes, keycaps, oncePerFrame, watchSize } from "../shared/dom.js";
import { fill, fmtFixed, headName } from "../shared/fmt.js";
import { mounted } from "../shared/mounted.js";
import { cancelWrite, clampSelection, flushWrite, makeCommitter, readParameter, readSelection, writeSelection } from "../shared/selection.js";
import { makeAtlas } from "../shared/thumbs.js";
import { theme } from "../shared/theme.js";
import { boardGeometry, drawBoard, sortedColumns } from "./board.js";
import { arranged, BY_LAYER, measureText, orderSelect, sortings } from "./order.js";
import { drawPreview, makePreview } from "./preview.js";

const SCALE = "sqrt";
const NARROW = 820;
const SIDE = 344 + 28;
const STRONGEST = 3;

/** Streamlit calls this with new data or a new theme. */
export default function grid(/** @type {any} */ component) {
  return mounted(component, mountGrid, refreshGrid);
}

function refreshGrid(/** @type {any} */ state, /** @type {Uint8Array} */ data) {
  if (state.raw !== data) takeGridData(state, data);
  layoutGrid(state);
}

function mountGrid(/** @type {any} */ root, /** @type {any} */ setStateValue) {
  const chips = el("div", { class: "av-chips", role: "group" }), keyChips = el("div", { class: "av-chips", role: "group" });
  const asks = el("p", { class: "av-note" }), answers = el("div", { class: "av-answers" }, el("p", { class: "av-note" }), keyChips), strongest = el("div", { class: "av-strongest" });
  const left = el("div", { class: "av-grid-left" }), side = el("div", { class: "av-grid-side" });
  const box = el("section", { class: "av av-grid" }, el("div", {}, asks, chips, answers, strongest), el("div", { class: "av-grid-body" }, left, side));
  root.append(box);
  const state = /** @type {any} */ ({ root, box, chipBox: chips, keyBox: keyChips, asks, answers, strongest, left, side, hover: null, chip: null,
    selection: readSelection() });
  state.committer = makeCommitter(box, setStateValue, (/** @type {any} */ selection) => followGrid(state, selection));
  state.destroy = () => unmountGrid(state);
  state.show = oncePerFrame(() => showHead(state));
  box.addEventListener("pointerleave", () => { state.hover = null; state.chip = null; state.show(); });
  chips.addEventListener("pointerover", (/** @type {any} */ event) => pointChip(state, event.target.dataset?.token));
  chips.addEventListener("pointerleave", () => pointChip(state, undefined));
  chips.addEventListener("click", (/** @type {any} */ event) => pinRow(state, event.target.dataset?.token));
  box.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => { if (event.key === "Escape") chooseInGrid(state, { query: null, key: null }); });
  state.unwatch = watchSize(box, () => { if (state.header) layoutGrid(state); });
  return state;
}

function unmountGrid(/** @type {any} */ state) {
  state.unwatch();
  state.show.cancel();
  state.committer.destroy();
  cancelWrite();
  state.box.remove();
}

/** New data: what was chosen is kept where it still fits. */
function takeGridData(/** @type {any} */ state, /** @type {Uint8Array} */ data) {
  const { header, arrays } = parse(data);
  Object.assign(state, { raw: data, header, weights: arrays.weights, atlas: null, hover: null, chip: null, sortings: sortings(header, arrays.measures) });
  flushWrite();
  state.selection = { ...clampSelection(readSelection(), header), more: { order: readParameter("order") } };
  state.committer.start(state.selection);
  makeTokens(state);
  buildPicker(state);
  state.preview = makePreview(header.strings, () => openHead(state, "head"), () => openHead(state, "steps"));
  state.side.replaceChildren(state.preview.node);
}

/** Chips of the text; in cross-attention one row of them for the queries and one for the keys. */
function makeTokens(/** @type {any} */ state) {
  const { header } = state, { strings } = header, cross = Boolean(header.cross);
  state.marks = axisMarks(header.special, header.written);
  state.keyMarks = axisMarks(header.key_special, header.key_written);
  state.chips = makeChips(state.chipBox, header.tokens, state.marks, strings.written);
  state.chipBox.setAttribute("aria-label", cross ? strings.query_axis : strings.tokens);
  state.asks.hidden = state.answers.hidden = !cross;
  state.asks.textContent = strings.query_axis;
  state.answers.firstChild.textContent = strings.key_axis;
  state.keyBox.setAttribute("aria-label", strings.key_axis);
  state.keyChips = cross ? makeChips(state.keyBox, header.key_tokens, state.keyMarks, strings.written) : null;
}

function buildPicker(/** @type {any} */ state) {
  const { header } = state, { strings } = header;
  state.canvas = el("canvas", { role: "img", "aria-label": fill(strings.canvas, { model: header.model, layers: header.n_layers, heads: header.n_heads }) });
  state.picker = headPicker({
    label: strings.heads, nLayers: header.n_layers, nHeads: header.n_heads, under: state.canvas,
    labelOf: (layer, head) => fill(strings.status, { head: headName(layer, head), sentence: header.sentences[layer][head] }),
    onMove: (layer, head) => { state.hover = null; choose(state, layer, head); },
    onPick: (layer, head) => { choose(state, layer, head); openHead(state, "head"); },
    onHover: (at) => { state.hover = at; state.show(); },
  });
  state.picker.set(state.selection.layer, state.selection.head);
  state.order = orderSelect(header, state.sortings, (name) => { changeOption(state, { order: name === BY_LAYER ? null : name }); });
  const hint = el("p", { class: "av-hint" }, ...fillNodes(strings.hint, { arrows: keycaps("←", "→", "↑", "↓"), enter: keycaps("Enter") }));
  state.left.replaceChildren(el("div", { class: "av-row av-grid-options" }, state.order.node), state.picker.node, hint);
}

/** What the heads are sorted by; null for the model's own order. */
function sortingOf(/** @type {any} */ state) {
  const { order } = state.selection.more;
  return state.sortings.find((/** @type {import("./order.js").Sorting} */ each) => each.name === order) ?? null;
}

/** One change of how heads are shown. */
function changeOption(/** @type {any} */ state, /** @type {Record<string, string | null>} */ change) {
  chooseInGrid(state, { more: { ...state.selection.more, ...change } });
  layoutGrid(state);
}

function choose(/** @type {any} */ state, /** @type {number} */ layer, /** @type {number} */ head) {
  chooseInGrid(state, { layer, head });
}

/** One change of the selection: remembered, mirrored into the address, drawn in the next frame. */
function chooseInGrid(/** @type {any} */ state, /** @type {any} */ change) {
  state.selection = { ...state.selection, ...change };
  state.committer.update(state.selection);
  writeSelection(state.selection);
  state.show();
}

/** A click on a token of the text keeps its row lit; the same one again lets it go. */
function pinRow(/** @type {any} */ state, /** @type {string | undefined} */ token) {
  if (token === undefined) return;
  chooseInGrid(state, { query: Number(token) === state.selection.query ? null : Number(token), key: null });
}

/** What was chosen elsewhere on the page, a token that was just written for instance. */
function followGrid(/** @type {any} */ state, /** @type {any} */ selection) {
  if (!state.header) return;
  state.selection = { ...clampSelection(selection, state.header), more: state.selection.more };
  state.picker.set(state.selection.layer, state.selection.head);
  state.show();
}

function openHead(/** @type {any} */ state, /** @type {string} */ page) {
  const at = state.hover ?? state.selection, { query, key } = state.selection;
  flushWrite();
  state.committer.commit();
  state.trigger("open", { page, layer: at.layer, head: at.head, query, key });
}

function pointChip(/** @type {any} */ state, /** @type {string | undefined} */ token) {
  const chip = token === undefined ? null : Number(token);
  if (chip === state.chip) return;
  state.chip = chip;
  state.show();
}

/** Sizes everything for the width there is and draws it. */
function layoutGrid(/** @type {any} */ state) {
  const { header, box } = state, width = box.clientWidth;
  if (!width) return;
  const narrow = width < NARROW;
  box.classList.toggle("av-grid-narrow", narrow);
  state.theme = theme(state.root);
  state.lut = sequential(state.theme.dark);
  const room = narrow ? width : width - SIDE, sorting = sortingOf(state);
  state.order.set(sorting?.name ?? BY_LAYER);
  state.rows = arranged(header, sorting, sortedColumns(header, room));
  state.thumbs = boardGeometry(state.rows, sorting !== null, room, Math.max(header.n_query, header.n_key));
  state.atlas = makeAtlas({ array: state.weights, lut: state.lut, levels: levelTable(state.weights.dtype, SCALE) }, state.thumbs.size);
  state.previewWidth = narrow ? Math.min(width, 560) : SIDE - 28;
  const { size, gap, rowGap, x, y } = state.thumbs;
  state.picker.arrange(state.rows);
  state.picker.resize(size, gap, x, y, rowGap);
  state.chipBox.tabIndex = state.chipBox.scrollHeight > state.chipBox.clientHeight ? 0 : -1;
  showHead(state);
}

function showHead(/** @type {any} */ state) {
  const { header, weights, lut } = state, at = state.hover ?? state.selection, row = state.chip ?? state.selection.query;
  const sorting = sortingOf(state);
  drawBoard(state.canvas, { rows: state.rows, geom: state.thumbs, atlas: state.atlas, theme: state.theme, header, at, query: state.selection.query, sorting });
  const values = headValues(weights, at.layer, at.head);
  showTokens(state, values, row);
  drawPreview(state.preview, { ...state, at, values, chip: row, levels: levelTable(weights.dtype, SCALE), scale: SCALE, lut,
    sentence: sentenceOf(header, at, sorting), width: state.previewWidth });
}

/** What a head does, and its number where heads are sorted. */
function sentenceOf(/** @type {any} */ header, /** @type {{layer: number, head: number}} */ at, /** @type {import("./order.js").Sorting | null} */ sorting) {
  const said = header.sentences[at.layer][at.head];
  return sorting ? fill(header.strings.measured, { sentence: said, measure: sorting.label, value: measureText(sorting, at.layer * header.n_heads + at.head) }) : said;
}

/** Chips and the line below them: the strongest rows of the head, or the row of a token: the one under the pointer, else the chosen one. */
function showTokens(/** @type {any} */ state, /** @type {ArrayLike<number>} */ values, /** @type {number | null} */ chip) {
  const { header, weights, chips, keyChips, lut } = state, { strings, tokens, key_tokens: keys, n_query: nQuery, n_key: nKey } = header;
  const levels = levelTable(weights.dtype, SCALE), asking = new Set(), looked = new Map();
  const number = (/** @type {number} */ code) => `≈\u2009${fmtFixed(weightOf(code, weights.dtype), 2)}`;
  /** @type {Node[]} */
  let items;
  if (chip !== null && chip < nQuery) {
    const row = Array.from({ length: nKey }, (_, key) => ({ key, code: values[chip * nKey + key] }));
    asking.add(chip);
    for (const { key, code } of row) looked.set(key, levels[code]);
    const top = row.sort((a, b) => b.code - a.code).slice(0, STRONGEST);
    items = [...fillItem(strings.looks, tokens[chip]), ...top.map(({ key, code }) => el("span", {}, el("bdi", {}, keys[key]), number(code)))];
  } else {
    const rows = strongestRows(values, nQuery, nKey, header.special, STRONGEST);
    for (const { query, key, code } of rows) { asking.add(query); looked.set(key, Math.max(levels[code], looked.get(key) ?? 0)); }
    items = [el("span", {}, strings.strongest), ...rows.map(({ query, key, code }) => el("span", {}, el("bdi", {}, tokens[query]), "→", el("bdi", {}, keys[key]), number(code)))];
  }
  lightChips(chips, asking, keyChips ? new Map() : looked, lut);
  if (keyChips) lightChips(keyChips, new Set(), looked, lut);
  if (state.chip === null) scrollToChip(state.chipBox, chips[Math.min(...asking)]);
  state.strongest.replaceChildren(...items);
}

/** Scrolls the chips, never the page, so that a chip is in sight. */
function scrollToChip(/** @type {HTMLElement} */ box, /** @type {HTMLElement | undefined} */ chip) {
  if (!chip || box.scrollHeight <= box.clientHeight) return;
  const top = chip.offsetTop - box.offsetTop, low = top + chip.offsetHeight - box.clientHeight;
  if (top < box.scrollTop || low > box.scrollTop) box.scrollTop = Math.max(0, top - 30);
}

function fillItem(/** @type {string} */ template, /** @type {string} */ query) {
  return [el("span", {}, ...fillNodes(template, { query: el("bdi", {}, query) }))];
}
