// @ts-check
// Head page: heatmap and lines of one head; layer, head, scale, cell and special tokens change here, in the browser.
// The server hears of it once, when pointer or focus leaves, or when the steps of the head are opened.

import { layerHeaders, parse } from "../shared/buffer.js";
import { drawColourBar } from "../shared/colour_bar.js";
import { sequential } from "../shared/colors.js";
import { makeCommitter } from "../shared/committer.js";
import { swallow } from "../shared/controls.js";
import { afterPaint, el, oncePerFrame, setText, watchSize } from "../shared/dom.js";
import { fill, headName } from "../shared/fmt.js";
import { cellOf, isForbidden, lookAt } from "../shared/effects.js";
import { boxOf, fly } from "../shared/grow.js";
import { headStep, neighbour } from "../shared/headkeys.js";
import { weightAt } from "../shared/numbers.js";
import { pictureSource } from "../shared/picture.js";
import { followHeads, learnWords, sentenceOn } from "../shared/rest.js";
import { clampSelection, fitLayer } from "../shared/selection.js";
import { heardOf } from "../shared/spectrum.js";
import { drawThumbs } from "../shared/thumbs.js";
import { drawHeatmap, layoutHeatmap, MAX_SIDE_PX, paintCells, placeOf } from "./heatmap.js";
import { cellStep } from "./keys.js";
import { layoutLines } from "./line_layout.js";
import { drawLines, linesAreMany, makeLineCache } from "./lines.js";
import { buildParts } from "./parts.js";
import { showPicture } from "./picture.js";
import { showPieces } from "./pieces.js";
import { listenPointer } from "./pointer.js";
import { rankedName, showRanked } from "./ranked.js";
import { caption, factsOf, hiddenText, readout } from "./sentences.js";
import { saySums } from "./sums.js";
import { chosenAxes, isAcross, layerAxes, makeView } from "./view.js";

/** @import { CellAt, HeadEffects } from "../shared/effects.js" */
/** @import { Growth } from "../shared/grow.js" */
/** @import { Address, Host, Mounted } from "../shared/host.js" */
/** @import { Rest } from "../shared/rest.js" */
/** @import { AddressSelection } from "../shared/selection.js" */
/** @import { Drawn, Frame, Look, State } from "./state.js" */
/** @import { Arrays, Header } from "./types.js" */
/** @import { Capture, CellPlace, HeadSelection, Options, Pointed, View } from "./view.js" */

const NARROW_PX = 760;
const BETWEEN_PX = 32;
const WIDEST_LINES_PX = 640;
const RANKED_PX = 240; // room below the lines for the ranked keys
const THUMB = { size: 18, gap: 3 };
const NOTHING = { query: null, key: null };

/** @returns {Mounted} */
export default function head(/** @type {Host} */ host) {
  const box = el("section", { class: "av av-head" });
  host.root.append(box);
  /** @type {State | null} */
  let state = null;
  /** @type {Uint8Array | null} */
  let sent = null;
  const { ask, stop } = followHeads(host, {
    rest: (rest) => state && takeRest(state, rest),
    effects: (effects) => state && takeEffects(state, effects),
  });
  /** @type {Frame} */
  const frame = {
    host,
    box,
    committer: makeCommitter(host, box, (selection) => state && follow(state, selection)),
    show: oncePerFrame(() => state && showAll(state)),
    point: oncePerFrame(() => state && showPointed(state)),
    drawLinesLater: afterPaint(() => state && drawUnfocusedLines(state)),
    cells: document.createElement("canvas"),
    lineCache: makeLineCache(),
  };
  const stopGrowing = host.channel.listen((message) => {
    if (!("grow" in message && message.grow.isOpen) || !sent) return;
    state ??= takeData(frame, sent);
    ask();
    growFrom(state, message.grow);
  });
  const unwatch = watchSize(box, () => state && layout(state));
  box.addEventListener("keydown", (event) => {
    if (state && onKey(state, event)) swallow(event);
  });
  return {
    refresh(data) {
      sent = data;
      if (state?.data !== data) {
        box.hidden = isSmall(host, data);
        if (box.hidden) {
          state = null;
          return box.replaceChildren();
        }
        state = takeData(frame, data);
        ask();
      }
      layout(state);
    },
    destroy() {
      stop();
      stopGrowing();
      unwatch();
      frame.show.cancel();
      frame.point.cancel();
      frame.drawLinesLater.cancel();
      frame.committer.destroy();
      box.remove();
    },
  };
}

/** True while the head is a square of the grid on its page: nothing is built before it grows. */
function isSmall(/** @type {Host} */ { address }, /** @type {Uint8Array} */ data) {
  /** @type {{header: Header}} */
  const { header } = parse(data);
  return header.grows && address.get("open") !== "1";
}

/** New data: the choice is kept where it still fits. @returns {State} */
function takeData(/** @type {Frame} */ frame, /** @type {Uint8Array} */ data) {
  const capture = readCapture(data);
  const { header, headers, weights } = capture;
  const more = readOptions(frame.host.address);
  const selection = { ...clampSelection(frame.committer.read(), header), more };
  const parts = buildParts(header, selection, weights.dtype === "u8", {
    option(change) {
      if ("beside" in change) parts.lines.focus({ preventScroll: true }); // the button that was pressed will go
      choose(state, { more: { ...state.selection.more, ...change } });
    },
    change: (change) => choose(state, change),
    step: (by) => choose(state, neighbour(header, state.selection, by)),
    open: () => openSteps(state),
    close: () => shrink(state),
    forbid: () => forbid(state),
    links: () => findLinks(state),
  });
  const own = layerAxes(headers[selection.layer], capture.whole);
  const pointed = { hover: null, focus: null, keptToken: null };
  const drawn = { look: null, drawn: null, effects: null, rankedFor: "" };
  /** @type {State} */
  const state = { frame, data, capture, own, parts, selection, ...pointed, ...drawn };
  frame.committer.start(selection);
  frame.box.replaceChildren(...parts.nodes);
  listenPointer(state, {
    pin: (place) => pin(state, place),
    pinned: () => pinnedNow(state),
    focus: (token, how) => focusToken(state, token, how),
  });
  return state;
}

/** Takes what was measured of the heads that are shown. */
function takeEffects(/** @type {State} */ state, /** @type {HeadEffects} */ effects) {
  if (effects.capture !== state.capture.header.capture) return;
  state.effects = effects;
  state.frame.show();
}

/** Takes the words on what each head does, which follow the first picture. */
function takeRest(/** @type {State} */ state, /** @type {Rest} */ rest) {
  const { header } = state.capture;
  if (rest.capture === header.capture && learnWords(header, rest)) state.frame.show();
}

/** @returns {Capture} */
function readCapture(/** @type {Uint8Array} */ data) {
  /** @type {{header: Header, arrays: Arrays}} */
  const { header, arrays } = parse(data);
  return {
    header,
    headers: layerHeaders(header),
    weights: arrays.weights,
    visible: arrays.visible ?? null,
    whole: header.patches ? pictureSource(arrays["patches.picture"]) : null,
    heard: heardOf(header, arrays),
    memo: { merged: new Map(), shown: null, even: null },
  };
}

/** How the head is drawn, as the address has it. @returns {Options} */
function readOptions(/** @type {Address} */ address) {
  const flag = (/** @type {string} */ name) => (address.get(name) === "1" ? "1" : null);
  return {
    open: flag("open"),
    sums: flag("sums"),
    words: flag("words"),
    across: flag("across"),
    top: address.get("top"),
    beside: address.get("beside"),
  };
}

/** Grows out of its square in the grid of this page; the keyboard stays on this head. */
function growFrom(/** @type {State} */ state, /** @type {Growth} */ { from }) {
  const { frame, parts, selection } = state;
  selection.more.open = "1";
  frame.box.hidden = false;
  layout(state);
  if (frame.box.getBoundingClientRect().top < 0) frame.box.scrollIntoView();
  if (state.drawn) fly(frame.box, frame.cells, from, boxOf(parts.heatmap, state.drawn.heatmap.geom));
  parts.heatmap.focus({ preventScroll: true });
}

/** Shrinks back into its square: the grid of this page takes over. */
function shrink(/** @type {State} */ state) {
  const { frame, parts, drawn, selection } = state;
  const from = boxOf(parts.heatmap, drawn?.heatmap.geom ?? { x: 0, y: 0, w: 0, h: 0 });
  choose(state, { more: { ...selection.more, open: null } });
  frame.box.hidden = true;
  frame.host.channel.post({ grow: { isOpen: false, from, picture: frame.cells } });
}

/** Forbids the chosen look in this and all other heads, or allows it again. */
function forbid(/** @type {State} */ state) {
  const cell = chosenCell(state);
  if (cell) askOf(state, "forbid", cell, !isForbidden(state.effects, cell));
}

/** The chosen cell while its look is forbidden. */
function forbiddenNow(/** @type {State} */ state) {
  const cell = chosenCell(state);
  return isForbidden(state.effects, cell) ? cell : null;
}

/** Asks which heads link the words of the chosen cell: they are marked in the grid, which comes back. */
function findLinks(/** @type {State} */ state) {
  const cell = chosenCell(state);
  if (!cell) return;
  shrink(state);
  askOf(state, "links", cell, true);
}

/** Asks something of a cell, which is chosen then; everything else is committed on the way. */
function askOf(
  /** @type {State} */ state,
  /** @type {"forbid" | "links"} */ ask,
  /** @type {CellAt} */ cell,
  /** @type {boolean} */ on,
) {
  const { frame, selection } = state;
  const { layer, head } = selection;
  choose(state, { ...cell });
  frame.committer.commit();
  frame.host.trigger("ask", { ask, on, layer, head, ...cell });
}

/** The cell whose look can be told beside that of other rows. */
function chosenCell(/** @type {State} */ { capture: { weights, visible }, selection }) {
  const cell = cellOf(weights, selection);
  return cell && lookAt(weights, visible, selection, cell) ? cell : null;
}

/** Asks for the steps of the head; scale and special tokens are committed on the way. */
function openSteps(/** @type {State} */ { frame, selection }) {
  const { layer, head, query, key } = selection;
  frame.committer.commit();
  frame.host.trigger("open", { page: "steps", layer, head, query, key });
}

/** Acts on a key; returns true if it did. */
function onKey(/** @type {State} */ state, /** @type {KeyboardEvent} */ event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const { drawn } = state;
  const isOnHeatmap = event.target === state.parts.heatmap;
  const cell = isOnHeatmap && drawn ? cellStep(event, drawn.view.data, pinnedNow(state)) : null;
  const next = headStep(event, state.own.header, state.selection) ?? (cell && tokensAt(state, cell));
  if (event.key === "Escape" && state.capture.header.grows) shrink(state);
  else if (event.key === "Escape" && state.selection.query !== null) choose(state, NOTHING);
  else if (next) choose(state, next);
  else return false;
  return true;
}

/** One change of the selection: remembered, mirrored into the address, drawn in the next frame. */
function choose(/** @type {State} */ state, /** @type {Partial<HeadSelection>} */ change) {
  const { committer, show } = state.frame;
  const { header, headers } = state.capture;
  const isUneven = header.layers.length > 0;
  const next = { ...state.selection, ...change };
  const before = "query" in change ? next : state.selection;
  state.selection = isUneven ? fitLayer(before, next, headers) : next;
  state.hover = state.focus = state.keptToken = null;
  committer.update(state.selection);
  committer.write(state.selection);
  if (isUneven && followLayer(state)) return;
  if ("special" in change || "more" in change) layout(state);
  else show();
}

/** Lays the page out anew where the chosen layer has tokens of its own; returns true if it has. */
function followLayer(/** @type {State} */ state) {
  const { headers, whole } = state.capture;
  const header = headers[state.selection.layer];
  if (header === state.own.header) return false;
  state.own = layerAxes(header, whole);
  layout(state);
  return true;
}

/** Shows what was chosen elsewhere on the page, a token that was just written for instance. */
function follow(/** @type {State} */ state, /** @type {AddressSelection} */ selection) {
  const { special, more } = state.selection;
  state.selection = { ...clampSelection(selection, state.own.header), more };
  state.hover = state.focus = state.keptToken = null;
  if (followLayer(state)) return;
  if (state.selection.special !== special) layout(state);
  else state.frame.show();
}

/** Keeps a token of the lines in focus: a query as a pinned row, a key until something else is chosen. */
function focusToken(
  /** @type {State} */ state,
  /** @type {CellPlace} */ token,
  /** @type {"toggle" | "move"} */ how,
) {
  if (token.query !== null) {
    if (how === "move") choose(state, tokensAt(state, token));
    else pin(state, token);
    return;
  }
  const isOff = how === "toggle" && state.keptToken?.key === token.key;
  choose(state, NOTHING);
  state.keptToken = isOff ? null : token;
}

/** The tokens at places on the axes: of a word the first one. */
function tokensAt(/** @type {State} */ { own, selection }, /** @type {CellPlace} */ { query, key }) {
  const axes = chosenAxes(own, selection);
  return { query: axes.query.tokenOf(query), key: axes.key.tokenOf(key) };
}

/** The places of what is pinned now, which the next frame will show. @returns {CellPlace} */
function pinnedNow(/** @type {State} */ { own, selection }) {
  const axes = chosenAxes(own, selection);
  return { query: axes.query.placeOf(selection.query), key: axes.key.placeOf(selection.key) };
}

/** Pins a cell or a row, given by their places on the axes; the same one again, or a place without either, unpins. */
function pin(/** @type {State} */ state, /** @type {CellPlace | null} */ place) {
  const { query, key } = pinnedNow(state);
  const isSame = place?.query === query && place?.key === key;
  choose(state, !place || isSame ? NOTHING : tokensAt(state, place));
}

/** Sizes everything for the width there is and draws it. */
function layout(/** @type {State} */ state) {
  const { frame, parts, selection } = state;
  const { header, weights, visible } = state.capture;
  const width = frame.box.clientWidth;
  if (!width) return;
  const theme = frame.host.theme();
  const lut = sequential(theme.dark);
  const isNarrow = width < NARROW_PX;
  const isWhole = isAcross(state.own.header, selection); // the lines take the whole width
  const left = Math.min(WIDEST_LINES_PX, width - BETWEEN_PX - MAX_SIDE_PX); // what the heatmap has no use for
  const beside = isNarrow
    ? Math.min(width, 460)
    : Math.max(250, Math.min(380, Math.round(width * 0.35)), left);
  const lineRoom = isWhole ? width : beside;
  const heatRoom = isNarrow || isWhole ? width : width - BETWEEN_PX - lineRoom;
  frame.box.classList.toggle("av-narrow", isNarrow);
  frame.box.classList.toggle("av-head-across", isWhole);
  parts.right.style.width = isNarrow || isWhole ? "" : `${lineRoom}px`;
  const grid = { ...THUMB, layers: header.n_layers, heads: header.n_heads };
  const mask = visible && { visible, theme };
  drawThumbs(parts.thumbs, weights, lut, grid, { mask, left: { kept: header.kept, theme } });
  state.look = { theme, lut, isNarrow, heatRoom, lineRoom };
  state.drawn = null;
  showAll(state);
}

/** Shows the chosen head: names, controls, cells, then what depends on the pointer. */
function showAll(/** @type {State} */ state) {
  const { parts, frame, look } = state;
  if (!look) return;
  const view = makeView(state.capture, state.own, state.selection, look, forbiddenNow(state));
  const isEmpty = !view.data.rows.length || !view.data.cols.length;
  showControls(state, view);
  parts.empty.hidden = !isEmpty;
  parts.body.hidden = isEmpty;
  if (isEmpty) {
    state.drawn = null;
    drawBar(state, view, null);
    return;
  }
  nameCanvases(state, view);
  state.drawn = drawnFor(state, view, look);
  paintCells(frame.cells, view, state.drawn.heatmap.geom);
  showPointed(state);
}

function showControls(/** @type {State} */ state, /** @type {View} */ view) {
  const { parts, own } = state;
  setText(parts.title, headName(view.layer, view.head));
  parts.facts.replaceChildren(...factsOf(state));
  const cell = chosenCell(state);
  parts.forbid.disabled = parts.links.disabled = !cell;
  const { strings } = own.header;
  const isOff = forbiddenNow(state) !== null;
  setText(parts.forbid, isOff ? strings.allow : strings.forbid);
  parts.forbid.classList.toggle("av-head-allow", isOff);
  parts.choose.hidden = cell !== null;
  setText(parts.sentence, sentenceOn(own.header, view.layer, view.head));
  parts.picker.set(view.layer, view.head);
  parts.scale.set(view.scale);
  parts.special.set(view.special === "hide");
  parts.sums.set(view.sums !== null);
  parts.words?.set(view.inWords);
  parts.lineOptions.set(view);
  parts.wordsNote.hidden = !view.inWords;
  parts.sumsReadout.hidden = view.sums === null;
}

function nameCanvases(/** @type {State} */ { parts, own }, /** @type {View} */ view) {
  const { strings } = own.header;
  const { rows, cols } = view.data;
  const values = { head: headName(view.layer, view.head), rows: rows.length, cols: cols.length };
  parts.heatmap.setAttribute("aria-label", fill(strings.heatmap, values));
  parts.lines.setAttribute("aria-label", fill(strings.lines, values));
}

/** The view with its layouts, which are kept while nothing that they depend on changes. @returns {Drawn} */
function drawnFor(/** @type {State} */ { parts, drawn }, /** @type {View} */ view, /** @type {Look} */ look) {
  const { special, inWords, data, sums } = view;
  const name = [
    special,
    inWords,
    window.innerHeight,
    view.isAcross,
    look.heatRoom,
    look.lineRoom,
    sums !== null,
  ].join(" ");
  if (drawn?.name === name) return { ...drawn, view };
  const heatmap = layoutHeatmap(parts.heatmap, view, look.heatRoom);
  const count = Math.max(data.rows.length, data.cols.length);
  const beside = Math.min(heatmap.height - 40, Math.max(heatmap.height - RANKED_PX, 15 * count));
  const most = look.isNarrow ? 420 : Math.max(260, beside);
  return { view, heatmap, lines: layoutLines(parts.lines, view, look.lineRoom, most), name, picture: null };
}

/** The cell under the pointer, and the token in focus: the one pointed at, one that was kept, or the pinned row. */
function pointedNow(/** @type {State} */ { hover, focus, keptToken }, /** @type {View} */ { pinned }) {
  const pinnedRow = pinned.query === null ? null : { query: pinned.query, key: null };
  return { hover, focus: focus ?? keptToken ?? pinnedRow };
}

/** Shows what depends on the pointer and the pinned cell: frames, lines, readout, ranked keys, hidden mass. */
function showPointed(/** @type {State} */ state) {
  const { parts, drawn, frame, look } = state;
  if (!drawn || !look) return;
  const { view } = drawn;
  const pointed = pointedNow(state, view);
  drawHeatmap(parts.heatmap, frame.cells, view, drawn.heatmap, pointed);
  drawn.picture = showPicture(parts, state.own, view, pointed, look);
  if (!drawn.picture) {
    if (linesAreMany(frame.lineCache, view, drawn.lines, pointed.focus)) frame.drawLinesLater();
    else drawLines(parts.lines, frame.lineCache, view, drawn.lines, pointed.focus);
  }
  showPieces(parts.pieces, view);
  setText(parts.caption, caption(view, pointed.focus));
  showNumbers(state, view, pointed);
}

/** Shows the numbers of the cell and the row that are pointed at or pinned. */
function showNumbers(
  /** @type {State} */ state,
  /** @type {View} */ view,
  /** @type {Pointed} */ { hover, focus },
) {
  const { parts } = state;
  const { pinned, data, sums } = view;
  const { query: pinnedQuery, key: pinnedKey } = pinned;
  const pinnedCell =
    pinnedQuery === null || pinnedKey === null ? null : { query: pinnedQuery, key: pinnedKey };
  const cell = hover ?? pinnedCell;
  drawBar(state, view, cell);
  setText(parts.readout, cell ? readout(view, cell) : view.header.strings.readout_idle, !cell);
  if (sums) {
    const row = placeOf(data.rows, hover?.query ?? focus?.query ?? pinned.query);
    const col = placeOf(data.cols, hover?.key ?? focus?.key ?? pinned.key);
    saySums(parts.sumsReadout, view, sums, { row, col });
  }
  const query = pinned.query ?? focus?.query ?? null;
  const name = rankedName(view, query);
  if (state.rankedFor !== name) showRanked(parts.ranked, view, query);
  state.rankedFor = name;
  setText(parts.hiddenMass, view.special === "hide" ? hiddenText(view, query) : "");
}

/** Draws the lines of a head with many, unless another is shown by now. */
function drawUnfocusedLines(/** @type {State} */ state) {
  const { drawn, parts, frame } = state;
  if (!drawn) return;
  drawLines(parts.lines, frame.lineCache, drawn.view, drawn.lines, pointedNow(state, drawn.view).focus);
}

/** Draws the printed colour bar, with a needle at the weight of a cell. */
function drawBar(
  /** @type {State} */ { parts },
  /** @type {View} */ view,
  /** @type {{query: number, key: number} | null} */ cell,
) {
  const { lut, theme, scale, data, header } = view;
  const { strings } = header;
  const mark = cell ? weightAt(data, cell.query, cell.key) : undefined;
  drawColourBar(parts.bar, { lut, theme, scale, width: 236, mark });
  parts.bar.setAttribute("aria-label", fill(strings.colour_bar, { scale: strings[`scale_${scale}`] }));
}
