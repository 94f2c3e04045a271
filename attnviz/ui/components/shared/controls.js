// @ts-check
// The small set of controls that components share: segmented choice, check box, button, and the layer × head picker.
// All are plain elements with roles, arrow keys and a visible focus ring; style.css gives them their look.

import { el } from "./dom.js";
import { headName } from "./fmt.js";

/**
 * A row of options of which one is on (a radio group with roving focus).
 * @param {{label: string, options: {value: string, label: string}[], value: string, onChange: (value: string) => void}} opts
 */
export function segmented(opts) {
  const buttons = opts.options.map(({ value, label }) => el("button", { class: "av-seg", type: "button", role: "radio", dataset: { value } }, label));
  const node = el("div", { class: "av-segs", role: "radiogroup", "aria-label": opts.label }, ...buttons);
  const set = (/** @type {string} */ value) => {
    for (const button of buttons) {
      const on = button.dataset.value === value;
      button.setAttribute("aria-checked", String(on));
      button.tabIndex = on ? 0 : -1;
    }
  };
  const choose = (/** @type {any} */ button) => { set(button.dataset.value); opts.onChange(button.dataset.value); };
  node.addEventListener("click", (/** @type {any} */ event) => { if (buttons.includes(event.target)) choose(event.target); });
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
 * A matrix of heads: layers down, heads across. Arrow keys move, the pointer chooses; `under` is an optional canvas
 * (thumbnails of the heads) below the transparent cells.
 * @param {{label: string, nLayers: number, nHeads: number, size?: number, gap?: number, under?: HTMLCanvasElement,
 *   onChange: (layer: number, head: number) => void}} opts
 */
export function headPicker(opts) {
  const { nLayers, nHeads, size = 18, gap = 3 } = opts, grid = el("div", { class: "av-picker-grid", role: "grid", "aria-label": opts.label });
  grid.style.gridTemplateColumns = `repeat(${nHeads}, ${size}px)`;
  grid.style.gap = `${gap}px`;
  /** @type {any[]} */
  const cells = [];
  for (let layer = 0; layer < nLayers; layer++) {
    const row = el("div", { class: "av-picker-row", role: "row" });
    for (let head = 0; head < nHeads; head++) {
      const cell = el("div", { class: "av-picker-cell", role: "gridcell", tabIndex: -1, "aria-label": headName(layer, head), title: headName(layer, head),
        "aria-selected": "false", style: { width: `${size}px`, height: `${size}px` } });
      cells.push(cell);
      row.append(cell);
    }
    grid.append(row);
  }
  const node = el("div", { class: "av-picker" }, opts.under, grid);
  let at = 0;
  const set = (/** @type {number} */ layer, /** @type {number} */ head) => {
    cells[at]?.setAttribute("aria-selected", "false");
    if (cells[at]) cells[at].tabIndex = -1;
    at = layer * nHeads + head;
    cells[at].setAttribute("aria-selected", "true");
    cells[at].tabIndex = 0;
  };
  const choose = (/** @type {number} */ index) => {
    set(Math.floor(index / nHeads), index % nHeads);
    cells[at].focus({ preventScroll: true });
    opts.onChange(Math.floor(at / nHeads), at % nHeads);
  };
  grid.addEventListener("click", (/** @type {any} */ event) => { const i = cells.indexOf(event.target); if (i >= 0) choose(i); });
  grid.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const next = movedHead(event.key, Math.floor(at / nHeads), at % nHeads, nLayers, nHeads);
    if (!next) return;
    swallow(event);
    choose(next.layer * nHeads + next.head);
  });
  set(0, 0);
  return { node, set };
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
