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
  const { array, rowIndex, colIndex } = source,
    [layers, heads, nQuery, nKey] = array.shape;
  const rows = rowIndex?.length ?? nQuery,
    cols = colIndex?.length ?? nKey,
    most = Math.max(1, Math.floor(size * pixelRatio()));
  const w = Math.min(cols, most),
    h = Math.min(rows, most),
    canvas = document.createElement("canvas");
  canvas.width = Math.max(1, w * heads);
  canvas.height = Math.max(1, h * layers);
  const ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = new ImageData(canvas.width, canvas.height),
    out = new Uint32Array(image.data.buffer),
    scratch = scratchOf(array);
  for (let layer = 0; layer < layers; layer++)
    for (let head = 0; head < heads; head++) {
      const values = headValues(array, layer, head, scratch),
        at = layer * h * w * heads + head * w;
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

/** The same where layers differ in shape: each has tiles of its own size, one row of them below the other. */
function makeUnevenAtlas(
  /** @type {ThumbSource} */ source,
  /** @type {number} */ size,
  /** @type {number[][]} */ shapes,
) {
  const most = Math.max(1, Math.floor(size * pixelRatio())),
    canvas = document.createElement("canvas");
  let y = 0;
  const tiles = shapes.map(([heads, rows, cols]) => {
    const tile = { w: Math.min(cols, most), h: Math.min(rows, most), y, heads, rows, cols };
    y += tile.h;
    return tile;
  });
  canvas.width = Math.max(...tiles.map(({ w, heads }) => w * heads));
  canvas.height = y;
  const ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = new ImageData(canvas.width, canvas.height),
    out = new Uint32Array(image.data.buffer);
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

/** Stamps an atlas into its grid. */
export function drawAtlas(
  /** @type {CanvasRenderingContext2D} */ ctx,
  /** @type {Atlas} */ atlas,
  /** @type {ThumbGeom} */ geom,
) {
  ctx.imageSmoothingEnabled = false;
  for (let layer = 0; layer < geom.layers; layer++)
    for (let head = 0; head < (atlas.tiles?.[layer].heads ?? geom.heads); head++) {
      stampHead(ctx, atlas, layer, head, thumbRect(geom, layer, head));
    }
}

/** Stamps one head of an atlas into a rectangle. */
export function stampHead(
  /** @type {CanvasRenderingContext2D} */ ctx,
  /** @type {Atlas} */ atlas,
  /** @type {number} */ layer,
  /** @type {number} */ head,
  /** @type {{x: number, y: number, w: number, h: number}} */ box,
) {
  const tile = atlas.tiles?.[layer] ?? { w: atlas.w, h: atlas.h, y: layer * atlas.h };
  ctx.drawImage(atlas.canvas, head * tile.w, tile.y, tile.w, tile.h, box.x, box.y, box.w, box.h);
}

/** The rectangle of one head. */
export function thumbRect(
  /** @type {ThumbGeom} */ geom,
  /** @type {number} */ layer,
  /** @type {number} */ head,
) {
  return {
    x: geom.x + head * (geom.size + geom.gap),
    y: geom.y + layer * (geom.size + (geom.rowGap ?? geom.gap)),
    w: geom.size,
    h: geom.size,
  };
}

/** The head under a point (gaps belong to the nearer head), or null outside. */
export function thumbAt(/** @type {ThumbGeom} */ geom, /** @type {number} */ x, /** @type {number} */ y) {
  const step = geom.size + geom.gap,
    half = geom.gap / 2;
  const head = Math.floor((x - geom.x + half) / step),
    layer = Math.floor((y - geom.y + half) / step);
  return head >= 0 && layer >= 0 && head < geom.heads && layer < geom.layers ? { layer, head } : null;
}
