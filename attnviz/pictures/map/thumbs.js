// @ts-check
// The patches of pictures as points of the large plane: a small picture each, framed in the colour of its point.

import { context2d, el } from "../shared/dom.js";
import { onCanvas } from "./camera.js";
import { KEY, QUERY, placeOf } from "./points.js";

/** @import { Plane } from "./plane.js" */
/** @import { Point, Points } from "./points.js" */

/** All patches one below the other, `side` pixels each. @typedef {{canvas: HTMLCanvasElement, side: number}} Sheet */

const PX = 9; // of a patch on the whole map
const MAX_PX = 26;
const FRAME_PX = 1.5;
const FAINT = 0.12;
const SPECIAL = 4; // the kind of a token that is no patch

/** @type {WeakMap<Points, Sheet>} */
const drawnThumbs = new WeakMap();

/** @returns {Sheet | null} */
function sheetOf(/** @type {Points} */ points) {
  const thumbs = points.arrays.thumbs;
  if (!thumbs) return null;
  const known = drawnThumbs.get(points);
  if (known) return known;
  const [n, side] = thumbs.shape;
  const columns = Math.ceil(Math.sqrt(n));
  const canvas = el("canvas");
  canvas.width = columns * side;
  canvas.height = Math.ceil(n / columns) * side;
  const ctx = context2d(canvas);
  for (let token = 0; token < n; token++) {
    const image = ctx.createImageData(side, side);
    for (let pixel = 0; pixel < side * side; pixel++) {
      const at = 3 * (token * side * side + pixel);
      image.data.set([thumbs.data[at], thumbs.data[at + 1], thumbs.data[at + 2], 255], 4 * pixel);
    }
    ctx.putImageData(image, (token % columns) * side, Math.floor(token / columns) * side);
  }
  const sheet = { canvas, side };
  drawnThumbs.set(points, sheet);
  return sheet;
}

/** Draws every patch over its point; those that do not stand out are faint. */
export function drawThumbs(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {Plane} */ plane) {
  const { points, camera, marks } = plane;
  if (!sheetOf(points)) return;
  const size = Math.min(MAX_PX, PX * Math.sqrt(camera.zoom));
  for (const marked of marks ? [false, true] : [true])
    for (const side of [QUERY, KEY])
      for (let token = 0; token < points.n; token++) {
        if (marks && Boolean(marks[token] & (1 << side)) !== marked) continue;
        ctx.globalAlpha = marked ? 1 : FAINT;
        drawThumb(ctx, plane, { token, side }, size);
      }
  ctx.globalAlpha = 1;
}

/**
 * Draws the patch of a point, `size` CSS pixels wide, in a frame of the point's colour.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Plane} plane
 * @param {Point} point
 * @param {number} size
 */
export function drawThumb(ctx, plane, point, size) {
  const { points, head, colours } = plane;
  const sheet = sheetOf(points);
  if (!sheet || points.arrays.kind.data[point.token] === SPECIAL) return; // [CLS] stays a disc or a square
  const { x, y } = onCanvas(plane, placeOf(points, head, point));
  if (x < -size || y < -size || x > plane.size + size || y > plane.size + size) return;
  const { canvas, side } = sheet;
  const columns = canvas.width / side;
  const [left, top] = [(point.token % columns) * side, Math.floor(point.token / columns) * side];
  const frame = size + 2 * FRAME_PX;
  ctx.fillStyle = css(colours.table[colours.levels[point.side][point.token]]);
  ctx.fillRect(x - frame / 2, y - frame / 2, frame, frame);
  ctx.drawImage(canvas, left, top, side, side, x - size / 2, y - size / 2, size, size);
}

/** A colour of ImageData as CSS has it. */
function css(/** @type {number} */ colour) {
  return `rgb(${colour & 255} ${(colour >> 8) & 255} ${(colour >> 16) & 255})`;
}
