// @ts-check
// Overview: every head of the model as a small heatmap, the sentence above, the head under the pointer enlarged.
// Pointing and moving never leave the browser; a click or Enter asks the server to open a head (trigger "open").
// Data: HeadsHeader of shared/buffer.js, weights u8. In cross-attention the keys are other tokens, with chips of their own.

import { headValues, layerHeaders, parse } from "../shared/buffer.js";
import { axisMarks } from "../shared/axes.js";
import { makeChips } from "../shared/chips.js";
import { checkbox, headPicker } from "../shared/controls.js";
import { levelTable, sequential } from "../shared/colors.js";
import { cueScroll, el, fillNodes, keycaps, oncePerFrame, watchSize } from "../shared/dom.js";
import { fill, headName } from "../shared/fmt.js";
import { mounted } from "../shared/mounted.js";
import { pictureSource } from "../shared/picture.js";
import {
  cancelWrite,
  clampSelection,
  fitLayer,
  flushWrite,
  makeCommitter,
  readParameter,
  readSelection,
  writeSelection,
} from "../shared/selection.js";
import { makeAtlas } from "../shared/thumbs.js";
import { theme } from "../shared/theme.js";
import { boardGeometry, drawBoard, sortedColumns } from "./board.js";
import { arranged, BY_LAYER, headCounts, measureText, orderSelect, sortings } from "./order.js";
import { summarise, summarisedRows, summaryOf, summaryPlaces, summaryText } from "./summaries.js";
import { showTokens } from "./tokens.js";
import { drawPreview, makePreview } from "./preview.js";

const SCALE = "sqrt";
const NARROW = 820;
const SIDE = 344 + 28;

/** Streamlit calls this with new data or a new theme. */
export default function grid(/** @type {any} */ component) {
  return mounted(component, mountGrid, refreshGrid);
}

function refreshGrid(/** @type {any} */ state, /** @type {Uint8Array} */ data) {
  if (state.raw !== data) takeGridData(state, data);
  layoutGrid(state);
}

function mountGrid(/** @type {any} */ root) {
  const chips = cueScroll(el("div", { class: "av-chips", role: "group" }));
  const keyChips = cueScroll(el("div", { class: "av-chips", role: "group" }));
  const asks = el("p", { class: "av-note" });
  const answers = el("div", { class: "av-answers" }, el("p", { class: "av-note" }), keyChips);
  const strongest = el("div", { class: "av-strongest" });
  const left = el("div", { class: "av-grid-left" });
  const side = el("div", { class: "av-grid-side" });
  const box = el(
    "section",
    { class: "av av-grid" },
    el("div", {}, asks, chips, answers, strongest),
    el("div", { class: "av-grid-body" }, left, side),
  );
  root.append(box);
  const state = /** @type {any} */ ({
    root,
    box,
    chipBox: chips,
    keyBox: keyChips,
    asks,
    answers,
    strongest,
    left,
    side,
    hover: null,
    chip: null,
    selection: readSelection(),
  });
  state.committer = makeCommitter(box, (/** @type {any} */ selection) => followGrid(state, selection));
  state.destroy = () => unmountGrid(state);
  state.show = oncePerFrame(() => showHead(state));
  box.addEventListener("pointerleave", () => {
    state.hover = null;
    state.chip = null;
    state.show();
  });
  chips.addEventListener("pointerover", (/** @type {any} */ event) =>
    pointChip(state, event.target.dataset?.token),
  );
  chips.addEventListener("pointerleave", () => pointChip(state, undefined));
  chips.addEventListener("click", (/** @type {any} */ event) => pinRow(state, event.target.dataset?.token));
  box.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Escape") {
      leaveExtra(state);
      chooseInGrid(state, { query: null, key: null });
    }
  });
  state.unwatch = watchSize(box, () => {
    if (state.header) layoutGrid(state);
  });
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
  Object.assign(state, {
    raw: data,
    header,
    headers: layerHeaders(header),
    weights: arrays.weights,
    whole: arrays.picture ? pictureSource(arrays.picture) : null,
    tokensOf: null,
    atlas: null,
    hover: null,
    extra: null,
    chip: null,
    summaries: null,
    sortings: sortings(header, arrays.measures),
  });
  flushWrite();
  state.selection = {
    ...clampSelection(readSelection(), wholeOf(header)),
    more: { order: readParameter("order"), cells: readParameter("cells") === "1" ? "1" : null },
  };
  state.committer.start(state.selection);
  makeTokens(state);
  buildPicker(state);
  state.preview = makePreview(
    header.strings,
    () => openHead(state, "head"),
    () => openHead(state, "steps"),
    header.pooled,
  );
  state.side.replaceChildren(state.preview.node);
}

/** The header with the number of tokens that there are, where several share a point. */
function wholeOf(/** @type {any} */ header) {
  return header.pooled ? { ...header, n_query: header.pooled.n_query, n_key: header.pooled.n_key } : header;
}

/** The row of the chosen query: its own, or the one that it shares with its neighbours. */
function rowOf(/** @type {any} */ { header, selection: { query } }) {
  return query === null ? null : Math.floor(query / (header.pooled?.side ?? 1));
}

/** Chips of the text; in cross-attention one row of them for the queries and one for the keys. */
function makeTokens(/** @type {any} */ state, layer = state.selection.layer) {
  const header = state.headers[layer];
  const { strings } = header;
  const cross = Boolean(header.cross);
  state.tokensOf = header;
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
  const { header } = state;
  const { strings } = header;
  state.canvas = el("canvas", {
    role: "img",
    "aria-label": fill(strings.canvas, {
      model: header.model,
      layers: header.n_layers,
      heads: header.n_heads,
    }),
  });
  state.picker = headPicker({
    label: strings.heads,
    nLayers: header.n_layers,
    nHeads: header.n_heads,
    heads: headCounts(header),
    under: state.canvas,
    labelOf: (layer, head) =>
      fill(strings.status, { head: headName(layer, head), sentence: header.sentences[layer][head] }),
    onMove: (layer, head) => {
      state.hover = null;
      choose(state, layer, head);
    },
    onPick: (layer, head) => {
      choose(state, layer, head);
      openHead(state, "head");
    },
    onHover: (at) => {
      state.hover = at;
      state.show();
    },
    extras: Array.from(
      { length: header.shapes ? 0 : 2 * summaryPlaces(header) },
      (_, extra) => summaryText(header, summaryOf(header, extra)).name,
    ),
    onExtra: (extra, how) => showExtra(state, extra, how),
  });
  state.picker.set(state.selection.layer, state.selection.head);
  state.order = orderSelect(header, state.sortings, (name) => {
    changeOption(state, { order: name === BY_LAYER ? null : name });
  });
  state.cells = checkbox({
    label: strings.cells,
    checked: false,
    onChange: (on) => changeOption(state, { cells: on ? "1" : null }),
  });
  const hint = el(
    "p",
    { class: "av-hint" },
    ...fillNodes(strings.hint, { arrows: keycaps("←", "→", "↑", "↓"), enter: keycaps("Enter") }),
  );
  state.left.replaceChildren(
    el("div", { class: "av-row av-grid-options" }, state.order.node, state.cells.node),
    state.picker.node,
    hint,
  );
}

/** What the heads are sorted by; null for the model's own order. */
function sortingOf(/** @type {any} */ state) {
  const { order } = state.selection.more;
  return (
    state.sortings.find((/** @type {import("./order.js").Sorting} */ each) => each.name === order) ?? null
  );
}

/** One change of how heads are shown. */
function changeOption(/** @type {any} */ state, /** @type {Record<string, string | null>} */ change) {
  chooseInGrid(state, { more: { ...state.selection.more, ...change } });
  layoutGrid(state);
}

function choose(/** @type {any} */ state, /** @type {number} */ layer, /** @type {number} */ head) {
  state.extra = null;
  chooseInGrid(state, { layer, head });
}

/**
 * A summary of several heads: enlarged while pointed at, kept by a click; there is no head behind it to open.
 * @param {any} state
 * @param {number} extra
 * @param {"move" | "pick" | "hover"} how
 */
function showExtra(state, extra, how) {
  if (how === "hover") state.hover = { extra };
  else Object.assign(state, { extra, hover: null });
  state.show();
}

/** Lets a kept summary go: what is shown is the chosen head again. */
function leaveExtra(/** @type {any} */ state) {
  if (state.extra === null) return;
  state.extra = null;
  state.picker.set(state.selection.layer, state.selection.head);
}

/** One change of the selection: remembered, mirrored into the address, drawn in the next frame. */
function chooseInGrid(/** @type {any} */ state, /** @type {any} */ change) {
  const next = { ...state.selection, ...change };
  state.selection = state.header.layers.length
    ? fitLayer("query" in change ? next : state.selection, next, state.headers)
    : next;
  state.committer.update(state.selection);
  writeSelection(state.selection);
  state.show();
}

/** A click on a token of the text keeps its row lit; the same one again lets it go. */
function pinRow(/** @type {any} */ state, /** @type {string | undefined} */ token) {
  if (token === undefined) return;
  const { layer, head } = state.header.layers.length ? shownNow(state) : state.selection; // where layers differ, their tokens are those of the head on show
  const off = layer === state.selection.layer && Number(token) === rowOf(state);
  chooseInGrid(state, {
    layer,
    head,
    query: off ? null : Number(token) * (state.header.pooled?.side ?? 1),
    key: null,
  });
  state.picker.set(layer, head);
}

/** What was chosen elsewhere on the page, a token that was just written for instance. */
function followGrid(/** @type {any} */ state, /** @type {any} */ selection) {
  if (!state.header) return;
  state.selection = { ...clampSelection(selection, wholeOf(state.header)), more: state.selection.more };
  state.extra = null;
  state.picker.set(state.selection.layer, state.selection.head);
  state.show();
}

/** What the preview shows: what is pointed at, else a summary that was kept, else the chosen head. */
function shownNow(/** @type {any} */ state) {
  return state.hover ?? (state.extra === null ? state.selection : { extra: state.extra });
}

function openHead(/** @type {any} */ state, /** @type {string} */ page) {
  const at = shownNow(state);
  const { query, key } = state.selection;
  if (at.extra !== undefined) return;
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
  const { header, box } = state;
  const width = box.clientWidth;
  if (!width) return;
  const narrow = width < NARROW;
  box.classList.toggle("av-grid-narrow", narrow);
  state.theme = theme(state.root);
  state.lut = sequential(state.theme.dark);
  const room = narrow ? width : width - SIDE;
  const sorting = sortingOf(state);
  const summed = !sorting && !header.shapes && state.selection.more.cells !== null;
  state.order.set(sorting?.name ?? BY_LAYER);
  state.cells.set(summed);
  state.cells.disable(sorting !== null);
  state.cells.node.hidden = header.shapes !== null; // layers of different shapes have no common mean
  if (!summed) leaveExtra(state);
  const plain = arranged(header, sorting, sortedColumns(header, room));
  state.rows = summed ? summarisedRows(plain, header) : plain;
  if (summed) state.summaries ??= summarise(state.weights);
  state.thumbs = boardGeometry(state.rows, sorting !== null, room, Math.max(header.n_query, header.n_key));
  const atlasOf = (/** @type {any} */ array) =>
    makeAtlas({ array, lut: state.lut, levels: levelTable(array.dtype, SCALE) }, state.thumbs.size);
  Object.assign(state, {
    atlas: atlasOf(state.weights),
    summaryAtlas: summed ? atlasOf(state.summaries) : null,
  });
  state.previewWidth = narrow ? Math.min(width, 560) : SIDE - 28;
  const { size, gap, rowGap, x, y } = state.thumbs;
  state.picker.arrange(state.rows);
  state.picker.resize(size, gap, x, y, rowGap);
  state.chipBox.tabIndex = state.chipBox.scrollHeight > state.chipBox.clientHeight ? 0 : -1;
  showHead(state);
}

function showHead(/** @type {any} */ state) {
  const { lut } = state;
  const at = shownNow(state);
  const header = state.headers[at.layer ?? 0];
  const sorting = sortingOf(state);
  if (state.tokensOf !== header) makeTokens(state, at.layer);
  const row =
    state.chip ?? (header.layers.length && at.layer !== state.selection.layer ? null : rowOf(state));
  drawBoard(state.canvas, {
    ...state,
    geom: state.thumbs,
    at,
    query: header.layers.length ? row : rowOf(state),
    sorting,
  });
  const shown = at.extra === undefined ? headShown(state, at, sorting) : summaryShown(state, at.extra);
  showTokens({ ...state, header }, shown, row);
  drawPreview(state.preview, {
    ...state,
    at,
    ...shown,
    chip: row,
    levels: levelTable(shown.dtype, SCALE),
    scale: SCALE,
    lut,
    header,
    width: state.previewWidth,
  });
}

/**
 * A head to show: its name, what it does, its numbers.
 * @param {any} state
 * @param {{layer: number, head: number}} at
 * @param {import("./order.js").Sorting | null} sorting
 */
function headShown(state, at, sorting) {
  const { header, weights } = state;
  return {
    name: headName(at.layer, at.head),
    sentence: sentenceOf(header, at, sorting),
    values: headValues(weights, at.layer, at.head),
    dtype: weights.dtype,
  };
}

/** The same of a summary. */
function summaryShown(/** @type {any} */ state, /** @type {number} */ extra) {
  const { header, summaries } = state;
  const summary = summaryOf(header, extra);
  return {
    ...summaryText(header, summary),
    values: headValues(summaries, summary.kind === "mean" ? 0 : 1, summary.place),
    dtype: summaries.dtype,
  };
}

/**
 * What a head does, and its number where heads are sorted.
 * @param {any} header
 * @param {{layer: number, head: number}} at
 * @param {import("./order.js").Sorting | null} sorting
 */
function sentenceOf(header, at, sorting) {
  const said = header.sentences[at.layer][at.head];
  return sorting
    ? fill(header.strings.measured, {
        sentence: said,
        measure: sorting.label,
        value: measureText(sorting, at.layer * header.n_heads + at.head),
      })
    : said;
}
