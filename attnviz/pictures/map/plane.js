// @ts-check
// One head's plane, large: the points of all texts as pixels, and above them what is chosen: a query's direction, lines
// to its keys as wide as their weights, and the labels of its text.

import { context2d, fitCanvas, markDrawn, pixelRatio } from "../shared/dom.js";
import { rgba, withAlpha } from "../shared/theme.js";
import { onCanvas } from "./camera.js";
import { KEY, QUERY, codesOf, labelOf, placeOf, textAt, weightsOf } from "./points.js";
import { makeStamp, stampPoints } from "./scatter.js";
import { drawThumb, drawThumbs } from "./thumbs.js";

/** @import { Theme } from "../shared/theme.js" */
/** @import { Colours } from "./colours.js" */
/** @import { Point, Points } from "./points.js" */
/** @import { Camera } from "./scatter.js" */

/** The room of a label on the canvas, in CSS pixels. @typedef {{x: number, y: number, width: number, height: number}} Box */

/**
 * `marks` stand out, as `inside` has them, null for none; `lasso` has the corners of a polygon that is being drawn.
 * @typedef {{points: Points, head: number, camera: Camera, colours: Colours, marks: Uint8Array | null, chosen: Point | null,
 *   hover: Point | null, lasso: readonly {x: number, y: number}[], theme: Theme, size: number}} Plane
 */

const RADIUS = 2.4;
const [FAINT, CLEAR, ALONE] = [0.1, 0.95, 0.62];
const MIN_LINE = 0.02; // of a weight
const LINE = { thin: 0.6, thick: 7 };
const LABEL_PX = 14;
const HOVER_PX = 40; // of a patch under the pointer
const MAX_LABELS = 16;
const TIP_PX = 12;

/** Draws the points. */
export function drawPoints(/** @type {HTMLCanvasElement} */ canvas, /** @type {Plane} */ plane) {
  const { points, head, camera, colours, marks, theme, size } = plane;
  fitCanvas(canvas, size, size);
  const ctx = context2d(canvas);
  const image = ctx.createImageData(canvas.width, canvas.height);
  const [r, g, b] = rgba(theme.bg2);
  new Uint32Array(image.data.buffer).fill(((255 << 24) | (b << 16) | (g << 8) | r) >>> 0);
  const radius = RADIUS * pixelRatio() * Math.min(1.8, Math.sqrt(camera.zoom));
  const stamps = [makeStamp(radius, true), makeStamp(radius, false)];
  const target = { pixels: image.data, columns: canvas.width };
  for (const marked of marks ? [false, true] : [true])
    for (const side of [QUERY, KEY]) {
      const { levels, table } = colours;
      const cloud = { codes: codesOf(points, head, side), levels: levels[side], table };
      const opacity = marks ? (marked ? CLEAR : FAINT) : ALONE;
      const shown = { ...cloud, marks, bit: 1 << side, marked };
      stampPoints(target, canvas.width, shown, camera, stamps[side], opacity);
    }
  ctx.putImageData(image, 0, 0);
  drawThumbs(ctx, plane);
  markDrawn(canvas);
}

/** Draws the middle, the chosen point with its lines, what is under the pointer, and a lasso. */
export function drawMarks(/** @type {HTMLCanvasElement} */ canvas, /** @type {Plane} */ plane) {
  const { points, chosen, hover, lasso, theme, size } = plane;
  const ctx = fitCanvas(canvas, size, size);
  const isPlane = points.header.tsne?.head !== plane.head; // t-SNE has neither a middle nor directions
  if (isPlane) drawMiddle(ctx, plane);
  if (chosen) {
    if (chosen.side === QUERY && isPlane) drawDirection(ctx, plane, chosen);
    drawLines(ctx, plane, chosen);
    drawBeyond(ctx, plane, chosen);
    drawLabels(ctx, plane, chosen);
    ring(ctx, plane, chosen, theme.text, 3);
  }
  if (hover) {
    drawThumb(ctx, plane, hover, HOVER_PX);
    ring(ctx, plane, hover, theme.text, 1.5);
    const at = onCanvas(plane, placeOf(points, plane.head, hover));
    drawLabel(ctx, theme, labelOf(points, hover.token), at, true);
  }
  if (lasso.length > 1) drawLasso(ctx, plane);
}

function drawMiddle(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {Plane} */ plane) {
  const { x, y } = onCanvas(plane, { x: 0, y: 0 });
  ctx.strokeStyle = plane.theme.muted;
  ctx.lineWidth = 1;
  ctx.beginPath();
  ctx.moveTo(x - 6, y);
  ctx.lineTo(x + 6, y);
  ctx.moveTo(x, y - 6);
  ctx.lineTo(x, y + 6);
  ctx.stroke();
}

/** A dashed ray from the middle through a query: the further out along it, the higher the score. */
function drawDirection(
  /** @type {CanvasRenderingContext2D} */ ctx,
  /** @type {Plane} */ plane,
  /** @type {Point} */ query,
) {
  const place = placeOf(plane.points, plane.head, query);
  const length = Math.hypot(place.x, place.y);
  if (length === 0) return;
  const [from, to] = [
    { x: 0, y: 0 },
    { x: (3 * place.x) / length, y: (3 * place.y) / length },
  ].map((at) => onCanvas(plane, at));
  ctx.save();
  ctx.setLineDash([5, 5]);
  ctx.strokeStyle = plane.theme.muted;
  ctx.lineWidth = 1.25;
  ctx.beginPath();
  ctx.moveTo(from.x, from.y);
  ctx.lineTo(to.x, to.y);
  ctx.stroke();
  ctx.restore();
}

/** Lines from a query to the keys of its text, or to a key from the queries, as wide as the weights. */
function drawLines(
  /** @type {CanvasRenderingContext2D} */ ctx,
  /** @type {Plane} */ plane,
  /** @type {Point} */ chosen,
) {
  const { points, head, theme } = plane;
  const from = onCanvas(plane, placeOf(points, head, chosen));
  const [start] = textAt(points, chosen.token).span;
  const side = chosen.side === QUERY ? KEY : QUERY;
  weightsOf(points, head, chosen).forEach((weight, position) => {
    if (weight < MIN_LINE) return;
    const to = onCanvas(plane, placeOf(points, head, { token: start + position, side }));
    ctx.strokeStyle = withAlpha(theme.text, 0.25 + 0.55 * weight);
    ctx.lineWidth = LINE.thin + (LINE.thick - LINE.thin) * weight;
    ctx.beginPath();
    ctx.moveTo(from.x, from.y);
    ctx.lineTo(to.x, to.y);
    ctx.stroke();
  });
}

/** The points at the edge that a chosen one is shown with: those of the other side of its text, and itself. */
function beyondOf(/** @type {Points} */ points, /** @type {number} */ head, /** @type {Point} */ chosen) {
  const [start, stop] = textAt(points, chosen.token).span;
  const side = chosen.side === QUERY ? KEY : QUERY;
  const others = Array.from({ length: stop - start }, (_, at) => ({ token: start + at, side }));
  return [chosen, ...others].map((point) => placeOf(points, head, point)).filter(({ edge }) => edge);
}

/** True if some of the points that a chosen one is shown with lie further out than the frame. */
export function hasBeyond(
  /** @type {Points} */ points,
  /** @type {number} */ head,
  /** @type {Point} */ chosen,
) {
  return beyondOf(points, head, chosen).length > 0;
}

/** A tip at each point that stands at the edge and lies further out, pointing there. */
function drawBeyond(
  /** @type {CanvasRenderingContext2D} */ ctx,
  /** @type {Plane} */ plane,
  /** @type {Point} */ chosen,
) {
  ctx.fillStyle = plane.theme.text;
  for (const place of beyondOf(plane.points, plane.head, chosen)) {
    const { x, y } = onCanvas(plane, place);
    const isAcross = Math.abs(place.x) >= 1;
    const [out, up] = isAcross ? [Math.sign(place.x), 0] : [0, -Math.sign(place.y)];
    ctx.beginPath();
    ctx.moveTo(x, y);
    ctx.lineTo(x - TIP_PX * (out - up / 2), y - TIP_PX * (up - out / 2));
    ctx.lineTo(x - TIP_PX * (out + up / 2), y - TIP_PX * (up + out / 2));
    ctx.closePath();
    ctx.fill();
  }
}

/** The labels of the other side of a point's text, the heaviest first where there are many. */
function drawLabels(
  /** @type {CanvasRenderingContext2D} */ ctx,
  /** @type {Plane} */ plane,
  /** @type {Point} */ chosen,
) {
  const { points, head, theme } = plane;
  const [start] = textAt(points, chosen.token).span;
  const side = chosen.side === QUERY ? KEY : QUERY;
  const weights = weightsOf(points, head, chosen);
  const order = [...weights.keys()].sort((a, b) => weights[b] - weights[a]).slice(0, MAX_LABELS);
  /** @type {Box[]} */
  const taken = [];
  drawLabel(
    ctx,
    theme,
    labelOf(points, chosen.token),
    onCanvas(plane, placeOf(points, head, chosen)),
    true,
    taken,
  );
  for (const position of order) {
    const token = start + position;
    const at = onCanvas(plane, placeOf(points, head, { token, side }));
    drawLabel(ctx, theme, labelOf(points, token), at, weights[position] >= 0.1, taken);
  }
}

/** A label beside its point, on the first side where it is whole and covers no other; without room it is left out. */
function drawLabel(
  /** @type {CanvasRenderingContext2D} */ ctx,
  /** @type {Theme} */ theme,
  /** @type {string} */ label,
  /** @type {{x: number, y: number}} */ { x, y },
  /** @type {boolean} */ strong,
  /** @type {Box[]} */ taken = [],
) {
  ctx.font = `${strong ? 600 : 400} 12px ${theme.font}`;
  const { width } = ctx.measureText(label);
  const { clientWidth, clientHeight } = ctx.canvas;
  const box = [
    { x: x + 6, y: y - 16 },
    { x: x - 6 - width, y: y - 16 },
    { x: x + 6, y: y + 3 },
    { x: x - 6 - width, y: y + 3 },
  ]
    .map((corner) => ({ ...corner, width, height: LABEL_PX }))
    .find(
      (place) => isInside(place, clientWidth, clientHeight) && !taken.some((other) => meet(place, other)),
    );
  if (!box) return;
  taken.push(box);
  ctx.textAlign = "left";
  ctx.lineJoin = "round";
  ctx.lineWidth = 3;
  ctx.strokeStyle = withAlpha(theme.bg2, 0.85);
  ctx.fillStyle = strong ? theme.text : theme.muted;
  ctx.strokeText(label, box.x, box.y + 11);
  ctx.fillText(label, box.x, box.y + 11);
}

function isInside(/** @type {Box} */ box, /** @type {number} */ width, /** @type {number} */ height) {
  return box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height;
}

function meet(/** @type {Box} */ a, /** @type {Box} */ b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

function ring(
  /** @type {CanvasRenderingContext2D} */ ctx,
  /** @type {Plane} */ plane,
  /** @type {Point} */ point,
  /** @type {string} */ colour,
  /** @type {number} */ width,
) {
  const { x, y } = onCanvas(plane, placeOf(plane.points, plane.head, point));
  ctx.strokeStyle = colour;
  ctx.lineWidth = width;
  ctx.beginPath();
  if (point.side === QUERY) ctx.arc(x, y, 6, 0, 2 * Math.PI);
  else ctx.rect(x - 5.5, y - 5.5, 11, 11);
  ctx.stroke();
}

function drawLasso(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {Plane} */ plane) {
  ctx.beginPath();
  for (const corner of plane.lasso) {
    const { x, y } = onCanvas(plane, corner);
    ctx.lineTo(x, y);
  }
  ctx.closePath();
  ctx.fillStyle = withAlpha(plane.theme.primary, 0.12);
  ctx.strokeStyle = plane.theme.primary;
  ctx.lineWidth = 1.5;
  ctx.fill();
  ctx.stroke();
}
