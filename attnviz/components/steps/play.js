// @ts-check
// Play: walks through the panels in the order of the computation, one stage after the other, with its formula.
// In: the view (header, panels). Out: the bar, the mark on the stage's panel and on its sum, a sentence for the live
// region. Visitors who asked for less motion step by hand: the button then leads to the next stage and no clock runs.

import { el, setData, setText } from "../shared/dom.js";
import { fill } from "../shared/fmt.js";
import { subscripted } from "../shared/panel.js";

const STAGE_MS = 2200;
// keys that belong to the element they are pressed on
const OWN_KEYS = "button, input, select, textarea, a, [role=radio]";

/** @typedef {{node: any, button: any, stop: any, where: any, at: number | null, timer: number, ended: boolean}} Play */

/** The bar: play or pause, stop, and which stage it is. @returns {Play} */
export function makePlay(/** @type {any} */ view) {
  const play = /** @type {any} */ ({ at: null, timer: 0, ended: false });
  play.button = el("button", { type: "button", class: "av-button play", on: { click: () => press(view) } });
  play.stop = el("button", {
    type: "button",
    class: "av-button play-stop",
    on: {
      click: () => {
        endPlay(view);
        play.button.focus();
      },
    },
  });
  play.where = el("p", { class: "play-where" });
  play.node = el("div", { class: "play-bar", role: "group" }, play.button, play.stop, play.where);
  return play;
}

/** Space anywhere in the strip, where nothing else wants the key. Returns whether it was taken. */
export function playKey(/** @type {any} */ view, /** @type {KeyboardEvent} */ event) {
  const target = /** @type {any} */ (event.composedPath()[0]);
  if (
    event.key !== " " ||
    event.shiftKey ||
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    target.closest?.(OWN_KEYS)
  )
    return false;
  event.preventDefault();
  press(view);
  return true;
}

/** Takes the clock away; nothing runs after. */
export function haltPlay(/** @type {any} */ view) {
  clearTimeout(view.play.timer);
  view.play.timer = 0;
}

/** Back to where no stage is spoken of. */
export function endPlay(/** @type {any} */ view) {
  haltPlay(view);
  Object.assign(view.play, { at: null, ended: false });
  showPlay(view);
}

/** The button: starts, pauses and goes on; one stage further where motion is not wanted. */
function press(/** @type {any} */ view) {
  const { play } = view;
  if (play.timer) {
    haltPlay(view);
    return showPlay(view);
  }
  const last = play.at === view.panels.length - 1;
  goTo(
    view,
    play.at === null || (last && (play.ended || stepsByHand())) ? 0 : stepsByHand() ? play.at + 1 : play.at,
  );
  if (!stepsByHand()) run(view);
  return showPlay(view);
}

/** Whether the visitor asked the system for less motion. */
function stepsByHand() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

function run(/** @type {any} */ view) {
  const { play } = view;
  clearTimeout(play.timer);
  play.ended = false;
  play.timer = setTimeout(() => {
    play.timer = 0;
    if (play.at < view.panels.length - 1) {
      goTo(view, play.at + 1);
      run(view);
    } else play.ended = true;
    showPlay(view);
  }, STAGE_MS);
}

function goTo(/** @type {any} */ view, /** @type {number} */ at) {
  view.play.at = at;
  const { info, section } = view.panels[at];
  setText(view.nodes.status, sentenceOf(view, info, at));
  section.scrollIntoView({ block: "nearest", behavior: stepsByHand() ? "auto" : "smooth" });
}

function sentenceOf(/** @type {any} */ view, /** @type {any} */ info, /** @type {number} */ at) {
  return fill(view.header.strings.play_at, {
    at: at + 1,
    count: view.panels.length,
    title: info.title,
    formula: info.formula,
  });
}

/** Writes bar and marks anew: after a stage, a press, or new data. */
export function showPlay(/** @type {any} */ view) {
  const { play, header, panels } = view;
  const { strings } = header;
  if (play.at !== null && play.at >= panels.length) endPlay(view);
  const current = play.at === null ? null : panels[play.at];
  setText(
    play.button,
    play.timer ? strings.pause : current && stepsByHand() ? strings.play_next : strings.play,
  );
  setText(play.stop, strings.play_stop);
  play.stop.hidden = !current;
  play.node.setAttribute("aria-label", strings.play_label);
  play.where.replaceChildren(
    ...(current ? subscripted(sentenceOf(view, current.info, play.at)) : [strings.play_hint]),
  );
  play.where.classList.toggle("hint", !current);
  for (const panel of panels) panel.section.classList.toggle("playing", panel === current);
  for (const card of view.nodes.box.querySelectorAll("[data-sum]"))
    card.classList.toggle("playing", card.dataset.sum === current?.info.stage);
  setData(view.nodes.top, { playing: current?.info.stage ?? null, clock: play.timer ? "1" : null });
}
