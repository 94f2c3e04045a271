// @ts-check
// A picture and the attention from any of its patches: click, point or use the keyboard to say which patch asks; the
// chosen head is large, all heads are small beside it. The server hears of a choice once, when pointer or focus leaves.

import { parse } from "../shared/buffer.js";
import { drawColourBar } from "../shared/colour_bar.js";
import { sequential } from "../shared/colors.js";
import { makeCommitter } from "../shared/committer.js";
import { swallow } from "../shared/controls.js";
import { el, localPoint, oncePerFrame, setData, watchSize } from "../shared/dom.js";
import { headStep, neighbour } from "../shared/headkeys.js";
import {
  drawPicture,
  hitPicture,
  layoutPicture,
  patchLevels,
  pictureSource,
  restingQuery,
} from "../shared/picture.js";
import { clampSelection } from "../shared/selection.js";
import { topWeight, weightsFrom } from "./numbers.js";
import { buildParts } from "./parts.js";
import { showWords } from "./sentences.js";
import { drawPictures, layoutPictures, stampPictures } from "./thumbs.js";

/** @import { PackedArray } from "../shared/buffer.js" */
/** @import { Committer } from "../shared/committer.js" */
/** @import { Request } from "../shared/dom.js" */
/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Geom } from "../shared/matrix.js" */
/** @import { AddressSelection, Selection } from "../shared/selection.js" */
/** @import { Theme } from "../shared/theme.js" */
/** @import { ThumbGeom } from "../shared/thumbs.js" */
/** @import { Look, Parts } from "./parts.js" */
/** @import { Arrays } from "./types.js" */
/** @import { Header } from "./state.js" */

/** @typedef {{host: Host, box: HTMLElement, committer: Committer, show: Request}} Frame */
/** What a width decides. @typedef {{geom: Geom, thumbs: ThumbGeom, stamped: HTMLCanvasElement, theme: Theme}} Layout */
/**
 * `hover` is the token and `hoverHead` the head under the pointer; `layout` is null until there is a width.
 * @typedef {Frame & Look & {data: Uint8Array, header: Header, weights: PackedArray, source: HTMLCanvasElement,
 *   selection: Selection, parts: Parts, hover: number | null, hoverHead: {layer: number, head: number} | null,
 *   layout: Layout | null}} State
 */

const NARROW_PX = 760;
const BETWEEN_PX = 32;
const MAX_PICTURE_PX = 460;
/** @type {Record<string, [down: number, across: number]>} */
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** @returns {Mounted} */
export default function patches(/** @type {Host} */ host) {
  const box = el("section", { class: "av av-patches" });
  host.root.append(box);
  /** @type {State | null} */
  let state = null;
  const committer = makeCommitter(host, box, (selection) => state && follow(state, selection));
  const show = oncePerFrame(() => state && showAll(state));
  const unwatch = watchSize(box, () => state && layout(state));
  box.addEventListener("keydown", (event) => {
    if (state && onKey(state, event)) swallow(event);
  });
  box.addEventListener("pointerleave", () => state && point(state, { hover: null, hoverHead: null }));
  return {
    refresh(data) {
      if (state?.data !== data) state = takeData({ host, box, committer, show }, data);
      layout(state);
    },
    destroy() {
      unwatch();
      show.cancel();
      committer.destroy();
      box.remove();
    },
  };
}

/** New data: the choice is kept where it still fits. @returns {State} */
function takeData(/** @type {Frame} */ frame, /** @type {Uint8Array} */ data) {
  /** @type {{header: Header, arrays: Arrays}} */
  const { header, arrays } = parse(data);
  const { weights } = arrays;
  const selection = clampSelection(frame.committer.read(), header);
  const parts = buildParts(header, selection, weights.dtype === "u8", {
    choose: (change) => choose(state, change),
    step: (by) => choose(state, neighbour(header, state.selection, by)),
    open: (page) => open(state, page),
    ask: (token) => ask(state, token),
    hoverHead: (at) => point(state, { hoverHead: at }),
    look(change) {
      state.mean = change.mean ?? state.mean;
      state.stretch = change.stretch ?? state.stretch;
      state.show();
    },
  });
  const source = pictureSource(arrays["patches.picture"]);
  const pointed = { hover: null, hoverHead: null };
  const look = { mean: false, stretch: false, layout: null };
  /** @type {State} */
  const state = { ...frame, data, header, weights, source, selection, parts, ...pointed, ...look };
  frame.committer.start(selection);
  frame.box.replaceChildren(...parts.nodes);
  listenPicture(state);
  return state;
}

function listenPicture(/** @type {State} */ state) {
  const { picture, picker } = state.parts;
  const tokenAt = (/** @type {MouseEvent} */ event) =>
    state.layout && hitPicture(state.layout.geom, state.header.patches, localPoint(event, picture));
  picture.addEventListener("pointermove", (event) => point(state, { hover: tokenAt(event) }));
  picture.addEventListener("pointerleave", () => point(state, { hover: null }));
  picker.node.addEventListener("pointerleave", () => point(state, { hoverHead: null }));
  picture.addEventListener("click", (event) => {
    const token = tokenAt(event);
    picture.focus({ preventScroll: true });
    if (token !== null) ask(state, token);
  });
}

function point(
  /** @type {State} */ state,
  /** @type {Partial<Pick<State, "hover" | "hoverHead">>} */ change,
) {
  if (change.hover !== undefined) state.hover = change.hover;
  if (change.hoverHead !== undefined) state.hoverHead = change.hoverHead;
  state.show();
}

/** One change of the choice: remembered, mirrored into the address, drawn in the next frame. */
function choose(/** @type {State} */ state, /** @type {Partial<Selection>} */ change) {
  state.selection = { ...state.selection, ...change };
  state.hoverHead = null;
  state.committer.update(state.selection);
  state.committer.write(state.selection);
  state.show();
}

/** Shows what was chosen elsewhere, by the presenter of a class for instance. */
function follow(/** @type {State} */ state, /** @type {AddressSelection} */ selection) {
  state.selection = clampSelection(selection, state.header);
  point(state, { hover: null, hoverHead: null });
}

/** The token asks from now on; the same one again lets go. */
function ask(/** @type {State} */ state, /** @type {number} */ token) {
  choose(state, { query: state.selection.query === token ? null : token, key: null });
}

function open(/** @type {State} */ state, /** @type {"head" | "steps"} */ page) {
  const { layer, head, query, key } = state.selection;
  state.committer.commit();
  state.host.trigger("open", { page, layer, head, query, key });
}

/** Acts on a key; returns true if it did. */
function onKey(/** @type {State} */ state, /** @type {KeyboardEvent} */ event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const step = headStep(event, state.header, state.selection);
  const change = step ?? (event.target === state.parts.picture ? patchStep(event, state) : null);
  if (event.key === "Escape" && state.selection.query !== null) choose(state, { query: null, key: null });
  else if (change) choose(state, change);
  else return false;
  return true;
}

/** The patch that a key leads to; the first arrow goes to the patch in the middle. */
function patchStep(/** @type {KeyboardEvent} */ event, /** @type {State} */ { header, selection }) {
  const { rows, columns, first } = header.patches;
  if (event.key === "Home" && first > 0) return { query: 0, key: null };
  const move = ARROWS[event.key];
  if (!move || event.shiftKey) return null;
  const inside = (/** @type {number} */ index, /** @type {number} */ count) =>
    Math.max(0, Math.min(count - 1, index));
  const patch = (selection.query ?? -1) - first;
  if (patch < 0)
    return { query: first + Math.floor(rows / 2) * columns + Math.floor(columns / 2), key: null };
  const row = inside(Math.floor(patch / columns) + move[0], rows);
  return { query: first + row * columns + inside((patch % columns) + move[1], columns), key: null };
}

/** Sizes everything for the width there is and draws it. */
function layout(/** @type {State} */ state) {
  const { header, box, source, parts } = state;
  const width = box.clientWidth;
  if (!width) return;
  const isNarrow = width < NARROW_PX;
  const room = Math.min(MAX_PICTURE_PX, isNarrow ? width : Math.round(width * 0.46));
  box.classList.toggle("av-narrow", isNarrow);
  const thumbs = layoutPictures(header, isNarrow ? width : width - room - BETWEEN_PX);
  state.layout = {
    geom: layoutPicture(source, header.patches, room - 2),
    thumbs,
    stamped: stampPictures(source, thumbs),
    theme: state.host.theme(),
  };
  parts.picker.resize(thumbs.size, thumbs.gap, thumbs.x, thumbs.y);
  showAll(state);
}

/** Shows what is chosen or pointed at. While nothing is kept, the patch under the pointer asks; then it answers. */
function showAll(/** @type {State} */ state) {
  const { header, parts, selection, hover, hoverHead, source, weights, stretch } = state;
  if (!state.layout) return;
  const { geom, thumbs, stamped, theme } = state.layout;
  const { patches } = header;
  const { scale, query: kept } = selection;
  const lut = sequential(theme.dark);
  const query = kept ?? hover ?? restingQuery(patches);
  const key = kept === null ? null : (hover ?? selection.key);
  const { layer, head } = hoverHead ?? selection;
  const at = { layer, head: state.mean && !hoverHead ? null : head };
  const row = query === null ? null : weightsFrom(weights, at, query);
  const top = row ? topWeight(header, stretch, row) : 1;
  const levels = row && patchLevels(row, patches, scale, top);
  drawPicture(parts.picture, source, geom, { levels, lut, theme, patches, query, key });
  setData(parts.picture, { layer, head: at.head ?? "mean", kept: kept ?? "" });
  const levelsOf = (/** @type {number} */ layer, /** @type {number} */ head) =>
    levelsOfHead(state, layer, head, query);
  const said = { lut, theme, patches, query, at, kept: header.kept, levelsOf };
  drawPictures(parts.thumbs, { geom: thumbs, stamped, source, ...said });
  parts.picker.set(selection.layer, selection.head);
  parts.scale.set(scale);
  const mark = row && key !== null && !stretch ? row[key] : undefined;
  drawColourBar(parts.bar, { lut, theme, scale, width: 236, mark });
  const approximate = weights.dtype === "u8";
  showWords(parts, header, { at, query, key, row, top, scale, stretch, approximate, lut });
}

/**
 * The colours of a head's patches.
 * @param {State} state
 * @param {number} layer
 * @param {number} head
 * @param {number | null} query
 */
function levelsOfHead({ header, weights, selection, stretch }, layer, head, query) {
  if (query === null) return null;
  const row = weightsFrom(weights, { layer, head }, query);
  return patchLevels(row, header.patches, selection.scale, topWeight(header, stretch, row));
}
