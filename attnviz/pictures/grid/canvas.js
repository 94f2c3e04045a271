// @ts-check
// Overview: every head of the model as a small heatmap, the sentence above, the head under the pointer enlarged.
// Pointing and moving never leave the browser; a click or Enter asks the server to open a head (trigger "open").
// In cross-attention the keys are other tokens, with chips of their own.

import { layerHeaders, parse } from "../shared/buffer.js";
import { moveAlongChips } from "../shared/chips.js";
import { levelTable, sequential } from "../shared/colors.js";
import { makeCommitter } from "../shared/committer.js";
import { dataAt, el, oncePerFrame, setText, watchSize } from "../shared/dom.js";
import { cellOf, effectsFor, factNodes, hiddenNode, isHidden, lookAt } from "../shared/effects.js";
import { boxOf, fly } from "../shared/grow.js";
import { sameForAll } from "../shared/hidden.js";
import { pictureSource } from "../shared/picture.js";
import { followHeads, learnWords } from "../shared/rest.js";
import { clampSelection, fitLayer } from "../shared/selection.js";
import { makeAtlas, thumbRect } from "../shared/thumbs.js";
import { boardGeometry, drawBoard, sortedColumns } from "./board.js";
import { arranged, BY_LAYER, sortings } from "./order.js";
import { buildParts, showLegend } from "./parts.js";
import { drawPreview, enlargedOf, withoutForbidden } from "./preview.js";
import { isSummed, summarise, summarisedRows } from "./summaries.js";
import { buildText, fillText, lightText, pressChip, scrollToChip } from "./text.js";
import { makeWhole } from "./whole.js";

/** @import { PackedArray } from "../shared/buffer.js" */
/** @import { Committer } from "../shared/committer.js" */
/** @import { Request } from "../shared/dom.js" */
/** @import { HeadEffects } from "../shared/effects.js" */
/** @import { Box, Growth } from "../shared/grow.js" */
/** @import { Arrangement } from "../shared/head_picker.js" */
/** @import { LayeredHeader } from "../shared/layers.js" */
/** @import { Rest } from "../shared/rest.js" */
/** @import { Hits, Host, Mounted } from "../shared/host.js" */
/** @import { AddressSelection, Selection } from "../shared/selection.js" */
/** @import { Theme } from "../shared/theme.js" */
/** @import { Atlas } from "../shared/thumbs.js" */
/** @import { BoardGeom, HeadPlace, Subject } from "./board.js" */
/** @import { Sorting } from "./order.js" */
/** @import { Actions, Parts } from "./parts.js" */
/** @import { TextChips, TextNodes } from "./text.js" */
/** @import { Arrays, Header } from "./types.js" */
/** @import { Whole } from "./whole.js" */

/** What the address has beside the selection. @typedef {{order: string | null, cells: string | null, open: string | null}} Options */
/** @typedef {Selection & {more: Options}} GridSelection */
/**
 * The elements that live as long as the component. `scroll` brings a chip into sight, with the layout that its frame makes
 * anyway; `now` is what is shown.
 * @typedef {{host: Host, box: HTMLElement, text: TextNodes, left: HTMLElement, side: HTMLElement, committer: Committer,
 *   show: Request, scroll: Request, now: () => State | null}} Frame
 */
/**
 * What width, theme and order decide.
 * @typedef {{theme: Theme, lut: Uint32Array, rows: Arrangement, geom: BoardGeom, sorting: Sorting | null,
 *   atlas: Atlas, summaryAtlas: Atlas | null, previewWidth: number}} Layout
 */
/**
 * `hover` is under the pointer, `extra` is a summary that was kept, `chip` is the token under the pointer; `summaries`
 * are made when they are first shown, `effects` come when they are measured, `whole` fills as weights come. `first` is the
 * chip to scroll to, `hits` are what a search has found.
 * @typedef {{frame: Frame, data: Uint8Array, header: Header, headers: LayeredHeader<Header>[], whole: Whole,
 *   visible: PackedArray | null, effects: HeadEffects | null, picture: HTMLCanvasElement | null, sortings: Sorting[], selection: GridSelection, parts: Parts, chips: TextChips, first: number,
 *   summaries: PackedArray | null, hits: readonly HeadPlace[] | null, hover: Subject | null, extra: number | null, chip: number | null,
 *   layout: Layout | null}} State
 */

const SCALE = "sqrt";
const NARROW_PX = 820;
const SIDE_PX = 344;
const BETWEEN_PX = 28;
const WIDEST_PREVIEW_PX = 560;

/** @returns {Mounted} */
export default function grid(/** @type {Host} */ host) {
  const text = buildText();
  const left = el("div", { class: "av-main av-grid-left" });
  const side = el("div", { class: "av-side av-grid-side" });
  const body = el("div", { class: "av-body" }, left, side);
  const box = el("section", { class: "av av-grid" }, text.node, body);
  host.root.append(box);
  /** @type {State | null} */
  let state = null;
  /** @type {Uint8Array | null} */
  let sent = null;
  /** @type {Hits | null} */
  let found = null;
  const committer = makeCommitter(host, box, (selection) => state && follow(state, selection));
  const show = oncePerFrame(() => state && showAll(state));
  const scroll = oncePerFrame(() => state && scrollToChip(text.chips, state.chips.chips[state.first]));
  const { ask, stop } = followHeads(host, {
    rest: (rest) => state && takeRest(state, rest),
    effects: (effects) => state && takeEffects(state, effects),
  });
  /** @type {Frame} */
  const frame = { host, box, text, left, side, committer, show, scroll, now: () => state };
  const stopGrowing = host.channel.listen((message) => {
    if ("hits" in message) found = message.hits;
    if ("grow" in message && !message.grow.isOpen && sent) {
      if (!state) {
        state = takeData(frame, null, sent);
        ask();
      }
      takeHits(state, found);
      comeBack(state, message.grow);
    } else if (!state) return;
    else if ("opens" in message && state.header.grows) {
      const { layer, head, from } = message.opens;
      grow(state, layer, head, from);
    } else if ("hits" in message) takeHits(state, found);
  });
  const unwatch = watchSize(box, () => state && layout(state));
  listen(box, text, () => state);
  return {
    refresh(data) {
      const width = box.clientWidth; // before anything changes, which would have to be laid out first
      sent = data;
      if (state?.data !== data) {
        box.hidden = isOpen(host, parse(data).header);
        state = box.hidden ? null : takeData(frame, state, data);
        ask();
      }
      if (state) layout(state, width);
    },
    destroy() {
      stop();
      stopGrowing();
      unwatch();
      show.cancel();
      scroll.cancel();
      committer.destroy();
      box.remove();
    },
  };
}

/** True while a head of the page is open: nothing of the grid is built before it shrinks. */
function isOpen(/** @type {Host} */ { address }, /** @type {Header} */ { grows }) {
  return grows && address.get("open") === "1";
}

/** Takes what a search has found in the capture that is shown. */
function takeHits(/** @type {State} */ state, /** @type {Hits | null} */ hits) {
  if (hits?.capture !== state.header.capture) return;
  state.hits = hits.heads;
  state.frame.show();
}

function listen(
  /** @type {HTMLElement} */ box,
  /** @type {TextNodes} */ text,
  /** @type {() => State | null} */ stateNow,
) {
  const pointChip = (/** @type {string | undefined} */ token) => {
    const state = stateNow();
    const chip = token === undefined ? null : Number(token);
    if (!state || chip === state.chip) return;
    state.chip = chip;
    state.frame.show();
  };
  box.addEventListener("pointerleave", () => {
    const state = stateNow();
    if (!state) return;
    state.hover = state.chip = null;
    state.frame.show();
  });
  text.chips.addEventListener("pointerover", (event) => pointChip(dataAt(event, "token")));
  text.chips.addEventListener("pointerleave", () => pointChip(undefined));
  text.chips.addEventListener("focusin", (event) => pointChip(dataAt(event, "token")));
  text.chips.addEventListener("focusout", () => pointChip(undefined));
  text.chips.addEventListener("keydown", (event) => {
    const state = stateNow();
    if (state) moveAlongChips(event, state.chips.chips);
  });
  text.chips.addEventListener("click", (event) => {
    const state = stateNow();
    const token = dataAt(event, "token");
    if (state && token !== undefined) pinRow(state, Number(token));
  });
  box.addEventListener("keydown", (event) => {
    const state = stateNow();
    if (!state || event.key !== "Escape") return;
    leaveExtra(state);
    choose(state, { query: null, key: null });
  });
}

/**
 * New data: the choice is kept where it still fits, and so are the elements where another text is all that is new.
 * @param {Frame} frame
 * @param {State | null} before
 * @param {Uint8Array} data
 * @returns {State}
 */
function takeData(frame, before, data) {
  /** @type {{header: Header, arrays: Arrays}} */
  const { header, arrays } = parse(data);
  const { address } = frame.host;
  const flag = (/** @type {string} */ name) => (address.get(name) === "1" ? "1" : null);
  const more = { order: address.get("order"), cells: flag("cells"), open: null };
  const selection = { ...clampSelection(frame.committer.read(), wholeOf(header)), more };
  const headers = layerHeaders(header);
  const sorted = sortings(header, arrays.measured);
  const picture = header.patches ? pictureSource(arrays["patches.picture"]) : null;
  const shown = { hits: null, summaries: null, hover: null, extra: null, chip: null, first: 0, layout: null };
  const kept = before && isSameModel(before, header, sorted) ? before.parts : null;
  /** @type {State} */
  const state = {
    frame,
    data,
    header,
    headers,
    whole: makeWhole(header, arrays),
    visible: arrays.visible ?? null,
    effects: null,
    picture,
    sortings: sorted,
    selection,
    parts: kept ?? buildParts(header, sorted, actionsOf(frame)),
    chips: fillText(frame.text, headers[selection.layer], picture),
    ...shown,
  };
  frame.committer.start(selection);
  const { left, picker, preview } = state.parts;
  picker.set(selection.layer, selection.head);
  if (kept) {
    state.parts.relabel(header);
    setText(preview.spoken, "");
    return state;
  }
  frame.left.replaceChildren(...left.filter((node) => node !== null), frame.text.strongest);
  frame.side.replaceChildren(preview.node);
  return state;
}

/** True where the elements that were built are those of a new header too. */
function isSameModel(
  /** @type {State} */ before,
  /** @type {Header} */ header,
  /** @type {readonly Sorting[]} */ sorted,
) {
  const built = (/** @type {Header} */ of, /** @type {readonly Sorting[]} */ sortings) => {
    const { strings, model, n_layers, n_heads, shapes, kept, layers, pooled, predicts } = of;
    const names = sortings.map(({ name, label }) => [name, label]);
    return JSON.stringify([strings, model, n_layers, n_heads, shapes, kept, layers, pooled, predicts, names]);
  };
  return built(before.header, before.sortings) === built(header, sorted);
}

/** What the elements do, to what is shown then. @returns {Actions} */
function actionsOf(/** @type {Frame} */ { now }) {
  const to = (/** @type {(state: State) => void} */ act) => {
    const state = now();
    if (state) act(state);
  };
  return {
    order: (name) => to((state) => changeOption(state, { order: name === BY_LAYER ? null : name })),
    cells: (on) => to((state) => changeOption(state, { cells: on ? "1" : null })),
    choose: (layer, head) => to((state) => chooseHead(state, layer, head)),
    open: (page) => to((state) => open(state, page)),
    allow: () => to(allow),
    hover: (subject) => to((state) => hover(state, subject)),
    keep: (extra) => to((state) => keepExtra(state, extra)),
  };
}

/** The header with the number of tokens that there are, where several share a point. */
function wholeOf(/** @type {Header} */ header) {
  return header.pooled ? { ...header, n_query: header.pooled.n_query, n_key: header.pooled.n_key } : header;
}

/** Takes what was measured of the heads that are shown. */
function takeEffects(/** @type {State} */ state, /** @type {HeadEffects} */ effects) {
  if (effects.capture !== state.header.capture) return;
  state.effects = effects;
  state.frame.show();
}

/** Takes what follows the first picture: words and measures, or weights. */
function takeRest(/** @type {State} */ state, /** @type {Rest} */ rest) {
  const { header, parts, whole, frame } = state;
  if (rest.capture !== header.capture) return;
  if (learnWords(header, rest)) {
    header.measures = rest.measures;
    state.sortings = sortings(header, rest.measured ?? undefined);
    parts.order.fill(state.sortings);
    parts.relabel(header);
  }
  whole.take(rest);
  // another order, or means and maxima of all, may have waited for it
  if (state.selection.more.order !== null || state.selection.more.cells !== null) layout(state);
  else frame.show();
}

/** How many tokens share a point. */
function sideOf(/** @type {Header} */ header) {
  return header.pooled?.side ?? 1;
}

/** The row of the chosen query: its own, or the one that it shares with its neighbours. */
function rowOf(/** @type {State} */ { header, selection: { query } }) {
  return query === null ? null : Math.floor(query / sideOf(header));
}

function hover(/** @type {State} */ state, /** @type {Subject} */ subject) {
  state.hover = subject;
  state.frame.show();
}

/** Keeps a summary of several heads enlarged; there is no head behind it to open. */
function keepExtra(/** @type {State} */ state, /** @type {number} */ extra) {
  state.extra = extra;
  state.hover = null;
  state.frame.show();
}

/** Lets a kept summary go: the chosen head is shown again. */
function leaveExtra(/** @type {State} */ state) {
  if (state.extra === null) return;
  state.extra = null;
  state.parts.picker.set(state.selection.layer, state.selection.head);
}

/** The measure that the heads are sorted by; null for the model's own order. */
function sortingOf(/** @type {State} */ { sortings, selection }) {
  return sortings.find(({ name }) => name === selection.more.order) ?? null;
}

/** One change of how heads are shown. */
function changeOption(/** @type {State} */ state, /** @type {Partial<Options>} */ change) {
  choose(state, { more: { ...state.selection.more, ...change } });
  layout(state);
}

function chooseHead(/** @type {State} */ state, /** @type {number} */ layer, /** @type {number} */ head) {
  state.extra = state.hover = null;
  choose(state, { layer, head });
}

/** One change of the selection: remembered, mirrored into the address, drawn in the next frame. */
function choose(/** @type {State} */ state, /** @type {Partial<GridSelection>} */ change) {
  const { committer, show } = state.frame;
  const next = { ...state.selection, ...change };
  const before = "query" in change ? next : state.selection;
  state.selection = state.header.layers.length ? fitLayer(before, next, state.headers) : next;
  committer.update(state.selection);
  committer.write(state.selection);
  show();
}

/** A click on a token of the text keeps its row lit; the same one again lets it go. */
function pinRow(/** @type {State} */ state, /** @type {number} */ token) {
  // where layers differ, their tokens are those of the head on show
  const at = state.header.layers.length ? subjectOf(state) : state.selection;
  const layer = at.layer ?? state.selection.layer;
  const head = at.head ?? state.selection.head;
  const isOff = layer === state.selection.layer && token === rowOf(state);
  choose(state, { layer, head, query: isOff ? null : token * sideOf(state.header), key: null });
  state.parts.picker.set(layer, head);
}

/** Shows what was chosen elsewhere on the page, a token that was just written for instance. */
function follow(/** @type {State} */ state, /** @type {AddressSelection} */ selection) {
  const fitting = clampSelection(selection, wholeOf(state.header));
  state.selection = { ...fitting, more: state.selection.more };
  state.extra = null;
  state.parts.picker.set(state.selection.layer, state.selection.head);
  state.frame.show();
}

/** What the preview shows: what is pointed at, else a summary that was kept, else the chosen head. @returns {Subject} */
function subjectOf(/** @type {State} */ { hover, extra, selection }) {
  if (hover) return hover;
  if (extra !== null) return { layer: null, head: null, extra };
  return { layer: selection.layer, head: selection.head, extra: null };
}

/** Opens the head on show on another page. */
function open(/** @type {State} */ state, /** @type {"head" | "steps"} */ page) {
  const { layer, head } = subjectOf(state);
  const { query, key } = state.selection;
  if (layer === null) return;
  if (page === "head" && state.header.grows) return grow(state, layer, head, squareOf(state, layer, head));
  state.frame.committer.commit();
  state.frame.host.trigger("open", { page, layer, head, query, key });
}

/** Allows the look again that is forbidden. */
function allow(/** @type {State} */ { frame, selection, effects }) {
  const { layer, head } = selection;
  if (!effects?.cell) return;
  const [query, key] = effects.cell;
  frame.committer.commit();
  frame.host.trigger("ask", { ask: "forbid", on: false, layer, head, query, key });
}

/**
 * The square of a head grows into the large picture, from a box: the canvas `head` of this page takes over.
 * @param {State} state
 * @param {number} layer
 * @param {number} head
 * @param {Box | null} from
 */
function grow(state, layer, head, from) {
  const { frame, selection } = state;
  choose(state, { layer, head, more: { ...selection.more, open: "1" } });
  frame.committer.writeNow("open", "1"); // with the head: the canvas that takes over reads it
  state.hover = null;
  frame.box.hidden = true;
  if (from) frame.host.channel.post({ grow: { isOpen: true, from, picture: null } });
}

/** The large picture shrinks back into its square, which has the focus. */
function comeBack(/** @type {State} */ state, /** @type {Growth} */ { from, picture }) {
  const { frame, parts, selection } = state;
  selection.more.open = null;
  frame.box.hidden = false;
  layout(state);
  const to = squareOf(state, selection.layer, selection.head);
  if (to && picture) fly(frame.box, picture, from, to);
  parts.picker.focus();
}

/** The box of the square of a head, as the window sees it. */
function squareOf(
  /** @type {State} */ { layout, header, parts },
  /** @type {number} */ layer,
  /** @type {number} */ head,
) {
  if (!layout) return null;
  const { rows, geom } = layout;
  const index = layer * header.n_heads + head;
  const row = rows.findIndex((line) => line.includes(index));
  if (row < 0) return null;
  const { x, y } = thumbRect(geom, row, rows[row].indexOf(index));
  return boxOf(parts.canvas, { x, y, w: geom.size, h: geom.size });
}

/** Sizes everything for the width there is and draws it. */
function layout(/** @type {State} */ state, width = state.frame.box.clientWidth) {
  const { header, frame, parts } = state;
  if (!width) return;
  const isNarrow = width < NARROW_PX;
  frame.box.classList.toggle("av-narrow", isNarrow);
  const sorting = sortingOf(state);
  const isAsked = isSummed(header) && state.selection.more.cells !== null;
  const hasSums = isAsked && !sorting && state.whole.isWhole();
  showOptions(state, sorting, hasSums);
  state.layout = layoutFor(state, isNarrow ? width : width - SIDE_PX - BETWEEN_PX, sorting, hasSums);
  if (isNarrow) state.layout.previewWidth = Math.min(width, WIDEST_PREVIEW_PX);
  const { size, gap, rowGap, x, y } = state.layout.geom;
  parts.picker.arrange(state.layout.rows);
  parts.picker.resize(size, gap, x, y, rowGap);
  showAll(state);
}

function showOptions(
  /** @type {State} */ state,
  /** @type {Sorting | null} */ sorting,
  /** @type {boolean} */ hasSums,
) {
  const { order, cells } = state.parts;
  order.set(sorting?.name ?? BY_LAYER);
  cells.set(hasSums);
  cells.disable(sorting !== null);
  cells.node.hidden = !isSummed(state.header);
  if (!hasSums) leaveExtra(state);
}

/**
 * @param {State} state
 * @param {number} room
 * @param {Sorting | null} sorting
 * @param {boolean} hasSums
 * @returns {Layout}
 */
function layoutFor(state, room, sorting, hasSums) {
  const { header, whole, visible } = state;
  const theme = state.frame.host.theme();
  const lut = sequential(theme.dark);
  const heads = arranged(header, sorting, sortedColumns(header, room));
  const rows = hasSums ? summarisedRows(heads, header) : heads;
  const longest = Math.max(...whole.squares.shape.slice(2));
  const geom = boardGeometry(rows, sorting !== null, room, longest, !header.pooled);
  const atlasOf = (/** @type {PackedArray} */ array, /** @type {PackedArray | null} */ seen) => {
    const mask = seen && { visible: seen, theme };
    return makeAtlas({ array, lut, levels: levelTable(array.dtype, SCALE), mask }, geom.size);
  };
  if (hasSums) state.summaries ??= summarise(whole.weights);
  const summaryAtlas =
    hasSums && state.summaries ? atlasOf(state.summaries, visible && sameForAll(visible)) : null;
  return {
    theme,
    lut,
    rows,
    geom,
    sorting,
    atlas: atlasOf(whole.squares, visible),
    summaryAtlas,
    previewWidth: SIDE_PX,
  };
}

/** Draws the board, the text and the preview for what is chosen or pointed at. */
function showAll(/** @type {State} */ state) {
  const { header, layout, frame, parts, picture, selection, chip, whole } = state;
  if (!layout) return;
  const at = subjectOf(state);
  const own = state.headers[at.layer ?? 0];
  if (state.chips.header !== own) state.chips = fillText(frame.text, own, picture);
  const isUneven = header.layers.length > 0;
  const chosen = isUneven && at.layer !== selection.layer ? null : rowOf(state);
  const row = chip ?? chosen;
  pressChip(state.chips, chosen);
  const { visible, effects, hits } = state;
  const { weights, has, isWhole } = whole;
  const hasCells = !header.pooled && has(selection.layer, selection.head);
  const cell = chosen === null || !hasCells ? null : cellOf(weights, selection);
  const known = effectsFor(effects, cell);
  const bars = { weights, has, isWhole, visible, cell, effects: known };
  drawBoard(parts.canvas, { ...layout, header, own, at, row: isUneven ? row : rowOf(state), bars, hits });
  const tokens = cell && { query: own.rows[cell.query], key: own.key_tokens[cell.key] };
  showLegend(parts.legend, header, tokens, known);
  const isForbidden = Boolean(known?.cell) && at.layer !== null;
  const read = enlargedOf(state, at, layout.sorting);
  const enlarged = isForbidden && cell && read.side === 1 ? withoutForbidden(read, own, cell) : read;
  const first = lightText(frame.text, state.chips, enlarged, layout.lut, row);
  state.first = first;
  if (chip === null) frame.scroll();
  const { theme, lut, previewWidth: width } = layout;
  const look =
    cell && at.layer !== null && has(at.layer, at.head) ? lookAt(weights, visible, at, cell) : null;
  const facts = at.layer === null ? [] : factNodes(header.strings, tokens, look, known, at);
  if (at.layer !== null && cell && tokens && isHidden(visible, at.layer, cell))
    facts.unshift(hiddenNode(header.strings, tokens));
  drawPreview(parts.preview, {
    ...enlarged,
    facts,
    isForbidden,
    header: own,
    at,
    row,
    whole: picture,
    theme,
    lut,
    width,
  });
}
