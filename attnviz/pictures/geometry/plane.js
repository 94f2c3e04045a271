// @ts-check
// A square plane with the origin in its middle: its rings and axes, arrows with labels, and handles at the tips of those
// that can be dragged.

import { el, fitCanvas, markDrawn } from "../shared/dom.js";
import { makeHandles } from "../shared/handles.js";

/** @import { Theme } from "../shared/theme.js" */
/** @import { Vector } from "./maths.js" */

/**
 * An arrow from one point to another; `share` of 0..1 makes it more or less visible.
 * @typedef {{to: Vector, from?: Vector, colour: string, label?: string, share?: number, thick?: number,
 *   dash?: readonly number[]}} Arrow
 */
/** Where a tip went, and whether the hand let go of it. @typedef {(to: Vector, isDone: boolean) => void} Move */
/** @typedef {{node: HTMLElement, canvas: HTMLCanvasElement, title: HTMLElement,
 *   handles: ReturnType<typeof makeHandles>, placed: HTMLElement[], side: number, reach: number}} Plane */

const STEP = 0.1;
const BIG_STEP = 0.5;
const FAINTEST = 0.3;
const TIP_PX = 10;
const LABEL_FONT = 13;
const LABEL_GAP = 12;

/**
 * A tab: drawings beside what is said of them, and what stands below.
 * @param {{below: readonly Node[], drawings: readonly Node[], side: readonly Node[]}} parts
 */
export function makeTab({ below, drawings, side }) {
  const planes = el("div", { class: "av-geometry-planes" }, ...drawings);
  const said = el("div", { class: "av-geometry-side" }, ...side);
  const two = el("div", { class: "av-geometry-two" }, planes, said);
  return { node: el("div", { class: "av-geometry-tab" }, two, ...below), planes, two };
}

/** @returns {Plane} */
export function makePlane() {
  const canvas = el("canvas", { role: "img" });
  const title = el("h3", { class: "av-heading" });
  const board = el("div", { class: "av-geometry-board" }, canvas);
  const node = el("div", { class: "av-geometry-plane" }, board, title);
  return { node, canvas, title, handles: makeHandles(canvas), placed: [], side: 0, reach: 1 };
}

/**
 * Draws the plane: `side` pixels wide, coordinates up to ±reach.
 * @param {Plane} plane
 * @param {Theme} theme
 * @param {{side: number, reach: number, rings?: readonly number[]}} size
 * @param {readonly Arrow[]} arrows
 */
export function drawPlane(plane, theme, { side, reach, rings = [] }, arrows) {
  Object.assign(plane, { side, reach });
  const ctx = fitCanvas(plane.canvas, side, side);
  ctx.strokeStyle = theme.border;
  ctx.lineWidth = 1;
  ctx.beginPath();
  for (const ring of rings) {
    ctx.moveTo(side / 2 + (ring * side) / reach / 2, side / 2);
    ctx.arc(side / 2, side / 2, (ring * side) / reach / 2, 0, 2 * Math.PI);
  }
  ctx.moveTo(0, side / 2);
  ctx.lineTo(side, side / 2);
  ctx.moveTo(side / 2, 0);
  ctx.lineTo(side / 2, side);
  ctx.stroke();
  for (const arrow of arrows) drawArrow(ctx, plane, arrow);
  for (const arrow of arrows) if (arrow.label) drawLabel(ctx, plane, theme, arrow);
  markDrawn(plane.canvas);
}

/** Where a point is on the canvas. @returns {Vector} */
function place(/** @type {Plane} */ { side, reach }, /** @type {Vector} */ [x, y]) {
  return [side / 2 + (x * side) / reach / 2, side / 2 - (y * side) / reach / 2];
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {Plane} plane
 * @param {Arrow} arrow
 */
function drawArrow(ctx, plane, { to, from = [0, 0], colour, share = 1, thick = 2.5, dash = [] }) {
  const [x, y] = place(plane, to);
  const [startX, startY] = place(plane, from);
  const length = Math.hypot(x - startX, y - startY);
  ctx.globalAlpha = FAINTEST + (1 - FAINTEST) * share;
  ctx.strokeStyle = ctx.fillStyle = colour;
  ctx.lineWidth = thick;
  ctx.setLineDash([...dash]);
  const tip = Math.min(TIP_PX, length / 2);
  const [ux, uy] = length > 0 ? [(x - startX) / length, (y - startY) / length] : [1, 0];
  ctx.beginPath();
  ctx.moveTo(startX, startY);
  ctx.lineTo(x - tip * ux * 0.8, y - tip * uy * 0.8);
  ctx.stroke();
  ctx.setLineDash([]);
  if (tip > 0) {
    ctx.beginPath();
    ctx.moveTo(x, y);
    ctx.lineTo(x - tip * ux - tip * uy * 0.45, y - tip * uy + tip * ux * 0.45);
    ctx.lineTo(x - tip * ux + tip * uy * 0.45, y - tip * uy - tip * ux * 0.45);
    ctx.fill();
  }
  ctx.globalAlpha = 1;
}

/**
 * The label beyond the tip, kept inside the plane, with a rim of the ground so that lines do not cross it.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Plane} plane
 * @param {Theme} theme
 * @param {Arrow} arrow
 */
function drawLabel(ctx, plane, theme, { to, from = [0, 0], colour, label = "" }) {
  const [x, y] = place(plane, to);
  const [startX, startY] = place(plane, from);
  const length = Math.hypot(x - startX, y - startY) || 1;
  ctx.font = `600 ${LABEL_FONT}px ${theme.font}`;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  const half = ctx.measureText(label).width / 2 + 3;
  const inside = (/** @type {number} */ at, /** @type {number} */ room) =>
    Math.max(room, Math.min(plane.side - room, at));
  const atX = inside(x + ((x - startX) / length) * (LABEL_GAP + half / 2), half);
  const atY = inside(y + ((y - startY) / length) * LABEL_GAP, LABEL_FONT * 0.7);
  ctx.lineWidth = 4;
  ctx.lineJoin = "round";
  ctx.strokeStyle = theme.bg;
  ctx.strokeText(label, atX, atY);
  ctx.fillStyle = colour;
  ctx.fillText(label, atX, atY);
}

/**
 * Puts a handle on each tip, in the order of the tab key.
 * @param {Plane} plane
 * @param {readonly {at: Vector, label: string}[]} tips
 * @param {(index: number) => Move} moveOf
 */
export function placeHandles(plane, tips, moveOf) {
  // redrawn in the next frame: until then a tip stands where it was put last
  const move = (/** @type {number} */ index, /** @type {Vector} */ [x, y], isDone = false) => {
    /** @type {Vector} */
    const to = [within(x, plane.reach), within(y, plane.reach)];
    plane.placed[index].dataset.at = to.join();
    moveOf(index)(to, isDone);
  };
  const standing = (/** @type {number} */ index) =>
    /** @type {Vector} */ ((plane.placed[index].dataset.at ?? "0,0").split(",").map(Number));
  plane.placed = plane.handles.place(
    tips.map(({ at, label }) => ({ at: place(plane, at), label })),
    (index) => ({
      to([x, y]) {
        const unit = (2 * plane.reach) / plane.side;
        move(index, [(x - plane.side / 2) * unit, (plane.side / 2 - y) * unit]);
      },
      by([right, up], isLong) {
        const step = isLong ? BIG_STEP : STEP;
        const [x, y] = standing(index);
        move(index, [x + right * step, y + up * step]);
      },
      done: () => move(index, standing(index), true),
    }),
  );
  plane.placed.forEach((handle, index) => (handle.dataset.at = tips[index].at.join()));
}

/** A coordinate in hundredths, not beyond the edge. */
function within(/** @type {number} */ value, /** @type {number} */ reach) {
  return Math.round(100 * Math.max(-reach, Math.min(reach, value))) / 100 + 0;
}
