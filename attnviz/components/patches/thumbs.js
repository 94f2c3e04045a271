// @ts-check
// All heads as small pictures, one per layer (row) and head (column): the picture itself, and over it the attention of
// one query. The pictures are drawn once for a size; the colours of all heads go into one small image, stamped over them.

import { context2d, fitCanvas, markDrawn, setData } from "../shared/dom.js";
import { coverOf } from "../shared/picture.js";
import { thumbRect } from "../shared/thumbs.js";

const LABEL_LEFT = 30;
const LABEL_TOP = 20;
const LARGEST_THUMB = 104;
const SMALLEST_THUMB = 20;

/** Side and gap of the small pictures for the room there is. @returns {import("../shared/thumbs.js").ThumbGeom} */
export function layoutThumbs(/** @type {any} */ header, /** @type {number} */ width) {
  const { n_layers: layers, n_heads: heads } = header;
  const room = Math.floor((width - LABEL_LEFT) / heads);
  const gap = room >= 34 ? 5 : 3;
  return {
    x: LABEL_LEFT,
    y: LABEL_TOP,
    size: Math.max(SMALLEST_THUMB, Math.min(LARGEST_THUMB, room - gap)),
    gap,
    layers,
    heads,
  };
}

/**
 * The picture in every place, at device resolution: what the colours are laid over.
 * @param {HTMLCanvasElement} source
 * @param {import("../shared/thumbs.js").ThumbGeom} geom
 */
export function stampPictures(source, geom) {
  const canvas = document.createElement("canvas");
  const step = geom.size + geom.gap;
  const ctx = fitCanvas(canvas, geom.x + geom.heads * step, geom.y + geom.layers * step);
  ctx.imageSmoothingQuality = "high";
  for (let layer = 0; layer < geom.layers; layer++)
    for (let head = 0; head < geom.heads; head++) {
      const box = pictureRect(source, geom, layer, head);
      ctx.drawImage(source, box.x, box.y, box.w, box.h);
    }
  return canvas;
}

/**
 * Where the picture lies in a square place: as large as fits, in the middle.
 * @param {HTMLCanvasElement} source
 * @param {import("../shared/thumbs.js").ThumbGeom} geom
 * @param {number} layer
 * @param {number} head
 */
function pictureRect(source, geom, layer, head) {
  const { x, y, w: side } = thumbRect(geom, layer, head);
  const most = Math.max(source.width, source.height);
  const w = (side * source.width) / most;
  const h = (side * source.height) / most;
  return { x: x + (side - w) / 2, y: y + (side - h) / 2, w, h };
}

/**
 * Draws all heads. `levelsOf` gives the colour of each patch for a head.
 * @param {HTMLCanvasElement} canvas
 * @param {{geom: import("../shared/thumbs.js").ThumbGeom, stamped: HTMLCanvasElement, source: HTMLCanvasElement, lut: Uint32Array,
 *   theme: import("../shared/theme.js").Theme, patches: import("../shared/picture.js").PatchGrid, query: number | null,
 *   at: {layer: number, head: number | null}, levelsOf: (layer: number, head: number) => Uint8Array | Int16Array | null}} view
 */
export function drawThumbs(canvas, view) {
  const { geom, stamped, source, patches } = view;
  const step = geom.size + geom.gap;
  const ctx = fitCanvas(canvas, geom.x + geom.heads * step, geom.y + geom.layers * step);
  ctx.drawImage(stamped, 0, 0, geom.x + geom.heads * step, geom.y + geom.layers * step);
  const colours = colourAtlas(view);
  const { rows, columns } = patches;
  ctx.imageSmoothingEnabled = false;
  if (colours)
    for (let layer = 0; layer < geom.layers; layer++)
      for (let head = 0; head < geom.heads; head++) {
        const box = pictureRect(source, geom, layer, head);
        ctx.drawImage(colours, head * columns, layer * rows, columns, rows, box.x, box.y, box.w, box.h);
      }
  labelThumbs(ctx, view);
  setData(canvas, {
    layer: view.at.layer,
    head: view.at.head,
    query: view.query,
    x: geom.x,
    y: geom.y,
    size: geom.size,
    gap: geom.gap,
  });
  markDrawn(canvas);
}

/** One pixel per patch of every head, with what shows through as its alpha. */
function colourAtlas(/** @type {any} */ view) {
  const { geom, patches, lut, levelsOf } = view;
  const { rows, columns } = patches;
  const wide = columns * geom.heads;
  const image = new ImageData(wide, rows * geom.layers);
  const out = new Uint32Array(image.data.buffer);
  for (let layer = 0; layer < geom.layers; layer++)
    for (let head = 0; head < geom.heads; head++) {
      const levels = levelsOf(layer, head);
      if (!levels) return null;
      for (let i = 0; i < levels.length; i++) {
        const at = (layer * rows + Math.floor(i / columns)) * wide + head * columns + (i % columns);
        out[at] = ((Math.round(255 * coverOf(levels[i])) << 24) | (lut[levels[i]] & 0xffffff)) >>> 0;
      }
    }
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: image.width, height: image.height });
  context2d(canvas).putImageData(image, 0, 0);
  return canvas;
}

function labelThumbs(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {any} */ view) {
  const { geom, theme, at } = view;
  const step = geom.size + geom.gap;
  const label = (
    /** @type {string} */ text,
    /** @type {boolean} */ on,
    /** @type {number} */ x,
    /** @type {number} */ y,
  ) => {
    ctx.font = `${on ? "600 " : ""}11.5px ${theme.font}`;
    ctx.fillStyle = on ? theme.accent : theme.muted;
    ctx.fillText(text, x, y);
  };
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  for (let layer = 0; layer < geom.layers; layer++)
    label(`L${layer}`, layer === at.layer, 0, geom.y + layer * step + geom.size / 2);
  ctx.textAlign = "center";
  for (let head = 0; head < geom.heads; head++)
    label(`H${head}`, head === at.head, geom.x + head * step + geom.size / 2, 7);
}
