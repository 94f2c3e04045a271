// @ts-check
// Looking for a token by its name: where it stands along the axes, and the way from one place to the next.

import { isolate } from "../shared/axes.js";
import { button } from "../shared/controls.js";
import { el, setText } from "../shared/dom.js";
import { fill } from "../shared/fmt.js";

/** @import { Strings } from "./types.js" */

/** A row, a column, or both, where a token stands. */
/** @typedef {{query: number | null, key: number | null, label: string, position: number}} FoundPlace */

const QUIET_MS = 120;

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
  const among = (/** @type {string[]} */ labels) =>
    labels.flatMap((label, position) =>
      label.toLocaleLowerCase().includes(needle) ? [{ label, position }] : [],
    );
  const columns = among(axes.columns.labels);
  // the name of a row also has the token that it predicts, which stands elsewhere
  if (!cross) return columns.map((place) => ({ ...place, query: place.position, key: place.position }));
  return [
    ...among(axes.rows.labels).map((place) => ({ ...place, query: place.position, key: null })),
    ...columns.map((place) => ({ ...place, query: null, key: place.position })),
  ];
}

/**
 * The box, its buttons and the line that says how many places there are.
 * @param {Strings} strings
 * @param {{look: (wanted: string) => FoundPlace[], go: (place: FoundPlace | null) => void}} actions
 */
export function makeFinder(strings, { look, go }) {
  /** @type {FoundPlace[]} */
  let places = [];
  let at = -1;
  let timer = 0;
  /** @type {string | null} */
  let wanted = null;
  const input = el("input", {
    type: "search",
    class: "av-find-input",
    placeholder: strings.find_hint,
    autocomplete: "off",
    spellcheck: "false",
  });
  const status = el("p", { class: "av-note av-number", role: "status", "aria-live": "polite" });
  const show = () => {
    setText(status, input.value.trim() ? statusText(strings, places, at) : "");
    for (const step of steps) step.disabled = !places.length;
  };
  const lookNow = () => {
    clearTimeout(timer);
    if (wanted === input.value) return;
    wanted = input.value;
    places = look(wanted);
    at = -1;
    go(null);
    show();
  };
  const walk = (/** @type {number} */ by) => {
    lookNow();
    const { length } = places;
    if (!length) return;
    at = at < 0 ? (by > 0 ? 0 : length - 1) : (at + by + length) % length;
    go(places[at]);
    show();
  };
  const steps = [
    button({ label: strings.previous_place, text: "‹", onClick: () => walk(-1) }),
    button({ label: strings.next_place, text: "›", onClick: () => walk(1) }),
  ];
  for (const step of steps) step.classList.add("av-find-step");
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(lookNow, QUIET_MS);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") walk(event.shiftKey ? -1 : 1);
  });
  const label = el("label", { class: "av-heading" }, strings.find, input);
  const node = el(
    "div",
    { class: "av-find" },
    label,
    el("div", { class: "av-row av-find-row" }, ...steps, status),
  );
  show();
  return { node, destroy: () => clearTimeout(timer) };
}

/** Says how many places there are, or which one is shown. */
function statusText(
  /** @type {Strings} */ strings,
  /** @type {FoundPlace[]} */ places,
  /** @type {number} */ at,
) {
  const count = places.length;
  const place = places[at];
  if (!place) return count ? fill(strings.found_some, { count }) : strings.found_none;
  const { label, position } = place;
  return fill(strings.found_at, { at: at + 1, count, token: isolate(label), position });
}
