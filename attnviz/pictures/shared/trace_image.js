// @ts-check
// A part of a canvas or of an image as SVG: few cells become rectangles, one path for each colour, so that print has sharp
// edges; everything else becomes a PNG.

import { plainContext } from "./dom.js";
import { rectPath, short } from "./path.js";
import { svgNode } from "./svg_picture.js";

/** @typedef {{x: number, y: number, w: number, h: number}} Box */
/** @typedef {HTMLCanvasElement | HTMLImageElement | ImageBitmap} Source */

const MAX_CELLS = 64 * 64;
const MIN_CELL_PX = 4; // of smaller ones a PNG is sharp enough, and smaller
const MAX_ENLARGED_PX = 1024; // along a side

/**
 * @param {Source} source
 * @param {Box} part of the source, in its own pixels
 * @param {Box} box in the picture
 * @param {{isSmooth: boolean, alpha: number}} look
 */
export function tracedImage(source, part, box, { isSmooth, alpha }) {
  const w = Math.max(1, Math.round(part.w));
  const h = Math.max(1, Math.round(part.h));
  const areCells = !isSmooth && w * h <= MAX_CELLS && Math.min(box.w / w, box.h / h) >= MIN_CELL_PX;
  const node = areCells ? cellsOf(source, part, box, w, h) : pngOf(source, part, box, w, h, isSmooth);
  if (alpha < 1) node.setAttribute("opacity", short(alpha));
  return node;
}

/**
 * A copy of a part of a source, each of its pixels `times` wide and high.
 * @param {Source} source
 * @param {Box} part
 * @param {number} w
 * @param {number} h
 * @param {number} times
 */
function copied(source, part, w, h, times) {
  const canvas = document.createElement("canvas");
  canvas.width = w * times;
  canvas.height = h * times;
  const ctx = plainContext(canvas);
  ctx.imageSmoothingEnabled = false;
  ctx.drawImage(source, part.x, part.y, part.w, part.h, 0, 0, canvas.width, canvas.height);
  return { canvas, ctx };
}

/**
 * @param {Source} source
 * @param {Box} part
 * @param {Box} box
 * @param {number} w
 * @param {number} h
 */
function cellsOf(source, part, box, w, h) {
  const { ctx } = copied(source, part, w, h, 1);
  const pixels = new Uint32Array(ctx.getImageData(0, 0, w, h).data.buffer);
  /** @type {Map<number, string>} */
  const paths = new Map();
  const [cw, ch] = [box.w / w, box.h / h];
  for (let row = 0; row < h; row++)
    for (let col = 0, start = 0; col < w; col++) {
      const colour = pixels[row * w + col];
      if (col + 1 < w && pixels[row * w + col + 1] === colour) continue;
      const run = rectPath(box.x + start * cw, box.y + row * ch, (col + 1 - start) * cw, ch);
      paths.set(colour, (paths.get(colour) ?? "") + run);
      start = col + 1;
    }
  const cells = svgNode("g", { "shape-rendering": "crispEdges" });
  for (const [colour, d] of paths) {
    const opacity = (colour >>> 24) / 255;
    if (!opacity) continue;
    const parts = [0, 8, 16].map((shift) => ((colour >>> shift) & 255).toString(16).padStart(2, "0"));
    cells.append(
      svgNode("path", { d, fill: `#${parts.join("")}`, "fill-opacity": opacity < 1 ? opacity : null }),
    );
  }
  return cells;
}

/**
 * A PNG; cells are enlarged first, for not every program leaves their edges sharp.
 * @param {Source} source
 * @param {Box} part
 * @param {Box} box
 * @param {number} w
 * @param {number} h
 * @param {boolean} isSmooth
 */
function pngOf(source, part, box, w, h, isSmooth) {
  const times = isSmooth ? 1 : Math.max(1, Math.floor(MAX_ENLARGED_PX / Math.max(w, h)));
  const wanted = Math.max(1, Math.ceil(2 * Math.max(Math.abs(box.w) / w, Math.abs(box.h) / h)));
  const { canvas } = copied(source, part, w, h, Math.min(times, wanted));
  return svgNode("image", {
    x: box.x,
    y: box.y,
    width: box.w,
    height: box.h,
    preserveAspectRatio: "none",
    "image-rendering": isSmooth ? null : "pixelated",
    href: canvas.toDataURL("image/png"),
  });
}
