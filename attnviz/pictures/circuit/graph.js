// @ts-check
// The graph, where the paths stand alone: a line for the heads that run together, a box for each head, and the arrows of
// `shared/head_paths.js`. On the page of the switches these take the place of the boxes.

import { dataAt } from "../shared/dom.js";
import { markPaths, pathNodes } from "../shared/head_paths.js";
import { svg, svgText } from "../shared/svg.js";

/** @import { HeadPath } from "../shared/head_paths.js" */
/** @import { CircuitColumn, CircuitHead } from "./types.js" */

const NODE = { width: 34, height: 20 };
const ROW = { least: 44, most: 84 };
const HEIGHT = 320; // of the lines, where there are few
const COLUMN = { least: NODE.width + 14, most: 120 };
const NAME = 34; // the place of a layer's name
const NAMED = 92; // where the name of an attention stands above it
const LINE = 14;

/** A head's place. @typedef {CircuitHead & {line: number, x: number, y: number, width: number, height: number}} Spot */
/**
 * @typedef {{chose: (id: string) => void, pointed: (id: string | null) => void}} GraphEvents
 * @typedef {{node: SVGSVGElement, spots: Map<string, Spot>,
 *   draw: (paths: readonly HeadPath[], most: number, readable: readonly HeadPath[]) => void,
 *   mark: (marks: {chosen: string, pointed: string | null, labelOf: (name: string) => string}) => void}} Graph
 */

/** @param {readonly CircuitColumn[]} columns @param {number} room @param {string} label @param {GraphEvents} events @returns {Graph} */
export function makeGraph(columns, room, label, events) {
  const names = columns.some(({ group }) => group) ? NAMED : NAME;
  const most = Math.max(...columns.map(({ heads }) => heads.length));
  const step = Math.max(COLUMN.least, Math.min(COLUMN.most, Math.floor((room - names) / most)));
  const row = Math.max(ROW.least, Math.min(ROW.most, Math.floor(HEIGHT / columns.length)));
  const spots = placeHeads(columns, names, step, row);
  const [width, height] = [names + step * most, columns.length * row];
  const edges = svg("g", {});
  const nodes = svg("g", {}, ...[...spots.values()].map(makeNode));
  const titles = columns.flatMap((column, line) => makeTitle(column, line * row + row / 2));
  const node = svg(
    "svg",
    {
      class: "av-circuit-graph",
      "data-drawn": "1",
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "group",
      "aria-label": label,
    },
    ...titles,
    edges,
    nodes,
  );
  listen(node, spots, columns, events);
  nodes.firstElementChild?.setAttribute("tabindex", "0");
  return {
    node,
    spots,
    draw: (paths, strongest, readable) =>
      edges.replaceChildren(...pathNodes(paths, spots, { most: strongest, readable })),
    mark: (marks) => markAll(node, marks),
  };
}

/**
 * @param {readonly CircuitColumn[]} columns
 * @param {number} names the room for the names of layers
 * @param {number} step
 * @param {number} row
 * @returns {Map<string, Spot>}
 */
function placeHeads(columns, names, step, row) {
  /** @type {Map<string, Spot>} */
  const spots = new Map();
  columns.forEach(({ heads }, line) =>
    heads.forEach((head, place) => {
      const [x, y] = [names + place * step + step / 2, line * row + row / 2];
      spots.set(head.name, { ...head, ...NODE, line, x, y });
    }),
  );
  return spots;
}

/** A line's layer, and above it its attention where there are several. */
function makeTitle(/** @type {CircuitColumn} */ { title, group }, /** @type {number} */ y) {
  const layer = svgText("av-circuit-layer", title, 0, y + 4);
  return group ? [svgText("av-circuit-layer", group, 0, y + 4 - LINE), layer] : [layer];
}

function makeNode(/** @type {Spot} */ { name, head, x, y, width, height }) {
  const box = svg("rect", { x: x - width / 2, y: y - height / 2, width, height, rx: 5 });
  const text = svgText("av-circuit-name", `H${head}`, x, y + 4);
  return svg("g", { class: "av-circuit-node", role: "button", tabindex: -1, "data-head": name }, box, text);
}

/** Sets the chosen one apart, and what the pointer is on: a head with its paths, or one path. */
function markAll(
  /** @type {SVGSVGElement} */ node,
  /** @type {{chosen: string, pointed: string | null, labelOf: (name: string) => string}} */ {
    chosen,
    pointed,
    labelOf,
  },
) {
  markPaths(node, chosen, pointed);
  const ends = (pointed ?? chosen).replace(/\.[qkv]$/, "").split("-");
  for (const head of node.querySelectorAll(".av-circuit-node")) {
    const { head: name = "" } = /** @type {SVGGElement} */ (head).dataset;
    head.classList.toggle("av-circuit-end", ends.includes(name));
    head.setAttribute("aria-pressed", String(name === chosen));
    head.setAttribute("aria-label", labelOf(name));
  }
}

/** @param {SVGSVGElement} node @param {Map<string, Spot>} spots @param {readonly CircuitColumn[]} columns @param {GraphEvents} events */
function listen(node, spots, columns, events) {
  const idAt = (/** @type {Event} */ event) => dataAt(event, "head") ?? dataAt(event, "path") ?? null;
  node.addEventListener("click", (event) => {
    const id = idAt(event);
    if (id) events.chose(id);
  });
  for (const type of /** @type {const} */ (["pointerover", "focusin"]))
    node.addEventListener(type, (event) => events.pointed(idAt(event)));
  for (const type of /** @type {const} */ (["pointerleave", "focusout"]))
    node.addEventListener(type, () => events.pointed(null));
  node.addEventListener("keydown", (event) => {
    const spot = spots.get(dataAt(event, "head") ?? "");
    if (!spot) return;
    if (event.key === "Enter" || event.key === " ") events.chose(spot.name);
    else if (!focusOn(node, nextHead(columns, spot, event.key))) return;
    event.preventDefault();
    event.stopPropagation();
  });
}

/** The head that an arrow key leads to. @returns {CircuitHead | undefined} */
function nextHead(
  /** @type {readonly CircuitColumn[]} */ columns,
  /** @type {Spot} */ { line, head },
  /** @type {string} */ key,
) {
  if (key === "ArrowLeft") return columns[line].heads[head - 1];
  if (key === "ArrowRight") return columns[line].heads[head + 1];
  const beside = columns[line + (key === "ArrowUp" ? -1 : key === "ArrowDown" ? 1 : NaN)]?.heads;
  return beside?.[Math.min(head, beside.length - 1)];
}

/** Moves the focus to a head; false without one. */
export function focusOn(/** @type {SVGSVGElement} */ node, /** @type {CircuitHead | undefined} */ head) {
  if (!head) return false;
  for (const other of node.querySelectorAll(".av-circuit-node")) {
    const chosen = /** @type {SVGGElement} */ (other).dataset.head === head.name;
    other.setAttribute("tabindex", chosen ? "0" : "-1");
    if (chosen) /** @type {SVGGElement} */ (other).focus({ preventScroll: true });
  }
  return true;
}
