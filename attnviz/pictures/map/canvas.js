// @ts-check
// Map: all heads as small maps of queries and keys, one head large. Hover, click, lasso and search act in the browser;
// the server hears of the head that was chosen, and of a token to open on another page.

import { parse } from "../shared/buffer.js";
import { colourAt } from "../shared/colors.js";
import { makeCommitter } from "../shared/committer.js";
import { swallow } from "../shared/controls.js";
import { el, localPoint, oncePerFrame, setText, watchSize } from "../shared/dom.js";
import { fill, fmtFixed, withPercent } from "../shared/fmt.js";
import { headStep, neighbour } from "../shared/headkeys.js";
import { GREY, coloursOf, hasMore } from "./colours.js";
import { detailNodes } from "./detail.js";
import { drawMatrix, hitMatrix, layMatrix, markMatrix } from "./matrix.js";
import { buildParts } from "./parts.js";
import { drawMarks, drawPoints, hasBeyond } from "./plane.js";
import { listenPlane, zoomed } from "./pointer.js";
import { KEY, QUERY, SHOWN, inside, nearest, readPoints, search, textAt, wholeText } from "./points.js";
import { pointInShort, sentencesOf } from "./words.js";

/** @import { Committer } from "../shared/committer.js" */
/** @import { Request } from "../shared/dom.js" */
/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { AddressSelection } from "../shared/selection.js" */
/** @import { Way } from "./colours.js" */
/** @import { MatrixLayout } from "./matrix.js" */
/** @import { Parts } from "./parts.js" */
/** @import { Plane } from "./plane.js" */
/** @import { Point, Points } from "./points.js" */
/** @import { Camera } from "./scatter.js" */
/** @import { Arrays, Header } from "./types.js" */

/** @typedef {{host: Host, box: HTMLElement, committer: Committer, drawAll: Request, drawTop: Request}} Frame */
/**
 * `head` is the number of the chosen one; `lit` what stands out by search or lasso; `hovered` a head, `hover` a point.
 * @typedef {Frame & {data: Uint8Array, points: Points, parts: Parts, selection: AddressSelection, head: number, way: Way,
 *   camera: Camera, chosen: Point | null, hover: Point | null, hovered: number | null, lit: Uint8Array | null,
 *   lasso: {x: number, y: number}[], isLasso: boolean, matrix: MatrixLayout | null, size: number}} State
 */

const NARROW_PX = 940;
const MAX_PX = 620;
const REACH_PX = 14;
/** @type {Camera} */
const WHOLE = { x: 0, y: 0, zoom: 1 };

/** @returns {Mounted} */
export default function map(/** @type {Host} */ host) {
  const box = el("section", { class: "av av-map" });
  host.root.append(box);
  /** @type {State | null} */
  let state = null;
  const committer = makeCommitter(host, box, (selection) => state && follow(state, selection));
  const drawAll = oncePerFrame(() => state && paint(state));
  const drawTop = oncePerFrame(() => state && paintTop(state));
  const unwatch = watchSize(box, () => state && lay(state));
  box.addEventListener("keydown", (event) => {
    if (state && onKey(state, event)) swallow(event);
  });
  return {
    refresh(data) {
      if (state?.data !== data) state = takeData({ host, box, committer, drawAll, drawTop }, data, state);
      lay(state);
    },
    destroy() {
      unwatch();
      drawAll.cancel();
      drawTop.cancel();
      committer.destroy();
      box.remove();
    },
  };
}

/** @returns {State} */
function takeData(
  /** @type {Frame} */ frame,
  /** @type {Uint8Array} */ data,
  /** @type {State | null} */ before,
) {
  /** @type {{header: Header, arrays: Arrays}} */
  const { header, arrays } = parse(data);
  const points = readPoints(header, arrays);
  const way = before?.way ?? "side";
  const parts = buildParts(header, way, {
    way: (chosen) => change(state, { way: chosen }),
    search: (text) => find(state, text),
    tool: (isLasso) => change(state, { isLasso }),
    zoom: (factor) => change(state, { camera: factor ? zoomed(state.camera, factor) : WHOLE }),
    clear: () => clear(state),
  });
  const selection = frame.committer.read();
  frame.committer.start(selection);
  /** @type {State} */
  const state = {
    ...frame,
    data,
    points,
    parts,
    selection,
    way,
    head: numberOf(header, selection.layer ?? 0, selection.head ?? 0),
    camera: WHOLE,
    chosen: null,
    hover: null,
    hovered: null,
    lit: null,
    lasso: [],
    isLasso: false,
    matrix: null,
    size: 0,
  };
  state.chosen = pinned(points, selection);
  frame.box.replaceChildren(...parts.nodes);
  listen(state);
  return state;
}

/** The number of a head, or of the nearest that there is. */
function numberOf(
  /** @type {Header} */ { heads, n_layers },
  /** @type {number} */ layer,
  /** @type {number} */ head,
) {
  const row = Math.min(layer, n_layers - 1);
  const found = heads.findLastIndex((other) => other.layer === row && other.head <= head);
  return Math.max(0, found);
}

/** The token of the visitor's text that is selected elsewhere. @returns {Point | null} */
function pinned(/** @type {Points} */ { header }, /** @type {AddressSelection} */ { query }) {
  const own = header.texts.find(([, , owned]) => owned === SHOWN);
  if (!own) return null;
  const [start, stop] = own;
  return query !== null && query < stop - start ? { token: start + query, side: QUERY } : null;
}

function listen(/** @type {State} */ state) {
  const { parts, points } = state;
  const headAt = (/** @type {MouseEvent} */ event) =>
    state.matrix && hitMatrix(points, state.matrix, localPoint(event, parts.maps));
  parts.maps.addEventListener("pointermove", (event) => {
    state.hovered = headAt(event);
    state.drawTop();
  });
  parts.maps.addEventListener("pointerleave", () => {
    state.hovered = null;
    state.drawTop();
  });
  parts.maps.addEventListener("click", (event) => {
    const head = headAt(event);
    if (head !== null) chooseHead(state, head);
  });
  listenPlane(parts.marks, {
    view: () => state,
    lassoing: () => state.isLasso,
    moved: (camera) => change(state, { camera }),
    pointed(at) {
      state.hover = at && pointAt(state, at);
      state.drawTop();
    },
    clicked(at) {
      parts.marks.focus({ preventScroll: true });
      choose(state, pointAt(state, at));
    },
    drawn(corners, over) {
      state.lasso = over ? [] : corners;
      if (over) {
        state.chosen = null;
        state.lit = inside(points, state.head, corners);
      }
      change(state, {});
    },
  });
}

function pointAt(
  /** @type {State} */ { points, head, camera, size },
  /** @type {{x: number, y: number}} */ { x, y },
) {
  return nearest(points, head, x, y, REACH_PX / ((size / 2) * camera.zoom));
}

function change(/** @type {State} */ state, /** @type {Partial<State>} */ values) {
  Object.assign(state, values);
  state.drawAll();
}

function find(/** @type {State} */ state, /** @type {string} */ text) {
  state.chosen = null;
  change(state, { lit: text.trim() ? search(state.points, text) : null });
}

function clear(/** @type {State} */ state) {
  state.parts.find.value = "";
  choose(state, null);
}

function choose(/** @type {State} */ state, /** @type {Point | null} */ chosen) {
  change(state, { chosen, lit: null });
  const own = chosen && textAt(state.points, chosen.token);
  const query = own?.span[2] === SHOWN && chosen?.side === QUERY ? own.position : null;
  select(state, { query, key: null });
}

function chooseHead(/** @type {State} */ state, /** @type {number} */ head) {
  const place = state.points.header.heads[head];
  change(state, { head, camera: WHOLE, lasso: [] });
  select(state, { layer: place.layer, head: place.head });
}

/** Remembers a choice and mirrors it into the address. */
function select(/** @type {State} */ state, /** @type {Partial<AddressSelection>} */ values) {
  const { layer, head } = state.points.header.heads[state.head];
  state.selection = { ...state.selection, layer, head, ...values };
  state.committer.update(state.selection);
  state.committer.write(state.selection);
}

/** Shows what was chosen elsewhere on the page. */
function follow(/** @type {State} */ state, /** @type {AddressSelection} */ selection) {
  const head = numberOf(state.points.header, selection.layer ?? 0, selection.head ?? 0);
  change(state, { selection, head, chosen: pinned(state.points, selection) });
}

function onKey(/** @type {State} */ state, /** @type {KeyboardEvent} */ event) {
  const { points, parts } = state;
  if (event.target === parts.find) return false;
  const place = points.header.heads[state.head];
  const shape = { ...points.header, shapes: points.header.counts.map((count) => [count]) };
  const plain = event.target === parts.maps && !event.shiftKey ? ARROWS[event.key] : undefined;
  const next = plain ? stepTo(shape, place, plain) : headStep(event, shape, place);
  if (next) {
    chooseHead(state, numberOf(points.header, next.layer, next.head));
    return true;
  }
  if (event.target !== parts.marks) return false;
  if (event.key === "Escape") clear(state);
  else if (event.key === "+" || event.key === "=") change(state, { camera: zoomed(state.camera, 1.6) });
  else if (event.key === "-") change(state, { camera: zoomed(state.camera, 1 / 1.6) });
  else if (event.key === "0") change(state, { camera: WHOLE });
  else return stepToken(state, event.key);
  return true;
}

/** @type {Record<string, [down: number, across: number]>} */
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

function stepTo(
  /** @type {import("../shared/headkeys.js").Size} */ shape,
  /** @type {{layer: number, head: number}} */ place,
  /** @type {[number, number]} */ [down, across],
) {
  if (across) return neighbour(shape, place, across);
  return { ...place, layer: Math.max(0, Math.min(shape.n_layers - 1, place.layer + down)) };
}

/** Left and right go through the tokens of a text, up and down between the query and the key of a token. */
function stepToken(/** @type {State} */ state, /** @type {string} */ key) {
  const step = ARROWS[key];
  if (!step) return false;
  const { points, chosen } = state;
  const last = points.header.texts[points.header.texts.length - 1];
  if (!chosen) choose(state, { token: last[0], side: QUERY });
  else {
    const { span } = textAt(points, chosen.token);
    const token = Math.max(span[0], Math.min(span[1] - 1, chosen.token + step[1]));
    choose(state, { token, side: step[0] ? (chosen.side === QUERY ? KEY : QUERY) : chosen.side });
  }
  return true;
}

/** Gives everything its size, and draws. */
function lay(/** @type {State} */ state) {
  const { box, parts, points } = state;
  if (!box.clientWidth) return;
  box.classList.toggle("av-map-narrow", box.clientWidth < NARROW_PX);
  state.matrix = layMatrix(points, parts.left.clientWidth);
  state.size = Math.min(MAX_PX, parts.right.clientWidth);
  const theme = state.host.theme();
  drawMatrix(parts.maps, points, state.matrix, { way: state.way, theme, label: points.header.strings.all });
  drawn.set(state, state.way);
  paint(state);
}

/** The colours in which the small maps were drawn last. @type {WeakMap<State, Way>} */
const drawn = new WeakMap();

function planeOf(/** @type {State} */ state) {
  const { points, head, camera, chosen, hover, lasso, size, way, lit } = state;
  const theme = state.host.theme();
  const marks = chosen ? wholeText(points, textAt(points, chosen.token).text) : lit;
  const colours = coloursOf(points, head, way, theme);
  /** @type {Plane} */
  const plane = { points, head, camera, colours, marks, chosen, hover, lasso, theme, size };
  return plane;
}

function paint(/** @type {State} */ state) {
  const { parts, points, matrix, way } = state;
  if (!matrix) return;
  const theme = state.host.theme();
  if (drawn.get(state) !== way) {
    drawMatrix(parts.maps, points, matrix, { way, theme, label: points.header.strings.all });
    drawn.set(state, way);
  }
  drawPoints(parts.points, planeOf(state));
  showWords(state);
  paintTop(state);
}

function paintTop(/** @type {State} */ state) {
  const { parts, points, matrix, head, hovered, hover, chosen } = state;
  if (!matrix) return;
  const theme = state.host.theme();
  drawMarks(parts.marks, planeOf(state));
  markMatrix(parts.mapMarks, points, matrix, { chosen: head, hovered, point: hover ?? chosen, theme });
  const { heads, strings } = points.header;
  if (hover) setText(parts.status, pointInShort(points, hover));
  else if (hovered !== null) {
    const { layer, head: number, kept } = heads[hovered];
    setText(parts.status, `L${layer}.H${number} · ${withPercent(fmtFixed(100 * (kept ?? 0), 0))}`);
  } else setText(parts.status, statusOf(state, strings));
}

/** How many points stand out, where they do by search or lasso. */
function statusOf(/** @type {State} */ { lit, parts }, /** @type {Header["strings"]} */ strings) {
  if (!lit) return "";
  const n = lit.reduce((sum, mark) => sum + (mark & 1) + (mark >> 1), 0);
  return fill(parts.find.value.trim() ? strings.found : strings.lassoed, { n });
}

function showWords(/** @type {State} */ state) {
  const { parts, points, head, chosen, way } = state;
  const { heads, strings } = points.header;
  const theme = state.host.theme();
  const { layer, head: number } = heads[head];
  const name = fill(strings.plane, { head: `L${layer}.H${number}` });
  setText(parts.title, name);
  parts.marks.setAttribute("aria-label", name);
  parts.facts.replaceChildren(
    ...sentencesOf(points, head).map((sentence) => el("p", { class: "av-sentence" }, sentence)),
  );
  parts.detail.replaceChildren(
    ...(chosen
      ? detailNodes(points, head, chosen, theme.dark, {
          choose: (point) => choose(state, point),
          open: (page, other) => open(state, page, other),
        })
      : []),
  );
  const beyond = chosen && hasBeyond(points, head, chosen) ? [strings.beyond] : [];
  parts.legend.replaceChildren(
    ...legendNodes(state, way),
    ...beyond.map((label) =>
      el("span", { class: "av-map-entry av-map-beyond" }, el("i", { "aria-hidden": "true" }, "▸"), label),
    ),
  );
}

/** Names the colours, and the shapes where these tell the sides apart. */
function legendNodes(/** @type {State} */ { points, head, host }, /** @type {Way} */ way) {
  const { strings } = points.header;
  const { table } = coloursOf(points, head, way, host.theme());
  const entry = (/** @type {string} */ label, /** @type {number} */ level, shape = "round") =>
    el(
      "span",
      { class: "av-map-entry" },
      el("i", { class: `av-map-dot av-map-${shape}`, style: { backgroundColor: colourAt(table, level) } }),
      label,
    );
  const sides = [
    entry(strings.query, way === "side" ? 0 : 255),
    entry(strings.key, way === "side" ? 1 : 255, "square"),
  ];
  if (way === "side") return sides;
  const ends = { position: ["first", "last"], norm: ["short", "long"], frequency: ["rare", "often"] };
  if (way === "kind") {
    const kinds = /** @type {const} */ (["word", "continuation", "number", "punctuation", "special"]);
    return kinds.map((kind, level) => entry(strings[`kind_${kind}`], level));
  }
  if (way === "text" && hasMore(points)) return [entry(strings.yours, 1), entry(strings.others, GREY)];
  if (way === "text") return [entry(strings.yours, 1), entry(strings.others, 2), entry(strings.others, 3)];
  const [low, high] = /** @type {(keyof typeof strings)[]} */ (ends[way]);
  return [entry(strings[low], 70), entry(strings[high], 255)];
}

function open(/** @type {State} */ state, /** @type {"head" | "steps"} */ page, /** @type {number} */ other) {
  const { points, chosen, head } = state;
  if (!chosen) return;
  const { text, position } = textAt(points, chosen.token);
  const place = points.header.heads[head];
  const [query, key] = chosen.side === QUERY ? [position, other] : [other, position];
  state.host.trigger("open", { page, layer: place.layer, head: place.head, query, key, name: String(text) });
}
