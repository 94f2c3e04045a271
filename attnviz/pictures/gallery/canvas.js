// @ts-check
// The gallery of the start page: four buttons, each with a canvas that shows its last moment. It plays under the pointer
// and the focus, and once when it is scrolled into sight. Where four stand in a line, what they say is in their names and
// tips alone.

import { parse } from "../shared/buffer.js";
import { makeClock, wantsLessMotion } from "../shared/clock.js";
import { sequential } from "../shared/colors.js";
import { el, fitCanvas, markDrawn, quotingNodes, setData, setText, watchSize } from "../shared/dom.js";
import { fill, fmtFixed, fmtPercent } from "../shared/fmt.js";
import { PAINTS } from "./paint.js";

/** @import { Clock } from "../shared/clock.js" */
/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Arrays, Header } from "./types.js" */
/** @import { Miniature } from "./paint.js" */

/**
 * `wasSeen` is null until the browser says whether it is in sight.
 * @typedef {{name: Miniature, node: HTMLButtonElement, canvas: HTMLCanvasElement, title: HTMLElement, about: HTMLElement, says: HTMLElement,
 *   clock: Clock, wasSeen: boolean | null}} Card
 */
/** @typedef {{host: Host, top: HTMLElement, cards: Card[], header: Header | null, arrays: Arrays | null}} State */

/** @type {readonly Miniature[]} */
const NAMES = ["translator", "picture", "story", "birth"];
const LENGTH_MS = 4500;
const HEIGHT = 168;
const SEEN = 0.4; // of a card, from which on it plays
const DECIMALS = 2;

/** @returns {Mounted} */
export default function gallery(/** @type {Host} */ host) {
  const line = el("div", { class: "gallery-cards" });
  const top = el("section", { class: "av gallery" }, line);
  /** @type {State} */
  const state = { host, top, cards: [], header: null, arrays: null };
  state.cards = NAMES.map((name) => makeCard(state, name));
  line.append(...state.cards.map(({ node }) => node));
  host.root.append(top);
  const sight = new IntersectionObserver((entries) => look(state, entries), { threshold: SEEN });
  for (const { node } of state.cards) sight.observe(node);
  const stop = watchSize(top, () => state.cards.forEach((card) => paint(state, card)));
  return {
    refresh(data) {
      Object.assign(state, parse(data));
      write(state);
    },
    destroy() {
      stop();
      sight.disconnect();
      for (const { clock } of state.cards) clock.pause();
      top.remove();
    },
  };
}

/** @returns {Card} */
function makeCard(/** @type {State} */ state, /** @type {Miniature} */ name) {
  const canvas = el("canvas", { "aria-hidden": "true" });
  const title = el("b", { class: "gallery-title" });
  const about = el("span", { class: "av-caption" });
  const says = el("span", { class: "av-caption gallery-says" });
  const node = el(
    "button",
    {
      ...{ type: "button", class: "gallery-card", dataset: { name } },
      on: {
        click: () => state.host.trigger("miniature", name),
        pointerenter: () => play(card),
        focus: () => play(card),
      },
    },
    title,
    about,
    canvas,
    says,
  );
  const clock = makeClock({
    length: LENGTH_MS,
    onTime: () => paint(state, card),
    onState: (isRunning) => setData(node, { running: isRunning ? "1" : null }),
  });
  /** @type {Card} */
  const card = { name, node, canvas, title, about, says, clock, wasSeen: null };
  return card;
}

function play(/** @type {Card} */ { clock }) {
  if (!wantsLessMotion()) clock.play();
}

/** A card that was out of sight at first plays once when it comes into sight. */
function look(/** @type {State} */ { cards }, /** @type {IntersectionObserverEntry[]} */ entries) {
  for (const { target, isIntersecting } of entries) {
    const card = cards.find(({ node }) => node === target);
    if (!card) continue;
    if (isIntersecting && card.wasSeen === false) play(card);
    card.wasSeen ||= isIntersecting;
  }
}

function write(/** @type {State} */ state) {
  const { header, top, cards } = state;
  if (!header) return;
  top.setAttribute("aria-label", header.strings.label);
  for (const card of cards) {
    const title = header.strings[`title_${card.name}`];
    const about = header.strings[`about_${card.name}`];
    const says = sentence(state, card.name);
    setText(card.title, title);
    setText(card.about, about);
    if (card.says.textContent !== says) card.says.replaceChildren(...quotingNodes(says));
    card.node.title = says;
    card.node.setAttribute("aria-label", `${title}. ${about} ${says}`);
    paint(state, card);
  }
}

function paint(/** @type {State} */ state, /** @type {Card} */ card) {
  const { host, header, arrays } = state;
  const width = Math.floor(card.canvas.parentElement?.clientWidth ?? 0) - 2 * paddingOf(card.node);
  if (!header || !arrays || width <= 0) return;
  const theme = host.theme();
  const ctx = fitCanvas(card.canvas, width, HEIGHT);
  const isAtRest = !card.clock.isRunning() && (card.clock.time() === 0 || wantsLessMotion());
  const part = isAtRest ? 1 : card.clock.time() / LENGTH_MS;
  PAINTS[card.name](ctx, { header, arrays, theme, lut: sequential(theme.dark), width, height: HEIGHT }, part);
  markDrawn(card.canvas);
}

function paddingOf(/** @type {HTMLElement} */ node) {
  return parseFloat(getComputedStyle(node).paddingInlineStart);
}

/** The numbers of a miniature in words, each beside its control. */
function sentence(/** @type {State} */ { header, arrays }, /** @type {Miniature} */ name) {
  if (!header || !arrays) return "";
  const { strings, translator, picture, story, birth } = header;
  const numbers = {
    translator: () => {
      const { head, source } = translator;
      return { head, ...beside(arrays["translator.weights"].data, source.length) };
    },
    picture: () => {
      const { answer, probability, head } = picture;
      const { data } = arrays["picture.weights"];
      return { answer, percent: fmtPercent(probability), head, ...beside(data, data.length) };
    },
    story: () => ({ count: story.tokens.length - story.n_given }),
    birth: () => {
      const { steps, chance, head } = birth;
      const score = arrays["birth.scores"].data[steps.length - 1];
      const step = steps[steps.length - 1];
      return { head, step, score: fmtFixed(score, DECIMALS), chance: fmtFixed(chance, DECIMALS) };
    },
  };
  return fill(strings[`says_${name}`], numbers[name]());
}

/** The largest weight, beside an even share of `count` keys. */
function beside(/** @type {Float32Array} */ weights, /** @type {number} */ count) {
  return { weight: fmtFixed(Math.max(...weights), DECIMALS), even: fmtFixed(1 / count, DECIMALS) };
}
