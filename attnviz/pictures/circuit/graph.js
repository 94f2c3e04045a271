// @ts-check
// The graph: a column for the heads that run together, a box for each head, arrows from a head's right side to a later
// head's left side, where q ends above, k in the middle and v below. Colour and dashes tell the sides apart. An arrow past
// other columns runs in a lane between two rows of heads, beside the arrows that share it, and so behind no head.

import { dataAt, elementAt } from "../shared/dom.js";
import { svg, svgText } from "../shared/svg.js";

/** @import { Path } from "./paths.js" */
/** @import { CircuitColumn, CircuitHead } from "./types.js" */
/** @import { Side } from "./paths.js" */

const NODE = { width: 34, height: 20 };
const ROW = { least: 28, most: 56 };
const HEIGHT = 300; // of the rows, where the heads are few
const COLUMN = 58; // at least; more where there is room
const NAMED_COLUMN = 84; // where the name of an attention stands above it
const TITLE = 18;
const EDGE = { thin: 1, thick: 5 };
const TIP = 6;
const LETTER = 9; // of the side at the tip, each in a place of its own
const STRONGEST = 2; // arrows that stand out before anyone points
const LANE = { apart: 7, free: 12 }; // between arrows of one gap; between them and the heads
/** @type {Readonly<Record<Side, number>>} */
const PORT = { q: -6, k: 0, v: 6 };
/** @type {readonly Side[]} */
const LETTERS = ["q", "k", "v"];

/** A head's place. @typedef {CircuitHead & {column: number, row: number, x: number, y: number, height: number}} Spot */
/** A path with the height of its lane, null between columns that are next to each other. @typedef {Path & {lane: number | null}} Laid */
/**
 * @typedef {{chose: (id: string) => void, pointed: (id: string | null) => void}} GraphEvents
 * @typedef {{node: SVGSVGElement, spots: Map<string, Spot>, draw: (paths: readonly Path[], most: number, readable: readonly Path[]) => void,
 *   mark: (marks: {chosen: string, pointed: string | null, labelOf: (name: string) => string}) => void}} Graph
 */

/** @param {readonly CircuitColumn[]} columns @param {number} room @param {string} label @param {GraphEvents} events @returns {Graph} */
export function makeGraph(columns, room, label, events) {
  const titles = columns.some(({ group }) => group) ? 2 : 1;
  const step = Math.max(titles > 1 ? NAMED_COLUMN : COLUMN, Math.floor(room / columns.length));
  const top = titles * TITLE + 4;
  const rows = Math.max(...columns.map(({ heads }) => heads.length));
  const row = Math.max(ROW.least, Math.min(ROW.most, Math.floor(HEIGHT / rows)));
  const spots = placeHeads(columns, step, row, top);
  const [width, height] = [step * columns.length, top + rows * row];
  const edges = svg("g", { class: "av-circuit-edges" });
  const nodes = svg("g", {}, ...[...spots.values()].map(makeNode));
  const headings = columns.flatMap((column, at) => makeTitle(column, at * step + step / 2, titles));
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
    ...headings,
    edges,
    nodes,
  );
  listen(node, spots, columns, events);
  nodes.firstElementChild?.setAttribute("tabindex", "0");
  return {
    node,
    spots,
    draw: (paths, most, readable) =>
      edges.replaceChildren(
        ...inLanes(readable, spots).map((path) => makeHairline(path, spots, step)),
        ...inLanes(paths, spots)
          .map((path, rank) => makeEdge(path, spots, step, { most, rank }))
          .reverse(),
      ),
    mark: (marks) => markAll(node, marks),
  };
}

/**
 * @param {readonly CircuitColumn[]} columns
 * @param {number} step
 * @param {number} height of a row
 * @param {number} top
 * @returns {Map<string, Spot>}
 */
function placeHeads(columns, step, height, top) {
  /** @type {Map<string, Spot>} */
  const spots = new Map();
  columns.forEach(({ heads }, column) =>
    heads.forEach((head, row) => {
      const [x, y] = [column * step + step / 2, top + row * height + height / 2];
      spots.set(head.name, { ...head, column, row, x, y, height });
    }),
  );
  return spots;
}

/** A column's layer, and above it its attention where there are several. */
function makeTitle(
  /** @type {CircuitColumn} */ { title, group },
  /** @type {number} */ x,
  /** @type {number} */ lines,
) {
  const layer = svgText("av-circuit-layer", title, x, lines * TITLE - 5);
  return group ? [svgText("av-circuit-layer", group, x, TITLE - 5), layer] : [layer];
}

function makeNode(/** @type {Spot} */ { name, head, x, y }) {
  const { width, height } = NODE;
  const box = svg("rect", { x: x - width / 2, y: y - height / 2, width, height, rx: 5 });
  const text = svgText("av-circuit-name", `H${head}`, x, y + 4);
  return svg("g", { class: "av-circuit-node", role: "button", tabindex: -1, "data-head": name }, box, text);
}

/** The paths with their lanes: of the gaps between rows the nearest to both ends that is not full. @returns {Laid[]} */
function inLanes(/** @type {readonly Path[]} */ paths, /** @type {Map<string, Spot>} */ spots) {
  const rows = 1 + Math.max(...[...spots.values()].map(({ row }) => row));
  /** @type {number[]} */
  const counts = Array(rows + 1).fill(0);
  const gaps = paths.map((path) => {
    const [from, to] = [spotOf(spots, path.sender), spotOf(spots, path.receiver)];
    if (to.column - from.column <= 1) return null; // nothing stands between
    const gap = freeGap(counts, (from.row + to.row) / 2, 1 + Math.floor(roomOf(from) / LANE.apart));
    counts[gap]++;
    return gap;
  });
  const end = (/** @type {number} */ at) => spotOf(spots, paths[at].receiver).y + PORT[paths[at].side];
  return paths.map((path, at) => {
    const gap = gaps[at];
    if (gap === null) return { ...path, lane: null };
    const { row, y, height } = spotOf(spots, path.sender);
    const sharing = paths.map((_, other) => other).filter((other) => gaps[other] === gap);
    const nth = sharing.sort((one, other) => end(one) - end(other)).indexOf(at); // so that few cross
    const apart = Math.min(LANE.apart, roomOf(spotOf(spots, path.sender)) / Math.max(1, sharing.length - 1));
    return { ...path, lane: y + (gap - row - 0.5) * height + (nth - (sharing.length - 1) / 2) * apart };
  });
}

/** The height between two heads of a column that arrows may take. */
function roomOf(/** @type {Spot} */ { height }) {
  return Math.max(0, height - NODE.height - LANE.free);
}

/**
 * The gap nearest to a height in rows, number n standing above row n, that has room left; the nearest of all where none has.
 * @param {readonly number[]} counts of the arrows in each gap
 * @param {number} middle
 * @param {number} most arrows of one gap
 */
function freeGap(counts, middle, most) {
  const far = (/** @type {number} */ gap) => Math.abs(gap - 0.5 - middle);
  const order = counts.map((_, gap) => gap).sort((a, b) => far(a) - far(b));
  return order.find((gap) => counts[gap] < most) ?? order[0];
}

/** @returns {Spot} */
function spotOf(/** @type {Map<string, Spot>} */ spots, /** @type {string} */ name) {
  const spot = spots.get(name);
  if (!spot) throw new Error(`no head ${name}`);
  return spot;
}

/** The width of the line of a path, beside what the strongest moves. */
export function lineWidth(/** @type {number} */ moved, /** @type {number} */ most) {
  return EDGE.thin + (EDGE.thick - EDGE.thin) * (most > 0 ? moved / most : 0);
}

/**
 * @param {Laid} path
 * @param {Map<string, Spot>} spots
 * @param {number} step between columns
 * @param {{most: number, rank: number}} among what the strongest path moves, and how many are stronger
 */
function makeEdge({ id, sender, receiver, side, moved, lane }, spots, step, { most, rank }) {
  const [from, to] = [spotOf(spots, sender), spotOf(spots, receiver)];
  const width = lineWidth(moved, most);
  const [x2, y2] = [to.x - NODE.width / 2, to.y + PORT[side]];
  const end = x2 - TIP;
  const line = lineOf(from, end, y2, step, lane);
  const half = 2 + width / 2;
  const tip = `M${end} ${y2 - half}L${x2} ${y2}L${end} ${y2 + half}Z`;
  return svg(
    "g",
    {
      class: `av-circuit-edge av-circuit-${side}${rank < STRONGEST ? " av-circuit-strong" : ""}`,
      "data-path": id,
      "data-sender": sender,
      "data-receiver": receiver,
    },
    svg("path", { class: "av-circuit-hit", d: line }),
    svg("path", { class: "av-circuit-line", d: line, "stroke-width": width.toFixed(2) }),
    svg("path", { class: "av-circuit-tip", d: tip }),
    svgText("av-circuit-letter", side, end - 3 - LETTER * LETTERS.indexOf(side), y2 + 3),
  );
}

/**
 * The line from a head to the end of an arrow, through its lane.
 * @param {Spot} from
 * @param {number} end
 * @param {number} y
 * @param {number} step
 * @param {number | null} lane
 */
function lineOf(from, end, y, step, lane) {
  const [x, between] = [from.x + NODE.width / 2, step - NODE.width];
  if (lane === null) return `M${x} ${from.y}${curve(x, from.y, end, y)}`;
  const last = end + TIP - between;
  return `M${x} ${from.y}${curve(x, from.y, x + between, lane)}H${last}${curve(last, lane, end, y)}`;
}

/** A faint line for what could be read; a pointer goes through it. */
function makeHairline(
  /** @type {Laid} */ { sender, receiver, side, lane },
  /** @type {Map<string, Spot>} */ spots,
  /** @type {number} */ step,
) {
  const [from, to] = [spotOf(spots, sender), spotOf(spots, receiver)];
  const d = lineOf(from, to.x - NODE.width / 2, to.y + PORT[side], step, lane);
  return svg("path", { class: `av-circuit-readable av-circuit-${side}`, d });
}

/** A curve that leaves and arrives level. @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 */
function curve(x1, y1, x2, y2) {
  const bend = (x2 - x1) * 0.5;
  return `C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
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
  const lit = pointed ?? chosen;
  for (const edge of node.querySelectorAll(".av-circuit-edge")) {
    const { path = "", sender = "", receiver = "" } = /** @type {SVGGElement} */ (edge).dataset;
    edge.classList.toggle("av-circuit-chosen", path === chosen);
    edge.classList.toggle("av-circuit-dim", Boolean(lit) && ![path, sender, receiver].includes(lit));
  }
  for (const head of node.querySelectorAll(".av-circuit-node")) {
    const { head: name = "" } = /** @type {SVGGElement} */ (head).dataset;
    const ends = lit.replace(/\.[qkv]$/, "").split("-");
    head.classList.toggle("av-circuit-end", ends.includes(name));
    head.setAttribute("aria-pressed", String(name === chosen));
    head.setAttribute("aria-label", labelOf(name));
  }
}

/** @param {SVGSVGElement} node @param {Map<string, Spot>} spots @param {readonly CircuitColumn[]} columns @param {GraphEvents} events */
function listen(node, spots, columns, events) {
  const idAt = (/** @type {Event} */ event) => svgData(event, "head") ?? svgData(event, "path") ?? null;
  node.addEventListener("click", (event) => {
    const id = idAt(event);
    if (id) events.chose(id);
  });
  for (const type of /** @type {const} */ (["pointerover", "focusin"]))
    node.addEventListener(type, (event) => events.pointed(idAt(event)));
  for (const type of /** @type {const} */ (["pointerleave", "focusout"]))
    node.addEventListener(type, () => events.pointed(null));
  node.addEventListener("keydown", (event) => {
    const spot = spots.get(svgData(event, "head") ?? "");
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
  /** @type {Spot} */ { column, row },
  /** @type {string} */ key,
) {
  if (key === "ArrowUp") return columns[column].heads[row - 1];
  if (key === "ArrowDown") return columns[column].heads[row + 1];
  const beside = columns[column + (key === "ArrowLeft" ? -1 : key === "ArrowRight" ? 1 : NaN)]?.heads;
  return beside?.[Math.min(row, beside.length - 1)];
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

/** As `dataAt`, of elements of a drawing. */
function svgData(/** @type {Event} */ event, /** @type {string} */ name) {
  const holder = elementAt(event)?.closest(`[data-${name}]`);
  return holder instanceof SVGElement ? holder.dataset[name] : dataAt(event, name);
}
