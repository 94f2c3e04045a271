// @ts-check
// The tokens that a token was drawn from: the likeliest ones as bars, before and after temperature, top-k and top-p, the
// drawn one marked.

import { isolate } from "../shared/axes.js";
import { barList } from "../shared/bars.js";
import { el } from "../shared/dom.js";
import { fill, fmtPercent } from "../shared/fmt.js";

/** @import { Bar } from "../shared/bars.js" */
/** @import { Arrays, Draws, Strings } from "./types.js" */

/** A token that could be drawn; `cut` says which filter took it away. */
/** @typedef {{label: string, before: number, after: number, cut: number, isDrawn: boolean}} Candidate */
/**
 * The distribution after a position: its likeliest tokens, all others together, and the token that was drawn.
 * @typedef {{candidates: Candidate[], others: {before: number, after: number, count: number}, rank: number,
 *   left: number, drawn: Candidate | null}} Draw
 */

const EMPTY = 65535;
const NO_SLOT = 255;
const CUTS = /** @type {const} */ ([
  [1, "cut_by_top_k"],
  [2, "cut_by_top_p"],
]);

/**
 * The distribution after a position; null where it is not known.
 * @param {Draws} draws
 * @param {Arrays} arrays
 * @param {number} position
 * @returns {Draw | null}
 */
export function drawAfter(draws, arrays, position) {
  const row = position - draws.first;
  const [rows, slots] = arrays["draws.ids"].shape;
  if (row < 0 || row >= rows) return null;
  const drawnSlot = arrays["draws.drawn"].data[row];
  const at = (/** @type {"ids" | "before" | "after" | "cut"} */ name, /** @type {number} */ slot) =>
    arrays[`draws.${name}`].data[row * slots + slot];
  const filled = Array.from({ length: slots }, (_, slot) => slot).filter((slot) => at("ids", slot) !== EMPTY);
  const candidates = filled.map((slot) => ({
    label: draws.vocabulary[at("ids", slot)],
    before: at("before", slot),
    after: at("after", slot),
    cut: at("cut", slot),
    isDrawn: slot === drawnSlot,
  }));
  const [before, after] = arrays["draws.others"].data.subarray(row * 2, row * 2 + 2);
  return {
    candidates,
    others: { before, after, count: draws.n_vocabulary - candidates.length },
    rank: arrays["draws.rank"].data[row],
    left: arrays["draws.n_left"].data[row],
    drawn: drawnSlot === NO_SLOT ? null : (candidates.find(({ isDrawn }) => isDrawn) ?? null),
  };
}

/**
 * The bars of a distribution and the notes below. `mark` names the token that follows, "" to leave it unmarked.
 * @param {Draw} draw
 * @param {{strings: Strings, sampled: boolean, title: string, mark: string, total: number}} opts
 */
export function drawNodes({ candidates, others, left }, { strings, sampled, title, mark, total }) {
  const barOf = (/** @type {{before: number, after: number}} */ { before, after }) => ({
    value: sampled ? after : before,
    second: sampled ? before : null,
  });
  /** @type {Bar[]} */
  const bars = candidates.map((candidate) => ({
    label: candidate.label,
    ...barOf(candidate),
    mark: candidate.isDrawn ? mark : "",
    muted: sampled && candidate.cut > 0,
  }));
  if (others.count > 0)
    bars.push({ label: fill(strings.others, { count: others.count }), ...barOf(others), muted: true });
  const full = Math.max(...bars.map((bar) => Math.max(bar.value, bar.second ?? 0)));
  const list = barList({ label: title, full, values: strings.after, seconds: sampled ? strings.before : "" });
  list.set(bars);
  const notes = sampled ? [fill(strings.left, { count: left, total }), ...cutNotes(candidates, strings)] : [];
  return [list.node, ...notes.map((note) => el("p", { class: "av-note" }, note))];
}

/** Names the tokens shown that a filter took away. */
function cutNotes(/** @type {Candidate[]} */ candidates, /** @type {Strings} */ strings) {
  return CUTS.flatMap(([code, key]) => {
    const tokens = candidates.filter(({ cut }) => cut === code).map(({ label }) => isolate(label));
    return tokens.length ? [fill(strings[key], { tokens: tokens.join(" · ") })] : [];
  });
}

/**
 * The probability of the token that follows, in words; "" where none does.
 * @param {Draw} draw
 * @param {Strings} strings
 * @param {boolean} sampled
 * @param {number} total
 */
export function drawnWords({ drawn, rank }, strings, sampled, total) {
  if (!drawn) return "";
  const percent = fmtPercent(drawn.after);
  const model = fmtPercent(drawn.before);
  return fill(sampled ? strings.probability_sampled : strings.probability, { percent, model, rank, total });
}
