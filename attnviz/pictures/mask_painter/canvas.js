// @ts-check
// Mask painter: cells are painted with the pointer or the keyboard, and sent when the stroke is over.

import { parse } from "../shared/buffer.js";
import { swallow } from "../shared/controls.js";
import { el, fitCanvas, localPoint, markDrawn, setData, setText, watchSize } from "../shared/dom.js";
import { fill } from "../shared/fmt.js";
import { moveBy } from "../shared/panel.js";

/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Arrays, Header } from "./types.js" */

/**
 * `stroke` is what a stroke does to cells, null between strokes; `at` is where the keyboard is.
 * @typedef {{host: Host, top: HTMLElement, canvas: HTMLCanvasElement, status: HTMLElement, hint: HTMLElement,
 *   clear: HTMLElement, header: Header | null, cells: Uint8Array, stroke: number | null,
 *   at: {row: number, col: number}, size: number, left: number, above: number}} State
 */

const MAX_CELL = 22;
const LABEL_FONT = 12.5;
const LABEL_MOST = 84;
const GAP = 6;

/** @returns {Mounted} */
export default function maskPainter(/** @type {Host} */ host) {
  const state = makeState(host);
  const stop = watchSize(state.top, () => paint(state));
  return {
    refresh(data) {
      /** @type {{header: Header, arrays: Arrays}} */
      const { header, arrays } = parse(data);
      const { strings } = header;
      state.header = header;
      state.cells = Uint8Array.from(arrays.cells.data);
      state.canvas.setAttribute("aria-label", strings.canvas);
      setText(state.hint, strings.hint);
      setText(state.clear, strings.clear);
      paint(state);
    },
    destroy() {
      stop();
      state.top.remove();
    },
  };
}

/** @returns {State} */
function makeState(/** @type {Host} */ host) {
  const canvas = el("canvas", { role: "img", tabIndex: 0 });
  const status = el("p", { class: "av-status av-note", role: "status" });
  const hint = el("p", { class: "av-note" });
  const empty = () => {
    state.cells.fill(0);
    paint(state);
    send(state);
  };
  const clear = el("button", { type: "button", class: "av-button", on: { click: empty } });
  const top = el(
    "div",
    { class: "av av-mask-painter" },
    hint,
    canvas,
    el("div", { class: "av-row" }, clear, status),
  );
  host.root.append(top);
  /** @type {State} */
  const state = {
    ...{ host, top, canvas, status, hint, clear, header: null, cells: new Uint8Array(), stroke: null },
    ...{ at: { row: 0, col: 0 }, size: 0, left: 0, above: 0 },
  };
  canvas.addEventListener("pointerdown", (event) => begin(state, event));
  canvas.addEventListener("pointermove", (event) => draw(state, event));
  for (const type of /** @type {const} */ (["pointerup", "pointercancel"]))
    canvas.addEventListener(type, () => end(state));
  canvas.addEventListener("keydown", (event) => press(state, event));
  return state;
}

/** The cell under the pointer; null beside the matrix. */
function cellUnder(
  /** @type {State} */ { header, canvas, size, left, above },
  /** @type {PointerEvent} */ event,
) {
  const { x, y } = localPoint(event, canvas);
  const [row, col] = [Math.floor((y - above) / size), Math.floor((x - left) / size)];
  const isInside =
    row >= 0 && col >= 0 && row < (header?.tokens.length ?? 0) && col < (header?.key_tokens.length ?? 0);
  return isInside ? { row, col } : null;
}

function begin(/** @type {State} */ state, /** @type {PointerEvent} */ event) {
  const cell = cellUnder(state, event);
  if (!cell || !state.header) return;
  state.canvas.setPointerCapture(event.pointerId);
  state.stroke = 1 - state.cells[placeOf(state.header, cell)];
  draw(state, event);
}

function draw(/** @type {State} */ state, /** @type {PointerEvent} */ event) {
  const cell = cellUnder(state, event);
  if (!cell || !state.header) return;
  state.at = cell;
  if (state.stroke !== null) state.cells[placeOf(state.header, cell)] = state.stroke;
  paint(state);
}

function end(/** @type {State} */ state) {
  if (state.stroke === null) return;
  state.stroke = null;
  send(state);
}

/** Arrow keys move, space or Enter paints. */
function press(/** @type {State} */ state, /** @type {KeyboardEvent} */ event) {
  const { header, at } = state;
  if (!header) return;
  const to = moveBy(event, at, { rows: header.tokens.length, cols: header.key_tokens.length });
  if (!to && event.key !== " " && event.key !== "Enter") return;
  swallow(event);
  if (to) state.at = to;
  else state.cells[placeOf(header, at)] = 1 - state.cells[placeOf(header, at)];
  paint(state);
  if (!to) send(state);
}

function placeOf(/** @type {Header} */ header, /** @type {{row: number, col: number}} */ { row, col }) {
  return row * header.key_tokens.length + col;
}

function send(/** @type {State} */ { host, header, cells }) {
  const n = header?.key_tokens.length ?? 1;
  const painted = [...cells.keys()].filter((place) => cells[place]);
  host.trigger("cells", painted.map((place) => `${Math.floor(place / n)}.${place % n}`).join(","));
}

function paint(/** @type {State} */ state) {
  const { host, header, canvas, cells, at, top, status } = state;
  const room = top.clientWidth;
  if (!header || room <= 0) return;
  const { tokens, key_tokens: keys, strings } = header;
  const theme = host.theme();
  state.left = state.above = LABEL_MOST;
  state.size = Math.max(4, Math.min(MAX_CELL, Math.floor((room - state.left - 2) / keys.length)));
  const { size, left, above } = state;
  const ctx = fitCanvas(canvas, left + size * keys.length + 2, above + size * tokens.length + 2);
  ctx.textBaseline = "middle";
  ctx.font = `${Math.min(LABEL_FONT, size + 2)}px ${theme.font}`;
  ctx.fillStyle = theme.text;
  ctx.textAlign = "right";
  tokens.forEach((token, row) =>
    ctx.fillText(token, left - GAP, above + (row + 0.5) * size, LABEL_MOST - GAP),
  );
  ctx.save();
  ctx.rotate(-Math.PI / 2);
  ctx.textAlign = "left";
  keys.forEach((token, col) => ctx.fillText(token, GAP - above, left + (col + 0.5) * size, LABEL_MOST - GAP));
  ctx.restore();
  cells.forEach((isPainted, place) => {
    const [row, col] = [Math.floor(place / keys.length), place % keys.length];
    ctx.fillStyle = isPainted ? theme.primary : theme.bg2;
    ctx.fillRect(left + col * size + 0.5, above + row * size + 0.5, size - 1, size - 1);
  });
  ctx.strokeStyle = theme.roles.chosen;
  ctx.lineWidth = 2;
  ctx.strokeRect(left + at.col * size, above + at.row * size, size, size);
  markDrawn(canvas);
  setData(canvas, { row: at.row, col: at.col, painted: cells.reduce((sum, cell) => sum + cell, 0) });
  setText(status, fill(strings.cell, { query: tokens[at.row], key: keys[at.col] }));
}
