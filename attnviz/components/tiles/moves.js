// @ts-check
// Pointer, wheel, pinch and keyboard on the plot of a long head.

import { swallow } from "../shared/controls.js";
import { localPoint } from "../shared/dom.js";
import { cameraAt, cellUnder, moveCamera, wholeCamera, zoomCamera } from "./camera.js";

const CLICK_PX = 4;
const CLICK_ZOOM = 4;
const PART = 0.15;
const WHEEL = 400;

/**
 * @param {HTMLCanvasElement} canvas
 * @param {any} view
 * @param {{look: (camera: any) => void, hover: (cell: any) => void, pin: (cell: any) => void}} act
 */
export function listenMoves(canvas, view, act) {
  const at = (/** @type {MouseEvent} */ event) => {
    const { x, y } = localPoint(event, canvas);
    return { x: x - view.plot.x, y: y - view.plot.y };
  };
  canvas.addEventListener(
    "wheel",
    (event) => {
      const { x, y } = at(event);
      const lines = event.deltaMode === 1 ? 24 : 1;
      const next = zoomCamera(
        view.camera,
        view.frame,
        Math.exp((-event.deltaY * lines * (event.ctrlKey ? 4 : 1)) / WHEEL),
        x,
        y,
      );
      if (next.scale === view.camera.scale) return; // as far as it goes: the page scrolls
      swallow(event);
      act.look(next);
    },
    { passive: false },
  );
  /** @type {Map<number, {x: number, y: number}>} */
  const down = new Map();
  let moved = 0;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    canvas.setPointerCapture(event.pointerId);
    down.set(event.pointerId, at(event));
    if (down.size === 1) moved = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const now = at(event);
    const before = down.get(event.pointerId);
    if (!before) return act.hover(cellUnder(view.camera, view.frame, now));
    const other = [...down].find(([id]) => id !== event.pointerId)?.[1];
    moved += Math.hypot(now.x - before.x, now.y - before.y);
    down.set(event.pointerId, now);
    if (other) act.look(pinched(view, before, now, other));
    else if (moved > CLICK_PX)
      act.look(moveCamera(view.camera, view.frame, before.x - now.x, before.y - now.y));
    return undefined;
  });
  const up = (/** @type {PointerEvent} */ event) => {
    const was = down.delete(event.pointerId);
    if (was && event.type === "pointerup" && !down.size && moved <= CLICK_PX) clickAt(view, act, at(event));
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => act.hover(null));
  canvas.addEventListener("keydown", (event) => onTilesKey(event, view, act));
}

/**
 * Two fingers: zoom by the change of their distance, and move with the one that moved.
 * @param {any} view
 * @param {any} before
 * @param {any} now
 * @param {any} other
 */
function pinched(view, before, now, other) {
  const apart = (/** @type {any} */ p) => Math.max(8, Math.hypot(p.x - other.x, p.y - other.y));
  const moved = moveCamera(view.camera, view.frame, (before.x - now.x) / 2, (before.y - now.y) / 2);
  return zoomCamera(
    moved,
    view.frame,
    apart(now) / apart(before),
    (now.x + other.x) / 2,
    (now.y + other.y) / 2,
  );
}

/**
 * Where cells are exact a click pins one (or unpins it); elsewhere it goes nearer.
 * @param {any} view
 * @param {any} act
 * @param {{x: number, y: number}} point
 */
function clickAt(view, act, point) {
  const cell = cellUnder(view.camera, view.frame, point);
  const { pinned } = view;
  if (!cell) return;
  if (view.camera.scale < 3) act.look(zoomCamera(view.camera, view.frame, CLICK_ZOOM, point.x, point.y));
  else act.pin(pinned && pinned.query === cell.query && pinned.key === cell.key ? null : cell);
}

function onTilesKey(/** @type {KeyboardEvent} */ event, /** @type {any} */ view, /** @type {any} */ act) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { camera, frame, pinned } = view;
  const arrow = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (arrow && pinned && !event.shiftKey) movePin(view, act, arrow);
  else if (arrow) act.look(moveCamera(camera, frame, arrow[0] * frame.w * PART, arrow[1] * frame.h * PART));
  else if (event.key === "+" || event.key === "=") act.look(zoomCamera(camera, frame, 2));
  else if (event.key === "-" || event.key === "_") act.look(zoomCamera(camera, frame, 0.5));
  else if (event.key === "Home") act.look(wholeCamera(frame));
  else if (event.key === "Enter") act.pin(cellUnder(camera, frame, { x: frame.w / 2, y: frame.h / 2 }));
  else if (event.key === "Escape" && pinned) act.pin(null);
  else return;
  swallow(event);
}

/** The pinned cell goes one further, and the view with it where it would leave the plot. */
function movePin(/** @type {any} */ view, /** @type {any} */ act, /** @type {number[]} */ [dx, dy]) {
  const { camera, frame, pinned } = view;
  const clamp = (/** @type {number} */ v, /** @type {number} */ n) => Math.max(0, Math.min(n - 1, v));
  const cell = { query: clamp(pinned.query + dy, frame.nQuery), key: clamp(pinned.key + dx, frame.nKey) };
  const x = (cell.key + 0.5 - camera.x) * camera.scale;
  const y = (cell.query + 0.5 - camera.y) * camera.scale;
  if (x < 0 || y < 0 || x > frame.w || y > frame.h)
    act.look(cameraAt(camera, frame, cell.query, cell.key, camera.scale));
  act.pin(cell);
}
