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
  const buttons = opts.options.map(({ value, label, tip }) =>
    el("button", { class: "av-seg", type: "button", role: "radio", title: tip, dataset: { value } }, label),
  );
  const node = el("div", { class: "av-segs", role: "radiogroup", "aria-label": opts.label }, ...buttons);
  const set = (/** @type {string} */ value) => {
    for (const button of buttons) {
      const on = button.dataset.value === value;
      button.setAttribute("aria-checked", String(on));
      button.tabIndex = on ? 0 : -1;
    }
  };
  const choose = (/** @type {any} */ button) => {
    set(button.dataset.value);
    opts.onChange(button.dataset.value);
  };
  node.addEventListener("click", (/** @type {any} */ event) => {
    const button = event.target.closest("[role=radio]");
    if (button) choose(button);
  });
  node.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const step = arrowStep(event.key);
    const at = buttons.indexOf(event.target);
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
  const input = el("input", {
    type: "checkbox",
    checked: opts.checked,
    on: { change: () => opts.onChange(input.checked) },
  });
  const node = el("label", { class: "av-check" }, input, el("span", {}, opts.label));
  return {
    node,
    set: (/** @type {boolean} */ checked) => {
      input.checked = checked;
    },
    disable: (/** @type {boolean} */ off) => {
      input.disabled = off;
    },
  };
}

/**
 * @param {{label: string, text?: string, kind?: "plain" | "primary", onClick: () => void}} opts
 */
export function button(opts) {
  const name = opts.text === undefined ? null : opts.label;
  return el(
    "button",
    {
      class: `av-button ${opts.kind === "primary" ? "av-primary" : ""}`,
      type: "button",
      "aria-label": name,
      title: name,
      on: { click: opts.onClick },
    },
    opts.text ?? opts.label,
  );
}

/**
 * A matrix of heads, layers down and heads across: arrow keys move, a click or Enter picks. `under` is an optional
 * canvas (thumbnails of the heads) below the transparent cells; `left` and `top` leave room on it for labels.
 * onMove: the cursor went to a head; onPick: a head was clicked or Enter pressed (default: onMove); onHover: the
 * pointer is over a head, or left (null). `extras` are cells that are no head: onExtra(i, how) tells of them; they and
 * another order than the model's come into sight by `arrange`.
 * `heads`: how many each layer has, where layers differ.
 * @typedef {{label: string, nLayers: number, nHeads: number, heads?: number[], size?: number, gap?: number, under?: HTMLCanvasElement,
 *   labelOf?: (layer: number, head: number) => string, extras?: string[], onMove: (layer: number, head: number) => void,
 *   onPick?: (layer: number, head: number) => void, onHover?: (at: {layer: number, head: number} | null) => void,
 *   onExtra?: (extra: number, how: "move" | "pick" | "hover") => void}} PickerOptions
 */
/** What stands where, row by row: heads as layer * nHeads + head, then extras, null for an empty place.
 * @typedef {(number | null)[][]} Arrangement */

/** @returns {{node: HTMLElement, set: (layer: number, head: number) => void, mark: (index: number) => void, arrange: (rows: Arrangement) => void,
 *   resize: (size: number, gap: number, left?: number, top?: number, rowGap?: number) => void}} */
export function headPicker(/** @type {PickerOptions} */ opts) {
  const { nHeads } = opts;
  const grid = el("div", { class: "av-picker-grid", role: "grid", "aria-label": opts.label });
  const cells = pickerCells(opts);
  const node = el("div", { class: "av-picker" }, opts.under, grid);
  const now = { at: 0, rows: arrangement(opts.nLayers, nHeads, opts.heads) };
  const mark = (/** @type {number} */ index) => {
    cells[now.at].setAttribute("aria-selected", "false");
    cells[now.at].tabIndex = -1;
    now.at = index;
    cells[index].setAttribute("aria-selected", "true");
    cells[index].tabIndex = 0;
  };
  const arrange = (/** @type {Arrangement} */ rows) => {
    now.rows = rows;
    grid.replaceChildren(
      ...rows.map((row) =>
        el(
          "div",
          { class: "av-picker-row", role: "row" },
          ...row.map((i) => (i === null ? el("div", { role: "gridcell" }) : cells[i])),
        ),
      ),
    );
  };
  const resize = (/** @type {number} */ size, /** @type {number} */ gap, left = 0, top = 0, rowGap = gap) => {
    Object.assign(grid.style, {
      gridTemplateColumns: `repeat(${now.rows[0].length}, ${size}px)`,
      gridAutoRows: `${size}px`,
      gap: `${rowGap}px ${gap}px`,
      margin: `${top}px 0 ${rowGap > gap ? rowGap : 0}px ${left}px`,
    });
  };
  listenPicker(grid, cells, opts, now, mark);
  arrange(now.rows);
  resize(opts.size ?? 18, opts.gap ?? 3);
  mark(0);
  return { node, set: (layer, head) => mark(layer * nHeads + head), mark, arrange, resize };
}

/**
 * The model's own order: a row for each layer; `heads` has the heads of each where these differ.
 * @param {number} nLayers
 * @param {number} nHeads
 * @param {number[] | undefined} [heads]
 * @returns {Arrangement}
 */
export function arrangement(nLayers, nHeads, heads = undefined) {
  return Array.from({ length: nLayers }, (_, layer) =>
    Array.from({ length: nHeads }, (_, head) =>
      head < (heads?.[layer] ?? nHeads) ? layer * nHeads + head : null,
    ),
  );
}

/** @returns {any[]} the cells: all heads in the model's order, then what else there is */
function pickerCells(/** @type {PickerOptions} */ opts) {
  const { nLayers, nHeads, extras = [] } = opts;
  const cell = (/** @type {string} */ label, /** @type {any} */ dataset) =>
    el("div", {
      class: "av-picker-cell",
      role: "gridcell",
      tabIndex: -1,
      "aria-label": label,
      "aria-selected": "false",
      title: opts.onHover ? null : label,
      dataset,
    });
  const heads = arrangement(nLayers, nHeads)
    .flat()
    .map((i) => {
      const layer = Math.floor(/** @type {number} */ (i) / nHeads);
      const head = /** @type {number} */ (i) % nHeads;
      return cell(
        (head < (opts.heads?.[layer] ?? nHeads) && opts.labelOf?.(layer, head)) || headName(layer, head),
        { layer, head },
      );
    });
  return [...heads, ...extras.map((label, extra) => cell(label, { extra }))];
}

/**
 * @param {HTMLElement} grid
 * @param {any[]} cells
 * @param {PickerOptions} opts
 * @param {{at: number, rows: Arrangement}} now
 * @param {(index: number) => void} mark
 */
function listenPicker(grid, cells, opts, now, mark) {
  const { nLayers, nHeads } = opts;
  const count = nLayers * nHeads;
  const calls = { move: opts.onMove, pick: opts.onPick ?? opts.onMove };
  const tell = (/** @type {number} */ i, /** @type {"move" | "pick"} */ how) => {
    if (i >= count) opts.onExtra?.(i - count, how);
    else calls[how](Math.floor(i / nHeads), i % nHeads);
  };
  const go = (/** @type {number} */ i, /** @type {"move" | "pick"} */ how) => {
    mark(i);
    cells[i].focus({ preventScroll: how === "pick" });
    tell(i, how);
  };
  grid.addEventListener("click", (event) => {
    const i = cells.indexOf(event.target);
    const touch = /** @type {any} */ (event).pointerType === "touch";
    if (i >= 0) go(i, touch && i !== now.at ? "move" : "pick");
  });
  grid.addEventListener("keydown", (event) => {
    const plain = !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey;
    const next = plain ? movedPlace(event.key, now) : null;
    if (next !== null) go(next, "move");
    else if (event.key === "Enter" || event.key === " ") tell(now.at, "pick");
    else return;
    swallow(event);
  });
  if (!opts.onHover) return;
  grid.addEventListener("pointerover", (event) => {
    const i = cells.indexOf(event.target);
    if (i < 0 || event.pointerType === "touch") return;
    if (i >= count) opts.onExtra?.(i - count, "hover");
    else opts.onHover?.({ layer: Math.floor(i / nHeads), head: i % nHeads });
  });
}

/** What an arrow, Home or End key leads to, over empty places; null for other keys. */
function movedPlace(/** @type {string} */ key, /** @type {{at: number, rows: Arrangement}} */ { at, rows }) {
  const steps = /** @type {Record<string, [number, number]>} */ ({
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
  });
  const row = rows.findIndex((line) => line.includes(at));
  const here = rows[row].indexOf(at);
  const filled = rows[row].filter((i) => i !== null);
  if (key === "Home") return filled[0];
  if (key === "End") return filled[filled.length - 1];
  if (!steps[key]) return null;
  const [down, across] = steps[key];
  for (let r = row + down, c = here + across; rows[r] && c >= 0 && c < rows[r].length; r += down, c += across)
    if (rows[r][c] !== null) return rows[r][c];
  return at;
}
