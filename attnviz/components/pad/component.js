// @ts-check
// A pad to draw on, by pointer, finger or keyboard. The drawing lives in the browser; "look at it" sends it as a PNG in
// a data URL (trigger "picture"). It outlives the component: a page that is left and come back to shows it again.
// Data: {strings, side, colours: [{name, css}], forms: [{name, points}]}.

import { parse } from "../shared/buffer.js";
import { swallow } from "../shared/controls.js";
import { el, fitCanvas, localPoint, markDrawn, setData, setText, watchSize } from "../shared/dom.js";
import { fill } from "../shared/fmt.js";
import { mounted } from "../shared/mounted.js";
import { theme } from "../shared/theme.js";
import { asPng, GROUND, paintDeed, paintDeeds, tracePath } from "./drawing.js";
import { buildPadParts, PAD_SIZES, paintFaces } from "./parts.js";

const MOST_SIDE = 320;
const STEP = 1 / 32;
/** What was drawn and chosen on this page, kept between mounts. @type {{deeds: import("./drawing.js").Deed[], choice: any}} */
const KEPT = { deeds: [], choice: { tool: "brush", colour: "red", size: "medium" } };

/** Streamlit calls this with new data or a new theme. */
export default function pad(/** @type {any} */ component) {
  return mounted(component, mountPad, refreshPad);
}

function mountPad(/** @type {any} */ root) {
  const box = el("section", { class: "av av-pad" });
  const state = /** @type {any} */ ({ root, box, said: "", line: null, cursor: null, pointed: false });
  root.append(box);
  const unwatch = watchSize(box, () => {
    if (state.header) layoutPad(state);
  });
  state.destroy = () => {
    unwatch();
    box.remove();
  };
  return state;
}

function refreshPad(/** @type {any} */ state, /** @type {Uint8Array} */ data) {
  const { header } = parse(data);
  const said = JSON.stringify(header);
  if (state.said !== said) {
    // the same again, after a run of the page, must not take the focus from a hand that draws
    Object.assign(state, { said, header, line: null });
    state.parts = buildPadParts(state.header, KEPT.choice, {
      choose: (change) => {
        Object.assign(KEPT.choice, change);
        drawAbove(state);
      },
      undo: () => undo(state),
      clear: () => clear(state),
      look: () => look(state),
    });
    state.box.replaceChildren(...state.parts.nodes);
    listenPad(state);
  }
  layoutPad(state);
}

function layoutPad(/** @type {any} */ state) {
  const width = state.box.clientWidth;
  if (!width) return;
  state.side = Math.min(MOST_SIDE, width);
  state.theme = theme(state.root);
  paintFaces(state.box, state.theme.text);
  paintSurface(state);
  drawAbove(state);
}

/** Everything drawn, again. */
function paintSurface(/** @type {any} */ state) {
  const { parts, side } = state;
  paintDeeds(fitCanvas(parts.surface, side, side), KEPT.deeds, side);
  showPad(state);
}

function showPad(/** @type {any} */ state) {
  const { parts } = state;
  const last = KEPT.deeds.at(-1);
  parts.undo.disabled = !last;
  parts.clear.disabled = !last || last.kind === "clear";
  setData(parts.surface, { deeds: KEPT.deeds.length });
  markDrawn(parts.surface);
}

/** The tool as numbers: what it paints, how wide, and the form's points where it is one. */
function tool(/** @type {any} */ state) {
  const { tool: name, colour, size } = KEPT.choice;
  const { colours, forms } = state.header;
  const [, width, half] = PAD_SIZES.find(([each]) => each === size) ?? PAD_SIZES[1];
  const css =
    name === "eraser" ? GROUND : colours.find((/** @type {any} */ each) => each.name === colour)?.css;
  return {
    css,
    width,
    half,
    points: forms.find((/** @type {any} */ form) => form.name === name)?.points ?? null,
  };
}

function listenPad(/** @type {any} */ state) {
  const { above } = state.parts;
  const place = (/** @type {MouseEvent} */ event) => {
    const { x, y } = localPoint(event, above);
    return /** @type {[number, number]} */ ([x / state.side, y / state.side]);
  };
  above.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    if (event.button !== 0) return;
    above.setPointerCapture(event.pointerId);
    begin(state, place(event));
  });
  above.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    for (const each of event.getCoalescedEvents?.().length ? event.getCoalescedEvents() : [event])
      extend(state, place(each));
    Object.assign(state, { cursor: place(event), pointed: true });
    drawAbove(state);
  });
  for (const type of ["pointerup", "pointercancel"])
    above.addEventListener(type, () => {
      state.line = null;
    });
  const leave = () => {
    state.cursor = null;
    drawAbove(state);
  };
  above.addEventListener("pointerleave", () => {
    if (state.pointed) leave();
  }); // the keyboard's cursor stays
  above.addEventListener("blur", leave);
  above.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => onPadKey(state, event));
  above.addEventListener("keyup", (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Shift") state.line = null;
  });
}

/** Puts a form, or starts a line. */
function begin(/** @type {any} */ state, /** @type {[number, number]} */ at) {
  const { css, width, half, points } = tool(state);
  const { strings } = state.header;
  const percent = (/** @type {number} */ share) => Math.round(100 * share);
  const deed = /** @type {any} */ (
    points
      ? { kind: "form", colour: css, size: half, at, points }
      : { kind: "line", colour: css, width, points: [at] }
  );
  KEPT.deeds.push(deed);
  state.line = points ? null : deed;
  paintDeed(context(state), deed, state.side);
  setText(
    state.parts.spoken,
    fill(strings.placed, { tool: strings[KEPT.choice.tool], x: percent(at[0]), y: percent(at[1]) }),
  );
  showPad(state);
}

function extend(/** @type {any} */ state, /** @type {[number, number]} */ to) {
  const { line } = state;
  if (!line) return;
  line.points.push(to);
  paintDeed(context(state), { ...line, points: line.points.slice(-2) }, state.side);
  markDrawn(state.parts.surface);
}

function context(/** @type {any} */ state) {
  return /** @type {CanvasRenderingContext2D} */ (state.parts.surface.getContext("2d"));
}

function undo(/** @type {any} */ state) {
  KEPT.deeds.pop();
  setText(state.parts.spoken, state.header.strings.undone);
  paintSurface(state);
}

function clear(/** @type {any} */ state) {
  KEPT.deeds.push({ kind: "clear" });
  setText(state.parts.spoken, state.header.strings.cleared);
  paintSurface(state);
}

function look(/** @type {any} */ state) {
  setText(state.parts.spoken, state.header.strings.sent);
  state.trigger("picture", asPng(KEPT.deeds, state.header.side));
}

/** Arrows move a cursor, with Shift they draw on the way; Enter puts a dot or a form; Ctrl+Z undoes. */
function onPadKey(/** @type {any} */ state, /** @type {KeyboardEvent} */ event) {
  const move = /** @type {Record<string, [number, number]>} */ ({
    ArrowUp: [0, -1],
    ArrowDown: [0, 1],
    ArrowLeft: [-1, 0],
    ArrowRight: [1, 0],
  })[event.key];
  if ((event.ctrlKey || event.metaKey) && event.key === "z" && KEPT.deeds.length) undo(state);
  else if (event.ctrlKey || event.metaKey || event.altKey) return;
  else if (event.key === "Enter" || event.key === " ") {
    begin(state, state.cursor ?? [0.5, 0.5]);
    state.line = null;
  } else if (move) moveCursor(state, move, event.shiftKey);
  else return;
  swallow(event);
}

/**
 * @param {any} state
 * @param {[number, number]} move
 * @param {boolean} draws
 */
function moveCursor(state, move, draws) {
  const inside = (/** @type {number} */ v) => Math.max(0, Math.min(1, v));
  const from = state.cursor ?? [0.5, 0.5];
  const to = /** @type {[number, number]} */ (
    state.cursor ? [inside(from[0] + move[0] * STEP), inside(from[1] + move[1] * STEP)] : from
  );
  if (draws && !tool(state).points) {
    if (!state.line) begin(state, from);
    extend(state, to);
  }
  Object.assign(state, { cursor: to, pointed: false });
  drawAbove(state);
}

/** Where the tool is, and how much it would cover: a ring or the form's outline, seen on any colour. */
function drawAbove(/** @type {any} */ state) {
  const { parts, side, cursor } = state;
  const ctx = fitCanvas(parts.above, side, side);
  if (!cursor) return;
  const { width, half, points } = tool(state);
  const ring = () => {
    ctx.beginPath();
    ctx.arc(cursor[0] * side, cursor[1] * side, Math.max(2, (width * side) / 2), 0, 2 * Math.PI);
  };
  for (const [colour, wide] of /** @type {[string, number][]} */ ([
    ["#ffffff", 3],
    ["#000000", 1],
  ])) {
    if (points) tracePath(ctx, { points, at: cursor, size: half }, side);
    else ring();
    ctx.strokeStyle = colour;
    ctx.lineWidth = wide;
    ctx.stroke();
  }
  setData(parts.above, { x: cursor[0], y: cursor[1] });
}
