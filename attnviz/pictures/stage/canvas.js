// @ts-check
// The stage: a sentence, an arc for each strong look of its last word with a switch on it, the answer as bars, and all
// heads as small switches. A click forbids one look: it falls apart, grows where it goes instead, and the bars move, all
// from numbers that came with the page. Visitors who asked for less motion see only the end of each movement.

import { parse } from "../shared/buffer.js";
import { levelTable, sequential } from "../shared/colors.js";
import { wantsLessMotion } from "../shared/clock.js";
import {
  el,
  fitCanvas,
  languageOf,
  markDrawn,
  quotingNodes,
  setData,
  setText,
  watchSize,
} from "../shared/dom.js";
import { fill, headName } from "../shared/fmt.js";
import { readSelection } from "../shared/selection.js";
import { makeAtlas, stampHead } from "../shared/thumbs.js";
import { arcAcross, arcBetween, arcNode, swung, widthOf } from "./arcs.js";
import { makeBars, onAxis } from "./bars.js";
import { makeParts } from "./parts.js";
import { elsewhere, lookName, printedMove, printedWeight, sayings, tokenName } from "./words.js";

/** @import { PackedArray } from "../shared/buffer.js" */
/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Place } from "./arcs.js" */
/** @import { Bars } from "./bars.js" */
/** @import { Parts } from "./parts.js" */
/** @import { Arrays, Header } from "./types.js" */

/** A head of the stage; `number` is its place among all. @typedef {{number: number, name: string, weight: number}} Look */
/**
 * `forbidden` is the number of the head whose look is off; `shownAt` is when the demonstration forbade it, null if a visitor
 * did. `pills` and `squares` are its switches.
 * @typedef {{host: Host, top: HTMLElement, parts: Parts, bars: Bars, header: Header | null, arrays: Arrays | null,
 *   shown: Look[], pills: HTMLButtonElement[], squares: HTMLButtonElement[], tokens: HTMLElement[],
 *   forbidden: number | null, shownAt: number | null, stopShow: () => void}} State
 */

const STRONG = 0.5;
const WORTH_A_SWING = 0.3; // what a weaker look leaves behind hardly changes the row
const MOST_PILLS = 3;
const NARROW_PX = 760;
const [FIRST_APEX, NEXT_APEX] = [24, 54];
const MANY_HEADS = 32;
const SHOW_AFTER_MS = 5000;
const HANDS = ["pointermove", "pointerdown", "keydown", "wheel", "focusin"]; // who does something is shown nothing
const SAME_WISH_MS = 1000; // who clicks on what has just been shown has not seen it yet
const LINE_PX = 10; // words whose tops are further apart stand in different lines
const ROOM_PX = 72; // between two lines of a phone, for the looks
const FONTS = [20, 18, 16]; // the largest that leaves the sentence in one line
const GROW = { duration: 600, easing: "ease-out", fill: /** @type {FillMode} */ ("backwards") };

/** @returns {Mounted} */
export default function stage(/** @type {Host} */ host) {
  const top = el("section", { class: "av stage" });
  const parts = makeParts(host, (square, by) => moveFocus(state, square, by));
  const bars = makeBars(parts.bars);
  /** @type {State} */
  const state = {
    ...{ host, top, parts, bars, header: null, arrays: null, shown: [], pills: [], squares: [], tokens: [] },
    ...{ forbidden: null, shownAt: null, stopShow() {} },
  };
  top.append(...parts.nodes);
  host.root.append(top);
  const stop = watchSize(top, () => draw(state, false));
  return {
    refresh(data) {
      /** @type {{header: Header, arrays: Arrays}} */
      const next = parse(data);
      if (fillIn(state, next)) return;
      const isNew = build(state, next);
      draw(state, false);
      if (isNew) void open(state);
    },
    destroy() {
      stop();
      state.stopShow();
      bars.stop();
      top.remove();
    },
  };
}

/** Puts more of the cuts on a stage that waited for them, and leaves all else; false if it is another stage. */
function fillIn(
  /** @type {State} */ state,
  /** @type {{header: Header, arrays: Arrays}} */ { header, arrays },
) {
  const { header: before, arrays: known, shown, squares } = state;
  if (!before || !known || before.text !== header.text || !isWaiting(known)) return false;
  const looks = looksOf(header, arrays);
  const isSame =
    looks.length === shown.length && looks.every(({ number }, at) => number === shown[at].number);
  if (
    keyOf(before) !== keyOf(header) ||
    before.key !== header.key ||
    before.query !== header.query ||
    !isSame
  )
    return false;
  Object.assign(state, { header, arrays });
  state.bars.write(header, arrays);
  state.bars.show(forbiddenNow(state), false);
  squares.forEach((square, number) => fillSquare(state, square, number));
  state.pills.forEach((pill, at) => (pill.disabled = !isCut(header, arrays, shown[at].number)));
  if (forbiddenNow(state) !== null) draw(state, false);
  return true;
}

/** True as long as some looks are not cut yet. */
const isWaiting = (/** @type {Arrays} */ { moved }) => moved.data.some(Number.isNaN);

/** True for a look that may be forbidden: there is a guess, it is cut and, where it is compared with all others, so are they. */
const isCut = (
  /** @type {Header} */ { kind, guesses },
  /** @type {Arrays} */ arrays,
  /** @type {number} */ number,
) => guesses && !Number.isNaN(arrays.moved.data[number]) && (kind === "meaning" || !isWaiting(arrays));

/** The look that is off, once it is known what is left without it. */
function forbiddenNow(/** @type {State} */ { header, arrays, forbidden }) {
  return header && arrays && forbidden !== null && isCut(header, arrays, forbidden) ? forbidden : null;
}

/** Puts new data on the stage; true if it is another sentence. */
function build(
  /** @type {State} */ state,
  /** @type {{header: Header, arrays: Arrays}} */ { header, arrays },
) {
  state.stopShow();
  const isNew = state.header?.text !== header.text;
  const isSameLook = header.is_typed && state.header && keyOf(state.header) === keyOf(header);
  Object.assign(state, { header, arrays });
  if (isNew && !isSameLook) {
    state.forbidden = forbiddenIn(state.host.address, header);
    state.shownAt = null;
  }
  const { parts } = state;
  state.shown = looksOf(header, arrays);
  parts.write(header);
  state.tokens = parts.writeTokens(header);
  state.bars.write(header, arrays);
  state.pills = state.shown.map((look) => makePill(state, look));
  parts.pills.replaceChildren(...state.pills);
  state.squares = makeSquares(state);
  setData(state.top, { scene: header.scene, kind: header.kind, guesses: header.guesses ? "1" : null });
  return isNew && !header.is_typed;
}

/** The number of the head whose look the address forbids; null for none, and where it names another cell. */
function forbiddenIn(/** @type {Host["address"]} */ address, /** @type {Header} */ header) {
  const { query, key, n_layers: layers, n_heads: heads } = header;
  const { layer, head } = readSelection(address);
  if (layer === null || head === null || address.get("forbid") !== `${query}.${key}`) return null;
  return layer < layers && head < heads ? layer * heads + head : null;
}

/** The word that is looked at. */
const keyOf = (/** @type {Header} */ { tokens, key }) => tokens[key];

/** The looks that stand as arcs: the strong ones, and the one that moves the answer most, once all are cut. */
function looksOf(/** @type {Header} */ header, /** @type {Arrays} */ { rows, moved }) {
  const n = rows.shape[1];
  const all = Array.from(moved.data, (_, number) => ({
    ...{ number, name: nameOf(header, number), weight: rows.data[number * n + header.key] },
  }));
  const sorted = [...all].sort((a, b) => b.weight - a.weight);
  const strong = sorted.filter(({ weight }, at) => weight >= STRONG || at === 0);
  const best = all.reduce((one, other) => (moved.data[other.number] > moved.data[one.number] ? other : one));
  const first = strong.slice(0, MOST_PILLS);
  if (header.kind === "next" && header.guesses && !moved.data.some(Number.isNaN) && !first.includes(best))
    first.splice(MOST_PILLS - 1, 1, best);
  return first.sort((a, b) => b.weight - a.weight);
}

function nameOf(/** @type {Header} */ { n_heads: nHeads }, /** @type {number} */ number) {
  return headName(Math.floor(number / nHeads), number % nHeads);
}

/** What the name and the number of a switch are. */
function explain(/** @type {Header} */ header, /** @type {Arrays} */ arrays, /** @type {number} */ number) {
  const [layer, head] = [Math.floor(number / header.n_heads), number % header.n_heads];
  return fill(header.strings.explain, {
    ...{ name: headName(layer, head), layer, head, key: tokenName(header, header.key) },
    weight: printedWeight(weightOf(header, arrays, number)),
  });
}

/** @returns {HTMLButtonElement} */
function makePill(/** @type {State} */ state, /** @type {Look} */ { number, name, weight }) {
  const pill = makeSwitch(state, number, "stage-pill");
  pill.append(el("b", {}, name), el("span", { class: "av-number" }, printedWeight(weight)));
  if (state.header && state.arrays) pill.title = explain(state.header, state.arrays, number);
  if (state.header?.guesses) pill.append(el("i", { class: "stage-knob", "aria-hidden": "true" }));
  return pill;
}

function makeSwitch(/** @type {State} */ state, /** @type {number} */ number, /** @type {string} */ name) {
  const { header, arrays } = state;
  return el("button", {
    ...{ type: "button", class: name, role: "switch", "aria-checked": "true", "data-head": number },
    disabled: !header || !arrays || !isCut(header, arrays, number),
    on: { click: () => toggle(state, number) },
  });
}

/** All heads as small pictures, a group for each layer, with two bars below each: how it looks, and what it moves. */
function makeSquares(/** @type {State} */ state) {
  const { header, arrays, parts, host } = state;
  if (!header || !arrays || !header.guesses) {
    parts.squares.replaceChildren();
    return [];
  }
  const { n_layers: layers, n_heads: heads } = header;
  const side = layers * heads > MANY_HEADS ? 30 : 52;
  const theme = host.theme();
  const atlas = makeAtlas(
    {
      ...{ array: arrays.weights, lut: sequential(theme.dark), levels: levelTable("u8", "sqrt") },
      mask: header.kind === "next" ? { visible: causal(arrays.weights.shape[2]), theme } : null,
    },
    side,
  );
  const groups = Array.from({ length: layers }, () => el("div", { class: "stage-layer" }));
  const squares = Array.from({ length: layers * heads }, (_, number) => {
    const [layer, head] = [Math.floor(number / heads), number % heads];
    const canvas = el("canvas", { "aria-hidden": "true" });
    const ctx = fitCanvas(canvas, side, side);
    ctx.imageSmoothingEnabled = false;
    stampHead(ctx, atlas, layer, head, { x: 0, y: 0, w: side, h: side });
    markDrawn(canvas);
    const node = makeSwitch(state, number, "stage-square");
    const name = layers * heads > MANY_HEADS && head > 0 ? `H${head}` : nameOf(header, number);
    const label = el("span", { class: "stage-square-name", "aria-hidden": "true" }, name);
    node.append(canvas, smallBar("looks", weightOf(header, arrays, number)), smallBar("moves", 0), label);
    fillSquare(state, node, number);
    node.tabIndex = number === 0 ? 0 : -1;
    groups[layer].append(node);
    return node;
  });
  parts.squares.replaceChildren(...groups);
  return squares;
}

/** What a head's look moves, or that it is not cut yet. */
function fillSquare(
  /** @type {State} */ { header, arrays },
  /** @type {HTMLButtonElement} */ node,
  /** @type {number} */ number,
) {
  if (!header || !arrays) return;
  const [look, move] = [weightOf(header, arrays, number), arrays.moved.data[number]];
  const isKnown = !Number.isNaN(move);
  const share = isKnown ? (header.kind === "next" ? move : onAxis(move)) : 0;
  const bar = node.querySelector(".moves > i");
  if (bar instanceof HTMLElement) bar.style.width = widthOfBar(share);
  const form = header.kind === "next" ? header.strings.square : header.strings.square_meaning;
  const name = fill(form, {
    ...{ head: nameOf(header, number), key: tokenName(header, header.key) },
    ...{ weight: printedWeight(look), moved: isKnown ? printedMove(header, move) : "…" },
  });
  node.setAttribute("aria-label", name);
  node.title = name;
  node.disabled = !isCut(header, arrays, number);
}

/** What a model that writes may see: each word itself and those before it. @returns {PackedArray} */
function causal(/** @type {number} */ n) {
  const data = Uint8Array.from({ length: n * n }, (_, at) => Number(at % n <= Math.floor(at / n)));
  return { data, shape: [1, n, n], dtype: "u8" };
}

const widthOfBar = (/** @type {number} */ share) => `${100 * Math.min(1, Math.max(0, share))}%`;

function smallBar(/** @type {string} */ kind, /** @type {number} */ share) {
  const fillNode = el("i", { style: { width: widthOfBar(share) } });
  return el("span", { class: `stage-small ${kind}` }, fillNode);
}

function weightOf(
  /** @type {Header} */ { key },
  /** @type {Arrays} */ { rows },
  /** @type {number} */ number,
) {
  return rows.data[number * rows.shape[1] + key];
}

/** Arrow keys go from square to square; Tab enters and leaves all of them at once. */
function moveFocus(/** @type {State} */ state, /** @type {Element} */ square, /** @type {number} */ by) {
  const { squares } = state;
  const at = squares.findIndex((one) => one === square);
  const next = squares[at + by];
  if (at < 0 || !next) return;
  squares[at].tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

/** Forbids a look, or allows it again; there is never more than one. */
function toggle(/** @type {State} */ state, /** @type {number} */ number) {
  const { forbidden, shownAt } = state;
  const isSameWish = shownAt !== null && performance.now() - shownAt < SAME_WISH_MS;
  state.stopShow();
  state.pills.forEach((pill) => pill.classList.remove("stage-beckons"));
  forbid(state, number, isSameWish || forbidden !== number);
}

/** Forbids a head's look or allows it, here, in the address and in the rooms that one goes on to. */
function forbid(/** @type {State} */ state, /** @type {number} */ number, /** @type {boolean} */ on) {
  const { header, host } = state;
  if (!header) return;
  state.forbidden = on ? number : null;
  state.shownAt = null;
  const { query, key, n_heads: heads } = header;
  const place = { layer: Math.floor(number / heads), head: number % heads, query, key };
  const named = Object.entries({ ...place, forbid: `${query}.${key}` });
  host.address.set(Object.fromEntries(named.map(([name, value]) => [name, on ? String(value) : null])));
  draw(state, true);
  host.trigger("ask", { ask: "forbid", on, ...place });
}

/** Shows the choice: switches, answer, sentence and arcs; `moves` is true right after a click. */
function draw(/** @type {State} */ state, /** @type {boolean} */ moves) {
  const { header, arrays, top, parts, bars, pills, squares } = state;
  const forbidden = forbiddenNow(state);
  if (!header || !arrays || top.clientWidth <= 0) return;
  const isMoving = moves && !wantsLessMotion();
  const { head, text, idle } = sayings(header, arrays, forbidden, state.shown);
  for (const node of [...pills, ...squares])
    node.setAttribute("aria-checked", String(Number(node.dataset.head) !== forbidden));
  pills.forEach((pill, at) => pill.setAttribute("aria-label", lookName(header, state.shown[at])));
  bars.show(forbidden, isMoving);
  const winner = forbidden === null ? header.winner : header.winners[forbidden];
  setText(parts.gap, winner);
  parts.gap.lang = languageOf(winner) ?? "";
  parts.gap.hidden = header.kind !== "next" || !header.guesses;
  const demonstration =
    forbidden === null || state.shownAt === null ? [] : [header.strings.demonstration, " "];
  parts.says.replaceChildren(...demonstration, ...text);
  const other = header.has_box ? elsewhere(header, state.host.address) : ""; // without it there are no rooms
  parts.notShown.replaceChildren(...quotingNodes(other));
  parts.elsewhere.hidden = !other;
  setText(parts.explains, forbidden === null ? "" : explain(header, arrays, forbidden));
  parts.instead.hidden = true;
  parts.before.hidden = forbidden === null || header.kind !== "next";
  parts.answers.hidden = !header.guesses && header.kind !== "next";
  setData(top, {
    forbidden: head,
    idle: idle ? "1" : null,
    narrow: top.clientWidth < NARROW_PX ? "1" : null,
  });
  fitSentence(state);
  drawArcs(state, isMoving);
}

/**
 * A sentence in one line has its looks above it. Where it does not fit beside the answer it stands over it; on a phone,
 * and where it is longer still, it has several lines. On a phone the looks then run in the room above the lower of their
 * two lines, so that none goes through words.
 */
function fitSentence(/** @type {State} */ state) {
  const { top, parts, tokens } = state;
  const isNarrow = top.clientWidth < NARROW_PX;
  const last = parts.gap.hidden ? tokens[tokens.length - 1] : parts.gap;
  const isOneLine = (/** @type {number} */ px) => {
    parts.words.style.fontSize = `${px}px`;
    return tokens[0].getBoundingClientRect().bottom > last.getBoundingClientRect().top;
  };
  setData(top, { stacked: null });
  parts.words.style.fontSize = "";
  makeRoom(state, isNarrow);
  if (isNarrow || FONTS.some(isOneLine)) return;
  setData(top, { stacked: "1" });
  if (!FONTS.some(isOneLine)) parts.words.style.fontSize = "";
}

/** The room above a line of a phone, where a look ends in it that begins in another line, or both stand below the first. */
function makeRoom(/** @type {State} */ { header, top, parts, tokens }, /** @type {boolean} */ isNarrow) {
  const words = [...parts.words.children].filter((node) => node instanceof HTMLElement);
  for (const word of words) word.style.marginTop = "";
  setData(top, { room: null });
  if (!isNarrow || !header) return;
  const topOf = (/** @type {Element} */ node) => node.getBoundingClientRect().top;
  const lower = Math.max(topOf(tokens[header.query]), topOf(tokens[header.key]));
  if (lower - topOf(tokens[0]) <= LINE_PX) return;
  const line = words.filter((word) => Math.abs(topOf(word) - lower) <= LINE_PX);
  for (const word of line) word.style.marginTop = `${ROOM_PX}px`;
  setData(top, { room: "1" });
}

/** Where a word stands on the sheet of the arcs. @returns {Place} */
function placeOf(/** @type {State} */ { tokens, parts }, /** @type {number} */ at) {
  const [word, sheet] = [tokens[at].getBoundingClientRect(), parts.sentence.getBoundingClientRect()];
  const [top, bottom] = [word.top - sheet.top, word.bottom - sheet.top];
  return { x: word.left - sheet.left + word.width / 2, top, bottom };
}

/** A look on a phone whose sentence has several lines: across them, or in the room above its line. */
function arcInRoom(/** @type {Place} */ from, /** @type {Place} */ to, /** @type {number} */ at, aside = 0) {
  if (Math.abs(from.top - to.top) > LINE_PX) return arcAcross(from, to, aside);
  return arcBetween(from, to, from.top - ROOM_PX + 12 + 16 * at, aside);
}

function drawArcs(/** @type {State} */ state, /** @type {boolean} */ isMoving) {
  const { header, parts, shown, pills, top } = state;
  const forbidden = forbiddenNow(state);
  if (!header) return;
  const [from, to] = [placeOf(state, header.query), placeOf(state, header.key)];
  const isNarrow = top.clientWidth < NARROW_PX;
  const highest = Math.min(from.top, to.top);
  setBand(state, from, to);
  const step = isNarrow ? (highest - 30) / Math.max(1, shown.length) : NEXT_APEX;
  const arcs = shown.flatMap(({ number, weight }, at) => {
    const apex = (isNarrow ? 14 : FIRST_APEX) + step * at;
    const aside = 6 * (at - (shown.length - 1) / 2);
    const arc = top.dataset.room ? arcInRoom(from, to, at, aside) : arcBetween(from, to, apex, aside);
    pills[at].style.left = isNarrow ? "" : `${arc.x}px`;
    pills[at].style.top = isNarrow ? "" : `${arc.y}px`;
    if (number !== forbidden) return [arcNode(arc, forbidden === null ? "looks" : "other", widthOf(weight))];
    const gone = arcNode(arc, "forbidden", 2);
    return isMoving ? [gone, falling(arcNode(arc, "falls", widthOf(weight)))] : [gone];
  });
  parts.arcs.replaceChildren(...arcs, ...swungArcs(state, from, isMoving));
  // behind words of a line an arc is a dotted line: a wide one would seem to end at the word it crosses
  const crossing = top.dataset.lines ? parts.arcs.querySelectorAll("path") : [];
  parts.through.replaceChildren(...[...crossing].map((path) => path.cloneNode()));
}

/** Where an arc goes behind the words of a line on its way to another one, it is a dotted line. */
function setBand(/** @type {State} */ state, /** @type {Place} */ one, /** @type {Place} */ other) {
  const { top, parts, tokens } = state;
  let [from, to] = [Math.min(one.top, other.top), Math.max(one.top, other.top)];
  if (top.dataset.room) {
    const between = tokens
      .map((_, at) => placeOf(state, at))
      .filter(({ top: y }) => y > from + LINE_PX && y < to - LINE_PX);
    from = Math.min(to, ...between.map(({ top: y }) => y));
    to = Math.max(from, ...between.map(({ bottom }) => bottom));
  }
  setData(top, { lines: to - from > LINE_PX ? "1" : null });
  parts.sentence.style.setProperty("--stage-band-from", `${from}px`);
  parts.sentence.style.setProperty("--stage-band-to", `${to}px`);
}

/** What was forbidden falls apart. */
function falling(/** @type {SVGPathElement} */ path) {
  const fall = { transform: "translateY(46px)", opacity: 0 };
  path.animate([{}, fall], { duration: 450, easing: "ease-in", fill: "forwards" });
  return path;
}

/** Where the head looks instead. @returns {Element[]} */
function swungArcs(/** @type {State} */ state, /** @type {Place} */ from, /** @type {boolean} */ isMoving) {
  const { header, arrays, parts, top } = state;
  const forbidden = forbiddenNow(state);
  if (!header || !arrays || forbidden === null) return [];
  if (weightOf(header, arrays, forbidden) < WORTH_A_SWING) return [];
  const n = arrays.rows.shape[1];
  const row = arrays.rows.data.subarray(forbidden * n, (forbidden + 1) * n);
  const isNarrow = top.clientWidth < NARROW_PX;
  const found = swung(row, header.query, header.key);
  parts.instead.hidden = !found.length;
  setText(parts.instead, fill(header.strings.instead, { head: nameOf(header, forbidden) }));
  return found.flatMap(({ at, weight }, rank) => {
    const to = placeOf(state, at);
    const rise = 24 + Math.abs(from.x - to.x) * (isNarrow ? 0.12 : 0.14);
    const arc = top.dataset.room
      ? arcInRoom(from, to, rank + 1, 2)
      : arcBetween(from, to, Math.max(14, Math.min(from.top, to.top) - rise), 2);
    const path = arcNode(arc, "swung", widthOf(weight));
    if (isMoving)
      path.animate(
        [
          { strokeDasharray: "1", strokeDashoffset: 1 },
          { strokeDasharray: "1", strokeDashoffset: 0 },
        ],
        {
          ...GROW,
          ...{ duration: 450, delay: 120 },
        },
      );
    const number = printedWeight(weight);
    if (isNarrow) return rank ? [path] : [path, parts.label(number, arc.x, arc.y + 4)];
    return [path, parts.label(number, to.x, to.top - 26)];
  });
}

/** The arcs grow one after the other. The font first: with it words get their places. */
async function open(/** @type {State} */ state) {
  const { parts, pills } = state;
  if (wantsLessMotion() || !pills.length) return;
  parts.arcs.style.visibility = parts.pills.style.visibility = "hidden";
  await Promise.race([
    document.fonts.load("600 20px Inter").catch(() => []),
    new Promise((end) => setTimeout(end, 800)),
  ]);
  parts.arcs.style.visibility = parts.pills.style.visibility = "";
  draw(state, false);
  [...parts.arcs.querySelectorAll("path")].forEach((path, at) =>
    path.animate(
      [
        { strokeDasharray: "1", strokeDashoffset: 1 },
        { strokeDasharray: "1", strokeDashoffset: 0 },
      ],
      {
        ...GROW,
        delay: 250 * at,
      },
    ),
  );
  pills.forEach((pill, at) =>
    pill.animate([{ opacity: 0 }, { opacity: 1 }], {
      duration: 250,
      delay: 600 + 250 * at,
      fill: "backwards",
    }),
  );
  if (state.forbidden !== null || !parts.elsewhere.hidden) return;
  if (state.header?.guesses) pills[0].classList.add("stage-beckons");
  if (state.header?.scene === "book") showOnce(state);
}

/**
 * Whoever only watches sees what a switch does: the look that matters most is forbidden, and stays so. Nobody chose it, so
 * neither the address nor other rooms are told.
 */
function showOnce(/** @type {State} */ state) {
  const { arrays } = state;
  if (!arrays || isWaiting(arrays)) return;
  const moved = Array.from(arrays.moved.data);
  const number = moved.indexOf(Math.max(...moved));
  const timer = setTimeout(() => {
    state.stopShow();
    state.forbidden = number;
    state.shownAt = performance.now();
    draw(state, true);
    state.pills[state.shown.findIndex((look) => look.number === number)]?.classList.add("stage-beckons");
  }, SHOW_AFTER_MS);
  const stop = (/** @type {[event?: Event]} */ ...[event]) => {
    if (event && isStill(event)) return;
    clearTimeout(timer);
    for (const name of HANDS) document.removeEventListener(name, stop, true);
    state.stopShow = () => {};
  };
  for (const name of HANDS) document.addEventListener(name, stop, true);
  state.stopShow = stop;
}

/** True where the page moved below a pointer that did not: browsers tell of that, too. */
const isStill = (/** @type {Event} */ event) =>
  event instanceof PointerEvent && event.type === "pointermove" && !event.movementX && !event.movementY;
