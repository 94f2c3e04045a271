// @ts-check
// Queries and keys of a head as points of one plane: the keys move onto the queries, then both are brought to one width.
// Beside them the weights of one query, which follow only where that changes them. In: the points, the way of the keys, the
// factor, the scaled scores of that query, the part of each key along both axes, divided by √d_k.

import { fmtFixed } from "../shared/fmt.js";
import { between } from "../shared/scenes.js";
import { withAlpha } from "../shared/theme.js";
import { bar, cellOf, disc, line, write } from "./draw.js";

/** @import { Film, Frame, Grip } from "./draw.js" */
/** @typedef {[number, number]} Pair */

const ROW = 30;
const N_BARS = 6;
const DOT = 4.5;
const STEP = 0.25;
const LONG_STEP = 2;
const LEAST = 0.02; // the weight of a line that is drawn

/** @type {Film} */
export const CLOUDS = {
  height: (_, __, width) => sideOf(width) + 4,
  paint(frame) {
    const { header, arrays, width, roles, theme, ctx } = frame;
    const { queries, keys, weights } = cloudsNow(frame);
    const asked = arrays.query.data[0];
    const side = sideOf(width);
    ctx.strokeStyle = theme.border;
    ctx.lineWidth = 1;
    ctx.strokeRect(0.5, 0.5, side - 1, side - 1);
    const start = pixel(frame, queries[asked]);
    keys.forEach((key, i) => {
      if (weights[i] >= LEAST)
        line(frame, [start, pixel(frame, key)], withAlpha(theme.primary, 0.6), Math.max(1, 9 * weights[i])); // prettier-ignore
    });
    keys.forEach((key) => dot(frame, key, roles.key, false));
    queries.forEach((query) => dot(frame, query, roles.query, true));
    const order = weights.map((_, i) => i).sort((a, b) => weights[b] - weights[a]);
    for (const i of order.slice(0, 2)) name(frame, keys[i], `k ${header.labels.words[i]}`, roles.key);
    name(frame, queries[asked], `q ${header.labels.words[asked]}`, roles.query);
    const left = side + 18;
    order.slice(0, N_BARS).forEach((key, i) => {
      const y = 16 + i * ROW;
      const room = width - left;
      write(frame, header.labels.words[key], { x: left, y, size: 14, weight: 600, room: room - 48 });
      write(frame, fmtFixed(weights[key], 3), { x: width, y, size: 14, weight: 600, align: "right" });
      bar(frame, { x: left, y: y + 9, w: room, h: 6 }, weights[key], theme.primary);
    });
  },
  grips(frame) {
    const { queries, keys } = cloudsNow(frame);
    return [grip(frame, "keys", keys), grip(frame, "queries", queries)];
  },
};

/**
 * The middle of a cloud, by which it is moved.
 * @param {Frame} frame
 * @param {"keys" | "queries"} handle
 * @param {readonly Pair[]} points
 * @returns {Grip}
 */
function grip(frame, handle, points) {
  const { scale, side } = scaleOf(frame);
  const [x, y] = offset(frame, handle);
  const at = middleOf(points);
  const set = (/** @type {number} */ byX, /** @type {number} */ byY) => ({
    [`${handle}_x`]: Math.round((x + byX) * 100) / 100,
    [`${handle}_y`]: Math.round((y + byY) * 100) / 100,
  });
  return {
    handle,
    at: pixel(frame, at),
    text: `${fmtFixed(at[0], 1)}, ${fmtFixed(at[1], 1)}`,
    to: ([px, py]) => set((px - side / 2) / scale - at[0], (side / 2 - py) / scale - at[1]),
    by([right, up], isLong) {
      const step = isLong ? LONG_STEP : STEP;
      return set(right * step, up * step);
    },
  };
}

/** Both clouds at this moment, and the weights of the query that is watched. */
function cloudsNow(/** @type {Frame} */ frame) {
  const { arrays, so } = frame;
  const shifted = so("shift", 0.1, 0.8);
  const factor = between(1, arrays.factor.data[0], so("scale", 0.1, 0.8));
  const shift = arrays.shift.data;
  const [dx, dy] = offset(frame, "queries");
  const [kx, ky] = offset(frame, "keys");
  const n = arrays.keys.shape[0];
  const pair = (/** @type {string} */ cloud, /** @type {number} */ i) =>
    /** @type {Pair} */ ([cellOf(arrays, cloud, i, 0), cellOf(arrays, cloud, i, 1)]);
  const moved = Array.from({ length: n }, (_, i) => {
    const [x, y] = pair("keys", i);
    return /** @type {Pair} */ ([x + shifted * shift[0], y + shifted * shift[1]]);
  });
  // both are widened about the middle of the queries, on which the keys lie by then
  const queries = Array.from({ length: arrays.queries.shape[0] }, (_, i) => pair("queries", i));
  const middle = middleOf(queries);
  const about = (/** @type {Pair} */ [x, y], /** @type {number} */ by) =>
    /** @type {Pair} */ ([middle[0] + (x - middle[0]) * by, middle[1] + (y - middle[1]) * by]);
  const place = (/** @type {Pair} */ [x, y], /** @type {number} */ byX, /** @type {number} */ byY) =>
    /** @type {Pair} */ ([x + byX, y + byY]);
  // keys that move by one arrow add the same to all scores of a row; a query that moves does not
  const scores = Array.from(arrays.scores.data, (score, i) => {
    const [x, y] = pair("along", i);
    return score + (dx * x + dy * y) / factor;
  });
  return {
    queries: queries.map((query) => place(about(query, factor), dx, dy)),
    keys: moved.map((key) => place(about(key, 1 / factor), kx, ky)),
    weights: softmax(scores),
  };
}

/** How far a cloud was moved by hand. @returns {Pair} */
function offset(/** @type {Frame} */ { set }, /** @type {string} */ cloud) {
  return [set[`${cloud}_x`] ?? 0, set[`${cloud}_y`] ?? 0];
}

/** @returns {Pair} */
function middleOf(/** @type {readonly Pair[]} */ points) {
  const sum = points.reduce(([x, y], [px, py]) => [x + px, y + py], /** @type {Pair} */ ([0, 0]));
  return [sum[0] / points.length, sum[1] / points.length];
}

function softmax(/** @type {readonly number[]} */ scores) {
  const most = Math.max(...scores);
  const exps = scores.map((score) => Math.exp(score - most));
  const sum = exps.reduce((all, value) => all + value, 0);
  return exps.map((value) => value / sum);
}

/** Pixels for a unit, so that everything has room before and after. */
function scaleOf(/** @type {Frame} */ { arrays, width }) {
  const side = sideOf(width);
  const all = [...arrays.queries.data, ...arrays.keys.data].map(Math.abs);
  return { side, scale: (side / 2 - 12) / (1.1 * Math.max(...all)) };
}

/** @returns {Pair} */
function pixel(/** @type {Frame} */ frame, /** @type {Pair} */ [x, y]) {
  const { side, scale } = scaleOf(frame);
  const inside = (/** @type {number} */ at) => Math.max(4, Math.min(side - 4, at));
  return [inside(side / 2 + x * scale), inside(side / 2 - y * scale)];
}

/** A query is a disc, a key a square: not by colour alone. */
function dot(
  /** @type {Frame} */ frame,
  /** @type {Pair} */ point,
  /** @type {string} */ colour,
  /** @type {boolean} */ isDisc,
) {
  const [x, y] = pixel(frame, point);
  if (isDisc) return disc(frame, [x, y], DOT, colour);
  frame.ctx.fillStyle = colour;
  frame.ctx.fillRect(x - DOT, y - DOT, 2 * DOT, 2 * DOT);
}

/** The name of a point, beside it on the side where there is room. */
function name(
  /** @type {Frame} */ frame,
  /** @type {Pair} */ point,
  /** @type {string} */ text,
  /** @type {string} */ colour,
) {
  const [x, y] = pixel(frame, point);
  const isRight = x < sideOf(frame.width) * 0.7;
  const align = /** @type {CanvasTextAlign} */ (isRight ? "left" : "right");
  write(frame, text, { x: x + (isRight ? 9 : -9), y: y - 9, size: 13, weight: 700, colour, align });
}

function sideOf(/** @type {number} */ width) {
  return Math.min(360, Math.round(width * 0.6));
}
