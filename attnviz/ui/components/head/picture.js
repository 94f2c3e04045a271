// @ts-check
// What a vision model saw, as a picture with its grid of patches. The weights of one query lie over it as colours: the
// stronger a patch is attended to, the more its colour covers. The query's own patch is framed.

import { levelFor } from "../shared/colors.js";
import { fitCanvas, markDrawn, setData } from "../shared/dom.js";
import { cellAt, cellRect, frameCell } from "../shared/matrix.js";
import { withAlpha } from "../shared/theme.js";
import { weightAt } from "./numbers.js";

const LEAST_COVER = 0.3;
const MOST_COVER = 0.9;
const MAX_PICTURE = 380;

/** The picture's pixels as a canvas, made once for a capture. */
export function pictureSource(/** @type {import("../shared/buffer.js").PackedArray} */ array) {
  const [height, width] = array.shape, canvas = document.createElement("canvas");
  Object.assign(canvas, { width, height });
  const ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")), image = ctx.createImageData(width, height);
  for (let i = 0, j = 0; j < array.data.length; i += 4, j += 3) image.data.set([array.data[j], array.data[j + 1], array.data[j + 2], 255], i);
  ctx.putImageData(image, 0, 0);
  return canvas;
}

/** Where the patches lie on the picture for the room there is. */
export function layoutPicture(/** @type {HTMLCanvasElement} */ source, /** @type {any} */ patches, /** @type {number} */ room) {
  const unit = Math.max(1, Math.floor(Math.min(room, MAX_PICTURE) / patches.columns)), w = unit * patches.columns;
  const h = Math.round((w * source.height) / source.width / patches.rows) * patches.rows;
  return { x: 1, y: 1, w, h, rows: patches.rows, cols: patches.columns };
}

/** The query whose attention is shown: the one in focus, else the token before the patches ([CLS]) where there is one. */
export function pictureQuery(/** @type {any} */ view) {
  return view.focus?.query ?? view.pinned.query ?? (view.header.patches.first > 0 ? 0 : null);
}

/** Draws picture, colours, grid and frames. */
export function drawPicture(/** @type {HTMLCanvasElement} */ canvas, /** @type {HTMLCanvasElement} */ source, /** @type {any} */ geom, /** @type {any} */ view) {
  const ctx = fitCanvas(canvas, geom.w + 2, geom.h + 2), query = pictureQuery(view), { first } = view.header.patches;
  ctx.imageSmoothingEnabled = source.width > geom.w;
  ctx.drawImage(source, geom.x, geom.y, geom.w, geom.h);
  if (query !== null) coverPatches(ctx, geom, view, query);
  ctx.strokeStyle = withAlpha(view.theme.bg, 0.35);
  ctx.lineWidth = 1;
  ctx.beginPath();
  for (let col = 0; col <= geom.cols; col++) { const x = geom.x + (col * geom.w) / geom.cols; ctx.moveTo(x, geom.y); ctx.lineTo(x, geom.y + geom.h); }
  for (let row = 0; row <= geom.rows; row++) { const y = geom.y + (row * geom.h) / geom.rows; ctx.moveTo(geom.x, y); ctx.lineTo(geom.x + geom.w, y); }
  ctx.stroke();
  framePatch(ctx, geom, view, query, view.theme.accent);
  framePatch(ctx, geom, view, view.hover?.key ?? view.pinned.key, view.theme.text);
  setData(canvas, { query, first, x: geom.x, y: geom.y, w: geom.w, h: geom.h });
  markDrawn(canvas);
}

function coverPatches(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {any} */ geom, /** @type {any} */ view, /** @type {number} */ query) {
  const { lut, scale, data, header } = view, count = geom.rows * geom.cols;
  for (let patch = 0; patch < count; patch++) {
    const level = levelFor(weightAt(data, query, header.patches.first + patch), scale), colour = lut[level];
    const box = cellRect(geom, Math.floor(patch / geom.cols), patch % geom.cols);
    ctx.globalAlpha = LEAST_COVER + ((MOST_COVER - LEAST_COVER) * level) / 255;
    ctx.fillStyle = `rgb(${colour & 255}, ${(colour >> 8) & 255}, ${(colour >> 16) & 255})`;
    ctx.fillRect(box.x, box.y, box.w, box.h);
  }
  ctx.globalAlpha = 1;
}

function framePatch(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {any} */ geom, /** @type {any} */ view, /** @type {number | null | undefined} */ token, /** @type {string} */ colour) {
  if (token === null || token === undefined || token < view.header.patches.first) return;
  const patch = token - view.header.patches.first;
  frameCell(ctx, geom, Math.floor(patch / geom.cols), patch % geom.cols, view.theme, { colour });
}

/** The token of the patch under a point, or null. */
export function hitPicture(/** @type {any} */ geom, /** @type {any} */ patches, /** @type {{x: number, y: number}} */ point) {
  const cell = cellAt(point.x, point.y, geom);
  return cell ? patches.first + cell.row * geom.cols + cell.col : null;
}
