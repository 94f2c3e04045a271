// @ts-check
// The curves: how much of the answer so many edges keep, and how much is left without them, beside random edges.

import { el } from "../shared/dom.js";
import { fmtFixed, withPercent } from "../shared/fmt.js";
import { svg, svgText } from "../shared/svg.js";

/** @import { Arrays, Header } from "./types.js" */

const HEIGHT = 190;
const PAD = { left: 40, right: 12, top: 10, bottom: 24 };
const [LEAST, MOST] = [-0.2, 1.2];
const TICKS = [0, 0.5, 1];
const TICK_PX = 34;

/**
 * @param {Header} header
 * @param {Arrays} arrays
 * @param {number} at the point that is marked
 * @param {number} width
 */
export function makeCurve(header, arrays, at, width) {
  const { points, strings } = header;
  const n = points.length;
  const x = (/** @type {number} */ point) =>
    PAD.left + ((width - PAD.left - PAD.right) * point) / Math.max(1, n - 1);
  const y = (/** @type {number} */ share) => {
    const part = (Math.min(MOST, Math.max(LEAST, share)) - LEAST) / (MOST - LEAST);
    return HEIGHT - PAD.bottom - part * (HEIGHT - PAD.bottom - PAD.top);
  };
  const line = (/** @type {string} */ name, /** @type {ArrayLike<number>} */ data, start = 0) =>
    svg("polyline", {
      class: name,
      points: points.map((_, point) => `${x(point)},${y(data[start + point])}`).join(" "),
    });
  const draws = (/** @type {{data: ArrayLike<number>}} */ { data }) =>
    Array.from({ length: data.length / n }, (_, draw) => line("av-cut-random", data, draw * n));
  const every = Math.ceil((n * TICK_PX) / Math.max(TICK_PX, width - PAD.left));
  const drawing = svg(
    "svg",
    { class: "av-cut-svg", width, height: HEIGHT, role: "img", "aria-label": strings.curve },
    ...TICKS.flatMap((share) => [
      svg("line", { class: "av-cut-grid", x1: PAD.left, x2: width - PAD.right, y1: y(share), y2: y(share) }),
      svgText("av-cut-tick av-cut-tick-y", withPercent(fmtFixed(100 * share, 0)), PAD.left - 6, y(share) + 4),
    ]),
    ...points.flatMap((count, point) =>
      point % every ? [] : [svgText("av-cut-tick av-cut-tick-x", String(count), x(point), HEIGHT - 8)],
    ),
    ...draws(arrays.random_faithful),
    ...draws(arrays.random_complete),
    line("av-cut-gone", arrays.complete.data),
    line("av-cut-kept", arrays.faithful.data),
    svg("line", { class: "av-cut-at", x1: x(at), x2: x(at), y1: PAD.top, y2: HEIGHT - PAD.bottom }),
    svg("circle", { class: "av-cut-dot", cx: x(at), cy: y(arrays.faithful.data[at]), r: 4 }),
    svg("circle", { class: "av-cut-dot av-cut-dot-gone", cx: x(at), cy: y(arrays.complete.data[at]), r: 4 }),
  );
  const legend = /** @type {const} */ (["kept", "cut", "random"]).map((name) =>
    el("span", { class: `av-cut-line av-cut-line-${name}` }, strings[`line_${name}`]),
  );
  return el(
    "figure",
    {},
    el("figcaption", { class: "av-note" }, strings.curve),
    drawing,
    el("p", { class: "av-note av-row" }, ...legend),
  );
}
