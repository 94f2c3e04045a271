// @ts-check
// What a vision model saw, as a picture with its grid of patches. The weights of one query lie over it as colours: the
// stronger a patch is attended to, the more its colour covers. The query's own patch is framed.

import { levelFor } from "./colors.js";
import { fitCanvas, markDrawn, setData } from "./dom.js";
import { cellAt, cellRect, frameCell } from "./matrix.js";
import { withAlpha } from "./theme.js";

const LEAST_COVER = 0.3;
const MOST_COVER = 0.9;

/** Tokens of a picture: patches row by row from the `first` one on. @typedef {{rows: number, columns: number, first: number}} PatchGrid */

/** The picture's pixels as a canvas, made once for a capture. */
export function pictureSource(/** @type {import("./buffer.js").PackedArray} */ array) {
  const [height, width] = array.shape, canvas = document.createElement("canvas");
  Object.assign(canvas, { width, height });
  const ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")), image = ctx.createImageData(width, height), out = image.data.fill(255);
  for (let i = 0, j = 0; j < array.data.length; i += 4, j += 3) [out[i], out[i + 1], out[i + 2]] = [array.data[j], array.data[j + 1], array.data[j + 2]];
  ctx.putImageData(image, 0, 0);
  return canvas;
}

/**
 * The part of a picture that is a window, as a canvas: what leaves the board at one edge comes from the other, an empty
 * place stays clear. The picture itself where its patches are all of it.
 * @param {HTMLCanvasElement} whole
 * @param {PatchGrid & {grid?: [number, number], from?: [number, number]}} patches
 */
export function windowSource(whole, patches) {
  if (!patches.grid || !patches.from) return whole;
  const [rows, columns] = patches.grid, w = whole.width / columns, h = whole.height / rows, canvas = document.createElement("canvas");
  const board = [Math.ceil(rows / patches.rows) * patches.rows, Math.ceil(columns / patches.columns) * patches.columns], zoom = 16;
  Object.assign(canvas, { width: patches.columns * zoom, height: patches.rows * zoom });
  const ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  for (let row = 0; row < patches.rows; row++) for (let col = 0; col < patches.columns; col++) {
    const r = (patches.from[0] + row) % board[0], c = (patches.from[1] + col) % board[1];
    if (r < rows && c < columns) ctx.drawImage(whole, c * w, r * h, w, h, col * zoom, row * zoom, zoom, zoom);
  }
  return canvas;
}

/** Where the patches lie on the picture for the room there is. */
export function layoutPicture(/** @type {HTMLCanvasElement} */ source, /** @type {PatchGrid} */ patches, /** @type {number} */ room) {
  const unit = Math.max(1, Math.floor(room / patches.columns)), w = unit * patches.columns;
  const h = Math.round((w * source.height) / source.width / patches.rows) * patches.rows;
  return { x: 1, y: 1, w, h, rows: patches.rows, cols: patches.columns };
}

/** The token whose attention is shown while none is chosen: the one before the patches ([CLS]) where there is one. */
export function restingQuery(/** @type {PatchGrid} */ patches) {
  return patches.first > 0 ? 0 : null;
}

/** The colour of every patch for a row of weights, as indices; `top` is the weight that has the last colour. */
export function patchLevels(/** @type {ArrayLike<number>} */ row, /** @type {PatchGrid} */ patches, /** @type {import("./colors.js").Scale} */ scale, top = 1) {
  return Uint8Array.from({ length: patches.rows * patches.columns }, (_, i) => levelFor(top > 0 ? row[patches.first + i] / top : 0, scale));
}

/** How much of the picture a colour covers, 0..1. */
export function coverOf(/** @type {number} */ level) {
  return LEAST_COVER + ((MOST_COVER - LEAST_COVER) * level) / 255;
}

/**
 * Draws picture, colours, grid and frames; `query` and `key` are tokens.
 * @param {HTMLCanvasElement} canvas
 * @param {HTMLCanvasElement} source
 * @param {any} geom
 * @param {{levels: Uint8Array | null, lut: Uint32Array, theme: import("./theme.js").Theme, patches: PatchGrid,
 *   query: number | null, key: number | null}} view
 */
export function drawPicture(canvas, source, geom, view) {
  const ctx = fitCanvas(canvas, geom.w + 2, geom.h + 2), { theme, patches, query, key } = view;
  ctx.imageSmoothingEnabled = source.width > geom.w;
  ctx.drawImage(source, geom.x, geom.y, geom.w, geom.h);
  if (view.levels) coverPatches(ctx, geom, view.levels, view.lut);
  ctx.strokeStyle = withAlpha(theme.bg, 0.35);
  ctx.lineWidth = 1;
  ctx.beginPath();
  for (let col = 0; col <= geom.cols; col++) { const x = geom.x + (col * geom.w) / geom.cols; ctx.moveTo(x, geom.y); ctx.lineTo(x, geom.y + geom.h); }
  for (let row = 0; row <= geom.rows; row++) { const y = geom.y + (row * geom.h) / geom.rows; ctx.moveTo(geom.x, y); ctx.lineTo(geom.x + geom.w, y); }
  ctx.stroke();
  framePatch(ctx, geom, patches, query, theme, theme.accent);
  framePatch(ctx, geom, patches, key, theme, theme.text);
  setData(canvas, { query, key, first: patches.first, x: geom.x, y: geom.y, w: geom.w, h: geom.h });
  markDrawn(canvas);
}

function coverPatches(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {any} */ geom, /** @type {Uint8Array} */ levels, /** @type {Uint32Array} */ lut) {
  levels.forEach((level, patch) => {
    const colour = lut[level], box = cellRect(geom, Math.floor(patch / geom.cols), patch % geom.cols);
    ctx.globalAlpha = coverOf(level);
    ctx.fillStyle = `rgb(${colour & 255}, ${(colour >> 8) & 255}, ${(colour >> 16) & 255})`;
    ctx.fillRect(box.x, box.y, box.w, box.h);
  });
  ctx.globalAlpha = 1;
}

function framePatch(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {any} */ geom, /** @type {PatchGrid} */ patches, /** @type {number | null | undefined} */ token, /** @type {any} */ theme, /** @type {string} */ colour) {
  if (token === null || token === undefined || token < patches.first) return;
  const patch = token - patches.first;
  frameCell(ctx, geom, Math.floor(patch / geom.cols), patch % geom.cols, theme, { colour });
}

/** The token of the patch under a point, or null. */
export function hitPicture(/** @type {any} */ geom, /** @type {PatchGrid} */ patches, /** @type {{x: number, y: number}} */ point) {
  const cell = cellAt(point.x, point.y, geom);
  return cell ? patches.first + cell.row * geom.cols + cell.col : null;
}
