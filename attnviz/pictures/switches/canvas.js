// @ts-check
// Switches: every head as a switch beside the model's answer. A click changes the board at once and asks the server for
// the new answer; the address has what is off, so that a link shows the same. So has it the look at a word that is
// forbidden.

import { barList } from "../shared/bars.js";
import { parse } from "../shared/buffer.js";
import { cueScroll, el, quotingNodes, setBusy, setText, watchSize } from "../shared/dom.js";
import { fill, fmtFixed, fmtPercent, withPercent } from "../shared/fmt.js";
import { makeBoard } from "./board.js";
import { makeWords } from "./words.js";

/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Board } from "./board.js" */
/** @import { AnswerView, Arrays, Header } from "./types.js" */

const ALL_ON = "none";
const NARROW_PX = 720;
const NAME_CHARS = 16; // what fits beside a bar

/**
 * `before` has what was off before each click, the last one at the end.
 * @typedef {{host: Host, data: Uint8Array | null, header: Header | null, off: Map<string, string>, board: Board | null,
 *   before: Map<string, string>[], last: {layer: number, head: number, name: string} | null}} State
 */
/** @typedef {ReturnType<typeof buildParts>} Parts */

/** @returns {Mounted} */
export default function switches(/** @type {Host} */ host) {
  /** @type {State} */
  const state = { host, data: null, header: null, off: new Map(), board: null, before: [], last: null };
  const parts = buildParts(state, {
    undo: () => {
      const before = state.before.pop();
      if (before) change(state, parts, before);
    },
    allOn: () => {
      remember(state);
      change(state, parts, new Map());
    },
    suggested: () => {
      const at = state.header && state.board?.at(state.header.suggested);
      if (!at) return;
      state.board?.focus(at.name, true); // the button goes away
      toggle(state, parts, at);
    },
    open: () => {
      if (!state.last) return;
      const { layer, head, name } = state.last;
      host.trigger("open", { page: "head", layer, head, name, query: null, key: null });
    },
  });
  host.root.append(parts.box);
  const unwatch = watchSize(parts.box, () => {
    parts.box.classList.toggle("av-switches-narrow", parts.box.clientWidth < NARROW_PX);
    state.board?.lay(parts.boards.clientWidth);
  });
  return {
    refresh(data) {
      if (state.data !== data) takeData(state, parts, data);
      else state.board?.paint(host.theme());
    },
    destroy() {
      unwatch();
      parts.box.remove();
    },
  };
}

/** @param {State} _state @param {{undo: () => void, allOn: () => void, suggested: () => void, open: () => void}} on */
function buildParts(_state, on) {
  const button = (/** @type {() => void} */ click) =>
    el("button", { class: "av-button", type: "button", on: { click } });
  const undo = button(on.undo);
  const allOn = button(on.allOn);
  const suggested = button(on.suggested);
  const open = button(on.open);
  const status = el("p", { class: "av-status av-note", "aria-live": "polite" });
  const left = el("div", { class: "av-switches-left" });
  const effects = el("p", { class: "av-note" });
  const hint = el("p", { class: "av-hint" });
  const row = el("div", { class: "av-row" }, suggested, undo, allOn, open);
  const boards = el("div", { class: "av-switches-boards" });
  left.append(boards, row, status, hint, effects);
  const answer = el("div", { class: "av-switches-answer av-panel" });
  const words = el("div", { class: "av-switches-words" });
  const right = el("div", { class: "av-switches-right" }, answer, words);
  const box = el("section", { class: "av av-switches" }, right, left);
  return { box, words, left, boards, answer, suggested, undo, allOn, open, status, effects, hint };
}

function takeData(/** @type {State} */ state, /** @type {Parts} */ parts, /** @type {Uint8Array} */ data) {
  /** @type {{header: Header, arrays: Arrays}} */
  const { header, arrays } = parse(data);
  const { strings } = header;
  if (state.header?.model !== header.model) {
    state.before = [];
    state.last = null;
    setText(parts.status, "");
  }
  state.data = data;
  state.header = header;
  state.off = new Map(header.off.map(({ head, change }) => [head, change]));
  const focused = state.board?.focused() ?? null;
  state.board?.destroy();
  state.board = makeBoard(header, arrays, {
    switched: (at) => toggle(state, parts, at),
    pointed: (at) => setText(parts.status, at ? statusOf(state, at.name, at.effect) : ""),
  });
  parts.boards.replaceChildren(state.board.node);
  state.board.lay(parts.boards.clientWidth);
  state.board.paint(state.host.theme());
  if (focused) state.board.focus(focused);
  showWords(state, parts, arrays);
  setText(parts.hint, strings.hint);
  setText(parts.effects, header.effects);
  setText(parts.undo, strings.undo);
  setText(parts.allOn, strings.all_on);
  setText(parts.suggested, fill(strings.suggested, { head: header.suggested }));
  showAnswer(parts.answer, header.answer);
  setBusy(parts.answer, false);
  setBusy(parts.words, false);
  showOff(state, parts);
}

/** The words; the keyboard stays where it was. */
function showWords(/** @type {State} */ state, /** @type {Parts} */ parts, /** @type {Arrays} */ arrays) {
  const { header, host } = state;
  if (!header) return;
  const root = parts.words.getRootNode();
  const active = root instanceof ShadowRoot ? root.activeElement : document.activeElement;
  const focused =
    active instanceof HTMLElement && parts.words.contains(active) ? active.dataset.word : undefined;
  const words = makeWords(header, arrays, (text) => {
    setBusy(parts.answer, true);
    setBusy(parts.words, true);
    host.address.set({ word: text || null });
    host.trigger("word", text);
  });
  parts.words.replaceChildren(...(words ? [words.node] : []));
  if (focused !== undefined) words?.focus(Number(focused));
}

/** What a head is and does, in words. */
function statusOf(
  /** @type {State} */ { header, off },
  /** @type {string} */ name,
  /** @type {number | null} */ effect,
) {
  if (!header) return "";
  const { strings, effects_percent: isPercent } = header;
  const state = fill(off.has(name) ? strings.head_off : strings.head_on, { head: name });
  if (effect === null) return state;
  const value = isPercent ? withPercent(fmtPercent(effect)) : fmtFixed(effect, 4);
  return `${state} ${fill(strings.effect, { value })}`;
}

/** @param {State} state @param {Parts} parts @param {{layer: number, head: number, name: string}} at */
function toggle(state, parts, at) {
  remember(state);
  const next = new Map(state.off);
  if (!next.delete(at.name)) next.set(at.name, changeText(at.name, state.header?.to ?? "mean"));
  state.last = at;
  change(state, parts, next);
}

function remember(/** @type {State} */ state) {
  state.before.push(state.off);
}

/** A change as `attnviz.changes` writes it. */
function changeText(/** @type {string} */ name, /** @type {Header["to"]} */ to) {
  return `${name}.${to === "even" ? "weights" : "mixed"}=${to}`;
}

function change(
  /** @type {State} */ state,
  /** @type {Parts} */ parts,
  /** @type {Map<string, string>} */ off,
) {
  state.off = off;
  showOff(state, parts);
  setBusy(parts.answer, true);
  const text = [...off.values()].join(",") || ALL_ON;
  state.host.address.set({ changes: text });
  state.host.trigger("switches", text);
}

function showOff(/** @type {State} */ state, /** @type {Parts} */ parts) {
  const { header, board, off, before, last } = state;
  if (!header || !board) return;
  board.show(off, (name) =>
    fill(off.has(name) ? header.strings.head_off : header.strings.head_on, { head: name }),
  );
  parts.suggested.hidden = off.size > 0 || !header.suggested;
  parts.undo.hidden = before.length === 0;
  parts.allOn.hidden = off.size === 0;
  parts.open.hidden = last === null;
  if (last) setText(parts.open, fill(header.strings.open_head, { head: last.name }));
}

function showAnswer(/** @type {HTMLElement} */ box, /** @type {AnswerView} */ answer) {
  const { title, values, seconds, bars, sentence, control, percent, written } = answer;
  const number = percent ? undefined : (/** @type {number} */ value) => fmtFixed(value, 4);
  const list = barList({ label: title, values, seconds, number });
  cueScroll(list.node);
  list.set(bars);
  const sentences = bars.some(({ label }) => label.length > NAME_CHARS); // cosines are of whole sentences
  list.node.classList.toggle("av-switches-sentences", sentences);
  const texts = written.map(([label, text]) =>
    el("div", {}, el("dt", {}, label), el("dd", {}, el("bdi", {}, text))),
  );
  const heading = el("h3", { class: "av-heading" }, ...quotingNodes(title));
  const said = el("p", { class: "av-sentence", "aria-live": "polite" }, ...quotingNodes(sentence));
  const more = [
    ...(texts.length ? [el("dl", { class: "av-switches-written" }, ...texts)] : []),
    ...(control ? [el("p", { class: "av-note" }, control)] : []),
  ];
  box.replaceChildren(
    el("div", { class: "av-switches-now" }, heading, said, list.node),
    el("div", { class: "av-switches-more" }, ...more),
  );
  scrollToChange(list.node, bars);
}

/** Brings the bar that changed most into sight, where there is no room for all. */
function scrollToChange(/** @type {HTMLElement} */ list, /** @type {AnswerView["bars"]} */ bars) {
  const changes = bars.map(({ value, second }) => Math.abs(value - (second ?? value)));
  const row = list.querySelectorAll(".av-bar")[changes.indexOf(Math.max(...changes))];
  if (row instanceof HTMLElement) list.scrollTop = row.offsetTop - list.offsetTop - list.clientHeight / 2;
}
