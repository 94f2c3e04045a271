// @ts-check
// The small set of controls that components share: segmented choice, check box, button, and the layer × head picker.
// All are plain elements with roles, arrow keys and a visible focus ring; style.css gives them their look.

import { el } from "./dom.js";
import { headName } from "./fmt.js";

/**
 * A row of options of which one is on (a radio group with roving focus). A label may be drawn; its words are then its tip.
 * @param {{label: string, options: {value: string, label: string | Node, tip?: string}[], value: string, onChange: (value: string) => void}} opts
 */
export function segmented(opts) {
  const buttons = opts.options.map(({ value, label, tip }) => el("button", { class: "av-seg", type: "button", role: "radio", title: tip, dataset: { value } }, label));
  const node = el("div", { class: "av-segs", role: "radiogroup", "aria-label": opts.label }, ...buttons);
  const set = (/** @type {string} */ value) => {
    for (const button of buttons) {
      const on = button.dataset.value === value;
      button.setAttribute("aria-checked", String(on));
      button.tabIndex = on ? 0 : -1;
    }
  };
  const choose = (/** @type {any} */ button) => { set(button.dataset.value); opts.onChange(button.dataset.value); };
  node.addEventListener("click", (/** @type {any} */ event) => {
    const button = event.target.closest("[role=radio]");
    if (button) choose(button);
  });
  node.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const step = arrowStep(event.key), at = buttons.indexOf(event.target);
    if (!step || at < 0) return;
    const next = buttons[(at + step + buttons.length) % buttons.length];
    swallow(event);
    next.focus();
    choose(next);
  });
  set(opts.value);
  return { node, set };
}

function arrowStep(/** @type {string} */ key) {
  return key === "ArrowRight" || key === "ArrowDown" ? 1 : key === "ArrowLeft" || key === "ArrowUp" ? -1 : 0;
}

/** Stops an event here: neither the browser nor the page's own shortcuts act on it. */
export function swallow(/** @type {Event} */ event) {
  event.preventDefault();
  event.stopPropagation();
}

/**
 * @param {{label: string, checked: boolean, onChange: (checked: boolean) => void}} opts
 */
export function checkbox(opts) {
  const input = el("input", { type: "checkbox", checked: opts.checked, on: { change: () => opts.onChange(input.checked) } });
  const node = el("label", { class: "av-check" }, input, el("span", {}, opts.label));
  return { node, set: (/** @type {boolean} */ checked) => { input.checked = checked; } };
}

/**
 * @param {{label: string, text?: string, kind?: "plain" | "primary", onClick: () => void}} opts
 */
export function button(opts) {
  const name = opts.text === undefined ? null : opts.label;
  return el("button", { class: `av-button ${opts.kind === "primary" ? "av-primary" : ""}`, type: "button", "aria-label": name, title: name,
    on: { click: opts.onClick } }, opts.text ?? opts.label);
}

/**
 * A matrix of heads, layers down and heads across: arrow keys move, a click or Enter picks. `under` is an optional
 * canvas (thumbnails of the heads) below the transparent cells; `left` and `top` leave room on it for labels.
 * onMove: the cursor went to a head; onPick: a head was clicked or Enter pressed (default: onMove); onHover: the
 * pointer is over a head, or left (null).
 * @typedef {{label: string, nLayers: number, nHeads: number, size?: number, gap?: number, under?: HTMLCanvasElement,
 *   labelOf?: (layer: number, head: number) => string, onMove: (layer: number, head: number) => void,
 *   onPick?: (layer: number, head: number) => void, onHover?: (at: {layer: number, head: number} | null) => void}} PickerOptions
 */

/** @returns {{node: HTMLElement, set: (layer: number, head: number) => void,
 *   resize: (size: number, gap: number, left?: number, top?: number) => void}} */
export function headPicker(/** @type {PickerOptions} */ opts) {
  const { nHeads } = opts, grid = el("div", { class: "av-picker-grid", role: "grid", "aria-label": opts.label });
  const cells = pickerCells(opts, grid), node = el("div", { class: "av-picker" }, opts.under, grid);
  let at = 0;
  const set = (/** @type {number} */ layer, /** @type {number} */ head) => {
    cells[at].setAttribute("aria-selected", "false");
    cells[at].tabIndex = -1;
    at = layer * nHeads + head;
    cells[at].setAttribute("aria-selected", "true");
    cells[at].tabIndex = 0;
  };
  const resize = (/** @type {number} */ size, /** @type {number} */ gap, left = 0, top = 0) => {
    Object.assign(grid.style, { gridTemplateColumns: `repeat(${nHeads}, ${size}px)`, gridAutoRows: `${size}px`, gap: `${gap}px`, marginLeft: `${left}px`, marginTop: `${top}px` });
  };
  listenPicker(grid, cells, opts, () => at, set);
  resize(opts.size ?? 18, opts.gap ?? 3);
  set(0, 0);
  return { node, set, resize };
}

/** @returns {any[]} the cells in order, put into the grid row by row */
function pickerCells(/** @type {PickerOptions} */ opts, /** @type {HTMLElement} */ grid) {
  const cells = [];
  for (let layer = 0; layer < opts.nLayers; layer++) {
    const row = el("div", { class: "av-picker-row", role: "row" });
    for (let head = 0; head < opts.nHeads; head++) {
      const label = opts.labelOf?.(layer, head) ?? headName(layer, head);
      const cell = el("div", { class: "av-picker-cell", role: "gridcell", tabIndex: -1, "aria-label": label, "aria-selected": "false",
        title: opts.onHover ? null : label, dataset: { layer, head } });
      cells.push(cell);
      row.append(cell);
    }
    grid.append(row);
  }
  return cells;
}

/**
 * @param {HTMLElement} grid
 * @param {any[]} cells
 * @param {PickerOptions} opts
 * @param {() => number} current
 * @param {(layer: number, head: number) => void} set
 */
function listenPicker(grid, cells, opts, current, set) {
  const { nLayers, nHeads } = opts, pick = opts.onPick ?? opts.onMove;
  const place = (/** @type {number} */ i) => ({ layer: Math.floor(i / nHeads), head: i % nHeads });
  const go = (/** @type {number} */ i, /** @type {(layer: number, head: number) => void} */ then) => {
    const { layer, head } = place(i);
    set(layer, head);
    cells[i].focus({ preventScroll: true });
    then(layer, head);
  };
  grid.addEventListener("click", (event) => {
    const i = cells.indexOf(event.target), touch = /** @type {any} */ (event).pointerType === "touch";
    if (i >= 0) go(i, touch && i !== current() ? opts.onMove : pick);
  });
  grid.addEventListener("keydown", (event) => {
    const { layer, head } = place(current()), next = movedHead(event.key, layer, head, nLayers, nHeads);
    if (next && !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey) go(next.layer * nHeads + next.head, opts.onMove);
    else if (event.key === "Enter" || event.key === " ") pick(layer, head);
    else return;
    swallow(event);
  });
  if (!opts.onHover) return;
  grid.addEventListener("pointerover", (event) => {
    const i = cells.indexOf(event.target);
    if (i >= 0 && event.pointerType !== "touch") opts.onHover?.(place(i));
  });
}

/** Where an arrow, Home or End key leads in the matrix of heads; null for other keys. */
export function movedHead(/** @type {string} */ key, /** @type {number} */ layer, /** @type {number} */ head, /** @type {number} */ nLayers, /** @type {number} */ nHeads) {
  const clamp = (/** @type {number} */ v, /** @type {number} */ n) => Math.max(0, Math.min(n - 1, v));
  switch (key) {
    case "ArrowLeft": return { layer, head: clamp(head - 1, nHeads) };
    case "ArrowRight": return { layer, head: clamp(head + 1, nHeads) };
    case "ArrowUp": return { layer: clamp(layer - 1, nLayers), head };
    case "ArrowDown": return { layer: clamp(layer + 1, nLayers), head };
    case "Home": return { layer, head: 0 };
    case "End": return { layer, head: nHeads - 1 };
    default: return null;
  }
}
