// @ts-check
// All heads as points on two measures, with the interval of the chosen one and of the one under the pointer.

import { dataAt, elementAt } from "../shared/dom.js";
import { fmtReal } from "../shared/fmt.js";
import { svg, svgText } from "../shared/svg.js";

/** @import { Arrays, Header } from "./types.js" */

const HEIGHT = 430;
const MARGIN = { left: 56, right: 16, top: 12, bottom: 44 };
const RADIUS = 7;
const TICKS = 5;
const [LOW, MEAN, HIGH] = [0, 1, 2];

/** Where a head is, in pixels; null where no text has one of the measures. @typedef {{x: number, y: number, ends: [number, number, number, number]}} Spot */
/**
 * @typedef {{node: SVGSVGElement, mark: (chosen: number, hovered: number | null) => void,
 *   labelAll: (labelOf: (head: number) => string) => void}} Scatter
 */

/**
 * @param {Header} header
 * @param {Arrays} arrays
 * @param {number} width
 * @param {{chose: (head: number) => void, pointed: (head: number | null) => void}} events
 * @returns {Scatter}
 */
export function makeScatter(header, arrays, width, events) {
  const [x, y] = [0, 1].map((axis) => rangeOf(arrays.points.data, axis));
  const inner = { width: width - MARGIN.left - MARGIN.right, height: HEIGHT - MARGIN.top - MARGIN.bottom };
  const left = (/** @type {number} */ value) =>
    MARGIN.left + ((value - x.low) / (x.high - x.low)) * inner.width;
  const top = (/** @type {number} */ value) =>
    MARGIN.top + (1 - (value - y.low) / (y.high - y.low)) * inner.height;
  const spots = header.heads.map((_, head) => spotOf(arrays.points.data, head, left, top));
  const intervals = svg("g", { class: "av-atlas-intervals" });
  const names = svg("g", {});
  const dots = svg("g", {});
  spots.forEach((spot, head) => spot && dots.append(makeDot(header, arrays, head, spot)));
  const node = svg(
    "svg",
    {
      class: "av-atlas-graph",
      width,
      height: HEIGHT,
      viewBox: `0 0 ${width} ${HEIGHT}`,
      role: "group",
      "data-drawn": "1",
    },
    ...axisNodes(header.axes, x, y, left, top, width),
    intervals,
    dots,
    names,
  );
  node.setAttribute("aria-label", header.strings.graph);
  listen(node, spots, events);
  return {
    node,
    mark(chosen, hovered) {
      const shown = [...new Set([chosen, hovered])].filter((head) => head !== null);
      intervals.replaceChildren(...shown.flatMap((head) => intervalNodes(spots[head])));
      names.replaceChildren(...shown.flatMap((head) => nameNodes(header, head, spots[head], width)));
      for (const dot of dots.children) {
        const isChosen = Number(dot.getAttribute("data-head")) === chosen;
        dot.setAttribute("aria-pressed", String(isChosen));
        dot.setAttribute("tabindex", isChosen ? "0" : "-1");
      }
    },
    labelAll(labelOf) {
      for (const dot of dots.children)
        dot.setAttribute("aria-label", labelOf(Number(dot.getAttribute("data-head"))));
    },
  };
}

/** The values of one axis with a little room around them. */
function rangeOf(/** @type {Float32Array} */ points, /** @type {number} */ axis) {
  const means = [];
  for (let at = 3 * axis + MEAN; at < points.length; at += 6)
    if (Number.isFinite(points[at])) means.push(points[at]);
  const [low, high] = [Math.min(...means), Math.max(...means)];
  const room = 0.06 * (high - low || 1);
  return { low: Math.max(0, low - room), high: high + room };
}

/** @returns {Spot | null} */
function spotOf(
  /** @type {Float32Array} */ points,
  /** @type {number} */ head,
  /** @type {(value: number) => number} */ left,
  /** @type {(value: number) => number} */ top,
) {
  const [across, up] = [points.subarray(6 * head, 6 * head + 3), points.subarray(6 * head + 3, 6 * head + 6)];
  if (!Number.isFinite(across[MEAN]) || !Number.isFinite(up[MEAN])) return null;
  return {
    x: left(across[MEAN]),
    y: top(up[MEAN]),
    ends: [left(across[LOW]), left(across[HIGH]), top(up[LOW]), top(up[HIGH])],
  };
}

function makeDot(
  /** @type {Header} */ { heads },
  /** @type {Arrays} */ { family },
  /** @type {number} */ head,
  /** @type {Spot} */ { x, y },
) {
  const place = family.data[head];
  return svg("circle", {
    class: `av-atlas-dot av-atlas-family-${place === 255 ? "none" : place % 8}`,
    cx: x.toFixed(1),
    cy: y.toFixed(1),
    r: RADIUS,
    role: "button",
    tabindex: -1,
    "data-head": head,
    "data-name": `L${heads[head].layer}.H${heads[head].head}`,
  });
}

function intervalNodes(/** @type {Spot | null} */ spot) {
  if (!spot || !spot.ends.every(Number.isFinite)) return [];
  const { x, y, ends } = spot;
  const line = (/** @type {Record<string, number>} */ at) =>
    svg("line", { class: "av-atlas-interval", ...at });
  return [line({ x1: ends[0], x2: ends[1], y1: y, y2: y }), line({ x1: x, x2: x, y1: ends[2], y2: ends[3] })];
}

function nameNodes(
  /** @type {Header} */ { heads },
  /** @type {number} */ head,
  /** @type {Spot | null} */ spot,
  /** @type {number} */ width,
) {
  if (!spot) return [];
  const isLeft = spot.x > width - 90;
  const name = svgText(
    "av-atlas-name",
    `L${heads[head].layer}.H${heads[head].head}`,
    spot.x + (isLeft ? -11 : 11),
    spot.y - 9,
  );
  name.setAttribute("text-anchor", isLeft ? "end" : "start");
  return [name];
}

function axisNodes(
  /** @type {[string, string]} */ [across, up],
  /** @type {{low: number, high: number}} */ x,
  /** @type {{low: number, high: number}} */ y,
  /** @type {(value: number) => number} */ left,
  /** @type {(value: number) => number} */ top,
  /** @type {number} */ width,
) {
  const [bottom, start] = [HEIGHT - MARGIN.bottom, MARGIN.left];
  const nodes = [];
  for (const value of ticks(x)) {
    nodes.push(
      svg("line", { class: "av-atlas-grid", x1: left(value), x2: left(value), y1: MARGIN.top, y2: bottom }),
    );
    nodes.push(svgText("av-atlas-tick av-atlas-middle", fmtReal(value), left(value), bottom + 16));
  }
  for (const value of ticks(y)) {
    nodes.push(
      svg("line", {
        class: "av-atlas-grid",
        x1: start,
        x2: width - MARGIN.right,
        y1: top(value),
        y2: top(value),
      }),
    );
    nodes.push(svgText("av-atlas-tick av-atlas-end", fmtReal(value), start - 7, top(value) + 4));
  }
  const middle = (MARGIN.top + bottom) / 2;
  const upward = svgText("av-atlas-axis", up, 0, 0);
  upward.setAttribute("transform", `translate(13 ${middle}) rotate(-90)`);
  return [...nodes, svgText("av-atlas-axis", across, (start + width) / 2, HEIGHT - 8), upward];
}

/** Round numbers within a range. */
function ticks(/** @type {{low: number, high: number}} */ { low, high }) {
  const rough = (high - low) / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough;
  const first = Math.ceil(low / step);
  const count = Math.floor(high / step) - first + 1;
  return Array.from({ length: count }, (_, i) => Number(((first + i) * step).toPrecision(6)));
}

/** @param {SVGSVGElement} node @param {readonly (Spot | null)[]} spots @param {{chose: (head: number) => void, pointed: (head: number | null) => void}} events */
function listen(node, spots, events) {
  const headAt = (/** @type {Event} */ event) => {
    const name = elementAt(event)?.getAttribute("data-head") ?? dataAt(event, "head");
    return name === null || name === undefined ? null : Number(name);
  };
  node.addEventListener("click", (event) => {
    const head = headAt(event);
    if (head !== null) events.chose(head);
  });
  for (const type of /** @type {const} */ (["pointerover", "focusin"]))
    node.addEventListener(type, (event) => events.pointed(headAt(event)));
  for (const type of /** @type {const} */ (["pointerleave", "focusout"]))
    node.addEventListener(type, () => events.pointed(null));
  node.addEventListener("keydown", (event) => {
    const head = headAt(event);
    if (head === null) return;
    if (event.key === "Enter" || event.key === " ") events.chose(head);
    else {
      const next = nearestSpot(spots, head, event.key);
      const dot = next === null ? null : node.querySelector(`[data-head="${next}"]`);
      if (!(dot instanceof SVGElement)) return;
      dot.focus({ preventScroll: true });
    }
    event.preventDefault();
    event.stopPropagation();
  });
}

/** The nearest point in the direction of an arrow key. @returns {number | null} */
function nearestSpot(
  /** @type {readonly (Spot | null)[]} */ spots,
  /** @type {number} */ from,
  /** @type {string} */ key,
) {
  const here = spots[from];
  const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  if (!here || !way) return null;
  let [best, found] = [Infinity, /** @type {number | null} */ (null)];
  spots.forEach((spot, head) => {
    if (!spot || head === from) return;
    const [dx, dy] = [spot.x - here.x, spot.y - here.y];
    const [ahead, aside] = [dx * way[0] + dy * way[1], Math.abs(dx * way[1]) + Math.abs(dy * way[0])];
    const distance = ahead + 2 * aside;
    if (ahead > 0 && distance < best) [best, found] = [distance, head];
  });
  return found;
}
