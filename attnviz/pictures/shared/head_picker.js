// @ts-check
// A matrix of heads, layers down and heads across: arrow keys move, a click or Enter picks. Below its transparent cells
// lies an optional canvas with thumbnails of the heads. It may have cells that are not heads (extras) and stand in
// another order than the model's.

import { el } from "./dom.js";
import { swallow } from "./controls.js";
import { headName } from "./fmt.js";
import { isKept } from "./selection.js";

/** @import { Kept } from "./selection.js" */

/**
 * `heads` has how many each layer has, where layers differ, `kept` those that there are, where not all are. `onMove`: the cursor went to a head; `onPick`: a head was
 * clicked, or Enter pressed (default: onMove); `onHover`: the pointer is over a head; `onExtra` says the same of extras.
 * @typedef {{label: string, nLayers: number, nHeads: number, heads?: readonly number[], kept?: Kept, under?: HTMLCanvasElement,
 *   labelOf?: (layer: number, head: number) => string, extras?: readonly string[],
 *   onMove: (layer: number, head: number) => void, onPick?: (layer: number, head: number) => void,
 *   onHover?: (at: {layer: number, head: number}) => void,
 *   onExtra?: (extra: number, how: "move" | "pick" | "hover") => void}} HeadPickerOptions
 */
/**
 * What stands where, row by row: heads as layer * nHeads + head, then extras, null for an empty place.
 * @typedef {(number | null)[][]} Arrangement
 */
/**
 * `set` moves the cursor to a head, `mark` to any cell; `arrange` and `resize` place the cells, `relabel` names heads anew;
 * `focus` moves the keyboard to the cell under the cursor.
 * @typedef {{node: HTMLElement, set: (layer: number, head: number) => void, mark: (index: number) => void, focus: () => void,
 *   arrange: (rows: Arrangement) => void, relabel: (labelOf: (layer: number, head: number) => string) => void,
 *   resize: (size: number, gap: number, left?: number, top?: number, rowGap?: number) => void}} HeadPicker
 */
/** The cells, the one under the cursor, and where they stand. @typedef {{cells: HTMLElement[], at: number, rows: Arrangement}} Cells */

const SIZE_PX = 18;
const GAP_PX = 3;
/** @type {Record<string, [down: number, across: number]>} */
const ARROWS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** @returns {HeadPicker} */
export function headPicker(/** @type {HeadPickerOptions} */ opts) {
  const grid = el("div", { class: "av-picker-grid", role: "grid", "aria-label": opts.label });
  const rows = arrangement(opts.nLayers, opts.nHeads, opts.heads, opts.kept);
  /** @type {Cells} */
  const state = { cells: makeCells(opts), at: 0, rows };
  const resize = (/** @type {number} */ size, /** @type {number} */ gap, left = 0, top = 0, rowGap = gap) => {
    Object.assign(grid.style, {
      gridTemplateColumns: `repeat(${state.rows[0].length}, ${size}px)`,
      gridAutoRows: `${size}px`,
      gap: `${rowGap}px ${gap}px`,
      margin: `${top}px 0 ${rowGap > gap ? rowGap : 0}px ${left}px`,
    });
  };
  listenPicker(grid, state, opts);
  arrangeCells(grid, state, rows);
  resize(SIZE_PX, GAP_PX);
  markCell(state, rows.flat().find((i) => i !== null) ?? 0);
  return {
    node: el("div", { class: "av-picker" }, opts.under, grid),
    set: (layer, head) => markCell(state, layer * opts.nHeads + head),
    mark: (index) => markCell(state, index),
    focus: () => state.cells[state.at]?.focus({ preventScroll: true }),
    arrange: (arranged) => arrangeCells(grid, state, arranged),
    relabel(labelOf) {
      for (const cell of state.cells.slice(0, opts.nLayers * opts.nHeads)) {
        const { layer, head } = cell.dataset;
        const label = labelOf(Number(layer), Number(head));
        cell.setAttribute("aria-label", label);
        if (!opts.onHover) cell.title = label;
      }
    },
    resize,
  };
}

/**
 * The model's own order: a row for each layer; `heads` has the heads of each where these differ, `kept` those that were
 * kept.
 * @param {number} nLayers
 * @param {number} nHeads
 * @param {readonly number[]} [heads]
 * @param {Kept} [kept]
 * @returns {Arrangement}
 */
export function arrangement(nLayers, nHeads, heads, kept) {
  return Array.from({ length: nLayers }, (_, layer) =>
    Array.from({ length: nHeads }, (_, head) =>
      head < (heads?.[layer] ?? nHeads) && isKept({ kept }, layer, head) ? layer * nHeads + head : null,
    ),
  );
}

/** Moves the cursor. */
function markCell(/** @type {Cells} */ state, /** @type {number} */ index) {
  const { cells } = state;
  cells[state.at].setAttribute("aria-selected", "false");
  cells[state.at].tabIndex = -1;
  state.at = index;
  cells[index].setAttribute("aria-selected", "true");
  cells[index].tabIndex = 0;
}

/**
 * @param {HTMLElement} grid
 * @param {Cells} state
 * @param {Arrangement} rows
 */
function arrangeCells(grid, state, rows) {
  if (grid.hasChildNodes() && String(rows) === String(state.rows) && rows.length === state.rows.length)
    return;
  state.rows = rows;
  const cellAt = (/** @type {number | null} */ i) =>
    i === null ? el("div", { role: "gridcell" }) : state.cells[i];
  const lines = rows.map((row) => el("div", { class: "av-picker-row", role: "row" }, ...row.map(cellAt)));
  grid.replaceChildren(...lines);
}

/** The cells: all heads in the model's order, then the extras. */
function makeCells(/** @type {HeadPickerOptions} */ opts) {
  const { nLayers, nHeads, extras = [] } = opts;
  const cell = (/** @type {string} */ label, /** @type {Record<string, number>} */ dataset) =>
    el("div", {
      class: "av-picker-cell",
      role: "gridcell",
      tabIndex: -1,
      "aria-label": label,
      "aria-selected": "false",
      title: opts.onHover ? null : label,
      dataset,
    });
  const heads = Array.from({ length: nLayers * nHeads }, (_, i) => {
    const layer = Math.floor(i / nHeads);
    const head = i % nHeads;
    const exists = head < (opts.heads?.[layer] ?? nHeads);
    return cell((exists && opts.labelOf?.(layer, head)) || headName(layer, head), { layer, head });
  });
  return [...heads, ...extras.map((label, extra) => cell(label, { extra }))];
}

/**
 * @param {HTMLElement} grid
 * @param {Cells} state
 * @param {HeadPickerOptions} opts
 */
function listenPicker(grid, state, opts) {
  const { nLayers, nHeads } = opts;
  const { cells } = state;
  const count = nLayers * nHeads;
  const callbacks = { move: opts.onMove, pick: opts.onPick ?? opts.onMove };
  const indexOf = (/** @type {Event} */ event) => cells.findIndex((cell) => cell === event.target);
  const tell = (/** @type {number} */ i, /** @type {"move" | "pick"} */ how) => {
    if (i >= count) opts.onExtra?.(i - count, how);
    else callbacks[how](Math.floor(i / nHeads), i % nHeads);
  };
  const go = (/** @type {number} */ i, /** @type {"move" | "pick"} */ how) => {
    markCell(state, i);
    cells[i].focus({ preventScroll: how === "pick" });
    tell(i, how);
  };
  grid.addEventListener("click", (event) => {
    const i = indexOf(event);
    const isTouch = event instanceof PointerEvent && event.pointerType === "touch";
    if (i >= 0) go(i, isTouch && i !== state.at ? "move" : "pick");
  });
  grid.addEventListener("keydown", (event) => {
    const isPlain = !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey;
    const next = isPlain ? stepFrom(state, event.key) : null;
    if (next !== null) go(next, "move");
    else if (event.key === "Enter" || event.key === " ") tell(state.at, "pick");
    else return;
    swallow(event);
  });
  if (!opts.onHover) return;
  let over = -1; // pointermove alone: a cell that came to lie under a resting pointer is not meant
  grid.addEventListener("pointerleave", () => (over = -1));
  grid.addEventListener("pointermove", (event) => {
    const i = indexOf(event);
    if (i < 0 || i === over || event.pointerType === "touch") return;
    over = i;
    if (i >= count) opts.onExtra?.(i - count, "hover");
    else opts.onHover?.({ layer: Math.floor(i / nHeads), head: i % nHeads });
  });
}

/** The cell that an arrow, Home or End key leads to, over empty places; null for other keys. */
function stepFrom(/** @type {Cells} */ { at, rows }, /** @type {string} */ key) {
  const row = rows.findIndex((line) => line.includes(at));
  const filled = rows[row].filter((i) => i !== null);
  if (key === "Home") return filled[0];
  if (key === "End") return filled[filled.length - 1];
  if (!ARROWS[key]) return null;
  const [down, across] = ARROWS[key];
  let r = row + down;
  for (let c = rows[row].indexOf(at) + across; c >= 0 && c < rows[r]?.length; c += across, r += down) {
    const index = rows[r][c];
    if (index !== null) return index;
  }
  return at;
}
