// @ts-check
// The kept edges as a drawing: words at the left, the answer at the right, heads and MLPs in the order in which they run.

import { svg, svgText } from "../shared/svg.js";

/** @import { Header } from "./types.js" */

const COLUMN = 78;
const ROW = 30;
const BOX = { width: 52, height: 20 };
const PAD = 8;
const PORT = { q: -5, k: 0, v: 5 };

/** The class of an edge by the input that it ends in. */
export function sideClass(/** @type {"q" | "k" | "v" | null} */ side) {
  return `av-cut-${side ?? "other"}`;
}

/** The first `n` edges. */
export function drawEdges(/** @type {Header} */ header, /** @type {number} */ n) {
  const { columns, edges, strings } = header;
  const most = Math.max(1e-9, ...edges.map(({ change }) => Math.abs(change)));
  const tallest = Math.max(...columns.map((column) => column.length));
  const height = 2 * PAD + tallest * ROW;
  /** @type {Map<string, {x: number, y: number}>} */
  const places = new Map();
  columns.forEach((column, at) =>
    column.forEach((name, row) =>
      places.set(name, { x: PAD + at * COLUMN, y: height / 2 + (row - (column.length - 1) / 2) * ROW }),
    ),
  );
  const kept = edges.slice(0, n);
  const used = new Set(kept.flatMap(({ sender, receiver }) => [sender, receiver]));
  const title = `${strings.graph}${n > edges.length ? `. ${strings.drawn.replace("{n}", String(edges.length))}` : ""}`;
  return svg(
    "svg",
    {
      class: "av-cut-graph",
      width: 2 * PAD + (columns.length - 1) * COLUMN + BOX.width,
      height,
      role: "img",
      "aria-label": title,
    },
    ...kept.flatMap((edge) => {
      const [from, to] = [places.get(edge.sender), places.get(edge.receiver)];
      return from && to ? [curve(edge, from, to, most)] : [];
    }),
    ...[...places].map(([name, place]) => box(header, name, place, used.has(name))),
  );
}

/**
 * @param {Header["edges"][number]} edge
 * @param {{x: number, y: number}} from
 * @param {{x: number, y: number}} to
 * @param {number} most
 */
function curve(edge, from, to, most) {
  const [x1, y1] = [from.x + BOX.width, from.y];
  const [x2, y2] = [to.x, to.y + (edge.side ? PORT[edge.side] : 0)];
  const reach = (x2 - x1) / 2;
  const bow = Math.abs(y2 - y1) < 1 && x2 - x1 > COLUMN ? -ROW * Math.min(2.2, (x2 - x1) / (2 * COLUMN)) : 0;
  const path = svg("path", {
    class: `av-cut-edge ${sideClass(edge.side)}`,
    d: `M${x1},${y1} C${x1 + reach},${y1 + bow} ${x2 - reach},${y2 + bow} ${x2},${y2}`,
  });
  path.style.strokeWidth = `${1 + 4 * Math.sqrt(Math.abs(edge.change) / most)}px`;
  return path;
}

/**
 * @param {Header} header
 * @param {string} name
 * @param {{x: number, y: number}} place
 * @param {boolean} isUsed
 */
function box({ strings }, name, { x, y }, isUsed) {
  const label = name === "embeddings" ? strings.embeddings : name === "answer" ? strings.answer : name;
  return svg(
    "g",
    { class: `av-cut-node${isUsed ? " av-cut-used" : ""}` },
    svg("rect", { x, y: y - BOX.height / 2, width: BOX.width, height: BOX.height, rx: 5 }),
    svgText("av-cut-name", label, x + BOX.width / 2, y + 4),
  );
}
