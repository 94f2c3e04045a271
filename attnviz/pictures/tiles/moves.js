// @ts-check
// Pointer, wheel, pinch and keyboard on the plot of a long head.

import { swallow } from "../shared/controls.js";
import { localPoint } from "../shared/dom.js";
import { cameraAt, cellUnder, moveCamera, wholeCamera, zoomCamera } from "./camera.js";

/** @import { Camera, Cell } from "./camera.js" */
/** @import { Scene } from "./scene.js" */

/** @typedef {{look: (camera: Camera) => void, hover: (cell: Cell | null) => void, pin: (cell: Cell | null) => void}} MoveActions */
/** @typedef {{x: number, y: number}} Point */

const CLICK_PX = 4;
const CLICK_ZOOM = 4;
const CELLS_FROM_SCALE = 3; // cells this large are pinned by a click, smaller ones zoomed into
const ARROW_SHARE = 0.15; // of the plot that an arrow key moves by
const WHEEL = 400;
const LINE_PX = 24;
/** @type {Record<string, [x: number, y: number]>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * Listens to the canvas of the plot; nothing happens while there is no scene.
 * @param {HTMLCanvasElement} canvas
 * @param {() => Scene | null} sceneNow
 * @param {MoveActions} actions
 */
export function listenMoves(canvas, sceneNow, actions) {
  const pointOf = (/** @type {MouseEvent} */ event, /** @type {Scene} */ { plot }) => {
    const { x, y } = localPoint(event, canvas);
    return { x: x - plot.x, y: y - plot.y };
  };
  const onWheel = (/** @type {WheelEvent} */ event) => {
    const scene = sceneNow();
    if (!scene) return;
    const { x, y } = pointOf(event, scene);
    const next = zoomCamera(scene.camera, scene.frame, wheelFactor(event), x, y);
    if (next.scale === scene.camera.scale) return; // as far as it goes: the page scrolls
    swallow(event);
    actions.look(next);
  };
  canvas.addEventListener("wheel", onWheel, { passive: false });
  listenDrag(canvas, sceneNow, pointOf, actions);
  canvas.addEventListener("pointerleave", () => actions.hover(null));
  canvas.addEventListener("keydown", (event) => {
    const scene = sceneNow();
    if (scene && onKey(event, scene, actions)) swallow(event);
  });
}

function wheelFactor(/** @type {WheelEvent} */ { deltaY, deltaMode, ctrlKey }) {
  const pixels = deltaY * (deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PX : 1);
  return Math.exp((-pixels * (ctrlKey ? 4 : 1)) / WHEEL);
}

/**
 * Drags with a pointer, pinches with two; a press without a move is a click.
 * @param {HTMLCanvasElement} canvas
 * @param {() => Scene | null} sceneNow
 * @param {(event: MouseEvent, scene: Scene) => Point} pointOf
 * @param {MoveActions} actions
 */
function listenDrag(canvas, sceneNow, pointOf, actions) {
  /** @type {Map<number, Point>} */
  const down = new Map();
  let moved = 0;
  canvas.addEventListener("pointerdown", (event) => {
    const scene = sceneNow();
    if (event.button || !scene) return;
    canvas.setPointerCapture(event.pointerId);
    down.set(event.pointerId, pointOf(event, scene));
    if (down.size === 1) moved = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const scene = sceneNow();
    if (!scene) return;
    const now = pointOf(event, scene);
    const before = down.get(event.pointerId);
    if (!before) {
      actions.hover(cellUnder(scene.camera, scene.frame, now));
      return;
    }
    const other = [...down].find(([id]) => id !== event.pointerId)?.[1];
    moved += Math.hypot(now.x - before.x, now.y - before.y);
    down.set(event.pointerId, now);
    if (other) actions.look(pinched(scene, before, now, other));
    else if (moved > CLICK_PX)
      actions.look(moveCamera(scene.camera, scene.frame, before.x - now.x, before.y - now.y));
  });
  const lift = (/** @type {PointerEvent} */ event) => {
    const scene = sceneNow();
    const wasDown = down.delete(event.pointerId);
    const isClick = wasDown && event.type === "pointerup" && !down.size && moved <= CLICK_PX;
    if (isClick && scene) clickAt(scene, actions, pointOf(event, scene));
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
}

/**
 * Two fingers: zoom by the change of their distance, and move with the one that moved.
 * @param {Scene} scene
 * @param {Point} before
 * @param {Point} now
 * @param {Point} other
 */
function pinched({ camera, frame }, before, now, other) {
  const apart = (/** @type {Point} */ { x, y }) => Math.max(8, Math.hypot(x - other.x, y - other.y));
  const moved = moveCamera(camera, frame, (before.x - now.x) / 2, (before.y - now.y) / 2);
  const factor = apart(now) / apart(before);
  return zoomCamera(moved, frame, factor, (now.x + other.x) / 2, (now.y + other.y) / 2);
}

/** Where cells are large a click pins one (or unpins it); elsewhere it goes nearer. */
function clickAt(
  /** @type {Scene} */ { camera, frame, pinned },
  /** @type {MoveActions} */ actions,
  /** @type {Point} */ point,
) {
  const cell = cellUnder(camera, frame, point);
  if (!cell) return;
  const isPinned = pinned?.query === cell.query && pinned.key === cell.key;
  if (camera.scale < CELLS_FROM_SCALE) actions.look(zoomCamera(camera, frame, CLICK_ZOOM, point.x, point.y));
  else actions.pin(isPinned ? null : cell);
}

/** Acts on a key; returns true if it did. */
function onKey(
  /** @type {KeyboardEvent} */ event,
  /** @type {Scene} */ scene,
  /** @type {MoveActions} */ actions,
) {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const { camera, frame, pinned } = scene;
  const arrow = ARROWS[event.key];
  const middle = { x: frame.w / 2, y: frame.h / 2 };
  if (arrow && pinned && !event.shiftKey) movePin(scene, pinned, actions, arrow);
  else if (arrow) {
    const [dx, dy] = [arrow[0] * frame.w * ARROW_SHARE, arrow[1] * frame.h * ARROW_SHARE];
    actions.look(moveCamera(camera, frame, dx, dy));
  } else if (event.key === "+" || event.key === "=") actions.look(zoomCamera(camera, frame, 2));
  else if (event.key === "-" || event.key === "_") actions.look(zoomCamera(camera, frame, 0.5));
  else if (event.key === "Home") actions.look(wholeCamera(frame));
  else if (event.key === "Enter") actions.pin(cellUnder(camera, frame, middle));
  else if (event.key === "Escape" && pinned) actions.pin(null);
  else return false;
  return true;
}

/**
 * The pinned cell goes one further, and the view with it where it would leave the plot.
 * @param {Scene} scene
 * @param {Cell} pinned
 * @param {MoveActions} actions
 * @param {[x: number, y: number]} step
 */
function movePin({ camera, frame }, pinned, actions, [dx, dy]) {
  const clamp = (/** @type {number} */ index, /** @type {number} */ count) =>
    Math.max(0, Math.min(count - 1, index));
  const cell = { query: clamp(pinned.query + dy, frame.nQuery), key: clamp(pinned.key + dx, frame.nKey) };
  const x = (cell.key + 0.5 - camera.x) * camera.scale;
  const y = (cell.query + 0.5 - camera.y) * camera.scale;
  if (x < 0 || y < 0 || x > frame.w || y > frame.h) actions.look(cameraAt(camera, frame, cell, camera.scale));
  actions.pin(cell);
}
