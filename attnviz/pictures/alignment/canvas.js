// @ts-check
// Alignment: the source's words above, the target's words below, and between them the attention that the decoder paid
// while it predicted each target word. Head, mean and word change here, in the browser; the server hears of it once.

import { isolate } from "../shared/axes.js";
import { parse } from "../shared/buffer.js";
import { sequential } from "../shared/colors.js";
import { makeCommitter } from "../shared/committer.js";
import { swallow } from "../shared/controls.js";
import { el, elementAt, oncePerFrame, setText, watchSize } from "../shared/dom.js";
import { fill, fmtList, fmtPercent, headName } from "../shared/fmt.js";
import { neighbour } from "../shared/headkeys.js";
import { readSelection } from "../shared/selection.js";
import { drawThumbs } from "../shared/thumbs.js";
import { drawAlignment } from "./drawing.js";
import { stepFrom } from "./keys.js";
import { chosenWeights, isSameWord, rankedWords, wordAt } from "./numbers.js";
import { buildParts, fillRanked } from "./parts.js";

/** @import { PackedArray } from "../shared/buffer.js" */
/** @import { Committer } from "../shared/committer.js" */
/** @import { Request } from "../shared/dom.js" */
/** @import { Address, Host, Mounted } from "../shared/host.js" */
/** @import { AddressSelection, Selection } from "../shared/selection.js" */
/** @import { Ranked, WordPlace } from "./numbers.js" */
/** @import { Parts } from "./parts.js" */
/** @import { Arrays, Header } from "./types.js" */
/** @import { Choice } from "./numbers.js" */

/** The element, and what tells the page of a change. */
/** @typedef {{host: Host, box: HTMLElement, committer: Committer, show: Request}} Frame */
/**
 * `matrix` has the weights of the choice; `pinned` was clicked, `hover` is under the pointer, `focus` has the keyboard.
 * @typedef {Frame & {data: Uint8Array, header: Header, weights: PackedArray, parts: Parts, choice: Choice,
 *   matrix: Float64Array, pinned: WordPlace | null, hover: WordPlace | null, focus: WordPlace | null}} State
 */

const NARROW_PX = 760;
const THUMB = { size: 24, gap: 3 };
const MAX_SPOKEN = 3;
const ATTENTION = { stack: "decoder", kind: "cross" };
const SIDES = /** @type {const} */ (["source", "target"]);

/** @returns {Mounted} */
export default function alignment(/** @type {Host} */ host) {
  const box = el("section", { class: "av av-align" });
  host.root.append(box);
  /** @type {State | null} */
  let state = null;
  const committer = makeCommitter(host, box);
  const show = oncePerFrame(() => state && showAll(state));
  const unwatch = watchSize(box, () => state && layout(state));
  listenWords(box, () => state);
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

/** @returns {State} */
function takeData(/** @type {Frame} */ frame, /** @type {Uint8Array} */ data) {
  /** @type {{header: Header, arrays: Arrays}} */
  const { header, arrays } = parse(data);
  const { choice, pinned } = readChoice(header, frame.committer.read(), frame.host.address);
  const parts = buildParts(header, choice, {
    choose: (change) => choose(state, change),
    open: () => openHeatmap(state),
  });
  const { weights } = arrays;
  const matrix = chosenWeights(weights, choice);
  const focus = { pinned, hover: null, focus: null };
  /** @type {State} */
  const state = { ...frame, data, header, weights, parts, choice, matrix, ...focus };
  frame.committer.start(selectionOf(state));
  frame.box.replaceChildren(...parts.nodes);
  return state;
}

/**
 * The choice that the address names where it means this attention, else the one that the model's card states.
 * @param {Header} header
 * @param {AddressSelection} selection
 * @param {Address} address
 * @returns {{choice: Choice, pinned: WordPlace | null}}
 */
function readChoice(header, { layer, head, query, key }, address) {
  const isThis = Object.entries(ATTENTION).every(([name, value]) => address.get(name) === value);
  if (!isThis || layer === null) return { choice: { ...header.stated }, pinned: null };
  const clamp = (/** @type {number} */ index, /** @type {number} */ count) =>
    Math.max(0, Math.min(count - 1, index));
  const mean = address.get("mean");
  /** @type {Choice} */
  const choice = {
    layer: clamp(layer, header.n_layers),
    head: clamp(head ?? 0, header.n_heads),
    mean: mean === "layer" || mean === "all" ? mean : null,
  };
  const target = wordAt(header.target, query);
  if (target !== null) return { choice, pinned: { side: "target", word: target } };
  const source = wordAt(header.source, query === null ? key : null);
  return { choice, pinned: source === null ? null : { side: "source", word: source } };
}

/** The selection as address and server know it: a word is the position of its first row or key. @returns {Selection} */
function selectionOf(/** @type {State} */ { choice, pinned, header, host }) {
  const { layer, head, mean } = choice;
  const at = pinned ? header[pinned.side][pinned.word].at : null;
  const { scale, special } = readSelection(host.address);
  return {
    layer,
    head,
    query: pinned?.side === "target" ? at : null,
    key: pinned?.side === "source" ? at : null,
    scale,
    special,
    more: { ...ATTENTION, mean },
  };
}

/** Another head or mean; a head that is chosen under the mean of all is shown as itself. */
function choose(/** @type {State} */ state, /** @type {Partial<Choice>} */ change) {
  const { choice } = state;
  state.choice = { ...choice, mean: choice.mean === "all" ? null : choice.mean, ...change };
  state.matrix = chosenWeights(state.weights, state.choice);
  tell(state);
}

function tell(/** @type {State} */ state) {
  const selection = selectionOf(state);
  state.committer.update(selection);
  state.committer.write(selection);
  state.show();
}

/** Asks for the rectangular heatmap of the head. */
function openHeatmap(/** @type {State} */ state) {
  const selection = selectionOf(state);
  const { layer, head, query, key } = selection;
  state.committer.update(selection);
  state.committer.commit();
  state.host.trigger("open", { page: "head", layer, head, query, key });
}

/** The word that an event happened at. @returns {WordPlace | null} */
function wordOf(/** @type {Event} */ event) {
  const chip = elementAt(event)?.closest(".av-word");
  if (!(chip instanceof HTMLElement)) return null;
  return { side: chip.dataset.side === "source" ? "source" : "target", word: Number(chip.dataset.word) };
}

function listenWords(/** @type {HTMLElement} */ box, /** @type {() => State | null} */ stateNow) {
  const point = (/** @type {"hover" | "focus"} */ how, /** @type {WordPlace | null} */ at) => {
    const state = stateNow();
    if (!state || isSameWord(state[how], at)) return;
    state[how] = at;
    state.show();
  };
  box.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "touch") point("hover", wordOf(event));
  });
  box.addEventListener("pointerleave", () => point("hover", null));
  box.addEventListener("focusin", (event) => point("focus", wordOf(event)));
  box.addEventListener("focusout", () => point("focus", null));
  box.addEventListener("click", (event) => {
    const state = stateNow();
    const at = wordOf(event);
    if (state && at) pin(state, isSameWord(state.pinned, at) ? null : at);
  });
  box.addEventListener("keydown", (event) => {
    const state = stateNow();
    if (state && onKey(state, event, wordOf(event))) swallow(event);
  });
}

/** Pins a word, or unpins it. */
function pin(/** @type {State} */ state, /** @type {WordPlace | null} */ at) {
  state.pinned = at;
  tell(state);
}

/**
 * Acts on a key; returns true if it did.
 * @param {State} state
 * @param {KeyboardEvent} event
 * @param {WordPlace | null} at
 */
function onKey(state, event, at) {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const step = event.key === "[" ? -1 : event.key === "]" ? 1 : 0;
  const next = at && stepFrom(event.key, state.header, state.matrix, at);
  if (step) choose(state, { ...neighbour(state.header, state.choice, step), mean: null });
  else if (event.key === "Escape" && state.pinned) pin(state, null);
  else if (next) focusWord(state, next);
  else return false;
  return true;
}

function focusWord(/** @type {State} */ state, /** @type {WordPlace} */ at) {
  const chips = state.parts.chips[at.side];
  state.hover = null; // a pointer that rests on a word must not hide where the keyboard is
  chips.forEach((chip, i) => void (chip.tabIndex = i === at.word ? 0 : -1));
  chips[at.word].focus();
}

/** Sizes everything for the width there is and draws it. */
function layout(/** @type {State} */ state) {
  const { header, parts, box, weights } = state;
  const width = box.clientWidth;
  if (!width) return;
  fitWords(box, parts, width);
  const lut = sequential(state.host.theme().dark);
  drawThumbs(parts.thumbs, weights, lut, { ...THUMB, layers: header.n_layers, heads: header.n_heads });
  parts.picker.resize(THUMB.size, THUMB.gap);
  showAll(state);
}

/**
 * Makes room for all words: smaller ones first, then the list below instead of beside; what is left scrolls.
 * @param {HTMLElement} box
 * @param {Parts} parts
 * @param {number} width
 */
function fitWords(box, parts, width) {
  const isTooWide = () => parts.inner.scrollWidth > parts.scroll.clientWidth + 1;
  parts.canvas.style.width = "0";
  box.classList.remove("av-align-tight");
  box.classList.toggle("av-narrow", width < NARROW_PX);
  if (isTooWide()) box.classList.add("av-align-tight");
  if (isTooWide()) box.classList.add("av-narrow");
}

/** Shows the choice: names, controls, lines, and the list of the word that is looked from. */
function showAll(/** @type {State} */ state) {
  const { header, parts, choice, pinned, matrix, host } = state;
  const { strings, source, target } = header;
  const theme = host.theme();
  const name = choiceName(header, choice);
  const focus = state.hover ?? state.focus ?? pinned;
  const ranked = focus ? rankedWords(matrix, source.length, focus) : [];
  setText(parts.title, name);
  setText(parts.sentence, isStated(header, choice) ? header.stated.does : "");
  parts.picker.set(choice.layer, choice.head);
  parts.mean.set(choice.mean ?? "head");
  parts.picker.node.classList.toggle("av-picker-all", choice.mean === "all");
  parts.picker.node.classList.toggle("av-picker-row-mean", choice.mean === "layer");
  const sizes = { nSource: source.length, nTarget: target.length };
  const values = { name, source: sizes.nSource, target: sizes.nTarget };
  parts.canvas.setAttribute("aria-label", fill(strings.canvas, values));
  for (const side of SIDES)
    parts.chips[side].forEach((chip, word) =>
      chip.setAttribute("aria-pressed", String(isSameWord(pinned, { side, word }))),
    );
  const look = { theme, lut: sequential(theme.dark) };
  drawAlignment(parts.canvas, { weights: matrix, ...sizes, chips: parts.chips, focus, choice, ...look });
  fillRanked(parts, header, focus, ranked);
  setText(parts.spoken, focus ? spokenFor(header, focus, ranked) : "");
}

function choiceName(/** @type {Header} */ { strings }, /** @type {Choice} */ { layer, head, mean }) {
  if (mean === "all") return strings.name_all;
  return mean === "layer" ? fill(strings.name_layer, { layer: `L${layer}` }) : headName(layer, head);
}

/** True if a choice is the one that the model's card describes. */
function isStated(/** @type {Header} */ { stated }, /** @type {Choice} */ choice) {
  if (choice.mean !== stated.mean) return false;
  if (choice.mean === "all") return true;
  return choice.layer === stated.layer && (choice.mean === "layer" || choice.head === stated.head);
}

/** What a screen reader says of a word: the largest weights. */
function spokenFor(
  /** @type {Header} */ header,
  /** @type {WordPlace} */ at,
  /** @type {Ranked[]} */ ranked,
) {
  const { strings } = header;
  const others = at.side === "target" ? header.source : header.target;
  const shares = ranked
    .slice(0, MAX_SPOKEN)
    .map(({ word, weight }) =>
      fill(strings.share, { word: isolate(others[word].text), percent: fmtPercent(weight) }),
    );
  const word = isolate(header[at.side][at.word].text);
  const template = at.side === "target" ? strings.said_target : strings.said_source;
  return fill(template, { word, list: fmtList(shares) });
}
