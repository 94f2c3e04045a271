// @ts-check
// The way between the plane, in −1 to 1, and the canvas, in CSS pixels, as a camera sees it.

/** @import { Camera } from "./scatter.js" */

/** Where a place of the plane is on the canvas, in CSS pixels. */
export function onCanvas(
  /** @type {{camera: Camera, size: number}} */ { camera, size },
  /** @type {{x: number, y: number}} */ { x, y },
) {
  const scale = (size / 2) * camera.zoom;
  return { x: size / 2 + (x - camera.x) * scale, y: size / 2 - (y - camera.y) * scale };
}

/** The place of the plane at a point of the canvas: inverse of `onCanvas`. */
export function inPlane(
  /** @type {{camera: Camera, size: number}} */ { camera, size },
  /** @type {{x: number, y: number}} */ { x, y },
) {
  const scale = (size / 2) * camera.zoom;
  return { x: camera.x + (x - size / 2) / scale, y: camera.y - (y - size / 2) / scale };
}
