// @ts-check
// The small map: the whole matrix, one device pixel (or two) for each point of the top level, so that no peak is lost,
// and a frame around what the large plot shows.

import { fitCanvas, localPoint, markDrawn, pixelRatio, setData } from "../shared/dom.js";
import { frameBox } from "../shared/panel.js";
import { tileName } from "./camera.js";

const PAD = 3;

export function drawMap(/** @type {HTMLCanvasElement} */ canvas, /** @type {any} */ view) {
  const { header, store, colours, camera, frame, theme } = view;
  const px = mapPoint();
  const cells = 2 ** header.top;
  const w = Math.ceil(frame.nKey / cells);
  const h = Math.ceil(frame.nQuery / cells);
  const ctx = fitCanvas(canvas, w * px + 2 * PAD, h * px + 2 * PAD);
  const picture = header.ready ? store.picture(tileName(header.top, 0, 0), colours) : null;
  ctx.fillStyle = theme.bg2;
  ctx.fillRect(PAD, PAD, w * px, h * px);
  ctx.imageSmoothingEnabled = false;
  if (picture) ctx.drawImage(picture, 0, 0, w, h, PAD, PAD, w * px, h * px);
  const per = px / cells;
  const box = {
    x: PAD + Math.max(0, camera.x) * per,
    y: PAD + Math.max(0, camera.y) * per,
    w: Math.max(5, Math.min(frame.nKey, frame.w / camera.scale) * per),
    h: Math.max(5, Math.min(frame.nQuery, frame.h / camera.scale) * per),
  };
  frameBox(ctx, box, { colour: theme.accent, theme, width: 1.5 });
  setData(canvas, { per, pad: PAD });
  markDrawn(canvas);
}

/** CSS pixels of a point of the top level: a whole number of device pixels. */
function mapPoint() {
  return Math.round(pixelRatio()) / pixelRatio();
}

/** The cell under the pointer on the map. */
export function cellOnMap(/** @type {MouseEvent} */ event, /** @type {HTMLCanvasElement} */ canvas) {
  const point = localPoint(event, canvas);
  const per = Number(canvas.dataset.per);
  return { query: (point.y - PAD) / per, key: (point.x - PAD) / per };
}
