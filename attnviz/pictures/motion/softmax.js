// @ts-check
// Scores become weights: the bar of each score becomes its exponential, all of them a sum, each its share of the sum. A
// hand may set the scores: then their bars stand with the weights below them, as in a film of one scene. In: the scores
// of a row (−∞ where a key is blocked), and the keys.

import { fmtFixed } from "../shared/fmt.js";
import { between } from "../shared/scenes.js";
import { line, turnOf, write } from "./draw.js";

/** @import { Film, Frame, Grip } from "./draw.js" */

const HEIGHT = 270;
const FLOOR = 214;
const FULL = 160; // of the longest bar
const WIDEST = 96;
const LEAST_REACH = 2; // of a score that a hand sets

/** @type {Film} */
export const SOFTMAX = {
  height: () => HEIGHT,
  paint(frame) {
    const { ctx, header, so, theme, roles } = frame;
    const scores = scoresNow(frame);
    const n = scores.length;
    const isByHand = Object.keys(frame.set).length > 0 || header.scenes.length < 2; // one scene does not play
    const exps = scores.map((score) => Math.exp(score)); // exp(−∞) is 0
    const sum = exps.reduce((all, value) => all + value, 0);
    const most = Math.max(...exps);
    const unit = unitOf(frame);
    const step = stepOf(frame, n);
    const wide = step * 0.62;
    const shown = isByHand ? 1 : so("scores", 0, 0.4);
    const [asExp, asShare] = isByHand ? [0, 0] : [so("exp", 0.1, 0.7), so("share", 0.15, 0.75)];
    const zero = between(FLOOR - FULL * 0.35, FLOOR, asExp);
    line(frame, [[0, zero], [n * step, zero]], theme.border, 1.5); // prettier-ignore
    scores.forEach((score, i) => {
      const x = i * step + (step - wide) / 2;
      const asScore = Number.isFinite(score) ? shown * unit * score : 0;
      const tall = between(between(asScore, (FULL * exps[i]) / most, asExp), (FULL * exps[i]) / sum, asShare);
      ctx.fillStyle = roles.query;
      ctx.fillRect(x, zero - Math.max(tall, 0), wide, Math.max(Math.abs(tall), 1));
      const number =
        asShare > 0.5 ? fmtFixed(exps[i] / sum, 3) : asExp > 0.5 ? fmtFixed(exps[i], 2) : fmtFixed(score, 2);
      const middle = x + wide / 2;
      const above = zero - Math.max(tall, 0) - 12;
      write(frame, number, { x: middle, y: above, weight: 600, align: "center", room: step - 4 });
      if (isByHand) {
        const weight = { x: middle, y: HEIGHT - 34, size: 15, weight: 700, colour: roles.key };
        write(frame, fmtFixed(exps[i] / sum, 3), { ...weight, align: "center", room: step - 4 });
      }
      write(frame, header.labels.keys[i], { x: middle, y: HEIGHT - 12, align: "center", room: step - 6 });
    });
    if (!isByHand) paintSum(frame, { exps, sum, most, left: n * step, wide, asShare });
  },
  grips(frame) {
    const scores = scoresNow(frame);
    const step = stepOf(frame, scores.length);
    const unit = unitOf(frame);
    const zero = FLOOR - FULL * 0.35;
    const most = Math.max(LEAST_REACH, (1.5 * FULL * 0.35) / unit);
    return scores.flatMap((score, i) => {
      const set = (/** @type {number} */ to) => ({
        [`score_${i}`]: Math.round(10 * Math.max(-most, Math.min(most, to))) / 10,
      });
      /** @type {Grip} */
      const grip = {
        handle: "scores",
        at: [(i + 0.5) * step, zero - unit * score],
        text: `${frame.header.labels.keys[i]} ${fmtFixed(score, 1)}`,
        to: ([, y]) => set((zero - y) / unit),
        by: ([right, up], isLong) => set(score + (up + right) * (isLong ? 1 : 0.1)),
      };
      return Number.isFinite(score) ? [grip] : [];
    });
  },
};

/** The scores of the row, or those that a hand has set. */
function scoresNow(/** @type {Frame} */ { arrays, set }) {
  return Array.from(arrays.scores.data, (score, i) => set[`score_${i}`] ?? score);
}

/** Pixels for a score of 1, the same however a hand moves the bars. */
function unitOf(/** @type {Frame} */ { arrays }) {
  const sizes = Array.from(arrays.scores.data).filter(Number.isFinite).map(Math.abs);
  return (0.35 * FULL) / Math.max(...sizes, 1e-9);
}

function stepOf(/** @type {Frame} */ { width }, /** @type {number} */ n) {
  return Math.min(WIDEST, (width - 20) / (n + 1));
}

/**
 * The bars on top of each other: their sum, which becomes 1.
 * @param {import("./draw.js").Frame} frame
 * @param {{exps: number[], sum: number, most: number, left: number, wide: number, asShare: number}} bars
 */
function paintSum(frame, { exps, sum, most, left, wide, asShare }) {
  const { ctx, so, roles, theme } = frame;
  const scale = between(Math.min(FULL / sum, FULL / most), FULL / sum, asShare);
  let top = FLOOR;
  let total = 0;
  exps.forEach((value, i) => {
    const grown = turnOf(so("sum", 0, 0.8), i, exps.length);
    const tall = grown * value * scale;
    total += grown * value;
    top -= tall;
    ctx.fillStyle = roles.key;
    if (tall > 0) ctx.fillRect(left + 14, top, wide, Math.max(tall - 1.5, 0.5));
  });
  if (so("sum") <= 0) return;
  const text = asShare > 0.5 ? fmtFixed(1, 0) : fmtFixed(total, 2);
  const at = { x: left + 14 + wide / 2, weight: 600, align: /** @type {CanvasTextAlign} */ ("center") };
  write(frame, text, { ...at, y: top - 12 });
  write(frame, "Σ", { ...at, y: HEIGHT - 12, colour: theme.muted });
}
