// @ts-check
// A training in time-lapse: what two heads attend to at each moment that was kept, and the curves of their scores. In: the
// weights of both heads for each moment, curves over the steps, the letters, the names of heads and curves.

import { colourAt, levelFor } from "../shared/colors.js";
import { fmtFixed } from "../shared/fmt.js";
import { between } from "../shared/scenes.js";
import { line, lineColour, write } from "./draw.js";

/** @import { Film, Frame } from "./draw.js" */

const TITLE = 22;
const CURVES = 120;
const GAP = 34;
const LEGEND = 20;
const RIGHT = 46; // of the curves, for the numbers of the axis

/** @type {Film} */
export const TRAINING = {
  height: (_, arrays, width) =>
    TITLE +
    sideOf(width) +
    GAP +
    CURVES +
    24 +
    LEGEND * Math.ceil(arrays.curves.shape[0] / legendColumns(width)),
  paint(frame) {
    const { header, arrays, width, theme } = frame;
    const steps = arrays.steps.data;
    const moment = momentNow(frame);
    const side = sideOf(width);
    ["previous", "induction"].forEach((name, i) => {
      const x = i * (side + 20);
      write(frame, header.labels.heads[i], { x, y: 9, size: 13, weight: 600, room: side });
      paintHead(frame, name, { x, y: TITLE, side }, moment);
    });
    const at = Math.round(moment);
    const title = `${header.labels.step[0]} ${steps[at]}`;
    write(frame, title, { x: 0, y: TITLE + side + 16, size: 15, weight: 700, colour: theme.primary });
    paintCurves(frame, TITLE + side + GAP, moment);
  },
  grips(frame) {
    const { arrays, width, header } = frame;
    const steps = arrays.steps.data;
    const last = steps.length - 1;
    const at = Math.round(momentNow(frame));
    const right = width - RIGHT;
    const end = steps[last] || 1;
    const nearest = (/** @type {number} */ step) => {
      const ways = Array.from(steps, (other) => Math.abs(other - step));
      return ways.indexOf(Math.min(...ways));
    };
    return [
      {
        handle: "moment",
        at: [(steps[at] / end) * right, TITLE + sideOf(width) + GAP + CURVES],
        text: `${header.labels.step[0]} ${steps[at]}`,
        to: ([x]) => ({ moment: nearest((x / right) * end) }),
        by: ([x, y]) => ({ moment: Math.max(0, Math.min(last, at + x + y)) }),
      },
    ];
  },
};

/** The moment that is shown, among those that were kept. */
function momentNow(/** @type {Frame} */ { arrays, linear, set }) {
  return set.moment ?? between(0, arrays.steps.data.length - 1, linear("training"));
}

/**
 * The weights of a head between two moments.
 * @param {Frame} frame
 * @param {string} name
 * @param {{x: number, y: number, side: number}} box
 * @param {number} moment
 */
function paintHead({ ctx, arrays, header, lut }, name, { x, y, side }, moment) {
  const n = header.labels.letters.length;
  const { data } = arrays[name];
  const last = data.length / (n * n) - 1;
  const before = Math.min(Math.floor(moment), last);
  const after = Math.min(before + 1, last);
  const size = side / n;
  for (let i = 0; i < n * n; i++) {
    const weight = between(data[before * n * n + i], data[after * n * n + i], moment - before);
    ctx.fillStyle = colourAt(lut, levelFor(weight, "sqrt"));
    ctx.fillRect(x + (i % n) * size, y + Math.floor(i / n) * size, size - 0.5, size - 0.5);
  }
}

/** The curves up to a moment, from 0 to 1, with their numbers there. */
function paintCurves(/** @type {Frame} */ frame, /** @type {number} */ top, /** @type {number} */ moment) {
  const { arrays, header, width, theme } = frame;
  const steps = arrays.steps.data;
  const right = width - RIGHT;
  const [k, n] = arrays.curves.shape;
  const end = steps[n - 1] || 1;
  for (const value of [0, 0.5, 1]) {
    const y = top + CURVES * (1 - value);
    line(frame, [[0, y], [right, y]], theme.faint, 1); // prettier-ignore
    write(frame, fmtFixed(value, 1), { x: width, y, size: 12, align: "right", colour: theme.muted });
  }
  const whole = Math.floor(moment);
  for (let curve = 0; curve < k; curve++) {
    const value = (/** @type {number} */ i) => arrays.curves.data[curve * n + Math.min(i, n - 1)];
    const point = (/** @type {number} */ i, /** @type {number} */ size) =>
      /** @type {[number, number]} */ ([(i / end) * right, top + CURVES * (1 - size)]);
    const points = Array.from({ length: whole + 1 }, (_, i) => point(steps[i], value(i)));
    const part = moment - whole;
    const step = between(steps[whole], steps[Math.min(whole + 1, n - 1)], part);
    points.push(point(step, between(value(whole), value(whole + 1), part)));
    line(frame, points, lineColour(frame, curve), 2.5);
    const name = `${header.labels.curves[curve]} ${fmtFixed(value(Math.round(moment)), 2)}`;
    const beside = legendColumns(width);
    const room = width / beside;
    const place = { x: (curve % beside) * room, y: top + CURVES + 24 + LEGEND * Math.floor(curve / beside) };
    write(frame, name, { ...place, size: 13, weight: 600, colour: lineColour(frame, curve), room: room - 8 });
  }
}

function legendColumns(/** @type {number} */ width) {
  return width < 520 ? 1 : 2;
}

function sideOf(/** @type {number} */ width) {
  return Math.min(220, Math.floor((width - 20) / 2));
}
