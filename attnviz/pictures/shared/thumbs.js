// @ts-check
// All heads of a capture as one picture of small heatmaps, one per layer (row) and head (column).
// Every head is written at native resolution into one atlas image (pooled by maximum when it has more tokens than
// pixels), then stamped into its place without smoothing: one putImageData for all heads. What a mask hides is hatched,
// once for each mask, over what was stamped.

import { headValues, isStored, scratchOf } from "./buffer.js";
import { levelTable } from "./colors.js";
import { context2d, fitCanvas, markDrawn, pixelRatio } from "./dom.js";
import { hiddenPoints, maskLayer } from "./hidden.js";
import { hatchBlocked, paintLevels } from "./matrix.js";
import { isKept } from "./selection.js";

/** @import { PackedArray } from "./buffer.js" */
/** @import { Kept } from "./selection.js" */
/** @import { Theme } from "./theme.js" */

/**
 * x, y: corner of head 0 of layer 0; size: side of one heatmap; gap: space between two, rowGap: between rows (CSS px).
 * @typedef {{x: number, y: number, size: number, gap: number, rowGap?: number, layers: number, heads: number}} ThumbGeom
 */
/** What each layer may see. @typedef {{visible: PackedArray, theme: Theme}} Mask */
/** `mask` is what to hatch, null where nothing is hidden. */
/** @typedef {{array: PackedArray, lut: Uint32Array, levels: Uint8Array, mask?: Mask | null}} ThumbSource */
/**
 * `w`, `h` is the size of a head in the picture; where layers differ, each has its own in `tiles`. `hatching` of a layer
 * lies over its heads, null where it hides nothing.
 * @typedef {{canvas: HTMLCanvasElement, w: number, h: number, hatching: (layer: number) => HTMLCanvasElement | null,
 *   tiles?: {w: number, h: number, y: number, heads: number}[]}} Atlas
 */

const STEP_PX = 5; // from line to line of a hatching, across

/**
 * The atlas: a canvas with each head's pixels, side by side; nothing where a head is not stored.
 * @param {ThumbSource} source
 * @param {number} size side of one heatmap in CSS pixels
 * @returns {Atlas}
 */
export function makeAtlas(source, size) {
  const { array, lut, levels } = source;
  if (array.shapes) return makeUnevenAtlas(source, size, array.shapes);
  const [layers, heads, rows, cols] = array.shape;
  const most = Math.max(1, Math.floor(size * pixelRatio()));
  const w = Math.min(cols, most);
  const h = Math.min(rows, most);
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, w * heads);
  canvas.height = Math.max(1, h * layers);
  const image = new ImageData(canvas.width, canvas.height);
  const out = new Uint32Array(image.data.buffer);
  const scratch = scratchOf(array);
  for (let layer = 0; layer < layers; layer++)
    for (let head = 0; head < heads; head++) {
      if (!isStored(array, layer, head)) continue;
      const values = headValues(array, layer, head, scratch);
      const at = layer * h * w * heads + head * w;
      paintLevels({ values, rows, cols, lut, levels }, out, w, h, w * heads, at);
    }
  context2d(canvas).putImageData(image, 0, 0);
  return { canvas, w, h, hatching: hatchingOf(source, size) };
}

/**
 * The atlas where layers differ in shape: each has tiles of its own size, one row of them below the other.
 * @param {ThumbSource} source
 * @param {number} size
 * @param {readonly (readonly number[])[]} shapes
 * @returns {Atlas}
 */
function makeUnevenAtlas(source, size, shapes) {
  const { array, lut, levels } = source;
  const most = Math.max(1, Math.floor(size * pixelRatio()));
  const canvas = document.createElement("canvas");
  let y = 0;
  const tiles = shapes.map(([heads, rows, cols]) => {
    const tile = { w: Math.min(cols, most), h: Math.min(rows, most), y, heads, rows, cols };
    y += tile.h;
    return tile;
  });
  canvas.width = Math.max(...tiles.map(({ w, heads }) => w * heads));
  canvas.height = y;
  const image = new ImageData(canvas.width, canvas.height);
  const out = new Uint32Array(image.data.buffer);
  tiles.forEach(({ w, h, y: top, heads, rows, cols }, layer) => {
    for (let head = 0; head < heads; head++) {
      if (!isStored(array, layer, head)) continue;
      const values = headValues(array, layer, head);
      const at = top * canvas.width + head * w;
      paintLevels({ values, rows, cols, lut, levels }, out, w, h, canvas.width, at);
    }
  });
  context2d(canvas).putImageData(image, 0, 0);
  return { canvas, w: 0, h: 0, hatching: hatchingOf(source, size), tiles };
}

/** The hatching of each layer, made when it is first asked for, once for all layers where all are alike. */
function hatchingOf(/** @type {ThumbSource} */ { array, mask }, /** @type {number} */ size) {
  /** @type {Map<number, HTMLCanvasElement | null>} */
  const made = new Map();
  return (/** @type {number} */ layer) => {
    if (!mask) return null;
    const own = maskLayer(mask.visible, layer);
    const [rows, cols] = array.shapes?.[own].slice(1) ?? array.shape.slice(2);
    if (!made.has(own)) made.set(own, tileHatching(mask, own, { rows, cols, size }));
    return made.get(own) ?? null;
  };
}

/**
 * The hatching of a layer's tiles, drawn once and stamped over each of them; null where nothing is hidden.
 * @param {Mask} mask
 * @param {number} layer
 * @param {{rows: number, cols: number, size: number}} tile its points, and its side in CSS pixels
 */
function tileHatching({ visible, theme }, layer, { rows, cols, size }) {
  const blocked = hiddenPoints(visible, layer, rows, cols);
  if (!blocked.includes(1)) return null;
  const canvas = document.createElement("canvas");
  const box = { x: 0, y: 0, w: size, h: size, rows, cols };
  hatchBlocked(fitCanvas(canvas, size, size), { ...box, blocked, theme }, STEP_PX);
  return canvas;
}

/**
 * Sizes a canvas to its heads and draws all of them, on the square-root scale.
 * @param {HTMLCanvasElement} canvas
 * @param {PackedArray} array
 * @param {Uint32Array} lut
 * @param {{size: number, gap: number, layers: number, heads: number}} grid
 * @param {{mask?: Mask | null, left?: {kept: Kept, theme: Theme}}} [more] what is hatched; `left` has the heads that
 *   were kept: the others are crossed out
 */
export function drawThumbs(canvas, array, lut, grid, { mask, left } = {}) {
  const { size, gap, layers, heads } = grid;
  const step = size + gap;
  const atlas = makeAtlas({ array, lut, levels: levelTable(array.dtype, "sqrt"), mask }, size);
  const ctx = fitCanvas(canvas, heads * step - gap, layers * step - gap);
  drawAtlas(ctx, atlas, { x: 0, y: 0, ...grid });
  if (left) crossOut(ctx, { x: 0, y: 0, ...grid }, left);
  markDrawn(canvas);
}

/**
 * Stamps an atlas into its grid.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Atlas} atlas
 * @param {ThumbGeom} geom
 */
function drawAtlas(ctx, atlas, geom) {
  ctx.imageSmoothingEnabled = false;
  for (let layer = 0; layer < geom.layers; layer++)
    for (let head = 0; head < (atlas.tiles?.[layer].heads ?? geom.heads); head++) {
      stampHead(ctx, atlas, layer, head, thumbRect(geom, layer, head));
    }
}

/**
 * Crosses out the heads that were not kept: there is nothing to show of them.
 * @param {CanvasRenderingContext2D} ctx
 * @param {ThumbGeom} geom
 * @param {{kept: Kept, theme: Theme}} left
 */
export function crossOut(ctx, geom, { kept, theme }) {
  ctx.strokeStyle = theme.faint;
  ctx.lineWidth = 1;
  for (const [layer] of kept.entries())
    for (let head = 0; head < geom.heads; head++) {
      if (isKept({ kept }, layer, head)) continue;
      const { x, y, w, h } = thumbRect(geom, layer, head);
      ctx.clearRect(x, y, w, h);
      ctx.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
      ctx.beginPath();
      ctx.moveTo(x + 0.5, y + h - 0.5);
      ctx.lineTo(x + w - 0.5, y + 0.5);
      ctx.stroke();
    }
}

/**
 * Stamps one head of an atlas into a rectangle, and over it what its layer hides.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Atlas} atlas
 * @param {number} layer
 * @param {number} head
 * @param {{x: number, y: number, w: number, h: number}} box
 */
export function stampHead(ctx, atlas, layer, head, box) {
  const tile = atlas.tiles?.[layer] ?? { w: atlas.w, h: atlas.h, y: layer * atlas.h };
  ctx.drawImage(atlas.canvas, head * tile.w, tile.y, tile.w, tile.h, box.x, box.y, box.w, box.h);
  const hatching = atlas.hatching(layer);
  if (hatching) ctx.drawImage(hatching, box.x, box.y, box.w, box.h);
}

/**
 * The rectangle of one head.
 * @param {ThumbGeom} geom
 * @param {number} layer
 * @param {number} head
 */
export function thumbRect(geom, layer, head) {
  return {
    x: geom.x + head * (geom.size + geom.gap),
    y: geom.y + layer * (geom.size + (geom.rowGap ?? geom.gap)),
    w: geom.size,
    h: geom.size,
  };
}
