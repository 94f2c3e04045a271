// @ts-check
// A strip: on one line the dots of all pairs, their mean with its interval, and the control; and the axis above all strips.

import { fmtFixed, withPercent } from "../shared/fmt.js";
import { svg, svgText } from "../shared/svg.js";

/** @import { Arrays, Header } from "./types.js" */

const HEIGHT = 26;
const AXIS_PX = 34;
const PAD = 6;
const STEPS = [1, 2, 5];

/** @typedef {{x: (value: number) => number, ticks: number[], width: number}} Scale */

/**
 * One scale for all rows and slots, with 0 on it.
 * @param {Arrays} arrays
 * @param {number} width
 * @returns {Scale}
 */
export function scaleOf(arrays, width) {
  const all = [arrays.values, arrays.low, arrays.high, ...(arrays.control ? [arrays.control] : [])];
  let [least, most] = [0, 0];
  for (const { data } of all)
    for (let at = 0; at < data.length; at++) {
      if (data[at] < least) least = data[at];
      if (data[at] > most) most = data[at];
    }
  if (most - least < 1e-9) most = least + 1;
  const x = (/** @type {number} */ value) => PAD + ((width - 2 * PAD) * (value - least)) / (most - least);
  const wanted = (most - least) / Math.max(2, width / 70);
  const ten = 10 ** Math.floor(Math.log10(wanted));
  const step = ten * (STEPS.find((one) => ten * one >= wanted) ?? 10);
  const first = Math.ceil(least / step);
  const ticks = Array.from({ length: Math.floor(most / step) - first + 1 }, (_, at) => (first + at) * step);
  return { x, ticks, width };
}

/** The numbers of the scale, below the name of a slot. */
export function makeAxis(
  /** @type {Scale} */ { x, ticks, width },
  /** @type {string} */ name,
  /** @type {boolean} */ share,
) {
  const digits = Math.max(0, -Math.floor(Math.log10(Math.abs(ticks[1] - ticks[0] || 1)) + 1e-9));
  const text = (/** @type {number} */ tick) =>
    share ? withPercent(fmtFixed(100 * tick, 0)) : fmtFixed(tick, Math.min(3, digits));
  const top = (name ? AXIS_PX : AXIS_PX / 2) - 4;
  const marks = ticks.map((tick) => svgText("av-pairs-tick", text(tick), x(tick), top));
  // a number at an end of the axis is written inwards
  marks.forEach((mark, at) => {
    const room = 3.5 * text(ticks[at]).length;
    const [left, right] = [x(ticks[at]) < room, x(ticks[at]) > width - room];
    if (left || right) mark.style.textAnchor = left ? "start" : "end";
  });
  const drawing = svg("svg", { width, height: top + 4, "aria-hidden": "true" }, ...marks);
  if (name) drawing.append(svgText("av-pairs-slot", name, PAD, 12));
  return drawing;
}

/**
 * @param {Scale} scale
 * @param {Header} header
 * @param {Arrays} arrays
 * @param {number} row
 * @param {number} slot
 */
export function makeStrip({ x, width }, header, arrays, row, slot) {
  const [n, count] = [Math.max(1, header.slots.length), header.texts.length];
  const cell = row * n + slot;
  const values = Array.from(arrays.values.data.slice(cell * count, (cell + 1) * count));
  const [mean, low, high] = [arrays.mean, arrays.low, arrays.high].map(({ data }) => x(data[cell]));
  const middle = HEIGHT / 2;
  const dots = values
    .map((value, at) => [x(value), middle + ((at * 7) % 9) - 4])
    .filter(([left]) => !Number.isNaN(left));
  const drawing = svg(
    "svg",
    { class: "av-pairs-strip", width, height: HEIGHT, "aria-hidden": "true" },
    svg("line", { class: "av-pairs-zero", x1: x(0), x2: x(0), y1: 0, y2: HEIGHT }),
    svg("path", {
      class: "av-pairs-dots",
      d: dots.map(([left, top]) => `M${left.toFixed(1)} ${top}h0`).join(""),
    }),
    svg("line", { class: "av-pairs-interval", x1: low, x2: high, y1: middle, y2: middle }),
    ...[low, high].map((end) =>
      svg("line", { class: "av-pairs-interval", x1: end, x2: end, y1: middle - 5, y2: middle + 5 }),
    ),
    svg("rect", { class: "av-pairs-mean", x: mean - 3.5, y: middle - 3.5, width: 7, height: 7 }),
  );
  if (arrays.control) {
    const at = x(arrays.control.data[cell]);
    drawing.append(svg("path", { class: "av-pairs-control", d: `M${at} ${middle - 5}l5 5l-5 5l-5 -5z` }));
  }
  return drawing;
}
