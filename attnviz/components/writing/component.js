// @ts-check
// Writing: the text grows token by token, the new token's row of attention lies over it, and beside it stands what the token
// was drawn from. Nothing here asks the server. A step chooses the new token's row, which every component of the page follows.
// Data: HeadsHeader with weights u8, {compact, draws} and the arrays of draws.js; compact is the bar alone, without weights.

import { parse } from "../shared/buffer.js";
import { axisMarks, isolate } from "../shared/axes.js";
import { makeChips } from "../shared/chips.js";
import { sequential } from "../shared/colors.js";
import { swallow } from "../shared/controls.js";
import { el, oncePerFrame, setData, setText, watchSize } from "../shared/dom.js";
import { fill, headName } from "../shared/fmt.js";
import { mounted } from "../shared/mounted.js";
import {
  cancelWrite,
  clampSelection,
  flushWrite,
  makeCommitter,
  readSelection,
  writeSelection,
} from "../shared/selection.js";
import { theme } from "../shared/theme.js";
import { drawAfter, drawnWords, drawNodes } from "./draws.js";
import { buildWriting, drawWritingThumbs } from "./parts.js";
import { makePlayer, pausePlayer, playerKey, showPlayer } from "./player.js";
import { paintText, rowOf, strongestNodes } from "./text.js";

const NARROW = 820;

/** Streamlit calls this with new data or a new theme. */
export default function writing(/** @type {any} */ component) {
  return mounted(component, mountWriting, refreshWriting);
}

function mountWriting(/** @type {any} */ root) {
  const box = el("section", { class: "av av-writing" });
  root.append(box);
  const state = /** @type {any} */ ({
    root,
    box,
    raw: null,
    header: null,
    player: null,
    parts: null,
    mean: false,
    mode: null,
  });
  state.committer = makeCommitter(box, (/** @type {any} */ selection) => followWriting(state, selection));
  state.show = oncePerFrame(() => showWriting(state));
  state.unwatch = watchSize(box, () => box.classList.toggle("av-writing-narrow", box.clientWidth < NARROW));
  state.destroy = () => unmountWriting(state);
  box.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => onWritingKey(state, event));
  return state;
}

function unmountWriting(/** @type {any} */ state) {
  clearTimeout(state.player?.timer);
  state.unwatch();
  state.show.cancel();
  state.committer.destroy();
  cancelWrite();
  state.box.remove();
}

function refreshWriting(/** @type {any} */ state, /** @type {Uint8Array} */ data) {
  if (state.raw !== data) takeWriting(state, data);
  state.theme = theme(state.root);
  state.lut = sequential(state.theme.dark);
  if (!state.header.compact)
    drawWritingThumbs(state.parts.thumbs, state.header, state.arrays.weights, state.lut);
  showWriting(state);
}

/** New data: all that was written is shown, or the text up to the written token that is chosen. */
function takeWriting(/** @type {any} */ state, /** @type {Uint8Array} */ data) {
  const { header, arrays } = parse(data);
  const total = header.written.reduce((/** @type {number} */ a, /** @type {number} */ b) => a + b, 0);
  clearTimeout(state.player?.timer);
  flushWrite();
  const selection = clampSelection(readSelection(), header);
  const first = header.n_query - total;
  Object.assign(state, {
    raw: data,
    header,
    arrays,
    total,
    first,
    selection,
    mode: state.mode ?? (total ? "from" : "next"),
  });
  state.committer.start(selection);
  state.player = makePlayer(header.strings, total, (step) => goToStep(state, step));
  state.player.step = stepOf(state, selection.query) ?? total;
  state.box.classList.toggle("av-writing-compact", Boolean(header.compact));
  if (header.compact) state.box.replaceChildren(state.player.node);
  else showParts(state);
}

/** How many tokens are written when this one is the newest; null for a token that was given. */
function stepOf(/** @type {any} */ state, /** @type {number | null} */ query) {
  return query !== null && query >= state.first ? query - state.first + 1 : null;
}

function showParts(/** @type {any} */ state) {
  const { header, selection } = state;
  const { strings } = header;
  state.parts = buildWriting(header, {
    player: state.total ? state.player.node : null,
    mean: state.mean,
    mode: state.mode,
    head: (/** @type {number} */ layer, /** @type {number} */ head) => chooseInText(state, { layer, head }),
    setMean: (/** @type {boolean} */ mean) => {
      state.mean = mean;
      state.show();
    },
    setMode: (/** @type {string} */ mode) => {
      state.mode = mode;
      state.show();
    },
    token: (/** @type {number} */ token) => pickToken(state, token),
    open: () => {
      flushWrite();
      state.committer.commit();
      state.trigger("open", { page: "head", ...state.selection, query: queryOf(state), key: null });
    },
  });
  const { parts } = state;
  parts.chips = makeChips(
    parts.text,
    header.tokens,
    axisMarks(header.special, header.written),
    strings.written,
  );
  parts.keyChips = header.cross
    ? makeChips(
        parts.keys,
        header.key_tokens,
        axisMarks(header.key_special, header.key_written),
        strings.written,
      )
    : null;
  parts.picker.set(selection.layer, selection.head);
  state.box.replaceChildren(...parts.nodes);
}

/** The position that is looked at: the chosen one, else the last. */
function queryOf(/** @type {any} */ state) {
  return state.selection.query ?? state.header.n_query - 1;
}

/** A step of the player: so many tokens are written, and the newest one is chosen. */
function goToStep(/** @type {any} */ state, /** @type {number} */ step) {
  state.player.step = Math.max(0, Math.min(state.total, step));
  chooseInText(state, { query: Math.max(0, state.first - 1 + state.player.step), key: null });
}

/** A token was chosen: one that was written takes the text back to where it is the newest. */
function pickToken(/** @type {any} */ state, /** @type {number} */ token) {
  pausePlayer(state.player);
  state.player.step = stepOf(state, token) ?? state.player.step;
  chooseInText(state, { query: token, key: null });
}

/** One change of the selection: remembered, announced, mirrored into the address, drawn in the next frame. */
function chooseInText(/** @type {any} */ state, /** @type {any} */ change) {
  state.selection = { ...state.selection, ...change };
  state.committer.update(state.selection);
  writeSelection(state.selection);
  state.show();
}

/** What was chosen elsewhere on the page. */
function followWriting(/** @type {any} */ state, /** @type {any} */ selection) {
  if (!state.header) return;
  const moved = selection.query !== state.selection.query;
  if (moved) pausePlayer(state.player);
  state.selection = clampSelection(selection, state.header);
  if (moved) state.player.step = stepOf(state, state.selection.query) ?? state.player.step;
  state.parts?.picker.set(state.selection.layer, state.selection.head);
  state.show();
}

/** Arrows step, Shift and arrows choose any token; where nothing is written, arrows choose. */
function onWritingKey(/** @type {any} */ state, /** @type {KeyboardEvent} */ event) {
  if (!state.header) return;
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const inText = event.composedPath()[0] === state.parts?.text;
  if (state.total && playerKey(state.player, event)) return swallow(event);
  if (!by || !inText || !(event.shiftKey || !state.total) || event.ctrlKey || event.metaKey || event.altKey)
    return;
  const last = state.first + state.player.step - 1;
  pickToken(
    state,
    Math.max(0, Math.min(Math.max(last, state.first - 1), Math.min(queryOf(state), last) + by)),
  );
  swallow(event);
}

function showWriting(/** @type {any} */ state) {
  const { header, player, box, total } = state;
  if (!header) return;
  const query = queryOf(state);
  const newest = state.first - 1 + player.step;
  const said = player.step ? isolate(header.tokens[newest]) : "";
  showPlayer(player, player.step, said);
  setData(box, { step: player.step, total, query: state.selection.query, playing: player.timer ? "" : null });
  if (!header.compact) showText(state, query);
}

/** Everything but the player's bar. */
function showText(/** @type {any} */ state, /** @type {number} */ query) {
  const { header, parts, arrays, selection, player, mean, lut } = state;
  const { strings } = header;
  const end = state.first + player.step;
  const row = rowOf(arrays.weights, selection, query, mean);
  const name = headName(selection.layer, selection.head);
  setText(parts.title, mean ? fill(strings.mean_of, { layer: selection.layer }) : name);
  setText(parts.sentence, mean ? "" : header.sentences[selection.layer][selection.head]);
  paintText(parts, { end, query, row, lut });
  parts.strongest.replaceChildren(
    ...strongestNodes(strings.looks, header.tokens[query], row, header.key_tokens),
  );
  setData(parts.text, { query, layer: selection.layer, head: selection.head, mean: mean ? "" : null });
  showDraw(state, query, end);
}

/** The bars: what the chosen token was drawn from, or what follows it. */
function showDraw(/** @type {any} */ state, /** @type {number} */ query, /** @type {number} */ end) {
  const { header, parts, arrays, mode, player } = state;
  const { strings, tokens, draws } = header;
  const sampled = Boolean(draws.sampled);
  const position = mode === "from" ? query - 1 : query;
  const follower = position + 1;
  const token = isolate(tokens[query]);
  const draw = drawAfter(draws, arrays, position);
  const known = follower < end;
  const written = follower >= state.first;
  const title = fill(
    mode === "next" ? strings.next_title : written ? strings.from_title : strings.given_title,
    { token },
  );
  const total = draws.n_vocabulary;
  const mark = known ? (written ? strings.drawn : strings.given) : "";
  setText(parts.drawTitle, title);
  setText(parts.drawn, draw && known ? drawnWords(draw, strings, sampled, total) : "");
  parts.bars.replaceChildren(
    ...(draw
      ? drawNodes(draw, { strings, sampled, title, mark, total })
      : [el("p", { class: "av-note" }, strings.no_draw)]),
  );
  setData(parts.bars, { position: draw ? position : null });
  // a running clock would talk without end
  if (!player.timer) setText(parts.spoken, `${token}. ${parts.drawn.textContent}`);
}
