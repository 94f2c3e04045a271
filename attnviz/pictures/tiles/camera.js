// @ts-check
// Where one looks: the part of a matrix of cells that a plot shows. Plain arithmetic, no drawing.
// A camera is the cell at the plot's upper left corner (fractions count) and how many CSS pixels a cell has.

import { pixelRatio } from "../shared/dom.js";

/** x: key at the left edge, y: query at the upper edge. @typedef {{x: number, y: number, scale: number}} Camera */
/** The matrix, and the plot in CSS pixels. @typedef {{nQuery: number, nKey: number, w: number, h: number}} Frame */
/**
 * A tile and where it stands, in cells.
 * @typedef {{name: string, level: number, row: number, column: number, x: number, y: number, side: number}} TilePlace
 */
/** @typedef {{query: number, key: number}} Cell */

export const TILE = 256;
const MAX_SCALE = 36;
const CLOSE = 16;

/** The whole matrix. @returns {Camera} */
export function wholeCamera(/** @type {Frame} */ frame) {
  return clampCamera({ x: 0, y: 0, scale: 0 }, frame);
}

/** The nearest camera that shows no more than there is. @returns {Camera} */
export function clampCamera(/** @type {Camera} */ camera, /** @type {Frame} */ frame) {
  const { nQuery, nKey, w, h } = frame;
  const least = Math.min(w / nKey, h / nQuery);
  const scale = Math.min(Math.max(MAX_SCALE, least), Math.max(least, camera.scale));
  const edge = (/** @type {number} */ at, /** @type {number} */ n, /** @type {number} */ span) =>
    span >= n ? (n - span) / 2 : Math.min(n - span, Math.max(0, at));
  return { x: edge(camera.x, nKey, w / scale), y: edge(camera.y, nQuery, h / scale), scale };
}

/**
 * Nearer or farther by a factor; the point at (px, py) of the plot stays where it is.
 * @param {Camera} camera
 * @param {Frame} frame
 * @param {number} factor
 * @param {number} [px]
 * @param {number} [py]
 * @returns {Camera}
 */
export function zoomCamera(camera, frame, factor, px = frame.w / 2, py = frame.h / 2) {
  const x = camera.x + px / camera.scale;
  const y = camera.y + py / camera.scale;
  const { scale } = clampCamera({ ...camera, scale: camera.scale * factor }, frame);
  return clampCamera({ x: x - px / scale, y: y - py / scale, scale }, frame);
}

/**
 * Shifted by CSS pixels.
 * @param {Camera} camera
 * @param {Frame} frame
 * @param {number} dx
 * @param {number} dy
 * @returns {Camera}
 */
export function moveCamera(camera, frame, dx, dy) {
  return clampCamera({ ...camera, x: camera.x + dx / camera.scale, y: camera.y + dy / camera.scale }, frame);
}

/**
 * With a cell in the middle, near enough to see it.
 * @param {Camera} camera
 * @param {Frame} frame
 * @param {Cell} cell fractions of a cell count
 * @param {number} [scale]
 * @returns {Camera}
 */
export function cameraAt(camera, frame, { query, key }, scale = Math.max(CLOSE, camera.scale)) {
  const x = key + 0.5 - frame.w / scale / 2;
  return clampCamera({ x, y: query + 0.5 - frame.h / scale / 2, scale }, frame);
}

/** The level whose points are at least as large as a device pixel: none of them, and no peak, falls between pixels. */
export function levelOf(/** @type {Camera} */ camera, /** @type {number} */ top) {
  const cells = 1 / (camera.scale * pixelRatio());
  return Math.max(0, Math.min(top, Math.ceil(Math.log2(cells) - 1e-6)));
}

/**
 * A tile's name in buffers and requests.
 * @param {number} level
 * @param {number} row
 * @param {number} column
 */
export function tileName(level, row, column) {
  return `${level}/${row}/${column}`;
}

/**
 * The tiles of a level that the plot shows, those in its middle first.
 * @param {Camera} camera
 * @param {Frame} frame
 * @param {number} level
 * @returns {TilePlace[]}
 */
export function visibleTiles(camera, frame, level) {
  const side = TILE * 2 ** level;
  const right = camera.x + frame.w / camera.scale;
  const low = camera.y + frame.h / camera.scale;
  const range = (/** @type {number} */ from, /** @type {number} */ to, /** @type {number} */ n) => [
    Math.max(0, Math.floor(from / side)),
    Math.min(Math.ceil(n / side), Math.ceil(to / side)),
  ];
  const [r0, r1] = range(camera.y, low, frame.nQuery);
  const [c0, c1] = range(camera.x, right, frame.nKey);
  const places = [];
  for (let row = r0; row < r1; row++)
    for (let column = c0; column < c1; column++) {
      const name = tileName(level, row, column);
      places.push({ name, level, row, column, x: column * side, y: row * side, side });
    }
  const middle = { x: (camera.x + right) / 2, y: (camera.y + low) / 2 };
  const distance = (/** @type {TilePlace} */ { x, y }) =>
    Math.hypot(x + side / 2 - middle.x, y + side / 2 - middle.y);
  return places.sort((a, b) => distance(a) - distance(b));
}

/**
 * The cell under a point of the plot, or null outside the matrix.
 * @param {Camera} camera
 * @param {Frame} frame
 * @param {{x: number, y: number}} point
 * @returns {Cell | null}
 */
export function cellUnder(camera, frame, point) {
  if (point.x < 0 || point.y < 0 || point.x >= frame.w || point.y >= frame.h) return null;
  const key = Math.floor(camera.x + point.x / camera.scale);
  const query = Math.floor(camera.y + point.y / camera.scale);
  return key >= 0 && query >= 0 && key < frame.nKey && query < frame.nQuery ? { query, key } : null;
}

/**
 * The first index that an axis shows, and the one after the last.
 * @param {number} from
 * @param {number} room
 * @param {number} scale
 * @param {number} n
 */
export function shownRange(from, room, scale, n) {
  return [Math.max(0, Math.floor(from)), Math.min(n, Math.ceil(from + room / scale))];
}
