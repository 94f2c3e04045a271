// @ts-check
// The bar that moves through what a model wrote: to the start, back, play or pause, forward, to the end, a slider, speed.
// It holds the clock and nothing else; what a step means is the caller's. Icons are shapes in CSS, which need no font.

import { segmented } from "../shared/controls.js";
import { el, elementAt, setData, setText } from "../shared/dom.js";
import { fill } from "../shared/fmt.js";

/** @import { Strings } from "./types.js" */

/** @typedef {"slow" | "normal" | "fast"} Pace */
/** @typedef {"to_start" | "step_back" | "play" | "step_forward" | "to_end"} IconName */
/**
 * `step` of `total` tokens are shown; `timer` is not 0 while the clock runs; `go` shows another step.
 * @typedef {{strings: Strings, total: number, step: number, timer: number, pace: Pace,
 *   go: (step: number) => void, node: HTMLElement, play: HTMLElement, back: HTMLElement[], forward: HTMLElement[],
 *   slider: HTMLInputElement, count: HTMLElement}} Player
 */

/** Milliseconds from one token to the next. @type {Record<Pace, number>} */
const PACE_MS = { slow: 1400, normal: 650, fast: 220 };
const PACES = /** @type {const} */ (["slow", "normal", "fast"]);

/**
 * @param {Strings} strings
 * @param {number} total how many tokens were written
 * @param {(step: number) => void} go shows the text with so many written tokens
 * @returns {Player}
 */
export function makePlayer(strings, total, go) {
  const button = (/** @type {IconName} */ name, /** @type {() => void} */ act) =>
    iconButton(strings, name, act);
  const play = button("play", () => (player.timer ? pausePlayer(player) : startPlayer(player)));
  const back = [
    button("to_start", () => movePlayer(player, 0)),
    button("step_back", () => movePlayer(player, player.step - 1)),
  ];
  const forward = [
    button("step_forward", () => movePlayer(player, player.step + 1)),
    button("to_end", () => movePlayer(player, total)),
  ];
  const slider = el("input", {
    type: "range",
    class: "av-slider",
    min: 0,
    max: total,
    step: 1,
    "aria-label": strings.slider,
    on: { input: () => movePlayer(player, Number(slider.value)) },
  });
  const count = el("span", { class: "av-number av-play-count" });
  const speed = segmented({
    label: strings.speed,
    value: /** @type {Pace} */ ("normal"),
    options: PACES.map((value) => ({ value, label: strings[`speed_${value}`] })),
    onChange: (value) => void (player.pace = value),
  });
  const buttons = el("div", { class: "av-play-buttons" }, ...back, play, ...forward);
  const props = { class: "av-player", role: "group", "aria-label": strings.player };
  const node = el("div", props, buttons, slider, count, speed.node);
  /** @type {Player} */
  const player = {
    strings,
    total,
    step: total,
    timer: 0,
    pace: "normal",
    go,
    node,
    play,
    back,
    forward,
    slider,
    count,
  };
  return player;
}

/**
 * @param {Strings} strings
 * @param {IconName} name
 * @param {() => void} act
 */
function iconButton(strings, name, act) {
  const label = strings[name];
  const props = {
    class: "av-button av-play-button",
    type: "button",
    "aria-label": label,
    title: label,
    dataset: { act: name },
    on: { click: act },
  };
  return el("button", props, el("span", { class: "av-icon", "aria-hidden": "true" }));
}

/** A visitor's own step: it stops the clock. */
function movePlayer(/** @type {Player} */ player, /** @type {number} */ step) {
  pausePlayer(player);
  player.go(Math.max(0, Math.min(player.total, step)));
}

/** Starts the clock; from the beginning where all is written. */
function startPlayer(/** @type {Player} */ player) {
  clearTimeout(player.timer);
  const tick = () => {
    player.timer = setTimeout(tick, PACE_MS[player.pace]);
    player.go(player.step + 1);
    if (player.step >= player.total) pausePlayer(player);
  };
  player.timer = setTimeout(tick, PACE_MS[player.pace]);
  player.go(player.step >= player.total ? 0 : player.step);
}

/** Stops the clock. */
export function pausePlayer(/** @type {Player} */ player) {
  clearTimeout(player.timer);
  player.timer = 0;
  showPlayer(player);
}

/**
 * Space and arrows, Home and End move the player from anywhere in its component that has no use for them itself. Returns
 * true if the key was one of them.
 */
export function playerKey(/** @type {Player} */ player, /** @type {KeyboardEvent} */ event) {
  const element = elementAt(event);
  if (event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return false;
  if (event.key === " " && !element?.closest("button, input, [role=gridcell]")) {
    player.play.click();
    return true;
  }
  if (element?.closest("input, [role=radio], [role=gridcell]")) return false;
  /** @type {Record<string, number>} */
  const steps = { ArrowLeft: player.step - 1, ArrowRight: player.step + 1, Home: 0, End: player.total };
  if (!(event.key in steps)) return false;
  movePlayer(player, steps[event.key]);
  return true;
}

/** Shows where the player stands; `token` is the newest one. */
export function showPlayer(/** @type {Player} */ player, token = "") {
  const { strings, total, step, timer, play } = player;
  const name = timer ? "pause" : "play";
  const count = fill(strings.count, { step, total });
  player.slider.value = String(step);
  player.slider.setAttribute("aria-valuetext", token ? `${count}: ${token}` : count);
  setText(player.count, count);
  play.setAttribute("aria-label", strings[name]);
  play.title = strings[name];
  setData(play, { act: name });
  // never disabled: the focus would be lost with it
  for (const button of player.back) button.setAttribute("aria-disabled", String(step === 0));
  for (const button of player.forward) button.setAttribute("aria-disabled", String(step === total));
}
