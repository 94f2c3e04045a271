// @ts-check
// A picture and the attention from any of its patches: click, point or use the keyboard to say which patch asks; the
// chosen head is large, all heads are small beside it. The server hears of a choice once, when pointer or focus leaves.
// Data: HeadsHeader of shared/buffer.js with patches; weights u16 (u8 where too many) [layer, head, query, key], picture u8.

import { isolate } from "../shared/axes.js";
import { parse, rowValues, weightOf } from "../shared/buffer.js";
import { colourAt, drawColourBar, inkOn, levelFor, sequential } from "../shared/colors.js";
import { swallow } from "../shared/controls.js";
import { el, localPoint, oncePerFrame, setText, watchSize } from "../shared/dom.js";
import { fill, fmtWeight, headName } from "../shared/fmt.js";
import { headStep, neighbour } from "../shared/headkeys.js";
import { mounted } from "../shared/mounted.js";
import {
  drawPicture,
  hitPicture,
  layoutPicture,
  patchLevels,
  pictureSource,
  restingQuery,
} from "../shared/picture.js";
import {
  cancelWrite,
  clampSelection,
  flushWrite,
  makeCommitter,
  readSelection,
  writeSelection,
} from "../shared/selection.js";
import { theme } from "../shared/theme.js";
import { buildPatchParts } from "./parts.js";
import { drawThumbs, layoutThumbs, stampPictures } from "./thumbs.js";

const NARROW = 760;
const BETWEEN = 32;
const LARGEST_PICTURE = 460;

/** Streamlit calls this with new data or a new theme. */
export default function patches(/** @type {any} */ component) {
  return mounted(component, mountPatches, refreshPatches);
}

function refreshPatches(/** @type {any} */ state, /** @type {Uint8Array} */ data) {
  if (state.raw !== data) takePatchData(state, data);
  layoutPatches(state);
}

function mountPatches(/** @type {any} */ root) {
  const box = el("section", { class: "av av-patches" });
  root.append(box);
  const state = /** @type {any} */ ({ root, box, hover: null, hoverHead: null, mean: false, stretch: false });
  state.committer = makeCommitter(box, (/** @type {any} */ selection) => followPatches(state, selection));
  state.show = oncePerFrame(() => showPatches(state));
  state.unwatch = watchSize(box, () => {
    if (state.header) layoutPatches(state);
  });
  state.destroy = () => unmountPatches(state);
  box.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => onPatchKey(state, event));
  box.addEventListener("pointerleave", () => point(state, { hover: null, hoverHead: null }));
  return state;
}

function unmountPatches(/** @type {any} */ state) {
  state.unwatch();
  state.show.cancel();
  state.committer.destroy();
  cancelWrite();
  state.box.remove();
}

/** New data: what was chosen is kept where it still fits. */
function takePatchData(/** @type {any} */ state, /** @type {Uint8Array} */ data) {
  const { header, arrays } = parse(data);
  header.approximate = arrays.weights.dtype === "u8";
  flushWrite();
  Object.assign(state, {
    raw: data,
    header,
    weights: arrays.weights,
    source: pictureSource(arrays.picture),
    hover: null,
    hoverHead: null,
    mean: false,
    stretch: false,
  });
  state.selection = clampSelection(readSelection(), header);
  state.committer.start(state.selection);
  state.parts = buildPatchParts(header, state.selection, {
    choose: (change) => choosePatch(state, change),
    step: (by) => choosePatch(state, neighbour(header, state.selection, by)),
    open: (page) => openFromPicture(state, page),
    ask: (token) => ask(state, token),
    hoverHead: (at) => point(state, { hoverHead: at }),
    option: (change) => {
      Object.assign(state, change);
      state.show();
    },
  });
  state.box.replaceChildren(...state.parts.nodes);
  listenPicture(state);
}

function listenPicture(/** @type {any} */ state) {
  const { picture, picker } = state.parts;
  const at = (/** @type {MouseEvent} */ event) =>
    hitPicture(state.geom, state.header.patches, localPoint(event, picture));
  picture.addEventListener("pointermove", (/** @type {PointerEvent} */ event) =>
    point(state, { hover: at(event) }),
  );
  picture.addEventListener("pointerleave", () => point(state, { hover: null }));
  picker.node.addEventListener("pointerleave", () => point(state, { hoverHead: null }));
  picture.addEventListener("click", (/** @type {MouseEvent} */ event) => {
    const token = at(event);
    picture.focus({ preventScroll: true });
    if (token !== null) ask(state, token);
  });
}

function point(/** @type {any} */ state, /** @type {any} */ change) {
  Object.assign(state, change);
  state.show();
}

/** One change of the choice: remembered, mirrored into the address, drawn in the next frame. */
function choosePatch(/** @type {any} */ state, /** @type {any} */ change) {
  state.selection = { ...state.selection, ...change };
  state.hoverHead = null;
  state.committer.update(state.selection);
  writeSelection(state.selection);
  state.show();
}

/** What was chosen elsewhere, by the one who leads a class. */
function followPatches(/** @type {any} */ state, /** @type {any} */ selection) {
  if (!state.header) return;
  state.selection = clampSelection(selection, state.header);
  point(state, { hover: null, hoverHead: null });
}

/** The token asks from now on; the same one again lets go. */
function ask(/** @type {any} */ state, /** @type {number} */ token) {
  choosePatch(state, { query: state.selection.query === token ? null : token, key: null });
}

function openFromPicture(/** @type {any} */ state, /** @type {string} */ page) {
  const { layer, head, query, key } = state.selection;
  flushWrite();
  state.committer.commit();
  state.trigger("open", { page, layer, head, query, key });
}

function onPatchKey(/** @type {any} */ state, /** @type {KeyboardEvent} */ event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !state.header) return;
  const change =
    headStep(event, state.header, state.selection) ??
    (event.target === state.parts.picture ? patchStep(event, state) : null);
  if (event.key === "Escape" && state.selection.query !== null)
    choosePatch(state, { query: null, key: null });
  else if (change) choosePatch(state, change);
  else return;
  swallow(event);
}

/** The patch that a key leads to; the first arrow goes to the patch in the middle. */
function patchStep(/** @type {KeyboardEvent} */ event, /** @type {any} */ state) {
  const { rows, columns, first } = state.header.patches;
  const { query } = state.selection;
  const move = /** @type {Record<string, [number, number]>} */ ({
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
  })[event.key];
  if (event.key === "Home" && first > 0) return { query: 0, key: null };
  if (!move || event.shiftKey) return null;
  const inside = (/** @type {number} */ v, /** @type {number} */ n) => Math.max(0, Math.min(n - 1, v));
  const at = (query ?? -1) - first;
  const [row, column] =
    at < 0
      ? [Math.floor(rows / 2), Math.floor(columns / 2)]
      : [inside(Math.floor(at / columns) + move[0], rows), inside((at % columns) + move[1], columns)];
  return { query: first + row * columns + column, key: null };
}

/** Sizes everything for the width there is and draws it. */
function layoutPatches(/** @type {any} */ state) {
  const { header, box, source } = state;
  const width = box.clientWidth;
  if (!width) return;
  const narrow = width < NARROW;
  const picture = narrow
    ? Math.min(width, LARGEST_PICTURE)
    : Math.min(LARGEST_PICTURE, Math.round(width * 0.46));
  box.classList.toggle("av-patches-narrow", narrow);
  state.theme = theme(state.root);
  state.lut = sequential(state.theme.dark);
  state.geom = layoutPicture(source, header.patches, picture - 2);
  state.thumbs = layoutThumbs(header, narrow ? width : width - picture - BETWEEN);
  state.stamped = stampPictures(source, state.thumbs);
  const { size, gap, x, y } = state.thumbs;
  state.parts.picker.resize(size, gap, x, y);
  showPatches(state);
}

/**
 * The weights of a query in one head, or in the mean of a layer's heads.
 * @param {any} state
 * @param {number} layer
 * @param {number | null} head
 * @param {number} query
 * @returns {Float32Array}
 */
function weightsFrom(state, layer, head, query) {
  const { header, weights } = state;
  const of = (/** @type {number} */ each) =>
    Float32Array.from(rowValues(weights, layer, each, query), (code) => weightOf(code, weights.dtype));
  if (head !== null) return of(head);
  const sum = new Float32Array(header.n_key);
  for (let each = 0; each < header.n_heads; each++)
    of(each).forEach((weight, key) => {
      sum[key] += weight / header.n_heads;
    });
  return sum;
}

/** The weight that has the last colour: 1, or the largest of the row where colours are stretched. */
function topOf(/** @type {any} */ state, /** @type {Float32Array} */ row) {
  return state.stretch ? Math.max(...row.subarray(state.header.patches.first)) : 1;
}

/** Everything that is chosen or pointed at. While nothing is kept, the patch under the pointer asks; then it answers. */
function showPatches(/** @type {any} */ state) {
  const { header, parts, selection, hover, theme: look, lut, source } = state;
  const { patches: grid } = header;
  const { scale } = selection;
  const kept = selection.query;
  const query = kept ?? hover ?? restingQuery(grid);
  const key = kept === null ? null : (hover ?? selection.key);
  const place = state.hoverHead ?? selection;
  const at = { layer: place.layer, head: state.mean && !state.hoverHead ? null : place.head };
  const row = query === null ? null : weightsFrom(state, at.layer, at.head, query);
  const top = row ? topOf(state, row) : 1;
  const levels = row && patchLevels(row, grid, scale, top);
  drawPicture(parts.picture, source, state.geom, { levels, lut, theme: look, patches: grid, query, key });
  Object.assign(parts.picture.dataset, { layer: at.layer, head: at.head ?? "mean", kept: kept ?? "" });
  drawThumbs(parts.thumbs, {
    geom: state.thumbs,
    stamped: state.stamped,
    source,
    lut,
    theme: look,
    patches: grid,
    query,
    at,
    levelsOf: (layer, head) => levelsOfHead(state, layer, head, query),
  });
  parts.picker.set(selection.layer, selection.head);
  parts.scale.set(scale);
  const mark = row && key !== null && !state.stretch ? row[key] : undefined;
  drawColourBar(parts.bar, { lut, theme: look, scale, width: 236, mark });
  sayPatches(state, { at, query, key, row, top });
}

/**
 * @param {any} state
 * @param {number} layer
 * @param {number} head
 * @param {number | null} query
 */
function levelsOfHead(state, layer, head, query) {
  if (query === null) return null;
  const row = weightsFrom(state, layer, head, query);
  return patchLevels(row, state.header.patches, state.selection.scale, topOf(state, row));
}

/**
 * Everything in words.
 * @param {any} state
 * @param {{at: any, query: number | null, key: number | null, row: Float32Array | null, top: number}} shown
 */
function sayPatches(state, shown) {
  const { header, parts, selection } = state;
  const { strings, patches: grid, tokens } = header;
  const { at, query, row } = shown;
  const head =
    at.head === null
      ? fill(strings.mean_title, { layer: at.layer, count: header.n_heads })
      : headName(at.layer, at.head);
  setText(parts.title, head);
  setText(parts.sentence, at.head === null ? strings.mean_sentence : header.sentences[at.layer][at.head]);
  const from = query === null ? "" : isolate(tokens[query]);
  const size = { rows: grid.rows, columns: grid.columns };
  parts.picture.setAttribute(
    "aria-label",
    query === null ? fill(strings.idle, size) : fill(strings.picture, { ...size, token: from, head }),
  );
  parts.bar.setAttribute(
    "aria-label",
    fill(strings.colour_bar, { scale: strings[`scale_${selection.scale}`] }),
  );
  setText(parts.allHeads, query === null ? strings.heads : fill(strings.all_heads, { token: from }));
  setText(
    parts.stretched,
    state.stretch ? fill(strings.stretched, { weight: fmtWeight(shown.top, header.approximate) }) : "",
  );
  setText(parts.readout, row ? patchReadout(state, shown, row) : fill(strings.idle, size));
  parts.chips.forEach((/** @type {any} */ chip, /** @type {number} */ token) =>
    showExtra(state, chip, token, query, row, shown.top),
  );
}

/**
 * A chip shows what its token is given, and whether it is the one that asks.
 * @param {any} state
 * @param {any} chip
 * @param {number} token
 * @param {number | null} query
 * @param {Float32Array | null} row
 * @param {number} top
 */
function showExtra(state, chip, token, query, row, top) {
  const level = row ? levelFor(Math.min(1, top > 0 ? row[token] / top : 0), state.selection.scale) : 0;
  chip.node.setAttribute("aria-pressed", String(query === token));
  chip.given.style.backgroundColor = colourAt(state.lut, level);
  chip.given.style.color = inkOn(state.lut, level);
  setText(chip.given, row ? fmtWeight(row[token], state.header.approximate) : "");
}

/** The weight of the patch pointed at, or where the query looks most. */
function patchReadout(/** @type {any} */ state, /** @type {any} */ shown, /** @type {Float32Array} */ row) {
  const { strings, tokens, key_tokens: keys, approximate } = state.header;
  const key = shown.key ?? row.indexOf(Math.max(...row));
  const named = (/** @type {string[]} */ labels, /** @type {number} */ i) =>
    fill(strings.token_at, { token: isolate(labels[i]), position: i });
  const values = {
    query: named(tokens, shown.query),
    key: named(keys, key),
    weight: fmtWeight(row[key], approximate),
  };
  if (shown.key === null) return fill(strings.strongest, values);
  return fill(strings.readout, {
    ...values,
    rank: 1 + row.filter((weight) => weight > row[key]).length,
    count: row.length,
  });
}
