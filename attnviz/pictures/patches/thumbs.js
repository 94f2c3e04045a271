// @ts-check
// All heads as small pictures, one per layer (row) and head (column): the picture itself, and over it the attention of
// one query. The pictures are drawn once for a size; the colours of all heads go into one small image, stamped over them.

import { context2d, fitCanvas, markDrawn, setData } from "../shared/dom.js";
import { coverOf } from "../shared/picture.js";
import { crossOut, thumbRect } from "../shared/thumbs.js";

/** @import { Patches } from "../shared/heads.js" */
/** @import { PatchLevels } from "../shared/picture.js" */
/** @import { Kept } from "../shared/selection.js" */
/** @import { Theme } from "../shared/theme.js" */
/** @import { ThumbGeom } from "../shared/thumbs.js" */
/** @import { HeadOrMean } from "./numbers.js" */

/**
 * `stamped` has the picture in every place; `levelsOf` gives the colour of each patch for a head.
 * @typedef {{geom: ThumbGeom, stamped: HTMLCanvasElement, source: HTMLCanvasElement, lut: Uint32Array, theme: Theme,
 *   patches: Patches, query: number | null, at: HeadOrMean, kept: Kept,
 *   levelsOf: (layer: number, head: number) => PatchLevels | null}} View
 */

const LABEL_LEFT_PX = 30;
const LABEL_TOP_PX = 20;
const MAX_PX = 104;
const MIN_PX = 20;

/**
 * Side and gap of the small pictures for the room there is.
 * @param {{n_layers: number, n_heads: number}} header
 * @param {number} width
 * @returns {ThumbGeom}
 */
export function layoutPictures({ n_layers: layers, n_heads: heads }, width) {
  const room = Math.floor((width - LABEL_LEFT_PX) / heads);
  const gap = room >= 34 ? 5 : 3;
  const size = Math.max(MIN_PX, Math.min(MAX_PX, room - gap));
  return { x: LABEL_LEFT_PX, y: LABEL_TOP_PX, size, gap, layers, heads };
}

/** The size of the canvas with all small pictures. */
function boardSize(/** @type {ThumbGeom} */ { x, y, size, gap, layers, heads }) {
  return { width: x + heads * (size + gap), height: y + layers * (size + gap) };
}

/** Calls back with every head. */
function eachHead(
  /** @type {ThumbGeom} */ { layers, heads },
  /** @type {(layer: number, head: number) => void} */ callback,
) {
  for (let layer = 0; layer < layers; layer++) for (let head = 0; head < heads; head++) callback(layer, head);
}

/** The picture in every place, at device resolution: the colours are laid over it. */
export function stampPictures(/** @type {HTMLCanvasElement} */ source, /** @type {ThumbGeom} */ geom) {
  const canvas = document.createElement("canvas");
  const { width, height } = boardSize(geom);
  const ctx = fitCanvas(canvas, width, height);
  ctx.imageSmoothingQuality = "high";
  eachHead(geom, (layer, head) => {
    const box = pictureRect(source, geom, layer, head);
    ctx.drawImage(source, box.x, box.y, box.w, box.h);
  });
  return canvas;
}

/**
 * The rectangle of the picture in a square place: as large as fits, in the middle.
 * @param {HTMLCanvasElement} source
 * @param {ThumbGeom} geom
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

/** Draws all heads. */
export function drawPictures(/** @type {HTMLCanvasElement} */ canvas, /** @type {View} */ view) {
  const { geom, stamped, source, patches, at, query } = view;
  const { rows, columns } = patches;
  const { width, height } = boardSize(geom);
  const ctx = fitCanvas(canvas, width, height);
  ctx.drawImage(stamped, 0, 0, width, height);
  const colours = colourAtlas(view);
  ctx.imageSmoothingEnabled = false;
  if (colours)
    eachHead(geom, (layer, head) => {
      const box = pictureRect(source, geom, layer, head);
      ctx.drawImage(colours, head * columns, layer * rows, columns, rows, box.x, box.y, box.w, box.h);
    });
  crossOut(ctx, geom, view);
  labelHeads(ctx, view);
  const { x, y, size, gap } = geom;
  setData(canvas, { layer: at.layer, head: at.head, query, x, y, size, gap });
  markDrawn(canvas);
}

/** A canvas with a pixel per patch of every head, its colour with what covers the picture as alpha; null for none. */
function colourAtlas(/** @type {View} */ { geom, patches, lut, levelsOf }) {
  const { rows, columns } = patches;
  const width = columns * geom.heads;
  const image = new ImageData(width, rows * geom.layers);
  const out = new Uint32Array(image.data.buffer);
  let isEmpty = true;
  eachHead(geom, (layer, head) => {
    levelsOf(layer, head)?.forEach((level, i) => {
      isEmpty = false;
      const at = (layer * rows + Math.floor(i / columns)) * width + head * columns + (i % columns);
      out[at] = ((Math.round(255 * coverOf(level)) << 24) | (lut[level] & 0xffffff)) >>> 0;
    });
  });
  if (isEmpty) return null;
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: image.width, height: image.height });
  context2d(canvas).putImageData(image, 0, 0);
  return canvas;
}

function labelHeads(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {View} */ { geom, theme, at }) {
  const step = geom.size + geom.gap;
  const middle = geom.size / 2;
  const label = (
    /** @type {string} */ text,
    /** @type {boolean} */ isChosen,
    /** @type {number} */ x,
    /** @type {number} */ y,
  ) => {
    ctx.font = `${isChosen ? "600 " : ""}11.5px ${theme.font}`;
    ctx.fillStyle = isChosen ? theme.roles.chosen : theme.muted;
    ctx.fillText(text, x, y);
  };
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  for (let layer = 0; layer < geom.layers; layer++)
    label(`L${layer}`, layer === at.layer, 0, geom.y + layer * step + middle);
  ctx.textAlign = "center";
  for (let head = 0; head < geom.heads; head++)
    label(`H${head}`, head === at.head, geom.x + head * step + middle, 7);
}
