// @ts-check
// What a token was drawn from: the likeliest tokens as bars, before and after temperature, top-k and top-p, the drawn one
// marked. Arrays of the buffer, a row for each position from header.draws.first on: ids (into header.draws.vocabulary),
// before, after, cut, drawn (a slot), rank, others [before, after], left (how many tokens can be drawn).

import { isolate } from "../shared/axes.js";
import { barList } from "../shared/bars.js";
import { el } from "../shared/dom.js";
import { fill, fmtPercent } from "../shared/fmt.js";

const EMPTY = 65535;
const NO_SLOT = 255;
const CUT = /** @type {const} */ ({ 1: "cut_by_top_k", 2: "cut_by_top_p" });

/**
 * The distribution after a position; null where it is not known.
 * @param {any} draws the header's
 * @param {Record<string, import("../shared/buffer.js").PackedArray>} arrays
 * @param {number} position
 */
export function drawAfter(draws, arrays, position) {
  const row = position - draws.first;
  const [rows, slots] = arrays.ids.shape;
  if (row < 0 || row >= rows) return null;
  const at = (/** @type {string} */ name, /** @type {number} */ slot) =>
    arrays[name].data[row * slots + slot];
  const bars = Array.from({ length: slots }, (_, slot) => slot)
    .filter((slot) => at("ids", slot) !== EMPTY)
    .map((slot) => ({
      label: draws.vocabulary[at("ids", slot)],
      before: at("before", slot),
      after: at("after", slot),
      cut: at("cut", slot),
      drawn: arrays.drawn.data[row] === slot,
    }));
  const others = {
    before: arrays.others.data[row * 2],
    after: arrays.others.data[row * 2 + 1],
    count: draws.n_vocabulary - bars.length,
  };
  return {
    bars,
    others,
    rank: arrays.rank.data[row],
    left: arrays.left.data[row],
    drawn: arrays.drawn.data[row] === NO_SLOT ? null : (bars.find((bar) => bar.drawn) ?? null),
  };
}

/**
 * The bars of a distribution and what is to be said of it. `mark` names the token that follows, "" to leave it unmarked.
 * @param {any} draw
 * @param {{strings: Record<string, string>, sampled: boolean, title: string, mark: string, total: number}} opts
 */
export function drawNodes(draw, opts) {
  const { strings, sampled, title, mark, total } = opts;
  const { bars, others } = draw;
  const row = (/** @type {any} */ bar) => ({
    label: bar.label,
    value: sampled ? bar.after : bar.before,
    second: sampled ? bar.before : null,
    mark: bar.drawn ? mark : "",
    muted: sampled && bar.cut > 0,
  });
  const rows = bars.map(row);
  if (others.count > 0)
    rows.push({ ...row({ ...others, label: fill(strings.others, { count: others.count }) }), muted: true });
  const full = Math.max(...rows.map((/** @type {any} */ each) => Math.max(each.value, each.second ?? 0)));
  const list = barList({ label: title, full, values: strings.after, seconds: sampled ? strings.before : "" });
  list.set(rows);
  const notes = sampled ? [fill(strings.left, { count: draw.left, total }), ...cutNotes(bars, strings)] : [];
  return [list.node, ...notes.map((note) => el("p", { class: "av-note" }, note))];
}

/** Which of the tokens shown a filter took away. */
function cutNotes(/** @type {any[]} */ bars, /** @type {Record<string, string>} */ strings) {
  return Object.entries(CUT).flatMap(([code, name]) => {
    const tokens = bars.filter((bar) => bar.cut === Number(code)).map((bar) => isolate(bar.label));
    return tokens.length ? [fill(strings[name], { tokens: tokens.join(" · ") })] : [];
  });
}

/**
 * The probability of the token that follows, in words; "" where none does.
 * @param {any} draw
 * @param {Record<string, string>} strings
 * @param {boolean} sampled
 * @param {number} total
 */
export function drawnWords(draw, strings, sampled, total) {
  if (!draw?.drawn) return "";
  const numbers = {
    percent: fmtPercent(draw.drawn.after),
    model: fmtPercent(draw.drawn.before),
    rank: draw.rank,
    total,
  };
  return fill(sampled ? strings.probability_sampled : strings.probability, numbers);
}
