// @ts-check
// All heads of a capture as one picture of small heatmaps, one per layer (row) and head (column).
// Every head is written at native resolution into one atlas image (pooled by maximum when it has more tokens than
// pixels), then stamped into its place without smoothing: one putImageData for all heads.

import { pixelRatio } from "./dom.js";
import { headValues, scratchOf } from "./buffer.js";
import { paintLevels } from "./matrix.js";

/** x, y: corner of head 0 of layer 0; size: side of one heatmap; gap: space between two, rowGap: between rows (CSS pixels).
 * @typedef {{x: number, y: number, size: number, gap: number, rowGap?: number, layers: number, heads: number}} ThumbGeom */
/**
 * @typedef {{array: import("./buffer.js").PackedArray, lut: Uint32Array, levels: Uint8Array,
 *   rowIndex?: ArrayLike<number>, colIndex?: ArrayLike<number>}} ThumbSource
 */

/**
 * The atlas: a canvas with each head's pixels, side by side.
 * @param {ThumbSource} source
 * @param {number} size side of one heatmap in CSS pixels
 */
export function makeAtlas(source, size) {
  if (source.array.shapes) return makeUnevenAtlas(source, size, source.array.shapes);
  const { array, rowIndex, colIndex } = source;
  const [layers, heads, nQuery, nKey] = array.shape;
  const rows = rowIndex?.length ?? nQuery;
  const cols = colIndex?.length ?? nKey;
  const most = Math.max(1, Math.floor(size * pixelRatio()));
  const w = Math.min(cols, most);
  const h = Math.min(rows, most);
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, w * heads);
  canvas.height = Math.max(1, h * layers);
  const ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = new ImageData(canvas.width, canvas.height);
  const out = new Uint32Array(image.data.buffer);
  const scratch = scratchOf(array);
  for (let layer = 0; layer < layers; layer++)
    for (let head = 0; head < heads; head++) {
      const values = headValues(array, layer, head, scratch);
      const at = layer * h * w * heads + head * w;
      paintLevels(
        { values, rows, cols, stride: nKey, rowIndex, colIndex, lut: source.lut, levels: source.levels },
        out,
        w,
        h,
        w * heads,
        at,
      );
    }
  ctx.putImageData(image, 0, 0);
  return { canvas, w, h };
}

/**
 * The same where layers differ in shape: each has tiles of its own size, one row of them below the other.
 * @param {ThumbSource} source
 * @param {number} size
 * @param {number[][]} shapes
 */
function makeUnevenAtlas(source, size, shapes) {
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
  const ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = new ImageData(canvas.width, canvas.height);
  const out = new Uint32Array(image.data.buffer);
  tiles.forEach(({ w, h, y: top, heads, rows, cols }, layer) => {
    for (let head = 0; head < heads; head++) {
      paintLevels(
        { values: headValues(source.array, layer, head), rows, cols, lut: source.lut, levels: source.levels },
        out,
        w,
        h,
        canvas.width,
        top * canvas.width + head * w,
      );
    }
  });
  ctx.putImageData(image, 0, 0);
  return { canvas, w: 0, h: 0, tiles };
}

/** @typedef {{canvas: HTMLCanvasElement, w: number, h: number, tiles?: {w: number, h: number, y: number, heads: number}[]}} Atlas */

/**
 * Stamps an atlas into its grid.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Atlas} atlas
 * @param {ThumbGeom} geom
 */
export function drawAtlas(ctx, atlas, geom) {
  ctx.imageSmoothingEnabled = false;
  for (let layer = 0; layer < geom.layers; layer++)
    for (let head = 0; head < (atlas.tiles?.[layer].heads ?? geom.heads); head++) {
      stampHead(ctx, atlas, layer, head, thumbRect(geom, layer, head));
    }
}

/**
 * Stamps one head of an atlas into a rectangle.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Atlas} atlas
 * @param {number} layer
 * @param {number} head
 * @param {{x: number, y: number, w: number, h: number}} box
 */
export function stampHead(ctx, atlas, layer, head, box) {
  const tile = atlas.tiles?.[layer] ?? { w: atlas.w, h: atlas.h, y: layer * atlas.h };
  ctx.drawImage(atlas.canvas, head * tile.w, tile.y, tile.w, tile.h, box.x, box.y, box.w, box.h);
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

/** The head under a point (gaps belong to the nearer head), or null outside. */
export function thumbAt(/** @type {ThumbGeom} */ geom, /** @type {number} */ x, /** @type {number} */ y) {
  const step = geom.size + geom.gap;
  const half = geom.gap / 2;
  const head = Math.floor((x - geom.x + half) / step);
  const layer = Math.floor((y - geom.y + half) / step);
  return head >= 0 && layer >= 0 && head < geom.heads && layer < geom.layers ? { layer, head } : null;
}
