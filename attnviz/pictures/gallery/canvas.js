// @ts-check
// The gallery of the start page: four buttons, each with a canvas that plays once when it comes into sight, and again
// under the pointer or the focus. While one in sight has no numbers, or a training goes on, the server is asked again.

import { parse } from "../shared/buffer.js";
import { makeClock, wantsLessMotion } from "../shared/clock.js";
import { sequential } from "../shared/colors.js";
import { el, fitCanvas, markDrawn, setData, setText, watchSize } from "../shared/dom.js";
import { fill, fmtFixed, fmtPercent } from "../shared/fmt.js";
import { PAINTS } from "./paint.js";

/** @import { Clock } from "../shared/clock.js" */
/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Arrays, Header } from "./types.js" */
/** @import { Miniature } from "./paint.js" */

/**
 * @typedef {{name: Miniature, node: HTMLButtonElement, canvas: HTMLCanvasElement, title: HTMLElement, text: HTMLElement,
 *   says: HTMLElement, clock: Clock, inSight: boolean, played: boolean}} Card
 */
/**
 * @typedef {{host: Host, top: HTMLElement, cards: Card[], header: Header | null, arrays: Arrays | null, asked: number,
 *   timer: number}} State
 */

/** @type {readonly Miniature[]} */
const NAMES = ["translator", "picture", "story", "birth"];
const LENGTH_MS = 4500;
const HEIGHT = 168;
const FIRST_ASK_MS = 600; // not while the page above still grows, nor for somebody who scrolls by
const ASK_AGAIN_MS = 1000; // a training that goes on
const SEEN = 0.4; // of a card, from which on it plays
const DECIMALS = 2;

/** @returns {Mounted} */
export default function gallery(/** @type {Host} */ host) {
  const line = el("div", { class: "gallery-cards" });
  const top = el("section", { class: "av gallery" }, line);
  /** @type {State} */
  const state = { host, top, cards: [], header: null, arrays: null, asked: 0, timer: 0 };
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
      ask(state);
    },
    destroy() {
      stop();
      sight.disconnect();
      clearTimeout(state.timer);
      for (const { clock } of state.cards) clock.pause();
      top.remove();
    },
  };
}

/** @returns {Card} */
function makeCard(/** @type {State} */ state, /** @type {Miniature} */ name) {
  const canvas = el("canvas", { "aria-hidden": "true" });
  const [title, text] = [el("b", { class: "gallery-title" }), el("span", { class: "gallery-text" })];
  const says = el("span", { class: "av-caption gallery-says" });
  const play = () => void (isThere(state, name) && !wantsLessMotion() && card.clock.play());
  const node = el(
    "button",
    {
      type: "button",
      class: "gallery-card",
      dataset: { name },
      on: {
        click: () => state.host.trigger("miniature", name),
        pointerenter: play,
        focus: play,
      },
    },
    title,
    canvas,
    says,
    text,
  );
  const clock = makeClock({
    length: LENGTH_MS,
    onTime: () => paint(state, card),
    onState: (isRunning) => setData(node, { running: isRunning ? "1" : null }),
  });
  /** @type {Card} */
  const card = { name, node, canvas, title, text, says, clock, inSight: false, played: false };
  return card;
}

/** Cards came into sight or left it. */
function look(/** @type {State} */ state, /** @type {IntersectionObserverEntry[]} */ entries) {
  for (const { target, isIntersecting } of entries) {
    const card = state.cards.find(({ node }) => node === target);
    if (card) card.inSight = isIntersecting;
    if (card && isIntersecting) show(state, card);
  }
  ask(state);
}

/** Asks for what is in sight and not there: each answer brings one more miniature, the same data again bring no answer. */
function ask(/** @type {State} */ state) {
  const { header, cards, host } = state;
  clearTimeout(state.timer);
  if (!header || !cards.some(({ inSight }) => inSight)) return;
  const isTraining = header.birth !== null && !header.birth.is_over;
  const missing = NAMES.filter((name) => header[name] === null);
  if (!missing.length && !isTraining) return;
  const isBirthAlone = isTraining || (missing.length === 1 && missing[0] === "birth");
  const trigger = () => {
    host.trigger("look", ++state.asked);
    state.timer = setTimeout(trigger, ASK_AGAIN_MS);
  };
  const later = isBirthAlone && state.asked >= NAMES.length ? ASK_AGAIN_MS : 0;
  state.timer = setTimeout(trigger, state.asked === 0 ? FIRST_ASK_MS : later);
}

function isThere(/** @type {State} */ { header }, /** @type {Miniature} */ name) {
  return header !== null && header[name] !== null;
}

function write(/** @type {State} */ state) {
  const { header, top, cards } = state;
  if (!header) return;
  top.setAttribute("aria-label", header.strings.label);
  for (const card of cards) {
    const { name, node } = card;
    setText(card.title, header.strings[`title_${name}`]);
    setText(card.text, header.strings[`text_${name}`]);
    setText(card.says, sentence(state, name));
    setData(node, { there: isThere(state, name) ? "1" : null });
    show(state, card);
  }
}

/** Plays a miniature that is in sight for the first time; of a training that goes on, the latest step. */
function show(/** @type {State} */ state, /** @type {Card} */ card) {
  const { header } = state;
  if (!header || !isThere(state, card.name)) return paint(state, card);
  const isTraining = card.name === "birth" && header.birth !== null && !header.birth.is_over;
  if (card.inSight && !card.played && !isTraining && !wantsLessMotion()) {
    card.played = true;
    card.clock.play();
  } else paint(state, card);
}

function paint(/** @type {State} */ state, /** @type {Card} */ card) {
  const { host, header, arrays } = state;
  const width = Math.floor(card.canvas.parentElement?.clientWidth ?? 0) - 2 * paddingOf(card.node);
  if (!header || !arrays || width <= 0) return;
  const theme = host.theme();
  const ctx = fitCanvas(card.canvas, width, HEIGHT);
  if (!isThere(state, card.name)) return;
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
  const template = strings[`says_${name}`];
  if (name === "translator" && translator) {
    const even = fmtFixed(1 / translator.source.length, DECIMALS);
    return fill(template, {
      head: translator.head,
      weight: largest(arrays["translator.weights"].data),
      even,
    });
  }
  if (name === "picture" && picture) {
    const { answer, probability, head } = picture;
    const even = fmtFixed(1 / arrays["picture.weights"].data.length, DECIMALS);
    const weight = largest(arrays["picture.weights"].data);
    return fill(template, { answer, percent: fmtPercent(probability), head, weight, even });
  }
  if (name === "story" && story) return fill(template, { count: story.tokens.length - story.n_given });
  if (name === "birth" && birth) {
    const { steps, n_steps: nSteps, chance, head } = birth;
    const score = fmtFixed(arrays["birth.scores"].data[steps.length - 1], DECIMALS);
    const step = steps[steps.length - 1];
    return fill(template, { head, step, steps: nSteps, score, chance: fmtFixed(chance, DECIMALS) });
  }
  return strings.waits;
}

function largest(/** @type {Float32Array} */ weights) {
  return fmtFixed(Math.max(...weights), DECIMALS);
}
