// @ts-check
// Writing: the text grows token by token, the new token's row of attention lies over it, and beside it stands what the token
// was drawn from. Nothing here asks the server. A step chooses the new token's row, which every component of the page
// follows. A compact one is the bar alone.

import { isolate } from "../shared/axes.js";
import { parse } from "../shared/buffer.js";
import { sequential } from "../shared/colors.js";
import { makeCommitter } from "../shared/committer.js";
import { swallow } from "../shared/controls.js";
import { el, oncePerFrame, setData, setText, watchSize } from "../shared/dom.js";
import { fill, headName } from "../shared/fmt.js";
import { clampSelection } from "../shared/selection.js";
import { drawThumbs } from "../shared/thumbs.js";
import { drawAfter, drawnWords, drawNodes } from "./draws.js";
import { buildParts, THUMB } from "./parts.js";
import { makePlayer, pausePlayer, playerKey, showPlayer } from "./player.js";
import { paintText, rowOf, strongestNodes } from "./text.js";

/** @import { Committer } from "../shared/committer.js" */
/** @import { Request } from "../shared/dom.js" */
/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { AddressSelection, Selection } from "../shared/selection.js" */
/** @import { Mode, Parts } from "./parts.js" */
/** @import { Player } from "./player.js" */
/** @import { Arrays, Header, WritingView } from "./types.js" */

/**
 * The element, what tells the page of a change, and what outlives new data.
 * @typedef {{host: Host, box: HTMLElement, committer: Committer, show: Request, mean: boolean,
 *   mode: Mode | null}} Frame
 */
/** Everything but the player, where there is more. @typedef {{header: WritingView, arrays: Arrays, parts: Parts}} Page */
/**
 * `total` tokens were written, the one at position `first` before the others.
 * @typedef {{frame: Frame, data: Uint8Array, header: Header, page: Page | null, player: Player, selection: Selection,
 *   total: number, first: number, mode: Mode}} State
 */

const NARROW_PX = 820;

/** @returns {Mounted} */
export default function writing(/** @type {Host} */ host) {
  const box = el("section", { class: "av av-writing" });
  host.root.append(box);
  /** @type {State | null} */
  let state = null;
  const committer = makeCommitter(
    host,
    box,
    (selection) => state && follow(state, selection),
    () => Boolean(state?.player.timer),
  );
  const show = oncePerFrame(() => state && showAll(state));
  /** @type {Frame} */
  const frame = { host, box, committer, show, mean: false, mode: null };
  const unwatch = watchSize(box, () => box.classList.toggle("av-narrow", box.clientWidth < NARROW_PX));
  box.addEventListener("keydown", (event) => {
    if (state && onKey(state, event)) swallow(event);
  });
  return {
    refresh(data) {
      if (state?.data !== data) {
        clearTimeout(state?.player.timer);
        state = takeData(frame, data);
      }
      drawHeads(state);
      showAll(state);
    },
    destroy() {
      clearTimeout(state?.player.timer);
      unwatch();
      show.cancel();
      committer.destroy();
      box.remove();
    },
  };
}

/**
 * New data: all that was written is shown, or the text up to the written token that is chosen.
 * @param {Frame} frame
 * @param {Uint8Array} data
 * @returns {State}
 */
function takeData(frame, data) {
  /** @type {{header: Header, arrays: Arrays}} */
  const { header, arrays } = parse(data);
  const selection = clampSelection(frame.committer.read(), header);
  const total = header.written.reduce((/** @type {number} */ sum, flag) => sum + flag, 0);
  const first = header.n_query - total;
  const player = makePlayer(header.strings, total, (step) => goToStep(state, step));
  const mode = frame.mode ?? (total ? "from" : "next");
  /** @type {State} */
  const state = { frame, data, header, page: null, player, selection, total, first, mode };
  player.step = stepOf(state, selection.query) ?? total;
  frame.committer.start(selection);
  frame.box.classList.toggle("av-writing-compact", header.compact);
  if (header.compact) frame.box.replaceChildren(player.node);
  else {
    state.page = { header, arrays, parts: makeParts(state, header) };
    frame.box.replaceChildren(...state.page.parts.nodes);
  }
  return state;
}

/** How many tokens are written when this one is the newest; null for a token that was given. */
function stepOf(/** @type {State} */ { first }, /** @type {number | null} */ query) {
  return query !== null && query >= first ? query - first + 1 : null;
}

function makeParts(/** @type {State} */ state, /** @type {WritingView} */ header) {
  const { frame, selection } = state;
  const parts = buildParts(header, {
    player: state.total ? state.player.node : null,
    mean: frame.mean,
    mode: state.mode,
    choose: (layer, head) => choose(state, { layer, head }),
    setMean(mean) {
      frame.mean = mean;
      frame.show();
    },
    setMode(mode) {
      frame.mode = state.mode = mode;
      frame.show();
    },
    pick: (token) => pickToken(state, token),
    open() {
      const { layer, head } = state.selection;
      frame.committer.commit();
      frame.host.trigger("open", { page: "head", layer, head, query: queryOf(state), key: null });
    },
  });
  parts.picker.set(selection.layer, selection.head);
  return parts;
}

/** The position that is looked at: the chosen one, else the last. */
function queryOf(/** @type {State} */ { selection, header }) {
  return selection.query ?? header.n_query - 1;
}

/** A step of the player: so many tokens are written, and the newest one is chosen. */
function goToStep(/** @type {State} */ state, /** @type {number} */ step) {
  state.player.step = Math.max(0, Math.min(state.total, step));
  choose(state, { query: Math.max(0, state.first - 1 + state.player.step), key: null });
}

/** A token was chosen: one that was written takes the text back to where it is the newest. */
function pickToken(/** @type {State} */ state, /** @type {number} */ token) {
  pausePlayer(state.player);
  state.player.step = stepOf(state, token) ?? state.player.step;
  choose(state, { query: token, key: null });
}

/** One change of the selection: remembered, announced, mirrored into the address, drawn in the next frame. */
function choose(/** @type {State} */ state, /** @type {Partial<Selection>} */ change) {
  const { committer, show } = state.frame;
  state.selection = { ...state.selection, ...change };
  committer.update(state.selection);
  committer.write(state.selection);
  show();
}

/** Shows what was chosen elsewhere on the page. */
function follow(/** @type {State} */ state, /** @type {AddressSelection} */ selection) {
  const hasMoved = selection.query !== state.selection.query;
  if (hasMoved) pausePlayer(state.player);
  state.selection = clampSelection(selection, state.header);
  if (hasMoved) state.player.step = stepOf(state, state.selection.query) ?? state.player.step;
  state.page?.parts.picker.set(state.selection.layer, state.selection.head);
  state.frame.show();
}

/**
 * Arrows step, Shift and arrows choose any token; where nothing is written, arrows choose. Returns true if the key was
 * one of them.
 */
function onKey(/** @type {State} */ state, /** @type {KeyboardEvent} */ event) {
  if (state.total && playerKey(state.player, event)) return true;
  const by = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
  const isInText = state.page !== null && event.target === state.page.parts.text;
  const chooses = event.shiftKey || !state.total;
  if (!by || !isInText || !chooses || event.ctrlKey || event.metaKey || event.altKey) return false;
  const last = state.first + state.player.step - 1;
  const next = Math.min(queryOf(state), last) + by;
  pickToken(state, Math.max(0, Math.min(Math.max(last, state.first - 1), next)));
  return true;
}

function lutOf(/** @type {State} */ { frame }) {
  return sequential(frame.host.theme().dark);
}

function drawHeads(/** @type {State} */ state) {
  if (!state.page) return;
  const { header, arrays, parts } = state.page;
  const grid = { ...THUMB, layers: header.n_layers, heads: header.n_heads };
  const mask = arrays.visible ? { visible: arrays.visible, theme: state.frame.host.theme() } : null;
  drawThumbs(parts.thumbs, arrays.weights, lutOf(state), grid, { mask });
}

function showAll(/** @type {State} */ state) {
  const { header, player, total, page } = state;
  const newest = state.first - 1 + player.step;
  showPlayer(player, player.step ? isolate(header.tokens[newest]) : "");
  const playing = player.timer ? "" : null;
  setData(state.frame.box, { step: player.step, total, query: state.selection.query, playing });
  if (page) showText(state, page);
}

/** Shows everything but the player. */
function showText(/** @type {State} */ state, /** @type {Page} */ page) {
  const { selection, player, frame } = state;
  const { header, parts, arrays } = page;
  const { layer, head } = selection;
  const { mean } = frame;
  const query = queryOf(state);
  const end = state.first + player.step;
  const row = rowOf(arrays.weights, selection, query, mean);
  setText(parts.title, mean ? fill(header.strings.mean_of, { layer }) : headName(layer, head));
  setText(parts.sentence, mean ? "" : header.sentences[layer][head]);
  paintText(parts.chips, parts.keyChips, { end, query, row, lut: lutOf(state) });
  const name = (query + 1 < end ? header.rows : header.tokens)[query]; // what is not written yet is not told
  const strongest = strongestNodes(header.strings.looks, name, row, header.key_tokens);
  parts.strongest.replaceChildren(...strongest);
  setData(parts.text, { query, layer, head, mean: mean ? "" : null });
  showDraw(state, page, query, end);
}

/**
 * Shows the bars: what the chosen token was drawn from, or what follows it.
 * @param {State} state
 * @param {Page} page
 * @param {number} query
 * @param {number} end the first token that is not written yet
 */
function showDraw(state, { header, parts, arrays }, query, end) {
  const { strings, tokens, draws } = header;
  const sampled = draws.sampled;
  const total = draws.n_vocabulary;
  const position = state.mode === "from" ? query - 1 : query;
  const isKnown = position + 1 < end;
  const isWritten = position + 1 >= state.first;
  const template =
    state.mode === "next" ? strings.next_title : isWritten ? strings.from_title : strings.given_title;
  const token = isolate(tokens[query]);
  const title = position < 0 ? token : fill(template, { token, row: isolate(tokens[position]) });
  const mark = !isKnown ? "" : isWritten ? strings.drawn : strings.given;
  const draw = drawAfter(draws, arrays, position);
  const nodes = draw
    ? drawNodes(draw, { strings, sampled, title, mark, total })
    : [el("p", { class: "av-note" }, strings.no_draw)];
  setText(parts.drawTitle, title);
  setText(parts.drawn, draw && isKnown ? drawnWords(draw, strings, sampled, total) : "");
  parts.bars.replaceChildren(...nodes);
  setData(parts.bars, { position: draw ? position : null });
  // a running clock would talk without end
  if (!state.player.timer) setText(parts.spoken, `${token}. ${parts.drawn.textContent}`);
}
