// @ts-check
// Switches: every head as a switch beside the model's answer. A click changes the board at once and asks the server for
// the new answer; the address has what is off, so that a link shows the same. So has it the look at a word that is
// forbidden.

import { isolate } from "../shared/axes.js";
import { barList } from "../shared/bars.js";
import { parse } from "../shared/buffer.js";
import { cueScroll, el, quotingNodes, setBusy, setText, watchSize } from "../shared/dom.js";
import { barSign, factNodes } from "../shared/effects.js";
import { fill, fmtFixed, fmtPercent } from "../shared/fmt.js";
import { readSelection } from "../shared/selection.js";
import { makeArrows } from "./arrows.js";
import { isOfProbability, makeBoard } from "./board.js";
import { lookText, makeWords } from "./words.js";

/** @import { DrawnPaths, Host, Mounted } from "../shared/host.js" */
/** @import { At, Board } from "./board.js" */
/** @import { AnswerView, Arrays, Header } from "./types.js" */

const ALL_ON = "none";
/** @type {Look} */
const ALLOWED = { head: "", query: null, key: null };
const NARROW_PX = 720;
const NAME_CHARS = 16; // what fits beside a bar

/**
 * `before` has what was off and forbidden before each click, the last one at the end; `last` is the head that was switched
 * last, `at` the one that is pointed at or in focus. `told` is what the server was told last to be off and has not answered.
 * @typedef {{host: Host, data: Uint8Array | null, header: Header | null, arrays: Arrays | null, off: Map<string, string>,
 *   board: Board | null, arrows: ReturnType<typeof makeArrows> | null, before: {off: Map<string, string>, look: Look}[],
 *   last: At | null, at: At | null, told: string | null}} State
 */
/** A look that is forbidden, of all heads where `head` is ""; without a key none. @typedef {{head: string, query: number | null, key: number | null}} Look */
/** @typedef {ReturnType<typeof buildParts>} Parts */

/** @returns {Mounted} */
export default function switches(/** @type {Host} */ host) {
  /** @type {State} */
  const state = {
    ...{ host, data: null, header: null, arrays: null, off: new Map(), board: null },
    ...{ before: [], last: null, at: null, arrows: null, told: null },
  };
  const parts = buildParts(state, {
    undo: () => {
      const at = state.before.findLastIndex((before) => isOther(state, before));
      if (at < 0) return;
      const [{ off, look }] = state.before.splice(at);
      const isLook = !isSameLook(look, lookNow(state));
      if (namesOf(off.keys()) !== namesOf(state.off.keys())) change(state, parts, off);
      if (isLook) chooseLook(state, parts, look);
      showOff(state, parts);
    },
    allOn: () => {
      remember(state);
      if (state.off.size) change(state, parts, new Map());
      if (isForbidding(state.header)) chooseLook(state, parts, ALLOWED);
    },
    suggested: () => {
      const at = state.header && state.board?.at(state.header.suggested);
      if (!at) return;
      state.board?.focus(at.name, true); // the button goes away
      toggle(state, parts, at);
    },
    look: (at) => {
      const look = state.header?.looks[at];
      if (!look) return;
      remember(state);
      if (state.off.size) change(state, parts, new Map()); // the rest of the head stays
      chooseLook(state, parts, look);
    },
    open: () => {
      if (!state.last) return;
      const { layer, head, name } = state.last;
      host.trigger("open", { page: "head", layer, head, name, query: null, key: null });
    },
  });
  host.root.append(parts.box);
  const arrows = makeArrows(parts.boards, parts.box, host, () => showFacts(state, parts));
  state.arrows = arrows;
  const stop = host.channel.listen((message) => {
    if ("wants" in message && message.wants === "turned") tellTurned(state);
    if ("selection" in message && message.from && state.header?.forbids) {
      const { head, query, key } = lookNow(state);
      const other = message.selection.query !== query || message.selection.key !== key;
      if (head && key !== null && query !== null && other) remember(state); // another cell allows it again
      setBusy(parts.says, true); // it speaks of the row before
      host.channel.post({ wants: "commit" });
    }
  });
  const unwatch = watchSize(parts.box, () => {
    parts.box.classList.toggle("av-switches-narrow", parts.box.clientWidth < NARROW_PX);
    state.board?.lay(parts.left.clientWidth);
    arrows.draw();
  });
  return {
    refresh(data) {
      if (state.data === data) return state.board?.paint(host.theme());
      takeData(state, parts, data, arrows);
      tellTurned(state);
      arrows.draw();
    },
    destroy() {
      stop();
      host.channel.post({ turned: null });
      unwatch();
      arrows.destroy();
      parts.box.remove();
    },
  };
}

/** @param {State} _state @param {{undo: () => void, allOn: () => void, suggested: () => void, look: (at: number) => void, open: () => void}} on */
function buildParts(_state, on) {
  const button = (/** @type {() => void} */ click) =>
    el("button", { class: "av-button", type: "button", on: { click } });
  const undo = button(on.undo);
  const allOn = button(on.allOn);
  const suggested = button(on.suggested);
  const looks = [0, 1].map((at) => button(() => on.look(at)));
  const open = button(on.open);
  const [dropped, offer] = [0, 1].map(() => el("p", { class: "av-note" }));
  const facts = el("p", { class: "av-switches-facts av-facts", "aria-live": "polite" });
  const left = el("div", { class: "av-switches-left" });
  const effects = el("p", { class: "av-note" });
  const compared = el("summary", {});
  const comparison = el("details", { class: "av-switches-folded av-note" }, compared, effects);
  const legend = el("p", { class: "av-switches-legend av-note" });
  const rows = el("p", { class: "av-hint" });
  const row = el("div", { class: "av-row" }, suggested, ...looks, undo, allOn, open);
  const said = [dropped, facts, row, offer, legend, rows, comparison];
  const says = el("div", { class: "av-switches-says" }, ...said);
  const boards = el("div", { class: "av-switches-boards" });
  left.append(boards, says);
  const answer = makeAnswer();
  const words = el("div", { class: "av-switches-words" });
  const right = el("div", { class: "av-switches-right" }, answer.node, words);
  const box = el("section", { class: "av av-switches" }, left, right);
  return {
    box,
    words,
    left,
    boards,
    says,
    dropped,
    answer,
    suggested,
    looks,
    undo,
    allOn,
    open,
    offer,
    facts,
    effects,
    compared,
    comparison,
    legend,
    rows,
  };
}

/** @param {State} state @param {Parts} parts @param {Uint8Array} data @param {ReturnType<typeof makeArrows>} arrows */
function takeData(state, parts, data, arrows) {
  /** @type {{header: Header, arrays: Arrays}} */
  const { header, arrays } = parse(data);
  const { strings } = header;
  if (state.header?.model !== header.model) {
    state.before = [];
    state.last = state.at = state.told = null;
  }
  Object.assign(state, { data, header, arrays });
  // an answer to an earlier click comes while a hand goes on
  if (state.told === null || state.told === namesOf(header.off.map(({ head }) => head))) {
    state.told = null;
    state.off = new Map(header.off.map(({ head, change }) => [head, change]));
  }
  const focused = state.board?.focused() ?? null;
  state.board?.destroy();
  state.board = makeBoard(header, arrays, {
    switched: (at) => toggle(state, parts, at),
    pointed: (at) => {
      state.at = at;
      showFacts(state, parts);
      arrows.point(at?.name ?? null);
    },
  });
  parts.boards.replaceChildren(state.board.node);
  state.board.lay(parts.left.clientWidth);
  state.board.paint(state.host.theme());
  if (focused) state.board.focus(focused);
  showWords(state, parts, arrays);
  showLegend(parts.legend, header, arrays);
  parts.dropped.replaceChildren(...quotingNodes(header.dropped));
  parts.dropped.hidden = !header.dropped;
  setText(parts.rows, strings.rows_hint);
  parts.rows.hidden = !header.forbids || header.words !== null; // the words say it, where there are any
  setText(parts.effects, header.effects);
  setText(parts.compared, strings.compared);
  parts.comparison.hidden = !header.effects;
  setText(parts.undo, strings.undo);
  setText(parts.allOn, strings.all_on);
  setText(parts.suggested, fill(strings.suggested, { head: header.suggested }));
  if (header.suggested_note) parts.suggested.append(el("small", {}, header.suggested_note));
  parts.answer.show(header);
  setBusy(parts.answer.node, state.told !== null);
  setBusy(parts.words, false);
  setBusy(parts.says, false);
  showOff(state, parts);
}

/** What the two bars under a head are. */
function showLegend(
  /** @type {HTMLElement} */ legend,
  /** @type {Header} */ { strings, facts, most, effects_unit: unit },
  /** @type {Arrays} */ arrays,
) {
  const hasBars = (/** @type {number} */ place) =>
    [...(arrays[`facts.${place}.looks`]?.data ?? [])].some((weight) => !Number.isNaN(weight));
  const looked = facts.find((_, place) => hasBars(place));
  const looks = looked && fill(strings.bar_looks, { key: isolate(looked.key) });
  const moves = strings[/** @type {const} */ (`bar_${unit}`)];
  legend.replaceChildren(
    ...(looks ? [barSign("key", looks, { class: "av-switches-looks" })] : []),
    ...(most > 0 ? [barSign("answer", moves, { class: "av-switches-moves" })] : []),
  );
}

/** The words; the keyboard stays where it was. */
function showWords(/** @type {State} */ state, /** @type {Parts} */ parts, /** @type {Arrays} */ arrays) {
  const { header } = state;
  if (!header) return;
  const root = parts.words.getRootNode();
  const active = root instanceof ShadowRoot ? root.activeElement : document.activeElement;
  const focused =
    active instanceof HTMLElement && parts.words.contains(active) ? active.dataset.word : undefined;
  const isOpen = parts.words.querySelector("details")?.open ?? false;
  const query = header.words?.query ?? null;
  const words = makeWords(header, arrays, isOpen, (head, key) => {
    const look = { head, query, key };
    if (!isSameLook(look, lookNow(state))) remember(state);
    chooseLook(state, parts, look);
  });
  parts.words.replaceChildren(...(words ? [words.node] : []));
  parts.words.classList.toggle("av-switches-words-chosen", (header.words?.chosen ?? null) !== null);
  if (focused !== undefined) words?.focus(Number(focused));
}

/** True while a look at a word is forbidden. */
function isForbidding(/** @type {Header | null} */ header) {
  return Boolean(header?.forbidden);
}

/** The look that is forbidden, as the address has it. @returns {Look} */
function lookNow(/** @type {State} */ { host: { address }, header }) {
  const [head, word] = (address.get("word") ?? "").split("@");
  if (word) return { head, query: null, key: Number(word) };
  const { query, key, ...at } = readSelection(address);
  if (!header || address.get("forbid") !== `${query}.${key}`) return ALLOWED;
  return { head: `${prefixOf(header)}L${at.layer}.H${at.head}`, query, key };
}

/** True if something else was off or forbidden then. */
const isOther = (/** @type {State} */ state, /** @type {State["before"][number]} */ { off, look }) =>
  namesOf(off.keys()) !== namesOf(state.off.keys()) || !isSameLook(look, lookNow(state));

const isSameLook = (/** @type {Look} */ one, /** @type {Look} */ other) =>
  one.key === other.key && (one.key === null || (one.head === other.head && one.query === other.query));

/**
 * Forbids a look, or allows it again. One look of one head, in one row, is that of a cell, as elsewhere.
 * @param {State} state
 * @param {Parts} parts
 * @param {Look} look
 */
function chooseLook({ host, board }, parts, { head: name, query, key }) {
  setBusy(parts.answer.node, true);
  setBusy(parts.words, true);
  const at = board?.at(name);
  if (!at || key === null || query === null) {
    const text = lookText(name, key);
    host.address.set({ word: text || null, forbid: null });
    return host.trigger("word", text);
  }
  const cell = { layer: at.layer, head: at.head, query, key };
  const named = Object.entries({ ...cell, forbid: `${query}.${key}` });
  host.address.set({
    ...Object.fromEntries(named.map(([key, value]) => [key, String(value)])),
    word: null,
  });
  host.channel.post({ selection: readSelection(host.address), from: null });
  host.trigger("ask", { ask: "forbid", on: true, ...cell });
}

/**
 * What the head that is spoken of is and does: the one that is pointed at or in focus; else the one of the last change, or
 * the chosen one, of which the buttons are.
 */
function showFacts(/** @type {State} */ state, /** @type {Parts} */ { facts }) {
  const { header, arrays, board, host, off } = state;
  if (!header || !arrays || !board) return;
  const { layer, head } = readSelection(host.address);
  const chosen = `${prefixOf(header)}L${layer}.H${head}`;
  const name = header.made?.head ?? (off.size === 1 ? [...off.keys()][0] : chosen);
  const at = (state.at && board.at(state.at.name)) ?? board.at(name);
  if (!at) return facts.replaceChildren();
  const { strings } = header;
  const is = headSaid(header, off, at.name);
  const nodes = factsOf(state, header, arrays, at);
  if (!nodes.length && at.effect !== null) {
    const isShare = isOfProbability(header);
    const value = isShare ? fmtPercent(at.effect) : fmtFixed(at.effect, 4);
    nodes.push(el("span", {}, fill(isShare ? strings.effect_points : strings.effect, { value })));
  }
  if (header.made?.head === at.name) nodes.unshift(el("span", {}, header.made.sentence)); // a phone cuts the end
  const path = state.arrows?.missing(at.name);
  if (path) nodes.push(el("span", {}, noArrow(strings, at.name, path)));
  const isChanged = off.size > 0 || isForbidding(header);
  const said = isChanged ? el("span", {}, ...quotingNodes(is)) : el("b", {}, at.name);
  facts.replaceChildren(said, ...nodes);
}

/** Whether a head is on, off, or may not look at a word. @param {Header} header @param {ReadonlyMap<string, string>} off @param {string} head */
function headSaid({ strings, reader, forbidden }, off, head) {
  if (off.has(head)) return fill(strings.head_off, { head });
  return fill(reader === head ? strings.head_forbidden : strings.head_on, { head, look: forbidden });
}

/** Why a head has no arrow: its strongest path, beside what chance moves. */
function noArrow(
  /** @type {Header["strings"]} */ strings,
  /** @type {string} */ head,
  /** @type {DrawnPaths["strongest"][string]} */ { sender, receiver, moved, chance },
) {
  const [value, byChance] = [fmtPercent(moved), fmtPercent(chance)];
  return fill(strings.no_arrow, { head, sender, receiver, value, chance: byChance });
}

/** What stands before the names of the heads whose cell is chosen. */
function prefixOf(/** @type {Header} */ { groups, facts }) {
  return groups[
    Math.max(
      0,
      facts.findIndex(({ query }) => query),
    )
  ].prefix;
}

/**
 * Looks and matters of a head, each beside its control.
 * @param {State} state
 * @param {Header} header
 * @param {Arrays} arrays
 * @param {At} at
 */
function factsOf(state, header, arrays, at) {
  const facts = header.facts[at.group];
  if (!facts) return [];
  const heads = Math.max(...header.groups[at.group].heads);
  const looks = arrays[`facts.${at.group}.looks`]?.data;
  const [weight, others] = [0, 1].map((place) => looks?.[2 * (at.layer * heads + at.head) + place] ?? NaN);
  const look = Number.isNaN(weight) ? null : { weight, others };
  const { query, key } = lookNow(state);
  /** @type {[number, number] | null} */
  const forbidden = at.name === header.reader && query !== null && key !== null ? [query, key] : null;
  const effects = {
    ...{ capture: "", legend: "", cell: forbidden, median: 0, most: header.most, least: header.least, heads },
    values: arrays[`groups.${at.group}.effects`]?.data ?? [],
    sentences: facts.sentences,
  };
  // effects are of each head alone: beside another change they would seem to be on that
  const isAlone = !header.forbidden && [...state.off.keys()].every((name) => name === at.name);
  const nodes = factNodes(header.strings, facts.query ? facts : null, look, effects, at, isAlone);
  return [...(facts.hidden ? [el("span", {}, facts.hidden)] : []), ...nodes];
}

/** @param {State} state @param {Parts} parts @param {At} at */
function toggle(state, parts, at) {
  remember(state);
  const next = new Map(state.off);
  if (!next.delete(at.name)) next.set(at.name, changeText(at.name, state.header?.to ?? "mean"));
  state.last = state.at = at;
  change(state, parts, next);
}

function remember(/** @type {State} */ state) {
  state.before.push({ off: state.off, look: lookNow(state) });
}

const namesOf = (/** @type {Iterable<string>} */ heads) => [...heads].sort().join(",");

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
  const known = namesOf(state.header?.off.map(({ head }) => head) ?? []);
  state.told = namesOf(off.keys()) === known ? null : namesOf(off.keys());
  showOff(state, parts);
  setBusy(parts.answer.node, true);
  const text = [...off.values()].join(",") || ALL_ON;
  state.host.address.set({ changes: text });
  state.host.trigger("switches", text);
}

function showOff(/** @type {State} */ state, /** @type {Parts} */ parts) {
  const { header, board, off, before, last } = state;
  if (!header || !board) return;
  const buttons = [parts.allOn, parts.undo, parts.suggested, ...parts.looks];
  const held = buttons.find((button) => button.matches(":focus"));
  board.show(off, (name) => headSaid(header, off, name), header.reader);
  parts.suggested.hidden = off.size > 0 || isForbidding(header) || !header.suggested;
  const form = off.size ? header.strings.only_look : header.strings.one_look;
  parts.looks.forEach((button, at) => {
    const look = header.looks[at];
    button.hidden = !look || off.size !== header.off.length;
    button.replaceChildren(...(look ? quotingNodes(fill(form, { look: look.name })) : []));
    if (look?.note) button.append(el("small", {}, look.note));
  });
  parts.offer.hidden = off.size > 0 || !header.offer_said;
  parts.offer.replaceChildren(...quotingNodes(header.offer_said));
  parts.undo.hidden = !before.some((then) => isOther(state, then));
  parts.allOn.hidden = off.size === 0 && !isForbidding(header);
  parts.open.hidden = last === null;
  if (last) setText(parts.open, fill(header.strings.open_head, { head: last.name }));
  // a button that goes away leaves the keyboard to the next one
  if (held?.hidden) buttons.find((button) => !button.hidden)?.focus();
  showFacts(state, parts);
}

/** The answer: its bars move from one to the next, and their tracks keep their width. */
function makeAnswer() {
  const heading = el("h3", { class: "av-heading" });
  const said = el("p", { class: "av-sentence", "aria-live": "polite" });
  const list = barList({ label: "", two: true });
  const more = el("div", { class: "av-switches-more" });
  const [how, measured] = [el("summary", {}), el("p", { class: "av-note" })];
  const details = el("details", { class: "av-switches-folded av-note" }, how, measured);
  const now = el("div", { class: "av-switches-now" }, heading, said, list.node);
  cueScroll(list.node);
  return {
    node: el("div", { class: "av-switches-answer av-panel" }, now, more),
    show(/** @type {Header} */ { answer, strings }) {
      const { title, values, seconds, bars, sentence, control, percent, written } = answer;
      const number = percent ? undefined : (/** @type {number} */ value) => fmtFixed(value, 4);
      heading.replaceChildren(...quotingNodes(title));
      said.replaceChildren(...quotingNodes(sentence));
      list.set(bars, { label: title, values, seconds, number });
      const sentences = bars.some(({ label }) => label.length > NAME_CHARS); // cosines are of whole sentences
      list.node.classList.toggle("av-switches-sentences", sentences);
      const texts = written.map(([label, text]) =>
        el("div", {}, el("dt", {}, label), el("dd", {}, el("bdi", {}, text))),
      );
      setText(how, strings.measured);
      setText(measured, answer.measured);
      details.hidden = !answer.measured;
      more.replaceChildren(
        ...(texts.length ? [el("dl", { class: "av-switches-written" }, ...texts)] : []),
        ...(control ? [el("p", { class: "av-note" }, control), details] : []),
      );
      scrollToChange(list.node, bars);
    },
  };
}

/** Tells the line of the text what its answer has turned into; null while nothing is changed, or where there are cosines. */
function tellTurned(/** @type {State} */ { host, header }) {
  const bars = header?.answer.percent ? header.answer.bars : [];
  const [before, after] = [largest(bars, "second"), largest(bars, "value")];
  host.channel.post({ turned: before.probability && after.word ? { before, after } : null });
}

/** The bar with the largest number, 0 where there is none. @param {AnswerView["bars"]} bars @param {"value" | "second"} name */
function largest(bars, name) {
  const start = { word: "", probability: 0 };
  return bars.reduce((most, bar) => {
    const probability = bar[name] ?? 0;
    return probability > most.probability ? { word: bar.label, probability } : most;
  }, start);
}

/** Brings the bar that changed most into sight, where there is no room for all. */
function scrollToChange(/** @type {HTMLElement} */ list, /** @type {AnswerView["bars"]} */ bars) {
  const changes = bars.map(({ value, second }) => Math.abs(value - (second ?? value)));
  const row = list.querySelectorAll(".av-bar")[changes.indexOf(Math.max(...changes))];
  if (row instanceof HTMLElement) list.scrollTop = row.offsetTop - list.offsetTop - list.clientHeight / 2;
}
