// @ts-check
// A picture is cut into patches, the patches line up in reading order, [CLS] comes in front. In: the picture's pixels, red
// green blue from 0 to 255, and how many patches stand side by side. A hand on a patch shows its place in the line.

import { plainContext } from "../shared/dom.js";
import { between } from "../shared/scenes.js";
import { turnOf, write } from "./draw.js";

/** @import { Film, Frame } from "./draw.js" */
/** @import { Arrays } from "./types.js" */

const OPEN = 8; // pixels between patches that are cut
const GAP = 3;
const BELOW = 22;

/** @type {Film} */
export const CUT = {
  height: (_, arrays, width) =>
    sideOf(width) + BELOW + rowsOf(arrays, width) * (small(arrays, width) + GAP) + 6,
  paint(frame) {
    const { header, arrays, so, width, ctx, theme, roles, set } = frame;
    const along = arrays.along.data[0];
    const source = pictureOf(arrays);
    const side = sideOf(width);
    const isByHand = set.patch !== undefined;
    const { gap, piece } = gridOf(frame);
    const size = small(arrays, width);
    const inRow = perRow(arrays, width);
    const pixels = source.width / along;
    ctx.imageSmoothingEnabled = false;
    for (let patch = 0; patch < along * along; patch++) {
      const [row, column] = [Math.floor(patch / along), patch % along];
      const moved = isByHand ? 1 : turnOf(so("line"), patch, along * along, 0.9);
      const place = patch + 1; // [CLS] has the first one
      const to = {
        x: (place % inRow) * (size + GAP),
        y: side + BELOW + Math.floor(place / inRow) * (size + GAP),
      };
      const from = { x: column * (piece + gap), y: row * (piece + gap) };
      ctx.globalAlpha = isByHand ? 1 : 0.25;
      if (moved > 0) stamp(frame, source, { row, column, pixels }, { ...from, size: piece });
      ctx.globalAlpha = 1;
      const at = { x: between(from.x, to.x, moved), y: between(from.y, to.y, moved) };
      stamp(frame, source, { row, column, pixels }, { ...at, size: between(piece, size, moved) });
      if (patch !== set.patch) continue;
      ctx.strokeStyle = roles.query;
      ctx.lineWidth = 3;
      ctx.strokeRect(from.x + 1, from.y + 1, piece - 2, piece - 2);
      ctx.strokeRect(to.x, to.y, size, size);
    }
    ctx.globalAlpha = isByHand ? 1 : so("cls", 0.1, 0.5);
    ctx.fillStyle = theme.primary;
    ctx.fillRect(0, side + BELOW, size, size);
    const label = { x: size / 2, y: side + BELOW + size / 2, weight: 700, colour: theme.bg, room: size - 2 };
    write(frame, header.labels.cls[0], { ...label, size: 13, align: "center" });
    const all = `1 + ${along * along} = ${along * along + 1}`;
    write(frame, isByHand ? placeIn(along, set.patch) : all, {
      x: side + 18,
      y: side / 2,
      size: 22,
      weight: 700,
      room: width - side - 20,
    });
  },
  grips(frame) {
    const { along, gap, piece } = gridOf(frame);
    const { patch = 0 } = frame.set;
    const [row, column] = [Math.floor(patch / along), patch % along];
    const inside = (/** @type {number} */ at) => Math.max(0, Math.min(along - 1, Math.floor(at)));
    const at = (/** @type {number} */ y, /** @type {number} */ x) => ({
      patch: inside(y) * along + inside(x),
    });
    return [
      {
        handle: "patch",
        at: [column * (piece + gap) + piece / 2, row * (piece + gap) + piece / 2],
        text: placeIn(along, patch),
        to: ([x, y]) => at(y / (piece + gap), x / (piece + gap)),
        by: ([right, up]) => at(row - up, column + right),
      },
    ];
  },
};

/** The place of a patch in the line, computed: row and column are counted from 0, [CLS] has the place 0. */
function placeIn(/** @type {number} */ along, /** @type {number} */ patch) {
  return `1 + ${Math.floor(patch / along)} · ${along} + ${patch % along} = ${patch + 1}`;
}

/** How the picture is cut at this moment. */
function gridOf(/** @type {Frame} */ { arrays, so, set, width }) {
  const along = arrays.along.data[0];
  const gap = OPEN * (set.patch === undefined ? so("cut", 0.1, 0.7) : 1);
  return { along, gap, piece: (sideOf(width) - gap * (along - 1)) / along };
}

/**
 * One patch of the picture at a place.
 * @param {Frame} frame
 * @param {HTMLCanvasElement} source
 * @param {{row: number, column: number, pixels: number}} patch
 * @param {{x: number, y: number, size: number}} to
 */
function stamp({ ctx }, source, { row, column, pixels }, { x, y, size }) {
  ctx.drawImage(source, column * pixels, row * pixels, pixels, pixels, x, y, size, size);
}

/** @type {WeakMap<Arrays, HTMLCanvasElement>} */
const PICTURES = new WeakMap();

/** The picture as a canvas of its own size. */
function pictureOf(/** @type {Arrays} */ arrays) {
  const kept = PICTURES.get(arrays);
  if (kept) return kept;
  const { data, shape } = arrays.pixels;
  const [height, width] = [shape[0], shape[1] / 3];
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width, height });
  const image = new ImageData(width, height);
  for (let i = 0; i < width * height; i++)
    for (let part = 0; part < 4; part++) image.data[4 * i + part] = part < 3 ? data[3 * i + part] : 255;
  plainContext(canvas).putImageData(image, 0, 0);
  PICTURES.set(arrays, canvas);
  return canvas;
}

function sideOf(/** @type {number} */ width) {
  return Math.min(240, Math.round(width * 0.6));
}

function small(/** @type {Arrays} */ { along }, /** @type {number} */ width) {
  return Math.min(40, Math.max(24, Math.floor(width / (along.data[0] ** 2 + 1)) - GAP));
}

function perRow(/** @type {Arrays} */ arrays, /** @type {number} */ width) {
  return Math.max(1, Math.floor((width + GAP) / (small(arrays, width) + GAP)));
}

function rowsOf(/** @type {Arrays} */ arrays, /** @type {number} */ width) {
  return Math.ceil((arrays.along.data[0] ** 2 + 1) / perRow(arrays, width));
}
