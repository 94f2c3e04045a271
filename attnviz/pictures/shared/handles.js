// @ts-check
// Handles on a canvas: a small ring on each thing that can be dragged. A handle is a button, so that arrow keys move it and
// a screen reader says where it stands. In: where each stands in pixels, and its words. Out: where the hand puts it.

import { swallow } from "./controls.js";
import { el, localPoint } from "./dom.js";

/** @typedef {readonly [number, number]} Point */
/** Where a handle stands, in pixels of the canvas, and what it is called there. @typedef {{at: Point, label: string}} Tip */
/**
 * What a handle does: it goes to a point, or by steps (right and up), long ones with shift; then the hand lets go.
 * @typedef {{to: (point: Point) => void, by: (step: Point, isLong: boolean) => void, done: () => void}} Pull
 */

/** @type {Record<string, Point>} */
const STEPS = { ArrowUp: [0, 1], ArrowDown: [0, -1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };

/** The handles of a canvas, which stands in a positioned element. */
export function makeHandles(/** @type {HTMLCanvasElement} */ canvas) {
  /** @type {HTMLButtonElement[]} */
  const handles = [];
  return {
    /**
     * Puts a handle on each tip, in the order of the tab key; handles that are there stay, and so does the focus.
     * @param {readonly Tip[]} tips
     * @param {(index: number) => Pull} pullOf
     */
    place(tips, pullOf) {
      while (handles.length < tips.length) {
        const handle = makeHandle(canvas, handles.length, pullOf);
        handles.push(handle);
        canvas.parentElement?.append(handle);
      }
      for (const extra of handles.splice(tips.length)) extra.remove();
      tips.forEach(({ at: [x, y], label }, index) => {
        const handle = handles[index];
        Object.assign(handle.style, { left: `${x}px`, top: `${y}px` });
        handle.setAttribute("aria-label", label);
        handle.title = label;
      });
      return handles;
    },
  };
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {number} index
 * @param {(index: number) => Pull} pullOf
 */
function makeHandle(canvas, index, pullOf) {
  const handle = el("button", { type: "button", class: "av-handle" });
  let isHeld = false;
  handle.addEventListener("pointerdown", (event) => {
    isHeld = true;
    handle.setPointerCapture(event.pointerId);
  });
  handle.addEventListener("pointermove", (event) => {
    const { x, y } = localPoint(event, canvas);
    if (isHeld) pullOf(index).to([x, y]);
  });
  for (const type of /** @type {const} */ (["pointerup", "pointercancel"]))
    handle.addEventListener(type, () => {
      if (isHeld) pullOf(index).done();
      isHeld = false;
    });
  handle.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    swallow(event);
    pullOf(index).by(step, event.shiftKey);
    pullOf(index).done();
  });
  return handle;
}
