// @ts-check
// What a vision model saw, as a picture with its grid of patches. The weights of one query lie over it as colours: the
// stronger a patch is attended to, the more its colour covers. The query's own patch is framed.

import { levelFor } from "./colors.js";
import { context2d, fitCanvas, markDrawn, setData } from "./dom.js";
import { cellAt, cellRect, frameBox } from "./matrix.js";
import { withAlpha } from "./theme.js";

/** @import { PackedArray } from "./buffer.js" */
/** @import { PatchBox, PatchGrid } from "./layers.js" */
/** @import { Geom } from "./matrix.js" */
/** @import { Scale } from "./selection.js" */
/** @import { Theme } from "./theme.js" */

/** The index of a colour for each patch, -1 where no key stands for it. @typedef {Uint8Array | Int16Array} PatchLevels */

const MIN_COVER = 0.3;
const MAX_COVER = 0.9;
const WINDOW_PX = 16; // side of a patch in the picture of a window

/** The picture's pixels as a canvas, made once for a capture. */
export function pictureSource(/** @type {PackedArray} */ array) {
  const [height, width] = array.shape;
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width, height });
  const ctx = context2d(canvas);
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
  const { grid, top = 0, left = 0 } = patches;
  if (!grid) return whole;
  const [rows, columns] = grid;
  if (rows === patches.rows && columns === patches.columns && !top && !left) return whole;
  const w = whole.width / columns;
  const h = whole.height / rows;
  const boardRows = Math.ceil(rows / patches.rows) * patches.rows;
  const boardColumns = Math.ceil(columns / patches.columns) * patches.columns;
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: patches.columns * WINDOW_PX, height: patches.rows * WINDOW_PX });
  const ctx = context2d(canvas);
  for (let row = 0; row < patches.rows; row++)
    for (let col = 0; col < patches.columns; col++) {
      const r = (top + row) % boardRows;
      const c = (left + col) % boardColumns;
      if (r >= rows || c >= columns) continue;
      ctx.drawImage(whole, c * w, r * h, w, h, col * WINDOW_PX, row * WINDOW_PX, WINDOW_PX, WINDOW_PX);
    }
  return canvas;
}

/**
 * Where the patches lie on the picture for the room there is.
 * @param {HTMLCanvasElement} source
 * @param {PatchGrid} patches
 * @param {number} room
 * @returns {Geom}
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
  if (boxes) return boxes[token];
  const patch = token - patches.first;
  const row = Math.floor(patch / patches.columns);
  const column = patch % patches.columns;
  return patch < 0 || row >= patches.rows ? null : [row, column, row + 1, column + 1];
}

/**
 * The patches of a token as a small square picture; null for a token that is no patch.
 * @param {HTMLCanvasElement} whole
 * @param {PatchGrid} patches
 * @param {"query" | "key"} axis
 * @param {number} token
 * @param {number} side in pixels of the page
 */
export function patchPicture(whole, patches, axis, token, side) {
  const box = boxOfToken(patches, axis, token);
  if (!box) return null;
  const source = windowSource(whole, patches);
  const [w, h] = [source.width / patches.columns, source.height / patches.rows];
  const [top, left, bottom, right] = box;
  const canvas = document.createElement("canvas");
  canvas.setAttribute("aria-hidden", "true");
  const ctx = fitCanvas(canvas, side, side);
  ctx.drawImage(source, left * w, top * h, (right - left) * w, (bottom - top) * h, 0, 0, side, side);
  return canvas;
}

/**
 * The colour of every patch for a row of weights; of keys that share a patch, the stronger one's.
 * @param {ArrayLike<number>} row
 * @param {PatchGrid} patches
 * @param {Scale} scale
 * @param {number} [top] the weight that has the last colour
 * @returns {PatchLevels}
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
      for (let x = left; x < right; x++) {
        const patch = y * patches.columns + x;
        levels[patch] = Math.max(levels[patch], own);
      }
  });
  return levels;
}

/** How much of the picture a colour covers, 0..1. */
export function coverOf(/** @type {number} */ level) {
  return MIN_COVER + ((MAX_COVER - MIN_COVER) * level) / 255;
}

/**
 * Draws picture, colours, grid and frames; `query` and `key` are tokens.
 * @param {HTMLCanvasElement} canvas
 * @param {HTMLCanvasElement} source
 * @param {Geom} geom
 * @param {{levels: PatchLevels | null, lut: Uint32Array, theme: Theme, patches: PatchGrid, query: number | null,
 *   key: number | null}} view
 */
export function drawPicture(canvas, source, geom, view) {
  const { theme, patches, query, key } = view;
  const ctx = fitCanvas(canvas, geom.w + 2, geom.h + 2);
  ctx.imageSmoothingEnabled = source.width > geom.w;
  ctx.drawImage(source, geom.x, geom.y, geom.w, geom.h);
  if (view.levels) coverPatches(ctx, geom, view.levels, view.lut);
  ruleGrid(ctx, geom, withAlpha(theme.bg, 0.35));
  outlineBlocks(ctx, geom, patches.key_boxes ?? [], theme);
  const queryBox = query === null ? null : boxOfToken(patches, "query", query);
  const keyBox = key === null ? null : boxOfToken(patches, "key", key);
  if (keyBox) frameBox(ctx, blockRect(geom, keyBox), { colour: theme.roles.key, theme, dashed: true });
  if (queryBox) frameBox(ctx, blockRect(geom, queryBox), { colour: theme.roles.query, theme });
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

function ruleGrid(
  /** @type {CanvasRenderingContext2D} */ ctx,
  /** @type {Geom} */ geom,
  /** @type {string} */ colour,
) {
  ctx.strokeStyle = colour;
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
}

/**
 * The edges of the blocks of patches that keys stand for; none where blocks overlap, their edges would be a lattice.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Geom} geom
 * @param {PatchBox[]} boxes
 * @param {Theme} theme
 */
function outlineBlocks(ctx, geom, boxes, theme) {
  const area = boxes.reduce((sum, box) => sum + (box ? (box[2] - box[0]) * (box[3] - box[1]) : 0), 0);
  if (area > geom.rows * geom.cols) return;
  ctx.strokeStyle = withAlpha(theme.bg, 0.8);
  ctx.lineWidth = 1.5;
  for (const box of boxes) {
    if (!box || (box[2] - box[0] <= 1 && box[3] - box[1] <= 1)) continue;
    const { x, y, w, h } = blockRect(geom, box);
    ctx.strokeRect(x, y, w, h);
  }
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {Geom} geom
 * @param {PatchLevels} levels
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

/** The rectangle of a block of patches. */
function blockRect(
  /** @type {Geom} */ geom,
  /** @type {NonNullable<PatchBox>} */ [top, left, bottom, right],
) {
  const { x, y, w, h } = cellRect(geom, top, left);
  return { x, y, w: w * (right - left), h: h * (bottom - top) };
}

/**
 * The query of the patch under a point, or null.
 * @param {Geom} geom
 * @param {PatchGrid} patches
 * @param {{x: number, y: number}} point
 */
export function hitPicture(geom, patches, point) {
  const cell = cellAt(point.x, point.y, geom);
  if (!cell) return null;
  if (!patches.query_boxes) return patches.first + cell.row * geom.cols + cell.col;
  const index = patches.query_boxes.findIndex((box) => {
    if (!box) return false;
    const [top, left, bottom, right] = box;
    return top <= cell.row && cell.row < bottom && left <= cell.col && cell.col < right;
  });
  return index < 0 ? null : index;
}
