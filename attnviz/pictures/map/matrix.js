// @ts-check
// The maps of all heads on one canvas: a row for each layer, a square for each head, below it the share that it keeps.

import { fitCanvas, markDrawn, pixelRatio } from "../shared/dom.js";
import { fmtFixed, withPercent } from "../shared/fmt.js";
import { coloursOf, packed } from "./colours.js";
import { KEY, QUERY, codesOf, placeOf } from "./points.js";
import { splat } from "./scatter.js";

/** @import { Theme } from "../shared/theme.js" */
/** @import { Way } from "./colours.js" */
/** @import { Point, Points } from "./points.js" */

/** Sizes in CSS pixels. @typedef {{left: number, top: number, size: number, gap: number, text: number, width: number, height: number}} MatrixLayout */

const GAP = 4;
const LEFT = 26;
const TOP = 18;
const LARGEST = 72;
const NAMED_PX = 30; // narrower maps have no number below them
const SMALL_FONT = 10;
/** Queries, keys, and half of the queries again, so that neither lies on all of the other. */
const LAYERED = /** @type {const} */ ([
  [QUERY, 1],
  [KEY, 1],
  [QUERY, 2],
]);

/** @param {Points} points @param {number} room @returns {MatrixLayout} */
export function layMatrix({ header }, room) {
  const { n_layers, n_heads } = header;
  const size = Math.max(12, Math.min(LARGEST, Math.floor((room - LEFT) / n_heads) - GAP));
  const text = size >= NAMED_PX ? 13 : 2;
  const width = LEFT + n_heads * (size + GAP);
  return { left: LEFT, top: TOP, size, gap: GAP, text, width, height: TOP + n_layers * (size + GAP + text) };
}

/** The corner of a head's map. */
function cornerOf(
  /** @type {MatrixLayout} */ { left, top, size, gap, text },
  /** @type {number} */ layer,
  /** @type {number} */ head,
) {
  return { x: left + head * (size + gap), y: top + layer * (size + gap + text) };
}

/** The head under a place of the canvas, as its number, or null. @returns {number | null} */
export function hitMatrix(
  /** @type {Points} */ { header },
  /** @type {MatrixLayout} */ layout,
  /** @type {{x: number, y: number}} */ { x, y },
) {
  const { left, top, size, gap, text } = layout;
  const [head, layer] = [Math.floor((x - left) / (size + gap)), Math.floor((y - top) / (size + gap + text))];
  const found = header.heads.findIndex((other) => other.layer === layer && other.head === head);
  return found < 0 || x < left || y < top ? null : found;
}

/**
 * Draws every head's points; `way` colours them.
 * @param {HTMLCanvasElement} canvas
 * @param {Points} points
 * @param {MatrixLayout} layout
 * @param {{way: Way, theme: Theme, label: string}} look
 */
export function drawMatrix(canvas, points, layout, { way, theme, label }) {
  const ctx = fitCanvas(canvas, layout.width, layout.height);
  const ratio = pixelRatio();
  const image = ctx.createImageData(canvas.width, canvas.height);
  const out = new Uint32Array(image.data.buffer);
  const [paper, side] = [packed(theme.bg2), Math.floor(layout.size * ratio)];
  const shared = way === "norm" ? null : coloursOf(points, 0, way, theme);
  points.header.heads.forEach((place, head) => {
    const corner = cornerOf(layout, place.layer, place.head);
    const [x, y] = [Math.round(corner.x * ratio), Math.round(corner.y * ratio)];
    for (let row = y; row < y + side; row++)
      out.fill(paper, row * canvas.width + x, row * canvas.width + x + side);
    const { levels, table } = shared ?? coloursOf(points, head, way, theme);
    const dot = side >= 90 ? 2 : 1;
    for (const [half, step] of LAYERED) {
      const cloud = { codes: codesOf(points, head, half), levels: levels[half], table };
      const all = { ...cloud, marks: null, bit: 0, marked: true };
      splat(out, canvas.width, { x, y, size: side }, all, dot, step);
    }
  });
  ctx.putImageData(image, 0, 0);
  nameHeads(ctx, points, layout, theme);
  canvas.setAttribute("aria-label", label);
  markDrawn(canvas);
}

function nameHeads(
  /** @type {CanvasRenderingContext2D} */ ctx,
  /** @type {Points} */ { header },
  /** @type {MatrixLayout} */ layout,
  /** @type {Theme} */ theme,
) {
  ctx.font = `${SMALL_FONT}px ${theme.font}`;
  ctx.fillStyle = theme.muted;
  ctx.textAlign = "center";
  for (let head = 0; head < header.n_heads; head++)
    ctx.fillText(`H${head}`, cornerOf(layout, 0, head).x + layout.size / 2, TOP - 6);
  for (let layer = 0; layer < header.n_layers; layer++)
    ctx.fillText(`L${layer}`, LEFT / 2 - 2, cornerOf(layout, layer, 0).y + layout.size / 2 + 4);
  if (layout.text < SMALL_FONT) return;
  for (const [number, { layer, head, kept }] of header.heads.entries()) {
    const { x, y } = cornerOf(layout, layer, head);
    const share = kept === null ? "–" : withPercent(fmtFixed(100 * kept, 0));
    ctx.fillText(
      header.tsne?.head === number ? "t-SNE" : share,
      x + layout.size / 2,
      y + layout.size + SMALL_FONT,
    );
  }
}

/**
 * Draws what changes often on a canvas above: the chosen head, and a token in every map.
 * @param {HTMLCanvasElement} canvas
 * @param {Points} points
 * @param {MatrixLayout} layout
 * @param {{chosen: number, hovered: number | null, point: Point | null, theme: Theme}} marks
 */
export function markMatrix(canvas, points, layout, { chosen, hovered, point, theme }) {
  const ctx = fitCanvas(canvas, layout.width, layout.height);
  const outline = (/** @type {number} */ head, /** @type {string} */ colour, /** @type {number} */ width) => {
    const { x, y } = cornerOf(layout, points.header.heads[head].layer, points.header.heads[head].head);
    ctx.strokeStyle = colour;
    ctx.lineWidth = width;
    ctx.strokeRect(x - 1, y - 1, layout.size + 2, layout.size + 2);
  };
  if (hovered !== null) outline(hovered, theme.muted, 1.5);
  outline(chosen, theme.primary, 2.5);
  if (!point) return;
  points.header.heads.forEach(({ layer, head }, number) => {
    const corner = cornerOf(layout, layer, head);
    const { x, y } = placeOf(points, number, point);
    ctx.beginPath();
    const [px, py] = [corner.x + ((x + 1) / 2) * layout.size, corner.y + ((1 - y) / 2) * layout.size];
    ctx.arc(px, py, 3, 0, 2 * Math.PI);
    ctx.fillStyle = theme.bg;
    ctx.fill();
    ctx.strokeStyle = theme.text;
    ctx.lineWidth = 1.5;
    ctx.stroke();
  });
}
