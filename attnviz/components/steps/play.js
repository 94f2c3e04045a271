// @ts-check
// Play: walks through the panels in the order of the computation, one stage after the other, with its formula.
// In: the state (header, panels). Out: the bar, the mark on the stage's panel and on its sum, a sentence for the live
// region. Visitors who asked for less motion step by hand: the button then leads to the next stage and no clock runs.

import { el, setData, setText } from "../shared/dom.js";
import { fill } from "../shared/fmt.js";
import { subscripted } from "../shared/panel.js";

/** @import { State } from "./state.js" */
/** @import { PanelInfo } from "./types.js" */

/** @typedef {ReturnType<typeof makePlayBar>} PlayBar */

const STAGE_MS = 2200;
// keys that belong to the element they are pressed on
const OWN_KEYS = "button, input, select, textarea, a, [role=radio]";

/** The bar: play or pause, stop, and which stage it is. */
export function makePlayBar(/** @type {() => State} */ now) {
  const press = () => pressPlay(now());
  const button = el("button", { type: "button", class: "av-button play", on: { click: press } });
  const end = () => {
    endPlay(now());
    button.focus();
  };
  const stop = el("button", { type: "button", class: "av-button play-stop", on: { click: end } });
  const where = el("p", { class: "play-where" });
  const node = el("div", { class: "play-bar", role: "group" }, button, stop, where);
  return { node, button, stop, where };
}

/** Space anywhere in the strip, where nothing else wants the key. Returns true if it was taken. */
export function playKey(/** @type {State} */ state, /** @type {KeyboardEvent} */ event) {
  const target = event.composedPath()[0];
  const hasOwnKeys = target instanceof Element && target.closest(OWN_KEYS) !== null;
  const isPlain = !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey;
  if (event.key !== " " || !isPlain || hasOwnKeys) return false;
  event.preventDefault();
  pressPlay(state);
  return true;
}

/** Takes the clock away; nothing runs after. */
export function haltPlay(/** @type {State} */ { playing }) {
  clearTimeout(playing.timer);
  playing.timer = 0;
}

/** Back to where no stage is spoken of. */
export function endPlay(/** @type {State} */ state) {
  haltPlay(state);
  Object.assign(state.playing, { at: null, hasEnded: false });
  showPlay(state);
}

/** The button: starts, pauses and goes on; one stage further where motion is not wanted. */
function pressPlay(/** @type {State} */ state) {
  const { playing, panels } = state;
  if (playing.timer) {
    haltPlay(state);
    showPlay(state);
    return;
  }
  const isByHand = stepsByHand();
  const { at } = playing;
  const isOver = at === panels.length - 1 && (playing.hasEnded || isByHand);
  goTo(state, at === null || isOver ? 0 : isByHand ? at + 1 : at);
  if (!isByHand) run(state);
  showPlay(state);
}

/** True if the visitor asked the system for less motion. */
function stepsByHand() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

function run(/** @type {State} */ state) {
  const { playing } = state;
  clearTimeout(playing.timer);
  playing.hasEnded = false;
  playing.timer = setTimeout(() => {
    playing.timer = 0;
    if (playing.at !== null && playing.at < state.panels.length - 1) {
      goTo(state, playing.at + 1);
      run(state);
    } else playing.hasEnded = true;
    showPlay(state);
  }, STAGE_MS);
}

function goTo(/** @type {State} */ state, /** @type {number} */ at) {
  state.playing.at = at;
  const { info, section } = state.panels[at];
  setText(state.parts.status, sentenceOf(state, info, at));
  section.scrollIntoView({ block: "nearest", behavior: stepsByHand() ? "auto" : "smooth" });
}

function sentenceOf(
  /** @type {State} */ { header, panels },
  /** @type {PanelInfo} */ { title, formula },
  /** @type {number} */ at,
) {
  return fill(header.strings.play_at, { at: at + 1, count: panels.length, title, formula });
}

/** Writes bar and marks anew: after a stage, a press, or new data. */
export function showPlay(/** @type {State} */ state) {
  const { playing, header, panels, parts, top } = state;
  const { strings } = header;
  const { play, box } = parts;
  if (playing.at !== null && playing.at >= panels.length) endPlay(state);
  const { at, timer } = playing;
  const current = at === null ? null : panels[at];
  setText(play.button, timer ? strings.pause : current && stepsByHand() ? strings.play_next : strings.play);
  setText(play.stop, strings.play_stop);
  play.stop.hidden = !current;
  play.node.setAttribute("aria-label", strings.play_label);
  const sentence = at === null || !current ? null : sentenceOf(state, current.info, at);
  play.where.replaceChildren(...(sentence === null ? [strings.play_hint] : subscripted(sentence)));
  play.where.classList.toggle("hint", !current);
  for (const panel of panels) panel.section.classList.toggle("playing", panel === current);
  const stage = current?.info.stage ?? null;
  for (const card of box.querySelectorAll("[data-sum]"))
    card.classList.toggle("playing", card.getAttribute("data-sum") === stage);
  setData(top, { playing: stage, clock: timer ? "1" : null });
}
