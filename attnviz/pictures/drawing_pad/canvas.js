// @ts-check
// A pad to draw on, by pointer, finger or keyboard. The drawing lives in the browser; when a stroke has ended and no
// other begins, it is sent as a PNG in a data URL (trigger "picture"). It outlives the component: a page that is left
// and come back to shows it again.

import { parse } from "../shared/buffer.js";
import { swallow } from "../shared/controls.js";
import {
  context2d,
  el,
  fitCanvas,
  localPoint,
  markDrawn,
  setData,
  setText,
  watchSize,
} from "../shared/dom.js";
import { fill } from "../shared/fmt.js";
import { asPng, filledWith, GROUND, paintDeed, paintDeeds, tracePath } from "./drawing.js";
import { buildParts, SIZES } from "./parts.js";

/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Deed, Line, Spot } from "./drawing.js" */
/** @import { Choice, Parts } from "./parts.js" */
/** @import { Arrays, Header } from "./types.js" */

/**
 * `line` is being drawn; `cursor` is where the tool is, `isPointed` says that a pointer brought it there. `shown` is the
 * data that the parts were built from; `timer` sends the drawing.
 * @typedef {{host: Host, box: HTMLElement, header: Header, parts: Parts, shown: string, side: number,
 *   line: Line | null, cursor: Spot | null, isPointed: boolean, timer: number}} State
 */

const MAX_SIDE = 320;
const STEP = 1 / 32;
const PAUSE_MS = 350; // after a stroke; a hand that draws on is not interrupted
const MIDDLE = /** @type {Spot} */ ([0.5, 0.5]);
/** @type {Record<string, [x: number, y: number]>} */
const ARROWS = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
/**
 * What was drawn and chosen on this page, kept between mounts.
 * @type {{deeds: Deed[], choice: Choice}}
 */
const KEPT = { deeds: [], choice: { tool: "brush", colour: "red", size: "medium" } };

/** @returns {Mounted} */
export default function drawingPad(/** @type {Host} */ host) {
  const box = el("section", { class: "av av-drawing-pad" });
  /** @type {State | null} */
  let state = null;
  host.root.append(box);
  const unwatch = watchSize(box, () => state && layout(state));
  return {
    refresh(data) {
      /** @type {{header: Header, arrays: Arrays}} */
      const { header, arrays } = parse(data);
      if (arrays.first && !KEPT.deeds.length) KEPT.deeds.push(filledWith(arrays.first));
      // the same again, after a run of the page, must not take the focus from a hand that draws
      if (state?.shown !== JSON.stringify(header)) state = build(host, box, header);
      layout(state);
    },
    destroy() {
      clearTimeout(state?.timer);
      unwatch();
      box.remove();
    },
  };
}

/**
 * Fills the box for what can be drawn with.
 * @param {Host} host
 * @param {HTMLElement} box
 * @param {Header} header
 * @returns {State}
 */
function build(host, box, header) {
  const parts = buildParts(header, KEPT.choice, {
    choose(change) {
      Object.assign(KEPT.choice, change);
      drawAbove(state);
    },
    undo: () => undo(state),
    clear: () => clear(state),
  });
  const drawing = { side: 0, line: null, cursor: null, isPointed: false, timer: 0 };
  /** @type {State} */
  const state = { host, box, header, parts, shown: JSON.stringify(header), ...drawing };
  box.replaceChildren(...parts.nodes);
  listen(state);
  return state;
}

function layout(/** @type {State} */ state) {
  const width = state.box.clientWidth;
  if (!width) return;
  state.side = Math.min(MAX_SIDE, width);
  state.parts.paintFaces(state.host.theme().text);
  paintSurface(state);
  drawAbove(state);
}

/** Paints everything drawn, again. */
function paintSurface(/** @type {State} */ state) {
  const { parts, side } = state;
  paintDeeds(fitCanvas(parts.surface, side, side), KEPT.deeds, side);
  showDeeds(state);
}

/** Shows that the surface is painted, and what can be undone. */
function showDeeds(/** @type {State} */ { parts }) {
  const last = KEPT.deeds.at(-1);
  parts.undo.disabled = !last;
  parts.clear.disabled = !last || last.kind === "clear";
  setData(parts.surface, { deeds: KEPT.deeds.length });
  markDrawn(parts.surface);
}

/** What the tool paints, how wide, and the points of the form that it puts, where it puts one. */
function toolOf(/** @type {Header} */ { colours, forms }) {
  const { tool, colour, size } = KEPT.choice;
  const css = tool === "eraser" ? GROUND : colours.find(({ name }) => name === colour)?.css;
  const points = forms.find(({ name }) => name === tool)?.points ?? null;
  return { css: css ?? GROUND, ...SIZES[size], points };
}

function listen(/** @type {State} */ state) {
  const { above } = state.parts;
  /** @returns {Spot} */
  const spotOf = (/** @type {MouseEvent} */ event) => {
    const { x, y } = localPoint(event, above);
    return [x / state.side, y / state.side];
  };
  const endLine = () => {
    if (state.line) end(state);
  };
  const leave = () => {
    state.cursor = null;
    drawAbove(state);
  };
  above.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    above.setPointerCapture(event.pointerId);
    begin(state, spotOf(event));
    if (!state.line) end(state); // a form is put at once
  });
  above.addEventListener("pointermove", (event) => {
    const moves = event.getCoalescedEvents?.() ?? [];
    for (const move of moves.length ? moves : [event]) extend(state, spotOf(move));
    state.cursor = spotOf(event);
    state.isPointed = true;
    drawAbove(state);
  });
  above.addEventListener("pointerup", endLine);
  above.addEventListener("pointercancel", endLine);
  above.addEventListener("pointerleave", () => {
    if (state.isPointed) leave(); // the keyboard's cursor stays
  });
  above.addEventListener("blur", leave);
  above.addEventListener("keydown", (event) => onKey(state, event));
  above.addEventListener("keyup", (event) => {
    if (event.key === "Shift") endLine();
  });
}

/** Puts a form, or starts a line. */
function begin(/** @type {State} */ state, /** @type {Spot} */ at) {
  const { css, width, half, points } = toolOf(state.header);
  const { strings } = state.header;
  clearTimeout(state.timer);
  /** @type {Line} */
  const line = { kind: "line", colour: css, width, points: [at] };
  /** @type {Deed} */
  const deed = points ? { kind: "form", colour: css, size: half, at, points } : line;
  KEPT.deeds.push(deed);
  state.line = points ? null : line;
  paintDeed(context2d(state.parts.surface), deed, state.side);
  const [x, y] = at.map((share) => Math.round(100 * share));
  setText(state.parts.spoken, fill(strings.placed, { tool: strings[KEPT.choice.tool], x, y }));
  showDeeds(state);
}

function extend(/** @type {State} */ state, /** @type {Spot} */ to) {
  const { line, parts, side } = state;
  if (!line) return;
  line.points.push(to);
  paintDeed(context2d(parts.surface), { ...line, points: line.points.slice(-2) }, side);
  markDrawn(parts.surface);
}

/** Ends a stroke, and sends the drawing soon. */
function end(/** @type {State} */ state) {
  state.line = null;
  clearTimeout(state.timer);
  state.timer = window.setTimeout(() => {
    state.host.trigger("picture", asPng(KEPT.deeds, state.header.side_px));
  }, PAUSE_MS);
}

function undo(/** @type {State} */ state) {
  KEPT.deeds.pop();
  setText(state.parts.spoken, state.header.strings.undone);
  paintSurface(state);
  end(state);
}

function clear(/** @type {State} */ state) {
  KEPT.deeds.push({ kind: "clear" });
  setText(state.parts.spoken, state.header.strings.cleared);
  paintSurface(state);
  end(state);
}

/** Arrows move a cursor, with Shift they draw on the way; Enter puts a dot or a form; Ctrl+Z undoes. */
function onKey(/** @type {State} */ state, /** @type {KeyboardEvent} */ event) {
  const move = ARROWS[event.key];
  if ((event.ctrlKey || event.metaKey) && event.key === "z" && KEPT.deeds.length) undo(state);
  else if (event.ctrlKey || event.metaKey || event.altKey) return;
  else if (event.key === "Enter" || event.key === " ") {
    begin(state, state.cursor ?? MIDDLE);
    end(state);
  } else if (move) moveCursor(state, move, event.shiftKey);
  else return;
  swallow(event);
}

/**
 * @param {State} state
 * @param {[x: number, y: number]} move
 * @param {boolean} draws
 */
function moveCursor(state, move, draws) {
  const inside = (/** @type {number} */ share) => Math.max(0, Math.min(1, share));
  const { cursor } = state;
  const from = cursor ?? MIDDLE;
  /** @type {Spot} */
  const to = cursor ? [inside(cursor[0] + move[0] * STEP), inside(cursor[1] + move[1] * STEP)] : from;
  if (draws && !toolOf(state.header).points) {
    if (!state.line) begin(state, from);
    extend(state, to);
  }
  state.cursor = to;
  state.isPointed = false;
  drawAbove(state);
}

/** Draws where the tool is, and how much it would cover: a ring or the form's outline, seen on any colour. */
function drawAbove(/** @type {State} */ { parts, side, cursor, header }) {
  const ctx = fitCanvas(parts.above, side, side);
  if (!cursor) return;
  const { width, half, points } = toolOf(header);
  const ring = () => {
    ctx.beginPath();
    ctx.arc(cursor[0] * side, cursor[1] * side, Math.max(2, (width * side) / 2), 0, 2 * Math.PI);
  };
  const outline = (/** @type {string} */ colour, /** @type {number} */ thickness) => {
    if (points) tracePath(ctx, { points, at: cursor, size: half }, side);
    else ring();
    ctx.strokeStyle = colour;
    ctx.lineWidth = thickness;
    ctx.stroke();
  };
  outline("#ffffff", 3);
  outline("#000000", 1);
  setData(parts.above, { x: cursor[0], y: cursor[1] });
}
