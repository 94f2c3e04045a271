// @ts-check
// Looking for a token by its name: where it stands along the axes, and the way from one place to the next.

import { isolate } from "../shared/axes.js";
import { button } from "../shared/controls.js";
import { el, setText } from "../shared/dom.js";
import { fill } from "../shared/fmt.js";

const QUIET_MS = 120;

/** @typedef {{query: number | null, key: number | null, label: string, position: number}} FoundPlace */

/**
 * The places of a token whose name has these characters, in any case. Where queries and keys are the same tokens a
 * place is a row and a column; else first all rows, then all columns.
 * @param {string} wanted
 * @param {{rows: {labels: string[]}, columns: {labels: string[]}}} axes
 * @param {boolean} cross
 * @returns {FoundPlace[]}
 */
export function placesOf(wanted, axes, cross) {
  const needle = wanted.trim().toLocaleLowerCase();
  if (!needle) return [];
  const among = (/** @type {string[]} */ labels, /** @type {(i: number) => any} */ at) =>
    labels.flatMap((label, i) =>
      label.toLocaleLowerCase().includes(needle) ? [{ ...at(i), label, position: i }] : [],
    );
  if (!cross) return among(axes.rows.labels, (i) => ({ query: i, key: i }));
  return [
    ...among(axes.rows.labels, (i) => ({ query: i, key: null })),
    ...among(axes.columns.labels, (i) => ({ query: null, key: i })),
  ];
}

/**
 * The box, its buttons and the line that says how many places there are.
 * @param {Record<string, string>} strings
 * @param {{look: (wanted: string) => FoundPlace[], go: (place: FoundPlace | null) => void}} act
 */
export function makeFinder(strings, act) {
  /** @type {{places: FoundPlace[], at: number, timer: any}} */
  const state = { places: [], at: -1, timer: 0 };
  const input = el("input", {
    type: "search",
    class: "av-find-input",
    placeholder: strings.find_hint,
    autocomplete: "off",
    spellcheck: "false",
  });
  const said = el("p", { class: "av-note av-number", role: "status", "aria-live": "polite" });
  const say = () => {
    const { places, at } = state;
    const place = places[at];
    const count = places.length;
    const found = place
      ? fill(strings.found_at, { at: at + 1, count, token: isolate(place.label), position: place.position })
      : count
        ? fill(strings.found_some, { count })
        : strings.found_none;
    setText(said, input.value.trim() ? found : "");
    for (const step of steps) step.disabled = !count;
  };
  const walk = (/** @type {number} */ by) => {
    look();
    const { length } = state.places;
    if (!length) return;
    state.at = state.at < 0 ? (by > 0 ? 0 : length - 1) : (state.at + by + length) % length;
    act.go(state.places[state.at]);
    say();
  };
  const look = () => {
    clearTimeout(state.timer);
    if (state.lookedFor === input.value) return;
    Object.assign(state, { places: act.look(input.value), at: -1, lookedFor: input.value });
    act.go(null);
    say();
  };
  const steps = [
    button({ label: strings.previous_place, text: "‹", onClick: () => walk(-1) }),
    button({ label: strings.next_place, text: "›", onClick: () => walk(1) }),
  ];
  for (const step of steps) step.classList.add("av-find-step");
  input.addEventListener("input", () => {
    clearTimeout(state.timer);
    state.timer = setTimeout(look, QUIET_MS);
  });
  input.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter") walk(event.shiftKey ? -1 : 1);
  });
  const node = el(
    "div",
    { class: "av-find" },
    el("label", { class: "av-heading" }, strings.find, input),
    el("div", { class: "av-row av-find-row" }, ...steps, said),
  );
  say();
  return { node, destroy: () => clearTimeout(state.timer) };
}
