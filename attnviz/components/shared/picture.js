// @ts-check
// What a vision model saw, as a picture with its grid of patches. The weights of one query lie over it as colours: the
// stronger a patch is attended to, the more its colour covers. The query's own patch is framed.

import { levelFor } from "./colors.js";
import { fitCanvas, markDrawn, setData } from "./dom.js";
import { cellAt, cellRect, frameRect } from "./matrix.js";
import { withAlpha } from "./theme.js";

const LEAST_COVER = 0.3;
const MOST_COVER = 0.9;

/** Top, left, bottom and right of the patches that a token stands for, the last two outside; null for none. @typedef {[number, number, number, number] | null} PatchBox */
/** Tokens of a picture: patches row by row from the `first` one on, with a text around them where there is one, or where the boxes say. What of the picture they are is
 * `from` a patch on in the layer's `grid`, where that is not all of it.
 * @typedef {{rows: number, columns: number, first: number, grid?: [number, number], from?: [number, number],
 *   query_boxes?: PatchBox[] | null, key_boxes?: PatchBox[] | null}} PatchGrid */

/** The picture's pixels as a canvas, made once for a capture. */
export function pictureSource(/** @type {import("./buffer.js").PackedArray} */ array) {
  const [height, width] = array.shape;
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width, height });
  const ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = ctx.createImageData(width, height);
  const out = image.data.fill(255);
  for (let i = 0, j = 0; j < array.data.length; i += 4, j += 3)
    [out[i], out[i + 1], out[i + 2]] = [array.data[j], array.data[j + 1], array.data[j + 2]];
  ctx.putImageData(image, 0, 0);
  return canvas;
}

/**
 * The part of a picture that is a window, as a canvas: what leaves the board at one edge comes from the other, an empty
 * place stays clear. The picture itself where its patches are all of it.
 * @param {HTMLCanvasElement} whole
 * @param {PatchGrid} patches
 */
export function windowSource(whole, patches) {
  if (!patches.grid || !patches.from) return whole;
  const [rows, columns] = patches.grid;
  if (rows === patches.rows && columns === patches.columns && !patches.from[0] && !patches.from[1])
    return whole;
  const w = whole.width / columns;
  const h = whole.height / rows;
  const canvas = document.createElement("canvas");
  const board = [
    Math.ceil(rows / patches.rows) * patches.rows,
    Math.ceil(columns / patches.columns) * patches.columns,
  ];
  const zoom = 16;
  Object.assign(canvas, { width: patches.columns * zoom, height: patches.rows * zoom });
  const ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  for (let row = 0; row < patches.rows; row++)
    for (let col = 0; col < patches.columns; col++) {
      const r = (patches.from[0] + row) % board[0];
      const c = (patches.from[1] + col) % board[1];
      if (r < rows && c < columns)
        ctx.drawImage(whole, c * w, r * h, w, h, col * zoom, row * zoom, zoom, zoom);
    }
  return canvas;
}

/**
 * Where the patches lie on the picture for the room there is.
 * @param {HTMLCanvasElement} source
 * @param {PatchGrid} patches
 * @param {number} room
 */
export function layoutPicture(source, patches, room) {
  const unit = Math.max(1, Math.floor(room / patches.columns));
  const w = unit * patches.columns;
  const h = Math.round((w * source.height) / source.width / patches.rows) * patches.rows;
  return { x: 1, y: 1, w, h, rows: patches.rows, cols: patches.columns };
}

/**
 * The token whose attention is shown while none is chosen: the last one of a text behind the patches, which has seen them
 * all; else the one before them ([CLS]) where there is one.
 */
export function restingQuery(/** @type {PatchGrid} */ patches, nTokens = 0) {
  if (!patches.query_boxes && nTokens > patches.first + patches.rows * patches.columns) return nTokens - 1;
  return patches.first > 0 ? 0 : null;
}

/**
 * The patches that a token stands for.
 * @param {PatchGrid} patches
 * @param {"query" | "key"} axis
 * @param {number} token
 * @returns {PatchBox}
 */
export function boxOfToken(patches, axis, token) {
  const boxes = patches[`${axis}_boxes`];
  const patch = token - patches.first;
  if (boxes) return boxes[token];
  const row = Math.floor(patch / patches.columns);
  const column = patch % patches.columns;
  return patch < 0 || row >= patches.rows ? null : [row, column, row + 1, column + 1];
}

/** The colour of every patch for a row of weights, as indices, -1 where no key stands for it; of keys that share a patch, the
 * stronger one's. `top` is the weight that has the last colour.
 * @returns {Uint8Array | Int16Array} */
/**
 * @param {ArrayLike<number>} row
 * @param {PatchGrid} patches
 * @param {import("./colors.js").Scale} scale
 * @param {number} [top]
 */
export function patchLevels(row, patches, scale, top = 1) {
  const level = (/** @type {number} */ key) => levelFor(top > 0 ? row[key] / top : 0, scale);
  const length = patches.rows * patches.columns;
  if (!patches.key_boxes) return Uint8Array.from({ length }, (_, i) => level(patches.first + i));
  const levels = new Int16Array(length).fill(-1);
  patches.key_boxes.forEach((box, key) => {
    if (!box) return;
    const own = level(key);
    const [top, left, bottom, right] = box;
    for (let y = top; y < bottom; y++)
      for (let x = left; x < right; x++)
        levels[y * patches.columns + x] = Math.max(levels[y * patches.columns + x], own);
  });
  return levels;
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
 * @param {{levels: Uint8Array | Int16Array | null, lut: Uint32Array, theme: import("./theme.js").Theme, patches: PatchGrid,
 *   query: number | null, key: number | null}} view
 */
export function drawPicture(canvas, source, geom, view) {
  const ctx = fitCanvas(canvas, geom.w + 2, geom.h + 2);
  const { theme, patches, query, key } = view;
  ctx.imageSmoothingEnabled = source.width > geom.w;
  ctx.drawImage(source, geom.x, geom.y, geom.w, geom.h);
  if (view.levels) coverPatches(ctx, geom, view.levels, view.lut);
  ctx.strokeStyle = withAlpha(theme.bg, 0.35);
  ctx.lineWidth = 1;
  ctx.beginPath();
  for (let col = 0; col <= geom.cols; col++) {
    const x = geom.x + (col * geom.w) / geom.cols;
    ctx.moveTo(x, geom.y);
    ctx.lineTo(x, geom.y + geom.h);
  }
  for (let row = 0; row <= geom.rows; row++) {
    const y = geom.y + (row * geom.h) / geom.rows;
    ctx.moveTo(geom.x, y);
    ctx.lineTo(geom.x + geom.w, y);
  }
  ctx.stroke();
  outlineBlocks(ctx, geom, patches.key_boxes ?? [], theme);
  frameToken(ctx, geom, query === null ? null : boxOfToken(patches, "query", query), theme, theme.accent);
  const keyBox = key === null ? null : boxOfToken(patches, "key", key);
  frameToken(ctx, geom, keyBox, theme, theme.text);
  setData(canvas, {
    query,
    key,
    key_box: keyBox?.join() ?? null,
    first: patches.first,
    x: geom.x,
    y: geom.y,
    w: geom.w,
    h: geom.h,
  });
  markDrawn(canvas);
}

/**
 * The edges of the blocks of patches that keys stand for; none where blocks overlap, their edges would be a lattice.
 * @param {CanvasRenderingContext2D} ctx
 * @param {any} geom
 * @param {PatchBox[]} boxes
 * @param {any} theme
 */
function outlineBlocks(ctx, geom, boxes, theme) {
  const area = boxes.reduce((sum, box) => sum + (box ? (box[2] - box[0]) * (box[3] - box[1]) : 0), 0);
  if (area > geom.rows * geom.cols) return;
  ctx.strokeStyle = withAlpha(theme.bg, 0.8);
  ctx.lineWidth = 1.5;
  for (const box of boxes)
    if (box) {
      const [top, left, bottom, right] = box;
      const one = cellRect(geom, top, left);
      if (bottom - top > 1 || right - left > 1)
        ctx.strokeRect(one.x, one.y, one.w * (right - left), one.h * (bottom - top));
    }
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {any} geom
 * @param {Uint8Array | Int16Array} levels
 * @param {Uint32Array} lut
 */
function coverPatches(ctx, geom, levels, lut) {
  levels.forEach((/** @type {number} */ level, /** @type {number} */ patch) => {
    if (level < 0) return;
    const colour = lut[level];
    const box = cellRect(geom, Math.floor(patch / geom.cols), patch % geom.cols);
    ctx.globalAlpha = coverOf(level);
    ctx.fillStyle = `rgb(${colour & 255}, ${(colour >> 8) & 255}, ${(colour >> 16) & 255})`;
    ctx.fillRect(box.x, box.y, box.w, box.h);
  });
  ctx.globalAlpha = 1;
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {any} geom
 * @param {PatchBox} box
 * @param {any} theme
 * @param {string} colour
 */
function frameToken(ctx, geom, box, theme, colour) {
  if (!box) return;
  const [top, left, bottom, right] = box;
  const one = cellRect(geom, top, left);
  frameRect(ctx, { ...one, w: one.w * (right - left), h: one.h * (bottom - top) }, theme, colour);
}

/**
 * The query of the patch under a point, or null.
 * @param {any} geom
 * @param {PatchGrid} patches
 * @param {{x: number, y: number}} point
 */
export function hitPicture(geom, patches, point) {
  const cell = cellAt(point.x, point.y, geom);
  const boxes = patches.query_boxes;
  if (!cell) return null;
  if (!boxes) return patches.first + cell.row * geom.cols + cell.col;
  const found = boxes.findIndex(
    (box) => box && box[0] <= cell.row && cell.row < box[2] && box[1] <= cell.col && cell.col < box[3],
  );
  return found < 0 ? null : found;
}
