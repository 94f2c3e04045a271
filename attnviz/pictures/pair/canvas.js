// @ts-check
// Compare: the heads of two sides and their difference, one cursor in all three. Heads, cell and scale change here, in
// the browser; the server hears of it once.

import { axisMarks } from "../shared/axes.js";
import { parse } from "../shared/buffer.js";
import { drawColourBar } from "../shared/colour_bar.js";
import { diverging, levelFor, sequential, signedLevel } from "../shared/colors.js";
import { makeCommitter } from "../shared/committer.js";
import { swallow } from "../shared/controls.js";
import { el, elementAt, localPoint, oncePerFrame, setText, watchSize } from "../shared/dom.js";
import { fill, fmtPercent, fmtReal, withPercent } from "../shared/fmt.js";
import { headStep } from "../shared/headkeys.js";
import { headOfSide, readChoice, selectionOf } from "./choice.js";
import {
  NAMES,
  drawMoved,
  drawMovedBar,
  drawPlot,
  drawSquares,
  hitPlot,
  layoutPlots,
  paintPlot,
} from "./drawing.js";
import { commonAxes } from "./labels.js";
import {
  differenceOf,
  headWeights,
  largestOf,
  mostMoved,
  movedRows,
  partOf,
  stepSlot,
  storedRows,
} from "./numbers.js";
import { buildParts, fillMost, PLOTS } from "./parts.js";
import { largestText, queryName, readout, sharePercent, showNames } from "./sentences.js";

/** @import { Committer } from "../shared/committer.js" */
/** @import { Request } from "../shared/dom.js" */
/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Scale } from "../shared/selection.js" */
/** @import { Theme } from "../shared/theme.js" */
/** @import { Choice, SlotCell } from "./choice.js" */
/** @import { Colours, Plot, PlotData, Squares, Titles } from "./drawing.js" */
/** @import { Head } from "./numbers.js" */
/** @import { Parts, PlotName } from "./parts.js" */
/** @import { Compared } from "./sentences.js" */
/** @import { Arrays, Header, SideView, Slot } from "./types.js" */

/**
 * `show` redraws everything, `point` what depends on the pointer.
 * @typedef {{host: Host, box: HTMLElement, committer: Committer, show: Request, point: Request}} Frame
 */
/** The chosen heads as they are drawn. @typedef {{compared: Compared, plots: Record<PlotName, Plot>, theme: Theme}} View */
/**
 * `widths` has the room of each plot; `view` is null until there is any.
 * @typedef {Frame & Choice & {data: Uint8Array, header: Header, arrays: Arrays, parts: Parts, titles: Titles,
 *   approximate: boolean, hover: SlotCell | null, widths: number[], view: View | null, squares: Squares | null}} State
 */

const WIDE_PX = 860;
const NARROW_PX = 500;
const MANY = 64; // places on an axis; more need more room than a third of the width
const BETWEEN_PX = 12;
const MAX_PX = 560;
const WIDEST_BAR_PX = 236;
const ROWS_NAMED = 3;
const GRID = { size: 18, gap: 3 };
const SQUARES = { least: 14, most: 60, gap: 6, bar: 9 };
const EDGE_PX = 32;
const GRID_SHARE = 0.6; // of the width, beside the controls
const MOST_CELLS = 4e6; // of all heads; above it a square is one colour, how much of the head moved
const NOTHING = { row: null, col: null };
/** @type {Record<string, [down: number, across: number]>} */
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** @returns {Mounted} */
export default function pair(/** @type {Host} */ host) {
  const box = el("section", { class: "av av-pair" });
  host.root.append(box);
  /** @type {State | null} */
  let state = null;
  const committer = makeCommitter(host, box);
  const show = oncePerFrame(() => state && showAll(state));
  const point = oncePerFrame(() => state && showCursor(state));
  const unwatch = watchSize(box, () => state && layout(state));
  box.addEventListener("keydown", (event) => {
    if (state && onKey(state, event)) swallow(event);
  });
  return {
    refresh(data) {
      if (state?.data !== data) state = takeData({ host, box, committer, show, point }, data);
      layout(state);
    },
    destroy() {
      unwatch();
      show.cancel();
      point.cancel();
      committer.destroy();
      box.remove();
    },
  };
}

/** @returns {State} */
function takeData(/** @type {Frame} */ frame, /** @type {Uint8Array} */ data) {
  /** @type {{header: Header, arrays: Arrays}} */
  const { header, arrays } = parse(data);
  const { strings } = header;
  const approximate = arrays.weights_a.dtype === "u8";
  const choice = readChoice(header, arrays, frame.committer.read(), frame.host.address);
  const options = { scale: choice.selection.scale, isLinked: !choice.other, approximate };
  const parts = buildParts(header, arrays.moved, options, {
    head: (side, head) => chooseHead(state, side, head),
    both: (head) => chooseBoth(state, head),
    link: (on) => change(state, { other: on ? null : headOfSide(state, "a") }),
    scale: (scale) => change(state, { selection: { ...state.selection, scale } }),
    largest: () => chooseLargest(state),
  });
  const titles = { rowTitle: strings.query_axis, colTitle: strings.key_axis };
  const drawn = { hover: null, widths: [], view: null, squares: squaresOf(header, arrays) };
  /** @type {State} */
  const state = { ...frame, ...choice, data, header, arrays, parts, titles, approximate, ...drawn };
  frame.committer.start(selectionOf(state, header));
  frame.box.replaceChildren(...parts.nodes);
  for (const name of PLOTS) listenPlot(state, name);
  return state;
}

/** One change: remembered, mirrored into the address, drawn in the next frame. */
function change(/** @type {State} */ state, /** @type {Partial<Choice>} */ { selection, other, pinned }) {
  if (selection) state.selection = selection;
  if (other !== undefined) state.other = other;
  if (pinned) state.pinned = pinned;
  state.hover = null;
  const chosen = selectionOf(state, state.header);
  state.committer.update(chosen);
  state.committer.write(chosen);
  state.show();
}

/** Another head of a side; where both move together, of both. */
function chooseHead(/** @type {State} */ state, /** @type {"a" | "b"} */ side, /** @type {Head} */ head) {
  if (side === "b" && state.other) change(state, { other: head });
  else change(state, { selection: { ...state.selection, ...head } });
}

function chooseBoth(/** @type {State} */ state, /** @type {Head} */ head) {
  change(state, { selection: { ...state.selection, ...head }, other: state.other ? head : null });
}

/** The cell that differs most, of the head that it is in, on both sides. */
function chooseLargest(/** @type {State} */ state) {
  const largest = state.squares?.largest;
  if (!largest) return;
  const { layer, head, row, col } = largest;
  const selection = { ...state.selection, layer, head };
  change(state, { selection, other: state.other ? { layer, head } : null, pinned: { row, col } });
}

function listenPlot(/** @type {State} */ state, /** @type {PlotName} */ name) {
  const { canvas } = state.parts.plots[name];
  const cellOf = (/** @type {MouseEvent} */ event) => cellUnder(state, name, localPoint(event, canvas));
  const point = (/** @type {SlotCell | null} */ cell) => {
    state.hover = cell;
    state.point();
  };
  canvas.addEventListener("pointermove", (event) => point(cellOf(event)));
  canvas.addEventListener("pointerleave", () => point(null));
  canvas.addEventListener("click", (event) => {
    canvas.focus({ preventScroll: true });
    const cell = cellOf(event);
    const isSame = cell?.row === state.pinned.row && cell?.col === state.pinned.col;
    change(state, { pinned: !cell || isSame ? NOTHING : cell });
  });
}

/**
 * The cell of the common axes under a point of a plot, or null.
 * @param {State} state
 * @param {PlotName} name
 * @param {{x: number, y: number}} point
 * @returns {SlotCell | null}
 */
function cellUnder({ view, header }, name, point) {
  const hit = view && hitPlot(view.plots[name], point);
  if (!hit || name === "d") return hit;
  const side = name === "a" ? 0 : 1;
  const slotOf = (/** @type {Slot[]} */ slots, /** @type {number | null} */ part) =>
    part === null ? null : slots.findIndex((slot) => slot[side] === part);
  return { row: slotOf(header.rows, hit.row), col: slotOf(header.cols, hit.col) };
}

/** Acts on a key; returns true if it did. */
function onKey(/** @type {State} */ state, /** @type {KeyboardEvent} */ event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const target = elementAt(event);
  const plot = PLOTS.find((name) => state.parts.plots[name].canvas === target);
  const side = plot === "b" ? "b" : "a";
  const isField = target?.matches("select, input, [role=radio]") && event.shiftKey;
  const next = isField ? null : headStep(event, state.header[side], headOfSide(state, side));
  const move = event.shiftKey ? undefined : ARROWS[event.key];
  if (next) chooseHead(state, side, next);
  else if (event.key === "Escape" && state.pinned.row !== null) change(state, { pinned: NOTHING });
  else if (plot && move) change(state, { pinned: stepCell(state, plot, move) });
  else return false;
  return true;
}

/**
 * The cell that an arrow leads to, among those that the plot shows; the first arrow pins the first one.
 * @param {State} state
 * @param {PlotName} plot
 * @param {[down: number, across: number]} move
 * @returns {SlotCell}
 */
function stepCell({ header, pinned }, plot, [down, across]) {
  const { rows, cols } = header;
  const side = plot === "a" ? 0 : plot === "b" ? 1 : null;
  const first = (/** @type {Slot[]} */ slots) => stepSlot(slots, side, -1, 1);
  if (pinned.row === null) return { row: first(rows), col: first(cols) };
  const step = (/** @type {Slot[]} */ slots, /** @type {number} */ from, /** @type {number} */ by) =>
    by ? stepSlot(slots, side, from, by) : from;
  const col = pinned.col === null ? first(cols) : step(cols, pinned.col, across);
  return { row: step(rows, pinned.row, down), col };
}

/** Sizes everything for the width there is and draws it. */
function layout(/** @type {State} */ state) {
  const { box, parts, header } = state;
  const width = box.clientWidth;
  if (!width) return;
  box.classList.toggle("av-narrow", width < WIDE_PX);
  const most = Math.max(header.rows.length, header.cols.length);
  const columns = width >= WIDE_PX && most <= MANY ? 3 : width >= NARROW_PX ? 2 : 1;
  const room = Math.min(MAX_PX, (width - BETWEEN_PX * (columns - 1)) / columns);
  const below = Math.min(width, most > MANY ? 2 * MAX_PX : MAX_PX);
  state.widths = [room, room, columns === 2 ? below : room];
  parts.body.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
  const isBeside = state.squares !== null && width >= WIDE_PX && most <= MANY;
  if (isBeside) {
    const half = Math.min(MAX_PX, (width - BETWEEN_PX) / 2);
    state.widths = [half, half, Math.min(MAX_PX, width * (1 - GRID_SHARE) - EDGE_PX)];
    parts.body.style.gridTemplateColumns = "repeat(2, minmax(0, 1fr))";
  }
  placeDifference(parts, isBeside, columns === 1);
  parts.plots.d.node.style.gridColumn = columns === 2 ? "1 / -1" : "";
  showAll(state);
}

/** B − A stands beside the squares where there is room, right below them on a phone, else below both sides. */
function placeDifference(
  /** @type {Parts} */ { top, node, body, plots },
  /** @type {boolean} */ isBeside,
  /** @type {boolean} */ isAlone,
) {
  const difference = plots.d.node;
  const place = isBeside ? node : isAlone ? top : body;
  if (difference.parentNode === place) return;
  if (isAlone) node.before(difference);
  else place.append(difference);
}

/** B − A of every head, where they are few enough to be drawn. @returns {Squares | null} */
function squaresOf(/** @type {Header} */ { rows, cols }, /** @type {Arrays} */ arrays) {
  if (!arrays.moved) return null;
  const [layers, heads] = arrays.moved.shape;
  if (layers * heads * rows.length * cols.length > MOST_CELLS) return null;
  const each = Array.from({ length: layers * heads }, (_, at) => {
    const place = { layer: Math.floor(at / heads), head: at % heads };
    return differenceOf(
      headWeights(arrays.weights_a, place),
      headWeights(arrays.weights_b, place),
      rows,
      cols,
    );
  });
  const limit = Math.max(...each.map((head) => head.limit));
  return { each, limit, rows: rows.length, cols: cols.length, largest: largestOf(each, heads, cols.length) };
}

/** Draws all heads, where both sides have the same: B − A of each, below it how much of the chosen row moved. */
function drawGrid(/** @type {State} */ state) {
  const { parts, arrays, host, header, box, squares, pinned } = state;
  const { grid } = parts;
  const { moved, moved_rows: rows } = arrays;
  if (!grid || !moved) return;
  const theme = host.theme();
  const [, heads] = moved.shape;
  grid.ends.hidden = !squares;
  if (!squares) {
    const lut = sequential(theme.dark);
    grid.picker.resize(GRID.size, GRID.gap);
    drawMoved(grid.canvas, moved, lut, GRID);
    const ends = /** @type {[string, string]} */ (["0", withPercent(fmtPercent(Math.max(...moved.data)))]);
    drawMovedBar(grid.bar, lut, theme, Math.max(150, heads * (GRID.size + GRID.gap)), ends);
    return;
  }
  const room = box.clientWidth * (box.clientWidth < WIDE_PX ? 1 : GRID_SHARE);
  const { least, most, gap, bar } = SQUARES;
  const size = Math.max(least, Math.min(most, Math.floor((room - NAMES.left) / heads) - gap));
  const { row } = pinned;
  const isPaired = rows && row !== null && !Number.isNaN(rows.data[row]);
  const shares = Array.from(moved.data, (share, at) =>
    isPaired ? rows.data[at * header.rows.length + row] : share,
  );
  const layout = { size, gap, rowGap: gap + bar, heads };
  grid.picker.resize(size, gap, NAMES.left, NAMES.top, layout.rowGap);
  drawSquares(grid.canvas, squares, shares, theme, layout);
  drawColourBar(grid.bar, {
    lut: diverging(theme.dark),
    theme,
    limit: squares.limit || 1,
    width: WIDEST_BAR_PX,
  });
  const percent = fmtPercent(Math.max(...shares));
  const { strings } = header;
  const query = isPaired && state.view ? queryName(header, state.view.compared, row) : "";
  setText(grid.note, fill(query ? strings.squares_row : strings.squares_mean, { percent, query }));
}

/** Shows the chosen heads, then what depends on the cursor. */
function showAll(/** @type {State} */ state) {
  const { header, parts, selection, titles } = state;
  if (!state.widths.length) return;
  const theme = state.host.theme();
  const compared = compare(state);
  const data = plotData(state, compared, theme);
  const plots = layoutPlots(data, state.widths, theme, titles);
  const [a, b, d] = plots;
  state.view = { compared, plots: { a, b, d }, theme };
  for (const plot of plots) paintPlot(plot, theme);
  for (const side of /** @type {const} */ (["a", "b"])) {
    const { layer, head } = compared.places[side];
    parts.pickers[side].update(header.strings, header[side], layer, head);
  }
  drawGrid(state);
  parts.grid?.picker.set(compared.places.a.layer, compared.places.a.head);
  parts.link.set(!state.other);
  parts.scale.set(selection.scale);
  showNames(parts, header, compared);
  showMost(state, compared);
  const { squares } = state;
  parts.largest.hidden = parts.goLargest.hidden = !squares?.largest;
  if (squares?.largest) setText(parts.largest, largestText(header, compared, squares.largest));
  drawBars(state, compared, theme);
  showCursor(state);
}

/** The weights of the chosen heads, and what differs between them. @returns {Compared} */
function compare(/** @type {State} */ state) {
  const { header, arrays, approximate } = state;
  const { rows, cols } = header;
  const places = { a: headOfSide(state, "a"), b: headOfSide(state, "b") };
  const a = headWeights(arrays.weights_a, places.a);
  const b = headWeights(arrays.weights_b, places.b);
  const isOne = places.a.layer === places.b.layer && places.a.head === places.b.head;
  const stored = isOne && arrays.moved_rows ? storedRows(arrays.moved_rows, places.a) : null;
  return {
    places,
    weights: { a, b },
    difference: differenceOf(a, b, rows, cols),
    moved: stored ?? movedRows(a, b, rows, cols),
    isStored: stored !== null,
    axes: commonAxes(header),
    approximate,
  };
}

/**
 * The three heatmaps: both sides, and their difference on the common axes.
 * @param {State} state
 * @param {Compared} compared
 * @param {Theme} theme
 * @returns {PlotData[]}
 */
function plotData({ header, parts, selection }, { weights, difference, axes }, { dark }) {
  const { scale } = selection;
  const signedColours = {
    lut: diverging(dark),
    signed: true,
    toLevel: (/** @type {number} */ value) => signedLevel(value, difference.limit),
  };
  const colours = weightColours(dark, scale);
  const blocked = Uint8Array.from(difference.values, (value) => Number(Number.isNaN(value)));
  return [
    { ...parts.plots.a, ...sideAxes(header.a), values: weights.a.values, ...colours },
    { ...parts.plots.b, ...sideAxes(header.b), values: weights.b.values, ...colours },
    { ...parts.plots.d, ...axes, values: difference.values, blocked, ...signedColours },
  ];
}

/** @returns {Colours} */
function weightColours(/** @type {boolean} */ dark, /** @type {Scale} */ scale) {
  return { lut: sequential(dark), signed: false, toLevel: (weight) => levelFor(weight, scale) };
}

function sideAxes(/** @type {SideView} */ side) {
  return {
    rows: side.rows,
    cols: side.key_tokens,
    rowMarks: axisMarks(side.special, side.written),
    colMarks: axisMarks(side.key_special, side.key_written),
  };
}

/** Names the rows that differ most. */
function showMost(/** @type {State} */ state, /** @type {Compared} */ compared) {
  const { header, parts } = state;
  const rows = mostMoved(compared.moved, ROWS_NAMED).map(({ row, share }) => {
    const token = queryName(header, compared, row);
    return { row, label: fill(header.strings.most, { token, percent: sharePercent(compared, share) }) };
  });
  fillMost(parts, header, rows, (row) => change(state, { pinned: { row, col: null } }));
}

function drawBars(
  /** @type {State} */ { parts, widths, selection, header },
  /** @type {Compared} */ { difference },
  /** @type {Theme} */ theme,
) {
  const { strings } = header;
  const { scale } = selection;
  const { limit } = difference;
  const width = Math.min(WIDEST_BAR_PX, widths[0]);
  for (const side of /** @type {const} */ (["a", "b"])) {
    const { bar } = parts.plots[side];
    drawColourBar(bar, { lut: sequential(theme.dark), theme, scale, width });
    bar.setAttribute("aria-label", fill(strings.colour_bar, { scale: strings[`scale_${scale}`] }));
  }
  const { bar } = parts.plots.d;
  bar.hidden = parts.ends.hidden = limit === 0;
  parts.hatched.hidden = !difference.values.some(Number.isNaN);
  drawColourBar(bar, { lut: diverging(theme.dark), theme, limit: limit || 1, width });
  bar.setAttribute("aria-label", fill(strings.difference_bar, { limit: fmtReal(limit) }));
}

/** Shows what depends on the cursor: the same cell framed in all three, and its numbers. */
function showCursor(/** @type {State} */ { view, header, parts, pinned, hover, titles, selection }) {
  if (!view) return;
  const { plots, compared, theme } = view;
  const { places, difference } = compared;
  const partsOf = (/** @type {SlotCell} */ { row, col }, /** @type {0 | 1} */ side) => ({
    row: partOf(header.rows, row, side),
    col: partOf(header.cols, col, side),
  });
  const { scale } = selection;
  const both = { ...places.a, scale, layerB: places.b.layer, headB: places.b.head, limit: difference.limit };
  drawPlot(plots.a, theme, titles, partsOf(pinned, 0), hover && partsOf(hover, 0), { ...places.a, scale });
  drawPlot(plots.b, theme, titles, partsOf(pinned, 1), hover && partsOf(hover, 1), { ...places.b, scale });
  drawPlot(plots.d, theme, titles, pinned, hover, both);
  const at = hover ?? pinned;
  setText(parts.readout, readout(header, compared, at), at.row === null);
}
