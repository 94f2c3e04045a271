// @ts-check
// The bar that moves through what a model wrote: to the start, back, play or pause, forward, to the end, a slider, speed.
// It holds the clock and nothing else; what a step means is the caller's. Icons are shapes in CSS, so that no font is asked.

import { segmented } from "../shared/controls.js";
import { el, setData, setText } from "../shared/dom.js";
import { fill } from "../shared/fmt.js";

/** Milliseconds from one token to the next. @type {Record<string, number>} */
const PACE = { slow: 1400, normal: 650, fast: 220 };

/**
 * @param {Record<string, string>} strings
 * @param {number} total how many tokens were written
 * @param {(step: number) => void} go shows the text with so many written tokens
 */
export function makePlayer(strings, total, go) {
  const player = /** @type {any} */ ({ step: total, total, timer: 0, pace: "normal", strings, go });
  const icon = (/** @type {string} */ name, /** @type {() => void} */ act) =>
    el(
      "button",
      {
        class: "av-button av-play-button",
        type: "button",
        "aria-label": strings[name],
        title: strings[name],
        dataset: { act: name },
        on: { click: act },
      },
      el("span", { class: "av-icon", "aria-hidden": "true" }),
    );
  player.play = icon("play", () => (player.timer ? pausePlayer(player) : startPlayer(player)));
  player.buttons = {
    start: icon("to_start", () => movePlayer(player, 0)),
    back: icon("step_back", () => movePlayer(player, player.step - 1)),
    forward: icon("step_forward", () => movePlayer(player, player.step + 1)),
    end: icon("to_end", () => movePlayer(player, total)),
  };
  player.slider = el("input", {
    type: "range",
    class: "av-slider",
    min: 0,
    max: total,
    step: 1,
    "aria-label": strings.slider,
    on: { input: () => movePlayer(player, Number(player.slider.value)) },
  });
  player.count = el("span", { class: "av-number av-play-count" });
  const speed = segmented({
    label: strings.speed,
    value: player.pace,
    options: Object.keys(PACE).map((value) => ({ value, label: strings[`speed_${value}`] })),
    onChange: (value) => {
      player.pace = value;
    },
  });
  const { start, back, forward, end } = player.buttons;
  player.node = el(
    "div",
    { class: "av-player", role: "group", "aria-label": strings.player },
    el("div", { class: "av-play-buttons" }, start, back, player.play, forward, end),
    player.slider,
    player.count,
    speed.node,
  );
  return player;
}

/** A visitor's own step: it stops the clock. */
export function movePlayer(/** @type {any} */ player, /** @type {number} */ step) {
  pausePlayer(player);
  player.go(Math.max(0, Math.min(player.total, step)));
}

/** Starts the clock; from the beginning where all is written. */
export function startPlayer(/** @type {any} */ player) {
  clearTimeout(player.timer);
  const tick = () => {
    player.timer = setTimeout(tick, PACE[player.pace]);
    player.go(player.step + 1);
    if (player.step >= player.total) pausePlayer(player);
  };
  player.timer = setTimeout(tick, PACE[player.pace]);
  player.go(player.step >= player.total ? 0 : player.step);
}

export function pausePlayer(/** @type {any} */ player) {
  clearTimeout(player.timer);
  player.timer = 0;
  showPlayer(player);
}

/** Space and arrows, Home and End move the player from anywhere in its component that has no use for them itself. */
export function playerKey(/** @type {any} */ player, /** @type {KeyboardEvent} */ event) {
  const target = /** @type {any} */ (event.composedPath()[0]);
  const own = target.closest?.("button, input, [role=gridcell]");
  if (event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return false;
  if (event.key === " " && !own) return (player.play.click(), true);
  if (target.closest?.("input, [role=radio], [role=gridcell]")) return false;
  const to = { ArrowLeft: player.step - 1, ArrowRight: player.step + 1, Home: 0, End: player.total }[
    event.key
  ];
  if (to === undefined) return false;
  movePlayer(player, to);
  return true;
}

/** Shows where the player stands. */
export function showPlayer(/** @type {any} */ player, step = player.step, said = "") {
  const { strings, total, buttons, timer } = player;
  const name = timer ? "pause" : "play";
  player.step = step;
  player.slider.value = step;
  player.slider.setAttribute(
    "aria-valuetext",
    `${fill(strings.count, { step, total })}${said ? `: ${said}` : ""}`,
  );
  setText(player.count, fill(strings.count, { step, total }));
  player.play.setAttribute("aria-label", strings[name]);
  player.play.title = strings[name];
  setData(player.play, { act: name });
  // never disabled: the focus would be lost with it
  for (const [at, names] of /** @type {[number, string[]][]} */ ([
    [0, ["start", "back"]],
    [total, ["forward", "end"]],
  ])) {
    for (const each of names) buttons[each].setAttribute("aria-disabled", String(step === at));
  }
}
