// @ts-check
// The small map: the whole matrix, one device pixel (or two) for each point of the top level, so that no peak is lost,
// and a frame around what the large plot shows.

import { frameBox } from "../shared/matrix.js";
import { fitCanvas, localPoint, markDrawn, pixelRatio, setData } from "../shared/dom.js";
import { tileName } from "./camera.js";

/** @import { Cell } from "./camera.js" */
/** @import { Scene } from "./scene.js" */

const PAD_PX = 3;
const MIN_FRAME_PX = 5;

/** Draws the map. */
export function drawMap(/** @type {HTMLCanvasElement} */ canvas, /** @type {Scene} */ scene) {
  const { header, store, colours, camera, frame, theme } = scene;
  const px = pointSize();
  const cells = 2 ** header.top;
  const w = Math.ceil(frame.nKey / cells);
  const h = Math.ceil(frame.nQuery / cells);
  const ctx = fitCanvas(canvas, w * px + 2 * PAD_PX, h * px + 2 * PAD_PX);
  const picture = header.ready ? store.picture(tileName(header.top, 0, 0), colours) : null;
  ctx.fillStyle = theme.bg2;
  ctx.fillRect(PAD_PX, PAD_PX, w * px, h * px);
  ctx.imageSmoothingEnabled = false;
  if (picture) ctx.drawImage(picture, 0, 0, w, h, PAD_PX, PAD_PX, w * px, h * px);
  const per = px / cells;
  const box = {
    x: PAD_PX + Math.max(0, camera.x) * per,
    y: PAD_PX + Math.max(0, camera.y) * per,
    w: Math.max(MIN_FRAME_PX, Math.min(frame.nKey, frame.w / camera.scale) * per),
    h: Math.max(MIN_FRAME_PX, Math.min(frame.nQuery, frame.h / camera.scale) * per),
  };
  frameBox(ctx, box, { colour: theme.roles.chosen, theme, width: 1.5 });
  setData(canvas, { per, pad: PAD_PX });
  markDrawn(canvas);
}

/** CSS pixels of a point of the top level: a whole number of device pixels. */
function pointSize() {
  return Math.round(pixelRatio()) / pixelRatio();
}

/** The cell under the pointer on the map. @returns {Cell} */
export function cellOnMap(/** @type {MouseEvent} */ event, /** @type {HTMLCanvasElement} */ canvas) {
  const point = localPoint(event, canvas);
  const per = Number(canvas.dataset.per);
  return { query: (point.y - PAD_PX) / per, key: (point.x - PAD_PX) / per };
}
