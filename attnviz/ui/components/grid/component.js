// @ts-check
// Overview: every head of the model as a small heatmap, the sentence above, the head under the pointer enlarged.
// Pointing and moving never leave the browser; a click or Enter asks the server to open a head (trigger "open").
// Data: HeadsHeader of shared/buffer.js, weights u8. In cross-attention the keys are other tokens, with chips of their own.

import { parse, headValues, weightOf } from "../shared/buffer.js";
import { axisMarks } from "../shared/axes.js";
import { lightChips, makeChips, strongestRows } from "../shared/chips.js";
import { headPicker } from "../shared/controls.js";
import { levelTable, sequential } from "../shared/colors.js";
import { el, fillNodes, fitCanvas, keycaps, markDrawn, oncePerFrame, setData, watchSize } from "../shared/dom.js";
import { fill, fmtFixed, headName } from "../shared/fmt.js";
import { mounted } from "../shared/mounted.js";
import { cancelWrite, clampSelection, flushWrite, makeCommitter, readSelection, writeSelection } from "../shared/selection.js";
import { drawAtlas, makeAtlas, thumbRect } from "../shared/thumbs.js";
import { theme } from "../shared/theme.js";
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
    selection: readSelection(), started: false });
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
  Object.assign(state, { raw: data, header, weights: arrays.weights, atlas: null, hover: null, chip: null });
  flushWrite();
  state.selection = clampSelection(readSelection(), header);
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
  const hint = el("p", { class: "av-hint" }, ...fillNodes(strings.hint, { arrows: keycaps("←", "→", "↑", "↓"), enter: keycaps("Enter") }));
  state.left.replaceChildren(state.picker.node, hint);
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
  state.selection = clampSelection(selection, state.header);
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
  state.thumbs = thumbGeometry(header, narrow ? width : width - SIDE, Math.max(header.n_query, header.n_key));
  state.atlas = makeAtlas({ array: state.weights, lut: state.lut, levels: levelTable(state.weights.dtype, SCALE) }, state.thumbs.size);
  state.previewWidth = narrow ? Math.min(width, 560) : SIDE - 28;
  const { size, gap, x, y } = state.thumbs;
  state.picker.resize(size, gap, x, y);
  state.chipBox.tabIndex = state.chipBox.scrollHeight > state.chipBox.clientHeight ? 0 : -1;
  showHead(state);
}

/** Side and gap of the thumbnails: as large as fits, whole device pixels per cell where that costs little. */
function thumbGeometry(/** @type {any} */ header, /** @type {number} */ width, /** @type {number} */ n) {
  const { n_layers: layers, n_heads: heads } = header, x = 30, y = 20, ratio = Math.max(1, devicePixelRatio || 1);
  const room = Math.floor((width - x - 6) / heads), gap = room >= 34 ? 6 : 3, most = Math.max(10, Math.min(84, room - gap));
  const whole = (Math.floor((most * ratio) / n) * n) / ratio;
  return { x, y, size: whole >= 0.85 * most ? whole : Math.floor(most * ratio) / ratio, gap, layers, heads };
}

function showHead(/** @type {any} */ state) {
  const { header, weights, lut } = state, at = state.hover ?? state.selection, row = state.chip ?? state.selection.query;
  drawGrid(state, at);
  const values = headValues(weights, at.layer, at.head);
  showTokens(state, values, row);
  drawPreview(state.preview, { ...state, at, values, chip: row, levels: levelTable(weights.dtype, SCALE), scale: SCALE, lut,
    sentence: header.sentences[at.layer][at.head], width: state.previewWidth });
}

function drawGrid(/** @type {any} */ state, /** @type {{layer: number, head: number}} */ at) {
  const { thumbs: geom, canvas, theme: look } = state, step = geom.size + geom.gap;
  const ctx = fitCanvas(canvas, geom.x + geom.heads * step, geom.y + geom.layers * step);
  drawAtlas(ctx, state.atlas, geom);
  if (state.selection.query !== null) markRows(ctx, geom, state.selection.query / state.header.n_query, 1 / state.header.n_query, look);
  ctx.textBaseline = "middle";
  const label = (/** @type {string} */ text, /** @type {boolean} */ on, /** @type {number} */ x, /** @type {number} */ y) => {
    ctx.font = `${on ? "600 " : ""}11.5px ${look.font}`;
    ctx.fillStyle = on ? look.accent : look.muted;
    ctx.fillText(text, x, y);
  };
  ctx.textAlign = "left";
  for (let layer = 0; layer < geom.layers; layer++) label(`L${layer}`, layer === at.layer, 0, geom.y + layer * step + geom.size / 2);
  ctx.textAlign = "center";
  for (let head = 0; head < geom.heads; head++) label(`H${head}`, head === at.head, geom.x + head * step + geom.size / 2, 7);
  setData(canvas, { layer: at.layer, head: at.head, query: state.selection.query, x: geom.x, y: geom.y, size: geom.size, gap: geom.gap });
  markDrawn(canvas);
}

/** A pair of lines across every small heatmap, around the row that is chosen. */
function markRows(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {any} */ geom, /** @type {number} */ from, /** @type {number} */ share, /** @type {any} */ look) {
  const h = Math.max(2, share * geom.size), at = (from + share / 2) * geom.size - h / 2;
  ctx.strokeStyle = look.accent;
  ctx.lineWidth = 1;
  for (let layer = 0; layer < geom.layers; layer++) for (let head = 0; head < geom.heads; head++) {
    const { x, y } = thumbRect(geom, layer, head);
    ctx.strokeRect(x - 0.5, y + at - 0.5, geom.size + 1, h + 1);
  }
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
