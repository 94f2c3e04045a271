// @ts-check
// Compare: the heads of two sides and their difference, one cursor in all three. Heads, cell and scale change here, in
// the browser; the server hears of it once. Data: {strings, a, b: {model, axes, at_query, at_key, n_layers, n_heads,
// n_query, n_key}, rows, cols: slots, cross, merged, alike, identical}, weights_a, weights_b f32 | u16 | u8
// [layer, head, row, column]; where both are one model, moved f32 [layer, head], moved_rows f32 [layer, head, row].

import { axisMarks, isolate } from "../shared/axes.js";
import { parse } from "../shared/buffer.js";
import { diverging, drawColourBar, levelFor, sequential, signedLevel } from "../shared/colors.js";
import { swallow } from "../shared/controls.js";
import { el, localPoint, oncePerFrame, setText, watchSize } from "../shared/dom.js";
import { fill, fmtFixed, fmtPercent, fmtReal, fmtWeight, headName } from "../shared/fmt.js";
import { headStep, neighbour } from "../shared/headkeys.js";
import { mounted } from "../shared/mounted.js";
import {
  cancelWrite,
  clampSelection,
  flushWrite,
  makeCommitter,
  readParameter,
  readSelection,
  writeSelection,
} from "../shared/selection.js";
import { theme } from "../shared/theme.js";
import { drawMoved, drawMovedBar, drawPlot, hitPlot, layoutPlots, paintPlot } from "./drawing.js";
import {
  differenceOf,
  givenRows,
  headWeights,
  meanMoved,
  mostMoved,
  mostMovedHead,
  movedRows,
  slotOf,
  stepSlot,
  weightIn,
} from "./numbers.js";
import { PLOTS, buildPair, fillMost } from "./parts.js";

const WIDE = 860;
const NARROW = 500;
const MANY = 64; // places on an axis; more need more room than a third of the width
const BETWEEN = 12;
const LARGEST = 560;
const ROWS_NAMED = 3;
const GRID = { size: 18, gap: 3 };
const MOVES = /** @type {Record<string, [number, number]>} */ ({
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
});

/** Streamlit calls this with new data or a new theme. */
export default function pair(/** @type {any} */ component) {
  return mounted(component, mountPair, refreshPair);
}

function mountPair(/** @type {any} */ root) {
  const box = el("section", { class: "av av-pair" });
  root.append(box);
  const state = /** @type {any} */ ({ root, box, hover: null });
  state.committer = makeCommitter(box);
  state.show = oncePerFrame(() => showHeads(state));
  state.point = oncePerFrame(() => showCursor(state));
  state.unwatch = watchSize(box, () => {
    if (state.header) layoutPair(state);
  });
  state.destroy = () => {
    state.unwatch();
    state.show.cancel();
    state.point.cancel();
    state.committer.destroy();
    cancelWrite();
    box.remove();
  };
  box.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => onPairKey(state, event));
  return state;
}

function refreshPair(/** @type {any} */ state, /** @type {Uint8Array} */ data) {
  if (state.raw !== data) takePair(state, data);
  layoutPair(state);
}

function takePair(/** @type {any} */ state, /** @type {Uint8Array} */ data) {
  const { header, arrays } = parse(data);
  header.approximate = arrays.weights_a.dtype === "u8";
  flushWrite();
  const asked = readSelection();
  const selection = clampSelection(asked, header.a);
  if (asked.layer === null && arrays.moved) Object.assign(selection, mostMovedHead(arrays.moved));
  const row = readSlot(header, "query", selection.query);
  const col = row === null ? null : readSlot(header, "key", asked.key);
  Object.assign(state, {
    raw: data,
    header,
    arrays,
    selection,
    other: readOther(header, selection),
    pinned: { row, col },
    hover: null,
  });
  state.committer.start(committedPair(state));
  state.parts = buildPair(
    header,
    arrays.moved,
    { scale: selection.scale, linked: !state.other },
    {
      head: (side, place) => choosePlaceOf(state, side, place),
      both: (layer, head) => chooseBoth(state, { layer, head }),
      link: (on) =>
        change(state, { other: on ? null : { layer: state.selection.layer, head: state.selection.head } }),
      scale: (value) => change(state, { selection: { ...state.selection, scale: value } }),
    },
  );
  state.box.replaceChildren(...state.parts.nodes);
  listenPlots(state);
}

/**
 * The place of a token on the common axes; the address names one of the right side where the left has none.
 * @param {any} header
 * @param {"query" | "key"} axis
 * @param {number | null} token
 */
function readSlot(header, axis, token) {
  const slots = axis === "query" ? header.rows : header.cols;
  const name = `at_${axis}`;
  const asked = readParameter(`${axis}_b`) ?? "";
  if (token !== null) return token < header.a[`n_${axis}`] ? slotOf(slots, header.a[name], token) : null;
  return /^\d{1,5}$/.test(asked) && Number(asked) < header.b[`n_${axis}`]
    ? slotOf(slots, header.b[name], Number(asked), 1)
    : null;
}

/** The head of the right side: what the address says; none, moving with the left, where both sides are alike. */
function readOther(/** @type {any} */ header, /** @type {any} */ selection) {
  const params = new URLSearchParams(location.search);
  const { b } = header;
  const asked = ["layer_b", "head_b"].map((name) => params.get(name) ?? "");
  const clamp = (/** @type {number} */ layer, /** @type {number} */ head) => ({
    layer: Math.min(layer, b.n_layers - 1),
    head: Math.min(head, b.n_heads - 1),
  });
  if (asked.every((value) => /^\d{1,5}$/.test(value))) return clamp(Number(asked[0]), Number(asked[1]));
  if (!header.alike) return clamp(selection.layer, selection.head);
  return header.identical && b.n_layers * b.n_heads > 1 ? anotherHead(b, selection) : null;
}

/** The next head, or the one before the last. */
function anotherHead(/** @type {any} */ size, /** @type {any} */ { layer, head }) {
  const next = neighbour(size, { layer, head }, 1);
  return next.layer === layer && next.head === head ? neighbour(size, { layer, head }, -1) : next;
}

/** The selection as address and server know it: a cell is where its tokens stand on the left, or else on the right. */
function committedPair(/** @type {any} */ state) {
  const { selection, other, pinned, header } = state;
  const { layer, head, scale, special } = selection;
  const at = (
    /** @type {number[][]} */ slots,
    /** @type {number[]} */ first,
    /** @type {number | null} */ place,
    /** @type {0 | 1} */ side,
  ) => (place === null || slots[place][side] < 0 ? null : first[slots[place][side]]);
  const asks = at(header.rows, header.a.at_query, pinned.row, 0);
  const answers = at(header.cols, header.a.at_key, pinned.col, 0);
  const key = asks === null ? null : answers;
  const onRight = {
    query_b: asks === null ? at(header.rows, header.b.at_query, pinned.row, 1) : null,
    key_b: key === null ? at(header.cols, header.b.at_key, pinned.col, 1) : null,
  };
  const more = { layer_b: other?.layer, head_b: other?.head, ...onRight };
  const written = Object.entries(more).map(([name, value]) => [
    name,
    value === null || value === undefined ? null : String(value),
  ]);
  return { layer, head, query: asks, key, scale, special, more: Object.fromEntries(written) };
}

/** One change: remembered, mirrored into the address, drawn in the next frame. */
function change(/** @type {any} */ state, /** @type {any} */ what) {
  Object.assign(state, what, { hover: null });
  const selection = committedPair(state);
  state.committer.update(selection);
  writeSelection(selection);
  state.show();
}

function placeOfSide(/** @type {any} */ state, /** @type {"a" | "b"} */ side) {
  return side === "b" && state.other
    ? state.other
    : { layer: state.selection.layer, head: state.selection.head };
}

function choosePlaceOf(/** @type {any} */ state, /** @type {"a" | "b"} */ side, /** @type {any} */ place) {
  if (side === "b" && state.other) change(state, { other: { ...state.other, ...place } });
  else change(state, { selection: { ...state.selection, ...place } });
}

function chooseBoth(/** @type {any} */ state, /** @type {{layer: number, head: number}} */ place) {
  change(state, { selection: { ...state.selection, ...place }, other: state.other ? place : null });
}

function listenPlots(/** @type {any} */ state) {
  for (const name of PLOTS) {
    const { canvas } = state.parts.plots[name];
    const at = (/** @type {MouseEvent} */ event) =>
      state.plots ? cellUnder(state, name, localPoint(event, canvas)) : null;
    canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
      state.hover = at(event);
      state.point();
    });
    canvas.addEventListener("pointerleave", () => {
      state.hover = null;
      state.point();
    });
    canvas.addEventListener("click", (/** @type {MouseEvent} */ event) => {
      canvas.focus({ preventScroll: true });
      const cell = at(event);
      const { row, col } = state.pinned;
      const same = cell && cell.row === row && cell.col === col;
      change(state, { pinned: !cell || same ? { row: null, col: null } : cell });
    });
  }
}

/**
 * The cell of the common axes under a point of a plot, or null.
 * @param {any} state
 * @param {string} name
 * @param {{x: number, y: number}} point
 */
function cellUnder(state, name, point) {
  const hit = hitPlot(state.plots[name], point);
  const side = name === "a" ? 0 : 1;
  if (!hit || name === "d") return hit;
  const slot = (/** @type {number[][]} */ slots, /** @type {number | null} */ part) =>
    part === null ? null : slots.findIndex((each) => each[side] === part);
  return { row: slot(state.header.rows, hit.row), col: slot(state.header.cols, hit.col) };
}

function onPairKey(/** @type {any} */ state, /** @type {KeyboardEvent} */ event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !state.header) return;
  const target = /** @type {HTMLElement} */ (event.composedPath()[0]);
  const plot = target.dataset.side;
  const side = plot === "b" ? "b" : "a";
  const field =
    target instanceof HTMLSelectElement ||
    target instanceof HTMLInputElement ||
    target.getAttribute("role") === "radio";
  const next = field && event.shiftKey ? null : headStep(event, state.header[side], placeOfSide(state, side));
  if (next) choosePlaceOf(state, side, next);
  else if (event.key === "Escape" && state.pinned.row !== null)
    change(state, { pinned: { row: null, col: null } });
  else if (plot && MOVES[event.key] && !event.shiftKey)
    change(state, { pinned: steppedCell(state, plot, MOVES[event.key]) });
  else return;
  swallow(event);
}

/** The cell that an arrow leads to, among those that the plot shows; the first arrow pins the first one. */
function steppedCell(
  /** @type {any} */ state,
  /** @type {string} */ plot,
  /** @type {[number, number]} */ [down, across],
) {
  const { rows, cols } = state.header;
  const { row, col } = state.pinned;
  const side = plot === "a" ? 0 : plot === "b" ? 1 : null;
  const step = (/** @type {any} */ slots, /** @type {number | null} */ from, /** @type {number} */ by) =>
    from === null ? stepSlot(slots, side, -1, 1) : by ? stepSlot(slots, side, from, by) : from;
  return row === null
    ? { row: step(rows, null, 0), col: step(cols, null, 0) }
    : { row: step(rows, row, down), col: step(cols, col, across) };
}

/** Sizes everything for the width there is and draws it. */
function layoutPair(/** @type {any} */ state) {
  const width = state.box.clientWidth;
  if (!width) return;
  state.theme = theme(state.root);
  state.box.classList.toggle("av-pair-narrow", width < WIDE);
  const most = Math.max(state.header.rows.length, state.header.cols.length);
  const columns = width >= WIDE && most <= MANY ? 3 : width >= NARROW ? 2 : 1;
  const one = Math.min(LARGEST, (width - BETWEEN * (columns - 1)) / columns);
  state.widths = [one, one, columns === 2 ? Math.min(width, most > MANY ? 2 * LARGEST : LARGEST) : one];
  state.parts.body.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
  state.parts.plots.d.node.style.gridColumn = columns === 2 ? "1 / -1" : "";
  if (state.parts.grid) showGrid(state);
  showHeads(state);
}

function showGrid(/** @type {any} */ state) {
  const {
    parts: { grid },
    arrays: { moved },
    theme: look,
  } = state;
  const lut = sequential(look.dark);
  const most = Math.max(...moved.data);
  grid.picker.resize(GRID.size, GRID.gap);
  drawMoved(grid.canvas, moved, lut, GRID);
  drawMovedBar(grid.bar, lut, look, Math.max(150, moved.shape[1] * (GRID.size + GRID.gap)), [
    "0",
    `${fmtPercent(most)}\u2009%`,
  ]);
}

/** Everything for the chosen heads, then what depends on the cursor. */
function showHeads(/** @type {any} */ state) {
  const { header, arrays, parts, selection, theme: look } = state;
  const { strings, rows, cols } = header;
  const places = { a: placeOfSide(state, "a"), b: placeOfSide(state, "b") };
  const a = headWeights(arrays.weights_a, places.a);
  const b = headWeights(arrays.weights_b, places.b);
  const difference = differenceOf(a, b, rows, cols);
  const given = arrays.moved_rows && places.a.layer === places.b.layer && places.a.head === places.b.head;
  const moved = given ? givenRows(arrays.moved_rows, places.a) : movedRows(a, b, rows, cols);
  const percent = (/** @type {number} */ share) =>
    `${header.approximate && !given ? "≈\u2009" : ""}${fmtPercent(share)}`;
  Object.assign(state, { heads: { a, b }, difference, moved, places, percent });
  for (const side of /** @type {const} */ (["a", "b"]))
    parts.pickers[side].update(strings, header[side], places[side].layer, places[side].head);
  parts.grid?.picker.set(places.a.layer, places.a.head);
  parts.link.set(!state.other);
  parts.scale.set(selection.scale);
  const weights = {
    lut: sequential(look.dark),
    signed: false,
    toLevel: (/** @type {number} */ value) => levelFor(value, selection.scale),
  };
  const signed = {
    lut: diverging(look.dark),
    signed: true,
    toLevel: (/** @type {number} */ value) => signedLevel(value, difference.limit),
  };
  state.plots = {
    a: sidePlot(state, "a", a.values, weights),
    b: sidePlot(state, "b", b.values, weights),
    d: {
      ...parts.plots.d,
      ...commonAxes(header),
      values: difference.values,
      blocked: Uint8Array.from(difference.values, Number.isNaN),
      ...signed,
    },
  };
  const all = PLOTS.map((name) => state.plots[name]);
  state.titles = { rowTitle: strings.query_axis, colTitle: strings.key_axis };
  layoutPlots(all, state.widths, look, state.titles);
  for (const plot of all) paintPlot(plot, look);
  showTexts(state);
  showBars(state, weights.lut, signed.lut);
  showCursor(state);
}

/**
 * @param {any} state
 * @param {"a" | "b"} side
 * @param {Float32Array} values
 * @param {any} colours
 */
function sidePlot(state, side, values, colours) {
  const of = state.header[side];
  return {
    ...state.parts.plots[side],
    rows: of.tokens,
    cols: of.key_tokens,
    rowMarks: axisMarks(of.special, of.written),
    colMarks: axisMarks(of.key_special, of.key_written),
    values,
    ...colours,
  };
}

/** Labels of the common axes: one where both sides agree, both where one was replaced, a sign before one without counterpart. */
function commonAxes(/** @type {any} */ header) {
  const { a, b } = header;
  const label = (
    /** @type {number[]} */ [x, y, same],
    /** @type {string[]} */ inA,
    /** @type {string[]} */ inB,
  ) =>
    same
      ? inA[x]
      : y < 0
        ? `−\u2009${inA[x]}`
        : x < 0
          ? `+\u2009${inB[y]}`
          : `${isolate(inA[x])} → ${isolate(inB[y])}`;
  const mark = (/** @type {number[]} */ [x, y], /** @type {number[]} */ inA, /** @type {number[]} */ inB) =>
    x >= 0 ? inA[x] : inB[y];
  return {
    rows: header.rows.map((/** @type {number[]} */ slot) => label(slot, a.tokens, b.tokens)),
    cols: header.cols.map((/** @type {number[]} */ slot) => label(slot, a.key_tokens, b.key_tokens)),
    rowMarks: header.rows.map((/** @type {number[]} */ slot) => mark(slot, a.special, b.special)),
    colMarks: header.cols.map((/** @type {number[]} */ slot) => mark(slot, a.key_special, b.key_special)),
  };
}

/** Names, the summary, the rows that differ most. */
function showTexts(/** @type {any} */ state) {
  const { header, parts, places, difference, moved, percent } = state;
  const { strings } = header;
  const mean = meanMoved(moved);
  const names = { a: headName(places.a.layer, places.a.head), b: headName(places.b.layer, places.b.head) };
  for (const side of /** @type {const} */ (["a", "b"])) {
    setText(parts.plots[side].heading, `${side.toUpperCase()} · ${header[side].model} · ${names[side]}`);
    parts.plots[side].canvas.setAttribute(
      "aria-label",
      fill(strings.canvas, {
        side: side.toUpperCase(),
        head: names[side],
        rows: header[side].tokens.length,
        cols: header[side].key_tokens.length,
      }),
    );
  }
  setText(parts.plots.d.heading, strings.difference);
  parts.plots.d.canvas.setAttribute(
    "aria-label",
    fill(strings.canvas_difference, {
      a: names.a,
      b: names.b,
      rows: header.rows.length,
      cols: header.cols.length,
    }),
  );
  setText(
    parts.summary,
    mean ? fill(strings.summary, { percent: percent(mean.share), rows: mean.rows }) : strings.no_rows,
  );
  setText(
    parts.limit,
    difference.limit > 0 ? fill(strings.limit, { limit: fmtReal(difference.limit) }) : strings.no_difference,
  );
  const most = mostMoved(moved, ROWS_NAMED).map(({ row, share }) => ({
    row,
    said: fill(strings.most, { token: queryName(state, row), percent: percent(share) }),
  }));
  fillMost(parts, strings, most, (row) => change(state, { pinned: { row, col: null } }));
}

/**
 * @param {any} state
 * @param {Uint32Array} lut
 * @param {Uint32Array} signed
 */
function showBars(state, lut, signed) {
  const {
    parts,
    theme: look,
    selection: { scale },
    header: { strings },
    difference: { limit },
  } = state;
  const width = Math.min(236, state.widths[0]);
  for (const side of ["a", "b"]) {
    drawColourBar(parts.plots[side].bar, { lut, theme: look, scale, width });
    parts.plots[side].bar.setAttribute(
      "aria-label",
      fill(strings.colour_bar, { scale: strings[`scale_${scale}`] }),
    );
  }
  parts.plots.d.bar.hidden = limit === 0;
  drawColourBar(parts.plots.d.bar, { lut: signed, theme: look, limit: limit || 1, width });
  parts.plots.d.bar.setAttribute("aria-label", fill(strings.difference_bar, { limit: fmtReal(limit) }));
}

/** What depends on the cursor: the same cell framed in all three, and its numbers. */
function showCursor(/** @type {any} */ state) {
  const { header, parts, plots, pinned, hover, theme: look, titles, places, selection, difference } = state;
  if (!plots) return;
  const part = (/** @type {any} */ cell, /** @type {0 | 1} */ side) =>
    cell && { row: partOf(header.rows, cell.row, side), col: partOf(header.cols, cell.col, side) };
  PLOTS.forEach((name, i) => {
    const own = (/** @type {any} */ cell) => (i === 2 ? cell : part(cell, /** @type {0 | 1} */ (i)));
    const place = name === "b" ? places.b : places.a;
    const tells = {
      layer: place.layer,
      head: place.head,
      scale: selection.scale,
      ...(i === 2 ? { layerB: places.b.layer, headB: places.b.head, limit: difference.limit } : {}),
    };
    drawPlot(plots[name], look, titles, own(pinned), own(hover), tells);
  });
  setText(parts.readout, readoutOf(state, hover ?? pinned));
}

/**
 * @param {number[][]} slots
 * @param {number | null} place
 * @param {0 | 1} side
 */
function partOf(slots, place, side) {
  return place === null || slots[place][side] < 0 ? null : slots[place][side];
}

/** A label with where its tokens stand on the left and on the right. */
function placedName(
  /** @type {string} */ label,
  /** @type {number[]} */ [x, y],
  /** @type {number[]} */ inA,
  /** @type {number[]} */ inB,
) {
  const places = [...new Set([...(x < 0 ? [] : [inA[x]]), ...(y < 0 ? [] : [inB[y]])])];
  return `${isolate(label)} (${places.join("/")})`;
}

function queryName(/** @type {any} */ state, /** @type {number} */ row) {
  const { plots, header } = state;
  return placedName(plots.d.rows[row], header.rows[row], header.a.at_query, header.b.at_query);
}

/** The numbers of a cell, or of a row, in words. */
function readoutOf(/** @type {any} */ state, /** @type {import("./numbers.js").SlotCell} */ cell) {
  const { header, heads, moved, plots, percent } = state;
  const { strings, rows, cols } = header;
  if (cell.row === null) return strings.readout_idle;
  const query = queryName(state, cell.row);
  if (cell.col === null)
    return Number.isNaN(moved[cell.row])
      ? fill(strings.readout_lone, { query })
      : fill(strings.readout_row, { query, percent: percent(moved[cell.row]) });
  const key = placedName(plots.d.cols[cell.col], cols[cell.col], header.a.at_key, header.b.at_key);
  const weight = (/** @type {number} */ value) => fmtWeight(value, header.approximate);
  const a = weightIn(heads.a, 0, rows[cell.row], cols[cell.col]);
  const b = weightIn(heads.b, 1, rows[cell.row], cols[cell.col]);
  if (a === null && b === null) return fill(strings.readout_none, { query, key });
  if (b === null) return fill(strings.readout_a, { query, key, a: weight(/** @type {number} */ (a)) });
  if (a === null) return fill(strings.readout_b, { query, key, b: weight(b) });
  const sign = b - a > 0 ? "+" : "";
  return fill(strings.readout, {
    query,
    key,
    a: weight(a),
    b: weight(b),
    difference: `${header.approximate ? "≈\u2009" : ""}${sign}${fmtFixed(b - a, 4)}`,
  });
}
