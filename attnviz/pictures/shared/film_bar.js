// @ts-check
// The controls below a film: play or pause, a scrubber, skip. Space plays and stops from anywhere in the film where
// nothing else wants the key.

import { el, setText } from "./dom.js";

/** @typedef {ReturnType<typeof makeFilmBar>} FilmBar */
/** @typedef {{play: string, pause: string, again: string, skip?: string, position: string}} FilmTexts */

// keys that belong to the element they are pressed on
const OWN_KEYS = "button, input, select, textarea, a, [role=radio]";
const SECOND_MS = 1000;

/** @param {{toggle: () => void, seek: (time: number) => void, skip?: () => void}} actions */
export function makeFilmBar({ toggle, seek, skip }) {
  const sign = el("span", { class: "av-film-sign", "aria-hidden": "true" });
  const word = el("span");
  const button = el(
    "button",
    { type: "button", class: "av-button av-film-play", on: { click: toggle } },
    sign,
    word,
  );
  const range = el("input", { type: "range", class: "av-film-range", min: 0, step: 50 });
  range.addEventListener("input", () => seek(Number(range.value)));
  const clock = el("span", { class: "av-film-clock av-number" });
  const leave = el("button", {
    type: "button",
    class: "av-button av-film-skip",
    on: { click: () => skip?.() },
  });
  const node = el("div", { class: "av-film-bar" }, button, range, clock, leave);
  leave.hidden = !skip;
  let length = 0;
  /** @type {FilmTexts | null} */
  let texts = null;
  return {
    node,
    button,
    range,
    write(/** @type {FilmTexts} */ words, /** @type {number} */ ms) {
      texts = words;
      length = ms;
      range.max = String(ms);
      range.setAttribute("aria-label", words.position);
      setText(leave, words.skip ?? "");
    },
    /** Shows a moment, and whether the film runs. */
    show(/** @type {number} */ time, /** @type {boolean} */ isRunning) {
      if (!texts) return;
      range.value = String(time);
      setText(clock, `${seconds(time)} / ${seconds(length)}`);
      setText(sign, isRunning ? "❚❚" : "▶");
      setText(word, isRunning ? texts.pause : time >= length ? texts.again : texts.play);
    },
    /** The words for the scrubber's place. */
    say: (/** @type {string} */ sentence) => range.setAttribute("aria-valuetext", sentence),
    key(/** @type {KeyboardEvent} */ event) {
      const target = event.composedPath()[0];
      const hasOwnKeys = target instanceof Element && target.closest(OWN_KEYS) !== null;
      if (event.key !== " " || hasOwnKeys) return;
      event.preventDefault();
      toggle();
    },
  };
}

function seconds(/** @type {number} */ ms) {
  const whole = Math.round(ms / SECOND_MS);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
