// @ts-check
// The pointer on the large plane: a drag moves it or draws a lasso, a click chooses a point, the wheel zooms once the
// plane has the focus or with Ctrl. What a gesture means is told to the component; nothing is drawn here.

import { localPoint } from "../shared/dom.js";
import { inPlane } from "./camera.js";

/** @import { Camera } from "./scatter.js" */

const CLICK_PX = 4;
const MAX_ZOOM = 40;

/**
 * @typedef {{view: () => {camera: Camera, size: number}, lassoing: () => boolean, moved: (camera: Camera) => void,
 *   pointed: (at: {x: number, y: number} | null) => void, clicked: (at: {x: number, y: number}) => void,
 *   drawn: (corners: {x: number, y: number}[], over: boolean) => void}} Gestures
 */

/** Listens on a canvas. */
export function listenPlane(/** @type {HTMLCanvasElement} */ canvas, /** @type {Gestures} */ gestures) {
  /** @type {{at: {x: number, y: number}, camera: Camera, moved: boolean, corners: {x: number, y: number}[] | null} | null} */
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const at = localPoint(event, canvas);
    const corners = gestures.lassoing() || event.shiftKey ? [inPlane(gestures.view(), at)] : null;
    drag = { at, camera: gestures.view().camera, moved: false, corners };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const at = localPoint(event, canvas);
    const view = gestures.view();
    if (!drag) return gestures.pointed(inPlane(view, at));
    const [dx, dy] = [at.x - drag.at.x, at.y - drag.at.y];
    drag.moved ||= Math.hypot(dx, dy) > CLICK_PX;
    if (!drag.moved) return;
    if (drag.corners) {
      drag.corners.push(inPlane(view, at));
      gestures.drawn(drag.corners, false);
      return;
    }
    const scale = (view.size / 2) * drag.camera.zoom;
    gestures.moved({ ...drag.camera, x: drag.camera.x - dx / scale, y: drag.camera.y + dy / scale });
  });
  const end = (/** @type {PointerEvent} */ event) => {
    if (!drag) return;
    const { moved, corners } = drag;
    drag = null;
    if (moved && corners) gestures.drawn(corners, true);
    else if (!moved && event.type === "pointerup")
      gestures.clicked(inPlane(gestures.view(), localPoint(event, canvas)));
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("pointerleave", () => gestures.pointed(null));
  canvas.addEventListener(
    "wheel",
    (event) => {
      const root = canvas.getRootNode();
      const active = root instanceof ShadowRoot ? root.activeElement : document.activeElement;
      if (!event.ctrlKey && active !== canvas) return;
      event.preventDefault();
      const { camera } = gestures.view();
      const at = inPlane(gestures.view(), localPoint(event, canvas));
      gestures.moved(zoomed(camera, Math.exp(-event.deltaY / 400), at));
    },
    { passive: false },
  );
}

/** A camera that is nearer or further; the place `at` stays where it is. @returns {Camera} */
export function zoomed(
  /** @type {Camera} */ camera,
  /** @type {number} */ factor,
  /** @type {{x: number, y: number}} */ at = camera,
) {
  const zoom = Math.max(1, Math.min(MAX_ZOOM, camera.zoom * factor));
  if (zoom === 1) return { x: 0, y: 0, zoom };
  const ratio = camera.zoom / zoom;
  return { x: at.x + (camera.x - at.x) * ratio, y: at.y + (camera.y - at.y) * ratio, zoom };
}
