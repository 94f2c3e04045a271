// @ts-check
// Head page: heatmap and lines of one head; layer, head, scale, cell and special tokens change here, in the browser.
// The server hears of it once, when pointer or focus leaves (state "selection"), or when steps are opened (trigger).
// Data: header as the overview's, weights u16 (u8 where that would be too much) [layer, head, query, key].

import { layerHeaders, parse } from "../shared/buffer.js";
import { levelTable, drawColourBar, sequential } from "../shared/colors.js";
import {
  afterPaint,
  el,
  fitCanvas,
  localPoint,
  markDrawn,
  oncePerFrame,
  setText,
  watchSize,
} from "../shared/dom.js";
import { fill, headName } from "../shared/fmt.js";
import { mounted } from "../shared/mounted.js";
import { swallow } from "../shared/controls.js";
import { neighbour } from "../shared/headkeys.js";
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
import { theme } from "../shared/theme.js";
import { drawAtlas, makeAtlas } from "../shared/thumbs.js";
import { drawHeatmap, hitHeatmap, layoutHeatmap, paintCells, placeOf } from "./heatmap.js";
import { onHeadKey } from "./keys.js";
import { drawLines, hitLines, layoutLines, linesAreMany, lineStep } from "./lines.js";
import { rowWeights, weightAt } from "../shared/numbers.js";
import { buildParts } from "./parts.js";
import {
  drawPicture,
  hitPicture,
  layoutPicture,
  patchLevels,
  pictureSource,
  restingQuery,
  windowSource,
} from "../shared/picture.js";
import { heardOf } from "../shared/spectrum.js";
import { showRanked } from "./ranked.js";
import { caption, hiddenText, readout } from "./sentences.js";
import { saySums } from "./sums.js";
import { makeView } from "./view.js";
import { hasPieces, showPieces, tokenAxis, wordAxis } from "./words.js";

const NARROW = 760;
const RANKED_HEIGHT = 240;
const MAX_PICTURE = 380;
const THUMB = { size: 18, gap: 3 };

/** Streamlit calls this with new data or a new theme. */
export default function head(/** @type {any} */ component) {
  return mounted(component, mountHead, refreshHead);
}

function refreshHead(/** @type {any} */ state, /** @type {Uint8Array} */ data) {
  if (state.raw !== data) takeHeadData(state, data);
  layoutHead(state);
}

function mountHead(/** @type {any} */ root) {
  const box = el("section", { class: "av av-head" });
  root.append(box);
  const state = /** @type {any} */ ({
    root,
    box,
    cells: document.createElement("canvas"),
    cache: {},
    hover: null,
    focus: null,
  });
  state.committer = makeCommitter(box, (/** @type {any} */ selection) => followHead(state, selection));
  state.destroy = () => unmountHead(state);
  state.show = oncePerFrame(() => showAll(state));
  state.point = oncePerFrame(() => showFocus(state));
  state.linesLater = afterPaint(
    () =>
      state.view.data.rows.length &&
      state.view.data.cols.length &&
      drawLines(state.parts.lines, state.cache, state.view, state.linesLayout),
  );
  state.unwatch = watchSize(box, () => {
    if (state.header) layoutHead(state);
  });
  box.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) =>
    onHeadKey(
      event,
      state,
      (change) => choosePlace(state, change),
      () => pinnedAt(state),
      (place) => tokensAt(state.view, place),
    ),
  );
  return state;
}

function unmountHead(/** @type {any} */ state) {
  state.unwatch();
  state.show.cancel();
  state.point.cancel();
  state.linesLater.cancel();
  state.committer.destroy();
  cancelWrite();
  state.box.remove();
}

/** New data: what was chosen is kept where it still fits. */
function takeHeadData(/** @type {any} */ state, /** @type {Uint8Array} */ data) {
  const { header, arrays } = parse(data);
  header.approximate = arrays.weights.dtype === "u8";
  state.whole = arrays.picture && header.patches ? pictureSource(arrays.picture) : null;
  Object.assign(state, {
    raw: data,
    headers: layerHeaders(header),
    merged: new Map(),
    view: null,
    weights: arrays.weights,
    hover: null,
    focus: null,
    keptToken: null,
  });
  flushWrite();
  state.selection = { ...clampSelection(readSelection(), header), more: readOptions() };
  takeLayer(state, state.headers[state.selection.layer]);
  state.visible = arrays.visible ?? null;
  state.heard = heardOf(header, arrays);
  state.committer.start(state.selection);
  state.parts = buildParts(header, state.selection, {
    option: (/** @type {any} */ change) => {
      if ("beside" in change) state.parts.lines.focus({ preventScroll: true }); // the button that was pressed will go
      choosePlace(state, { more: { ...state.selection.more, ...change } });
    },
    change: (/** @type {any} */ change) =>
      choosePlace(state, "step" in change ? neighbour(header, state.selection, change.step) : change),
    open: () => openSteps(state),
  });
  state.box.replaceChildren(...state.parts.nodes);
  listenPointer(state);
}

/** The tokens of the chosen layer, and the part of the picture that they are. */
function takeLayer(/** @type {any} */ state, /** @type {any} */ header) {
  const tokens = {
    query: tokenAxis(header.tokens, header.special, header.written),
    key: tokenAxis(header.key_tokens, header.key_special, header.key_written),
  };
  const words = hasPieces(header)
    ? { query: wordAxis(header.words, tokens.query), key: wordAxis(header.key_words, tokens.key) }
    : null;
  Object.assign(state, {
    header,
    tokens,
    words,
    source: state.whole && header.patches ? windowSource(state.whole, header.patches) : null,
  });
}

/** How the head is drawn, as the address has it. */
function readOptions() {
  const flag = (/** @type {string} */ name) => (readParameter(name) === "1" ? "1" : null);
  return {
    sums: flag("sums"),
    words: flag("words"),
    across: flag("across"),
    top: readParameter("top"),
    beside: readParameter("beside"),
  };
}

/** Asks the server for the steps of the head; scale and special tokens are committed on the way. */
function openSteps(/** @type {any} */ state) {
  const { layer, head, query, key } = state.selection;
  flushWrite();
  state.committer.commit();
  state.trigger("open", { page: "steps", layer, head, query, key });
}

/** One change of the selection: remembered, mirrored into the address, drawn in the next frame. */
function choosePlace(/** @type {any} */ state, /** @type {any} */ change) {
  const next = { ...state.selection, ...change };
  const uneven = state.header.layers.length > 0;
  state.selection = uneven ? fitLayer("query" in change ? next : state.selection, next, state.headers) : next;
  state.hover = state.focus = state.keptToken = null;
  state.committer.update(state.selection);
  writeSelection(state.selection);
  if (uneven && followLayer(state)) return;
  if ("special" in change || "more" in change) layoutHead(state);
  else state.show();
}

/** Lays the page out anew where the chosen layer has tokens of its own; whether it does. */
function followLayer(/** @type {any} */ state) {
  const header = state.headers[state.selection.layer];
  if (header === state.header) return false;
  takeLayer(state, header);
  layoutHead(state);
  return true;
}

/** What was chosen elsewhere on the page, a token that was just written for instance. */
function followHead(/** @type {any} */ state, /** @type {any} */ selection) {
  if (!state.header) return;
  const before = state.selection.special;
  state.selection = { ...clampSelection(selection, state.header), more: state.selection.more };
  state.hover = state.focus = state.keptToken = null;
  if (followLayer(state)) return;
  if (state.selection.special !== before) layoutHead(state);
  else state.show();
}

function listenPointer(/** @type {any} */ state) {
  const { heatmap, lines, picture } = state.parts;
  const point = (/** @type {any} */ hover, /** @type {any} */ focus) => {
    state.hover = hover;
    state.focus = focus;
    state.point();
  };
  heatmap.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    const hit = state.view ? hitHeatmap(state.layout, state.view, localPoint(event, heatmap)) : null;
    point(
      hit && hit.query !== null && hit.key !== null ? hit : null,
      hit && (hit.query === null ? hit : { query: hit.query, key: null }),
    );
  });
  lines.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    point(null, state.view ? hitLines(state.linesLayout, state.view.data, localPoint(event, lines)) : null);
  });
  const patchAt = (/** @type {MouseEvent} */ event) =>
    hitPicture(state.pictureGeom, state.header.patches, localPoint(event, picture));
  picture.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    const token = patchAt(event);
    point(null, token === null ? null : { query: token, key: null });
  });
  picture.addEventListener("click", (/** @type {MouseEvent} */ event) =>
    pin(state, { query: patchAt(event), key: null }),
  );
  for (const canvas of [heatmap, lines, picture])
    canvas.addEventListener("pointerleave", () => point(null, null));
  heatmap.addEventListener("click", (/** @type {MouseEvent} */ event) => {
    heatmap.focus({ preventScroll: true });
    const hit = hitHeatmap(state.layout, state.view, localPoint(event, heatmap));
    if (!hit || hit.query !== null) pin(state, hit);
  });
  lines.addEventListener("click", (/** @type {MouseEvent} */ event) => {
    const hit = hitLines(state.linesLayout, state.view.data, localPoint(event, lines));
    lines.focus({ preventScroll: true });
    if (hit) focusToken(state, hit, hit.key !== null && state.keptToken?.key === hit.key);
  });
  lines.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const plain = !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey;
    const { view } = state;
    const pinned = view && pinnedAt(state);
    const next =
      plain && view
        ? lineStep(
            event.key,
            state.linesLayout,
            view.data,
            state.keptToken ?? (pinned.query === null ? null : pinned),
          )
        : null;
    if (next) {
      swallow(event);
      focusToken(state, next, false, true);
    }
  });
}

/**
 * Keeps a token of the lines in focus: a query as a pinned row, a key until something else is chosen; `off` lets it go.
 * @param {any} state
 * @param {{query: number | null, key: number | null}} token
 * @param {boolean} off
 * @param {boolean} [stays]
 */
function focusToken(state, token, off, stays = false) {
  if (token.query !== null) {
    if (stays) choosePlace(state, tokensAt(state.view, token));
    else pin(state, token);
    return;
  }
  choosePlace(state, { query: null, key: null });
  state.keptToken = off ? null : token;
}

/** The tokens at places on the axes: of a word the first one. */
function tokensAt(
  /** @type {any} */ view,
  /** @type {{query: number | null, key: number | null}} */ { query, key },
) {
  return { query: view.axes.query.tokenOf(query), key: view.axes.key.tokenOf(key) };
}

/** The places of what is pinned now, which the next frame will show. */
function pinnedAt(/** @type {any} */ { view, selection }) {
  return { query: view.axes.query.placeOf(selection.query), key: view.axes.key.placeOf(selection.key) };
}

/** Pins a cell or a row, given by their places on the axes; the same one again, or a place without either, unpins. */
function pin(/** @type {any} */ state, /** @type {{query: number | null, key: number | null} | null} */ hit) {
  const { query, key } = pinnedAt(state);
  const same = hit && hit.query === query && hit.key === key;
  choosePlace(state, !hit || same ? { query: null, key: null } : tokensAt(state.view, hit));
}

/** Sizes everything for the width there is and draws it. */
function layoutHead(/** @type {any} */ state) {
  const width = state.box.clientWidth;
  const { header, parts, weights } = state;
  if (!width) return;
  state.narrow = width < NARROW;
  state.box.classList.toggle("av-head-narrow", state.narrow);
  state.theme = theme(state.root);
  state.lut = sequential(state.theme.dark);
  const across = state.selection.more.across !== null && !header.patches;
  state.box.classList.toggle("av-head-across", across);
  state.linesWidth = across
    ? width
    : state.narrow
      ? Math.min(width, 460)
      : Math.max(250, Math.min(380, Math.round(width * 0.35)));
  state.heatWidth = state.narrow || across ? width : width - 32 - state.linesWidth;
  parts.right.style.width = state.narrow || across ? "" : `${state.linesWidth}px`;
  const geom = { x: 0, y: 0, ...THUMB, layers: header.n_layers, heads: header.n_heads };
  const step = THUMB.size + THUMB.gap;
  const atlas = makeAtlas(
    { array: weights, lut: state.lut, levels: levelTable(weights.dtype, "sqrt") },
    THUMB.size,
  );
  drawAtlas(
    fitCanvas(parts.thumbs, geom.heads * step - THUMB.gap, geom.layers * step - THUMB.gap),
    atlas,
    geom,
  );
  markDrawn(parts.thumbs);
  state.shownFor = null;
  showAll(state);
}

/** Everything for the chosen head: names, controls, cells, then what depends on the pointer. */
function showAll(/** @type {any} */ state) {
  const view = (state.view = makeView(state));
  const { parts, header } = state;
  const { strings } = header;
  const name = headName(view.layer, view.head);
  setText(parts.title, name);
  setText(parts.sentence, header.sentences[view.layer][view.head]);
  parts.picker.set(view.layer, view.head);
  parts.scale.set(view.scale);
  parts.special.set(view.specialMode === "hide");
  parts.sums.set(view.sums !== null);
  parts.words?.set(view.inWords);
  parts.lineOptions.set(view);
  parts.wordsNote.hidden = !view.inWords;
  parts.sumsSaid.hidden = view.sums === null;
  const empty = !view.data.rows.length || !view.data.cols.length;
  parts.empty.hidden = !empty;
  parts.body.hidden = empty;
  if (empty) return drawBar(state, null);
  const values = { head: name, rows: view.data.rows.length, cols: view.data.cols.length };
  parts.heatmap.setAttribute("aria-label", fill(strings.heatmap, values));
  parts.lines.setAttribute("aria-label", fill(strings.lines, values));
  const laidOut = `${view.specialMode} ${view.inWords} ${view.across} ${view.width} ${view.linesWidth} ${view.sums !== null}`;
  if (state.shownFor !== laidOut) {
    state.layout = layoutHeatmap(parts.heatmap, view);
    state.linesLayout = layoutLines(
      parts.lines,
      view,
      linesHeight(state, Math.max(view.data.rows.length, view.data.cols.length)),
    );
    state.shownFor = laidOut;
  }
  paintCells(state.cells, view, state.layout);
  showFocus(state);
}

/** Room for the lines: beside the heatmap the ranked keys must fit below them, all labels kept where possible. */
function linesHeight(/** @type {any} */ state, /** @type {number} */ count) {
  const beside = state.layout.height - RANKED_HEIGHT;
  return state.narrow ? 420 : Math.max(260, Math.min(state.layout.height - 40, Math.max(beside, 15 * count)));
}

/** What depends on the pointer and the pinned cell: frames, lines, readout, ranked keys, hidden mass. */
function showFocus(/** @type {any} */ state) {
  const { view, parts, hover, focus } = state;
  if (!view || !view.data.rows.length || !view.data.cols.length) return;
  const { pinned, strings } = view;
  Object.assign(view, {
    hover,
    focus: focus ?? state.keptToken ?? (pinned.query === null ? null : { query: pinned.query, key: null }),
  });
  drawHeatmap(parts.heatmap, state.cells, view, state.layout);
  if (state.source) showPicture(state);
  else if (linesAreMany(state.cache, view, state.linesLayout)) state.linesLater();
  else drawLines(parts.lines, state.cache, view, state.linesLayout);
  const cell = hover ?? (pinned.key === null ? null : pinned);
  drawBar(state, cell);
  setText(parts.readout, cell ? readout(view, cell) : strings.readout_idle);
  if (view.sums)
    saySums(
      parts.sumsSaid,
      view,
      view.sums,
      placeOf(view.data.rows, hover?.query ?? view.focus?.query ?? pinned.query),
      placeOf(view.data.cols, hover?.key ?? view.focus?.key ?? pinned.key),
    );
  showPieces(parts.pieces, view, pinned);
  setText(parts.caption, caption(view));
  const query = pinned.query ?? view.focus?.query ?? null;
  if (state.rankedFor !== rankedName(view, query)) {
    state.rankedFor = rankedName(view, query);
    showRanked(parts.ranked, view, query);
  }
  setText(parts.hidden, view.specialMode === "hide" ? hiddenText(view, query) : "");
}

/** The picture under the patches, with the attention of one query over it. */
function showPicture(/** @type {any} */ state) {
  const { view, parts, source, header } = state;
  const { strings, patches } = header;
  const query = view.focus?.query ?? view.pinned.query ?? restingQuery(patches, header.tokens.length);
  const key = view.hover?.key ?? view.pinned.key ?? null;
  const levels = query === null ? null : patchLevels(rowWeights(view.data, query), patches, view.scale);
  state.pictureGeom = layoutPicture(source, patches, Math.min(view.linesWidth, MAX_PICTURE));
  drawPicture(parts.picture, source, state.pictureGeom, {
    levels,
    lut: view.lut,
    theme: view.theme,
    patches,
    query,
    key,
  });
  const size = { rows: patches.rows, columns: patches.columns };
  const said =
    query === null
      ? fill(strings.picture_idle, size)
      : fill(strings.picture, { ...size, token: view.labels[query], position: query });
  parts.picture.setAttribute("aria-label", said);
  setText(parts.pictured, said);
  setText(parts.blocks, patches.said ?? "");
}

/** The printed colour bar, with a needle at the weight of a cell. */
function drawBar(/** @type {any} */ state, /** @type {{query: number, key: number} | null} */ cell) {
  const { view, parts } = state;
  const { strings } = view;
  const mark = cell ? weightAt(view.data, cell.query, cell.key) : undefined;
  drawColourBar(parts.bar, { lut: view.lut, theme: view.theme, scale: view.scale, width: 236, mark });
  parts.bar.setAttribute("aria-label", fill(strings.colour_bar, { scale: strings[`scale_${view.scale}`] }));
}

function rankedName(/** @type {any} */ view, /** @type {number | null} */ query) {
  return [
    view.layer,
    view.head,
    query,
    view.scale,
    view.specialMode,
    view.inWords,
    view.theme.dark,
    view.header.tokens.length,
  ].join();
}
