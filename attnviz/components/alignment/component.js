// @ts-check
// Alignment: the source's words above, the target's words below, and between them the attention that the decoder paid
// while it predicted each target word. Head, mean and word change here, in the browser; the server hears of it once.
// Data: {strings, model, source, target: [{text, special, at, probability}], probability, stated: Choice, does, n_layers,
// n_heads}, weights u16 [layer, head, target, source].

import { neighbour } from "../shared/headkeys.js";
import { parse } from "../shared/buffer.js";
import { levelTable, sequential } from "../shared/colors.js";
import { swallow } from "../shared/controls.js";
import { el, fitCanvas, markDrawn, oncePerFrame, setText, watchSize } from "../shared/dom.js";
import { fill, fmtPercent, headName } from "../shared/fmt.js";
import { isolate } from "../shared/axes.js";
import { mounted } from "../shared/mounted.js";
import {
  cancelWrite,
  flushWrite,
  makeCommitter,
  readSelection,
  writeSelection,
} from "../shared/selection.js";
import { theme } from "../shared/theme.js";
import { drawAtlas, makeAtlas } from "../shared/thumbs.js";
import { drawAlignment } from "./drawing.js";
import { chosenWeights, ranked, wordAt } from "./numbers.js";
import { buildAlignment, fillRanked } from "./parts.js";

const NARROW = 760;
const THUMB = { size: 24, gap: 3 };
const SPOKEN = 3;
const ATTENTION = { stack: "decoder", kind: "cross" };

/** Streamlit calls this with new data or a new theme. */
export default function alignment(/** @type {any} */ component) {
  return mounted(component, mountAlignment, refreshAlignment);
}

function mountAlignment(/** @type {any} */ root) {
  const box = el("section", { class: "av av-align" });
  root.append(box);
  const state = /** @type {any} */ ({ root, box, hover: null, focus: null });
  state.committer = makeCommitter(box);
  state.show = oncePerFrame(() => showAlignment(state));
  state.unwatch = watchSize(box, () => {
    if (state.header) layoutAlignment(state);
  });
  state.destroy = () => {
    state.unwatch();
    state.show.cancel();
    state.committer.destroy();
    cancelWrite();
    box.remove();
  };
  listenWords(state);
  return state;
}

function refreshAlignment(/** @type {any} */ state, /** @type {Uint8Array} */ data) {
  if (state.raw !== data) takeAlignment(state, data);
  layoutAlignment(state);
}

function takeAlignment(/** @type {any} */ state, /** @type {Uint8Array} */ data) {
  const { header, arrays } = parse(data);
  flushWrite();
  Object.assign(state, {
    raw: data,
    header,
    weights: arrays.weights,
    hover: null,
    focus: null,
    ...readChoice(header),
  });
  state.committer.start(committed(state));
  state.parts = buildAlignment(header, state.choice, {
    choose: (change) => choose(state, change),
    open: () => openHeatmap(state),
  });
  state.box.replaceChildren(...state.parts.nodes);
}

/** What the address asks for where it means this attention, else what the model's card states. */
function readChoice(/** @type {any} */ header) {
  const params = new URLSearchParams(location.search);
  const { layer, head, query, key } = readSelection();
  const mine =
    Object.entries(ATTENTION).every(([name, value]) => params.get(name) === value) && layer !== null;
  const clamp = (/** @type {number | null} */ v, /** @type {number} */ n) =>
    Math.max(0, Math.min(n - 1, v ?? 0));
  const mean = params.get("mean");
  if (!mine) return { choice: { ...header.stated }, pinned: null };
  const choice = {
    layer: clamp(layer, header.n_layers),
    head: clamp(head, header.n_heads),
    mean: mean === "layer" || mean === "all" ? mean : null,
  };
  const target = wordAt(header.target, query);
  const source = wordAt(header.source, query === null ? key : null);
  return {
    choice,
    pinned:
      target !== null
        ? { side: "target", word: target }
        : source !== null
          ? { side: "source", word: source }
          : null,
  };
}

/** The selection as address and server know it: a word is the position of its first row or key. */
function committed(/** @type {any} */ state) {
  const { choice, pinned, header } = state;
  const { layer, head, mean } = choice;
  const at = pinned ? header[pinned.side][pinned.word].at : null;
  const { scale, special } = readSelection();
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

function choose(/** @type {any} */ state, /** @type {any} */ change) {
  const { choice } = state;
  const mean = "mean" in change ? change.mean : choice.mean === "all" ? null : choice.mean;
  state.choice = { ...choice, ...change, mean };
  tellSelection(state);
}

function tellSelection(/** @type {any} */ state) {
  const selection = committed(state);
  state.committer.update(selection);
  writeSelection(selection);
  state.show();
}

/** Asks the server for the rectangular heatmap of the head. */
function openHeatmap(/** @type {any} */ state) {
  const selection = committed(state);
  const { layer, head, query, key } = selection;
  state.committer.update(selection);
  flushWrite();
  state.committer.commit();
  state.trigger("open", { page: "head", layer, head, query, key });
}

function listenWords(/** @type {any} */ state) {
  const { box } = state;
  const wordOf = (/** @type {any} */ target) => {
    const chip = target.closest?.(".av-word");
    return chip ? { side: chip.dataset.side, word: Number(chip.dataset.word) } : null;
  };
  const point = (/** @type {string} */ how, /** @type {any} */ at) => {
    if (!sameWord(state[how], at)) {
      state[how] = at;
      state.show();
    }
  };
  box.addEventListener("pointerover", (/** @type {any} */ event) => {
    if (event.pointerType !== "touch") point("hover", wordOf(event.target));
  });
  box.addEventListener("pointerleave", () => point("hover", null));
  box.addEventListener("focusin", (/** @type {any} */ event) => point("focus", wordOf(event.target)));
  box.addEventListener("focusout", () => point("focus", null));
  box.addEventListener("click", (/** @type {any} */ event) => {
    const at = wordOf(event.target);
    if (at) pinWord(state, at);
  });
  box.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) =>
    onWordKey(state, event, wordOf(event.target)),
  );
}

function sameWord(/** @type {any} */ a, /** @type {any} */ b) {
  return a?.side === b?.side && a?.word === b?.word;
}

/** Pins a word; the same one again unpins. */
function pinWord(/** @type {any} */ state, /** @type {any} */ at) {
  state.pinned = sameWord(state.pinned, at) ? null : at;
  tellSelection(state);
}

function onWordKey(/** @type {any} */ state, /** @type {KeyboardEvent} */ event, /** @type {any} */ at) {
  if (event.ctrlKey || event.metaKey || event.altKey || !state.header) return;
  const step = event.key === "[" ? -1 : event.key === "]" ? 1 : 0;
  const next = at && nextWord(state, event.key, at);
  if (step) choose(state, { ...neighbour(state.header, state.choice, step), mean: null });
  else if (event.key === "Escape" && state.pinned) {
    state.pinned = null;
    tellSelection(state);
  } else if (next) focusWord(state, next);
  else return;
  swallow(event);
}

/**
 * Left and right stay on a side; up and down go to the word of the other side with the largest weight.
 * @param {any} state
 * @param {string} key
 * @param {{side: string, word: number}} at
 */
function nextWord(state, key, at) {
  const { header, matrix } = state;
  const count = header[at.side].length;
  const last = count - 1;
  const along = /** @type {Record<string, number>} */ ({
    ArrowLeft: at.word - 1,
    ArrowRight: at.word + 1,
    Home: 0,
    End: last,
  })[key];
  if (along !== undefined) return { side: at.side, word: Math.max(0, Math.min(last, along)) };
  const away = at.side === "target" ? "ArrowUp" : "ArrowDown";
  const other = at.side === "target" ? "source" : "target";
  return key === away && header[other].length
    ? { side: other, word: ranked(matrix, header.source.length, at)[0].word }
    : null;
}

function focusWord(/** @type {any} */ state, /** @type {{side: "source" | "target", word: number}} */ at) {
  const chips = state.parts.chips[at.side];
  state.hover = null; // a pointer that rests on a word must not hide where the keyboard is
  chips.forEach((/** @type {HTMLElement} */ chip, /** @type {number} */ i) => {
    chip.tabIndex = i === at.word ? 0 : -1;
  });
  chips[at.word].focus();
}

/** Sizes everything for the width there is and draws it. */
function layoutAlignment(/** @type {any} */ state) {
  const { header, parts, box, weights } = state;
  const width = box.clientWidth;
  if (!width) return;
  fitWords(box, parts, width);
  state.theme = theme(state.root);
  state.lut = sequential(state.theme.dark);
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
  parts.picker.resize(THUMB.size, THUMB.gap);
  showAlignment(state);
}

/** Makes room for all words: smaller ones first, then the list below instead of beside; what is left scrolls. */
function fitWords(/** @type {HTMLElement} */ box, /** @type {any} */ parts, /** @type {number} */ width) {
  const over = () => parts.inner.scrollWidth > parts.scroll.clientWidth + 1;
  parts.canvas.style.width = "0";
  box.classList.remove("av-align-tight");
  box.classList.toggle("av-align-narrow", width < NARROW);
  if (over()) box.classList.add("av-align-tight");
  if (over()) box.classList.add("av-align-narrow");
}

function showAlignment(/** @type {any} */ state) {
  const { header, parts, choice, pinned, lut } = state;
  const { strings, source, target } = header;
  const name = choiceName(strings, choice);
  state.matrix = chosenWeights(state.weights, choice);
  const focus = state.hover ?? state.focus ?? pinned;
  const rows = focus ? ranked(state.matrix, source.length, focus) : [];
  setText(parts.title, name);
  setText(parts.sentence, sentenceOf(header, choice));
  parts.picker.set(choice.layer, choice.head);
  parts.mean.set(choice.mean ?? "head");
  parts.picker.node.classList.toggle("av-picker-all", choice.mean === "all");
  parts.picker.node.classList.toggle("av-picker-row-mean", choice.mean === "layer");
  parts.canvas.setAttribute(
    "aria-label",
    fill(strings.canvas, { name, source: source.length, target: target.length }),
  );
  for (const side of ["source", "target"])
    parts.chips[side].forEach((/** @type {HTMLElement} */ chip, /** @type {number} */ i) =>
      chip.setAttribute("aria-pressed", String(sameWord(pinned, { side, word: i }))),
    );
  drawAlignment(parts.canvas, {
    weights: state.matrix,
    source,
    target,
    chips: parts.chips,
    focus,
    choice,
    lut,
    theme: state.theme,
  });
  fillRanked(parts, header, focus, rows);
  setText(parts.spoken, focus ? spokenFor(header, focus, rows) : "");
}

function choiceName(/** @type {Record<string, string>} */ strings, /** @type {any} */ choice) {
  if (choice.mean === "all") return strings.name_all;
  return choice.mean === "layer"
    ? fill(strings.name_layer, { layer: `L${choice.layer}` })
    : headName(choice.layer, choice.head);
}

/** What the card says of the choice, where it is the one that the card states. */
function sentenceOf(/** @type {any} */ header, /** @type {any} */ choice) {
  const { stated, does } = header;
  const same =
    choice.mean === stated.mean &&
    (choice.mean === "all" ||
      (choice.layer === stated.layer && (choice.mean === "layer" || choice.head === stated.head)));
  return same ? does : "";
}

/**
 * @param {any} header
 * @param {any} at
 * @param {{word: number, weight: number}[]} rows
 */
function spokenFor(header, at, rows) {
  const { strings } = header;
  const others = at.side === "target" ? header.source : header.target;
  const list = rows
    .slice(0, SPOKEN)
    .map(({ word, weight }) =>
      fill(strings.share, { word: isolate(others[word].text), percent: fmtPercent(weight) }),
    )
    .join(", ");
  return fill(at.side === "target" ? strings.said_target : strings.said_source, {
    word: isolate(header[at.side][at.word].text),
    list,
  });
}
