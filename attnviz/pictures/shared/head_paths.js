// @ts-check
// Arrows between heads that stand in lines, an earlier layer above a later one: from the foot of a head to the top of a
// later one, where q ends at the left, k in the middle and v at the right. Colour and a letter at the tip tell the sides apart.
// An arrow past other lines runs in a lane between two columns of heads, beside the arrows that share it, and so behind no
// head.

import { svg, svgText } from "./svg.js";

/** @typedef {"q" | "k" | "v"} Side */
/**
 * A path, and the share of the later head that it moves; `isChance` where chance moves as much.
 * @typedef {{id: string, sender: string, receiver: string, side: Side, moved: number, isChance: boolean}} HeadPath
 */
/** The middle of a head's box, and its size. @typedef {{x: number, y: number, width: number, height: number}} HeadBox */
/** A path with the middle of its lane, null between lines that are next to each other. @typedef {HeadPath & {lane: number | null}} Laid */
/** Where lines and columns are, and the room between them. @typedef {{lines: number[], columns: number[], down: number, across: number}} Raster */

const EDGE = { thin: 1, thick: 5 };
const TIP = 6;
const LETTER = 3; // of the side, beside the line
const STRONGEST = 2; // arrows that stand out before anyone points
const LANE = { apart: 7, free: 12 }; // between arrows of one gap; between them and the heads
const PORT = 12; // from the middle of a head to where q and v end, at most
const NEAR = 2; // boxes of one line differ by less

/**
 * The arrows, the strongest on top; `readable` paths are faint lines below them.
 * @param {readonly HeadPath[]} paths the strongest first
 * @param {ReadonlyMap<string, HeadBox>} boxes
 * @param {{most: number, readable?: readonly HeadPath[]}} among what the strongest path moves
 */
export function pathNodes(paths, boxes, { most, readable = [] }) {
  const raster = rasterOf([...boxes.values()]);
  const known = (/** @type {HeadPath} */ { sender, receiver }) => boxes.has(sender) && boxes.has(receiver);
  const lines = inLanes(readable.filter(known), boxes, raster).map((path) => hairline(path, boxes, raster));
  const ends = new Set();
  const arrows = inLanes(paths.filter(known), boxes, raster).map((path, rank) => {
    const end = `${path.receiver}.${path.side}`;
    const named = !ends.has(end); // by the strongest of the arrows that end there
    ends.add(end);
    return arrow(path, boxes, raster, { most, rank, named });
  });
  return [...lines, ...arrows.reverse()];
}

/** Sets the chosen path apart, and what is pointed at: a head with its paths, or one path. */
export function markPaths(
  /** @type {ParentNode} */ node,
  /** @type {string} */ chosen,
  /** @type {string | null} */ pointed,
) {
  const lit = pointed ?? chosen;
  for (const edge of node.querySelectorAll(".av-path")) {
    const { path = "", sender = "", receiver = "" } = /** @type {SVGGElement} */ (edge).dataset;
    edge.classList.toggle("av-path-chosen", path === chosen);
    edge.classList.toggle("av-path-dim", Boolean(lit) && ![path, sender, receiver].includes(lit));
  }
}

/** @returns {Raster} */
function rasterOf(/** @type {readonly HeadBox[]} */ boxes) {
  const [lines, columns] = [distinct(boxes.map(({ y }) => y)), distinct(boxes.map(({ x }) => x))];
  const { width, height } = boxes[0] ?? { width: 0, height: 0 };
  const step = (/** @type {number[]} */ places) =>
    Math.min(...places.slice(1).map((place, at) => place - places[at]));
  return {
    lines,
    columns,
    down: lines.length > 1 ? step(lines) - height : height,
    across: columns.length > 1 ? step(columns) - width : LANE.free + LANE.apart,
  };
}

function distinct(/** @type {number[]} */ places) {
  return places
    .sort((a, b) => a - b)
    .filter((place, at, sorted) => at === 0 || place - sorted[at - 1] > NEAR);
}

/** The paths with their lanes: of the gaps between columns the nearest to both ends that is not full. @returns {Laid[]} */
function inLanes(
  /** @type {readonly HeadPath[]} */ paths,
  /** @type {ReadonlyMap<string, HeadBox>} */ boxes,
  /** @type {Raster} */ { lines, columns, across },
) {
  const room = Math.max(0, across - LANE.free);
  /** @type {number[]} */
  const counts = Array(columns.length).fill(0);
  const gaps = paths.map(({ sender, receiver }) => {
    const [from, to] = [boxOf(boxes, sender), boxOf(boxes, receiver)];
    if (!lines.some((line) => line > from.y + NEAR && line < to.y - NEAR)) return null; // nothing stands between
    const middles = columns.map((column) => column + (from.width + across) / 2);
    const gap = freeGap(middles, counts, (from.x + to.x) / 2, 1 + Math.floor(room / LANE.apart));
    counts[gap]++;
    return { gap, middle: middles[gap] };
  });
  const end = (/** @type {number} */ at) => endOf(boxOf(boxes, paths[at].receiver), paths[at].side);
  return paths.map((path, at) => {
    const lane = gaps[at];
    if (lane === null) return { ...path, lane };
    const sharing = paths.map((_, other) => other).filter((other) => gaps[other]?.gap === lane.gap);
    const nth = sharing.sort((one, other) => end(one) - end(other)).indexOf(at); // so that few cross
    const apart = Math.min(LANE.apart, room / Math.max(1, sharing.length - 1));
    return { ...path, lane: lane.middle + (nth - (sharing.length - 1) / 2) * apart };
  });
}

/**
 * The gap nearest to a place, number n standing right of column n, that has room left; the nearest of all where none has.
 * @param {readonly number[]} middles
 * @param {readonly number[]} counts of the arrows in each gap
 * @param {number} place
 * @param {number} most arrows of one gap
 */
function freeGap(middles, counts, place, most) {
  const far = (/** @type {number} */ gap) => Math.abs(middles[gap] - place);
  const order = middles.map((_, gap) => gap).sort((a, b) => far(a) - far(b));
  return order.find((gap) => counts[gap] < most) ?? order[0];
}

/** Where the arrows of a side end above a head. */
function endOf(/** @type {HeadBox} */ { x, width }, /** @type {Side} */ side) {
  const port = Math.min(PORT, width / 4);
  return x + { q: -port, k: 0, v: port }[side];
}

/** The width of the line of a path, beside what the strongest moves. */
export function lineWidth(/** @type {number} */ moved, /** @type {number} */ most) {
  return EDGE.thin + (EDGE.thick - EDGE.thin) * (most > 0 ? moved / most : 0);
}

/** @returns {HeadBox} */
function boxOf(/** @type {ReadonlyMap<string, HeadBox>} */ boxes, /** @type {string} */ name) {
  const box = boxes.get(name);
  if (!box) throw new Error(`no head ${name}`);
  return box;
}

/**
 * @param {Laid} path
 * @param {ReadonlyMap<string, HeadBox>} boxes
 * @param {Raster} raster
 * @param {{most: number, rank: number, named: boolean}} among what the strongest path moves, how many are stronger, and
 *   whether it has the letter of its side
 */
function arrow(path, boxes, raster, { most, rank, named }) {
  const { id, sender, receiver, side, moved, isChance } = path;
  const form = isChance ? " av-path-chance" : rank < STRONGEST ? " av-path-strong" : "";
  const width = lineWidth(moved, most);
  const { line, x, y } = lineOf(path, boxes, raster, TIP);
  const half = 2 + width / 2;
  return svg(
    "g",
    {
      class: `av-path av-path-${side}${form}`,
      "data-path": id,
      "data-sender": sender,
      "data-receiver": receiver,
    },
    svg("path", { class: "av-path-hit", d: line }),
    svg("path", { class: "av-path-line", d: line, "stroke-width": width.toFixed(2) }),
    svg("path", { class: "av-path-tip", d: `M${x - half} ${y - TIP}L${x} ${y}L${x + half} ${y - TIP}Z` }),
    ...(named ? [svgText("av-path-letter", side, x - LETTER - width / 2, y - TIP)] : []),
  );
}

/** A faint line for what could be read; a pointer goes through it. */
function hairline(
  /** @type {Laid} */ path,
  /** @type {ReadonlyMap<string, HeadBox>} */ boxes,
  /** @type {Raster} */ raster,
) {
  return svg("path", {
    class: `av-path-readable av-path-${path.side}`,
    d: lineOf(path, boxes, raster, 0).line,
  });
}

/**
 * The line of a path, which ends `short` above the head that it leads to, and where it points.
 * @param {Laid} path
 * @param {ReadonlyMap<string, HeadBox>} boxes
 * @param {Raster} raster
 * @param {number} short
 */
function lineOf({ sender, receiver, side, lane }, boxes, { down }, short) {
  const [from, to] = [boxOf(boxes, sender), boxOf(boxes, receiver)];
  const [x, y] = [endOf(to, side), to.y - to.height / 2];
  const [top, end] = [from.y + from.height / 2, y - short];
  const start = `M${from.x} ${top}`;
  if (lane === null) return { line: start + curve(from.x, top, x, end), x, y };
  const last = y - down;
  return {
    line: `${start}${curve(from.x, top, lane, top + down)}V${last}${curve(lane, last, x, end)}`,
    x,
    y,
  };
}

/** A curve that leaves and arrives upright. @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 */
function curve(x1, y1, x2, y2) {
  const bend = (y2 - y1) * 0.5;
  return `C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`;
}
