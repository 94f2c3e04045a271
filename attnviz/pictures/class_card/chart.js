// @ts-check
// A card's chart as a drawing: lines or bars over one axis, told apart by dashes and fill as well as colour.

import { svg } from "../shared/svg.js";
import { el } from "../shared/dom.js";
import { fmtList, fmtShort } from "../shared/fmt.js";

/** @import { CardChart, ChartLine } from "./types.js" */
/** @typedef {{low: number, high: number, at: (value: number) => number, ticks: number[]}} Scale */

const [WIDTH, HEIGHT] = [560, 300];
const [LEFT, RIGHT, TOP, BOTTOM] = [58, 12, 10, 52];
const DASHES = ["none", "8 5", "2 4", "10 4 2 4"];
const MARGIN = 0.04; // of the height, above the highest line
const N_TICKS = 5;
const BAR_SHARE = 0.8;

/** The chart with its key below. */
export function chartNode(/** @type {CardChart} */ chart) {
  const [x, y] = scales(chart);
  const parts = [
    ...axes(chart, x, y),
    ...chart.lines.flatMap((line, place) => drawn(chart, line, place, x, y)),
  ];
  if (chart.marked_x !== null) {
    const at = x.at(chart.marked_x);
    parts.push(svg("path", { class: "cc-marked", d: `M${at} ${TOP}V${HEIGHT - BOTTOM}` }));
  }
  const label = `${chart.y} · ${chart.x}: ${fmtList(chart.lines.map((line) => line.label))}`;
  const drawing = svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label },
    ...parts,
  );
  return el("figure", { class: "cc-chart" }, drawing, key(chart));
}

/** @returns {[Scale, Scale]} */
function scales(/** @type {CardChart} */ { lines, bars, log_x: isLog }) {
  const xs = lines.flatMap((line) => line.x);
  const ys = lines.flatMap((line) => line.y).filter((value) => value !== null);
  const pad = bars && !isLog ? 0.6 : 0;
  const low = Math.min(...ys, ...(bars ? [0] : []));
  const high = Math.max(...ys, ...(bars ? [0] : []));
  const [least, most] = ys.length ? [low, high] : [0, 1]; // before the answer it has no lines
  const top = most + MARGIN * (most - least || 1);
  return [
    scale(Math.min(...xs) - pad, Math.max(...xs) + pad, LEFT, WIDTH - RIGHT, isLog),
    scale(least, top, HEIGHT - BOTTOM, TOP, false),
  ];
}

/**
 * @param {number} first
 * @param {number} last
 * @param {number} start
 * @param {number} stop
 * @param {boolean} isLog
 * @returns {Scale}
 */
function scale(first, last, start, stop, isLog) {
  const inner = (/** @type {number} */ value) => (isLog ? Math.log10(value) : value);
  let [low, high] = [inner(first), inner(last)];
  if (low === high) [low, high] = [low - 0.5, high + 0.5];
  const at = (/** @type {number} */ value) => start + ((inner(value) - low) / (high - low)) * (stop - start);
  const step = isLog && high - low >= 1 ? 1 : roundStep((high - low) / N_TICKS);
  const n = Math.floor(high / step + 1e-9) - Math.ceil(low / step - 1e-9) + 1;
  const ticks = Array.from({ length: n }, (_, place) => (Math.ceil(low / step - 1e-9) + place) * step);
  return { low, high, at, ticks: isLog ? ticks.map((tick) => 10 ** tick) : ticks };
}

function roundStep(/** @type {number} */ rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5, 10].find((step) => power * step >= rough * 0.999) ?? 10);
}

function axes(/** @type {CardChart} */ chart, /** @type {Scale} */ x, /** @type {Scale} */ y) {
  const [bottom, right] = [HEIGHT - BOTTOM, WIDTH - RIGHT];
  const text = (/** @type {Record<string, string | number>} */ props, /** @type {string} */ words) =>
    svg("text", props, document.createTextNode(words));
  return [
    ...y.ticks.map((tick) => svg("path", { class: "cc-grid", d: `M${LEFT} ${y.at(tick)}H${right}` })),
    svg("path", { class: "cc-axis", d: `M${LEFT} ${TOP}V${bottom}H${right}` }),
    ...x.ticks.map((tick) => text({ x: x.at(tick), y: bottom + 18, "text-anchor": "middle" }, short(tick))),
    ...y.ticks.map((tick) => text({ x: LEFT - 6, y: y.at(tick) + 5, "text-anchor": "end" }, short(tick))),
    text({ x: (LEFT + right) / 2, y: HEIGHT - 10, "text-anchor": "middle" }, chart.x),
    text({ transform: `translate(14 ${(TOP + bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, chart.y),
  ];
}

/**
 * A line, or its bars beside those of the other lines.
 * @param {CardChart} chart
 * @param {ChartLine} line
 * @param {number} place
 * @param {Scale} x
 * @param {Scale} y
 */
function drawn(chart, line, place, x, y) {
  if (!chart.bars)
    return [
      svg("path", {
        class: `cc-line cc-series-${place % 4}`,
        d: way(line, x, y),
        "stroke-dasharray": DASHES[place % 4],
      }),
    ];
  const slot = (WIDTH - LEFT - RIGHT) / Math.max(...chart.lines.map((one) => one.x.length));
  const width = (BAR_SHARE * slot) / chart.lines.length;
  return line.x.flatMap((value, i) => {
    const height = line.y[i];
    if (height === null) return [];
    const [top, base] = [y.at(Math.max(height, 0)), y.at(Math.min(height, 0))];
    const left = x.at(value) - (BAR_SHARE / 2) * slot + place * width;
    return [
      svg("rect", { class: `cc-bar cc-series-${place % 4}`, x: left, y: top, width, height: base - top }),
    ];
  });
}

function way(/** @type {ChartLine} */ line, /** @type {Scale} */ x, /** @type {Scale} */ y) {
  let pen = "M";
  return line.x
    .map((value, i) => {
      const height = line.y[i];
      const step = height === null ? "" : `${pen}${x.at(value).toFixed(1)} ${y.at(height).toFixed(1)}`;
      pen = height === null ? "M" : "L";
      return step;
    })
    .join("");
}

function key(/** @type {CardChart} */ { lines, bars }) {
  const sign = (/** @type {number} */ place) =>
    svg(
      "svg",
      { viewBox: "0 0 30 10", width: 30, height: 10, "aria-hidden": "true" },
      bars
        ? svg("rect", { class: `cc-bar cc-series-${place % 4}`, width: 30, height: 10 })
        : svg("path", {
            class: `cc-line cc-series-${place % 4}`,
            d: "M0 5H30",
            "stroke-dasharray": DASHES[place % 4],
          }),
    );
  return el("figcaption", {}, ...lines.map((line, place) => el("span", {}, sign(place), ` ${line.label}`)));
}

function short(/** @type {number} */ value) {
  return fmtShort(value, 4);
}
