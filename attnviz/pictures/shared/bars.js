// @ts-check
// Named values as a list of bars: what a model says, the likeliest first. One row each: name, bar, number. A second
// value, what the first was before something changed it for instance, is a tick on the same track with its own number.
// A marked row is set apart by weight and by words, never by colour alone.

import { wantsLessMotion } from "./clock.js";
import { el, foreign } from "./dom.js";
import { fmtFixed, fmtPercent, local, withPercent } from "./fmt.js";

/**
 * A row. `value` and `second` are probabilities; `mark` says in words why the row is set apart, "" where it is not.
 * @typedef {{label: string, value: number, second?: number | null, mark?: string, muted?: boolean}} Bar
 */
/**
 * `full` is the value of a whole track; `seconds` the heading of the second number, `values` that of the first; `two`
 * keeps the place of the second one where there is none; `number` prints a value, as a probability in percent unless
 * something else is given.
 * @typedef {{label: string, full?: number, values?: string, seconds?: string, two?: boolean,
 *   number?: (value: number) => string}} BarsOptions
 */

const MOVE = { duration: 400, easing: "cubic-bezier(.2,.7,.2,1)" };

/**
 * A list of bars; `set` shows others, perhaps under other headings: a bar that stays moves to its new length.
 * @param {BarsOptions} first
 * @returns {{node: HTMLElement, set: (bars: readonly Bar[], opts?: BarsOptions) => void}}
 */
export function barList(first) {
  const node = el("ol", { class: "av-bars" });
  /** The length of each bar, as CSS. @type {Map<string, string>} */
  let lengths = new Map();
  const set = (/** @type {readonly Bar[]} */ bars, opts = first) => {
    const two = Boolean(first.two || opts.seconds);
    node.classList.toggle("av-bars-two", two);
    node.setAttribute("aria-label", opts.label);
    const rows = bars.map((bar) => barRow(bar, opts, two));
    node.replaceChildren(...(two ? [headingRow(opts), ...rows] : rows));
    for (const [at, { label }] of bars.entries()) moveFrom(rows[at], lengths.get(label));
    lengths = new Map(bars.map(({ label, value }) => [label, share(value, opts.full ?? 1)]));
  };
  return { node, set };
}

/** Has a bar grow or shrink from another length, unless the visitor wants less motion. */
function moveFrom(/** @type {HTMLElement} */ row, /** @type {string | undefined} */ before) {
  const fill = row.querySelector(".av-bar-fill");
  if (!before || !(fill instanceof HTMLElement) || fill.style.width === before || wantsLessMotion()) return;
  fill.animate([{ width: before }, { width: fill.style.width }], MOVE);
}

/** The headings of both numbers. */
function headingRow(/** @type {BarsOptions} */ { values, seconds }) {
  const [name, track] = [el("span"), el("span")];
  const props = { class: "av-bars-heading", "aria-hidden": "true" };
  return el("li", props, name, track, el("span", {}, values), el("span", {}, seconds));
}

function barRow(/** @type {Bar} */ bar, /** @type {BarsOptions} */ opts, /** @type {boolean} */ two) {
  const { label, value, second = null, mark = "", muted = false } = bar;
  const full = opts.full ?? 1;
  const print = opts.number ?? percent;
  const fill = el("span", { class: "av-bar-fill" });
  const track = el("span", { class: "av-bar-track", "aria-hidden": "true" }, fill);
  fill.style.width = share(value, full);
  if (second !== null) {
    const tick = el("span", { class: "av-bar-tick" });
    tick.style.insetInlineStart = share(second, full);
    track.append(tick);
  }
  const hidden = (/** @type {string | undefined} */ text) =>
    text ? el("span", { class: "av-visually-hidden" }, ` (${text}) `) : null;
  const name = el(
    "span",
    { class: "av-bar-name", title: mark ? `${label} – ${mark}` : label },
    foreign(label),
    hidden(mark),
  );
  const number = el("span", { class: "av-number av-bar-number" }, print(value));
  const other = two
    ? el(
        "span",
        { class: "av-number av-bar-second" },
        second === null ? "" : print(second),
        second === null ? null : hidden(opts.seconds),
      )
    : null;
  return el(
    "li",
    { class: `av-bar${mark ? " av-bar-marked" : ""}${muted ? " av-bar-muted" : ""}`, dataset: { value } },
    name,
    track,
    number,
    other,
  );
}

/** A part of a track as CSS. */
function share(/** @type {number} */ value, /** @type {number} */ full) {
  return `${full > 0 ? 100 * Math.max(0, Math.min(1, value / full)) : 0}%`;
}

/** A probability in percent; one just below 1 is never printed as 100. */
function percent(/** @type {number} */ value) {
  const nearly = value > 0.99 && value < 1;
  const digits = value < 0.9995 ? fmtFixed(100 * value, 1) : local(">\u200999.9");
  return withPercent(nearly ? digits : fmtPercent(value));
}
