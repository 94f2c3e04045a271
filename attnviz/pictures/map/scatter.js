// @ts-check
// Points into pixels: small squares for the maps of all heads, smooth see-through discs and squares for the large one.
// Plain loops over typed arrays and one putImageData; no library and no WebGL.

/** @import { Values } from "../shared/buffer.js" */

/** `zoom` 1 shows everything; `x`, `y` is the middle. @typedef {{x: number, y: number, zoom: number}} Camera */
/** A square part of an image, in device pixels. @typedef {{x: number, y: number, size: number}} Box */
/** How opaque a point is at each pixel around its middle. @typedef {{side: number, alpha: Uint8Array}} Stamp */
/** An image and the number of its columns. @typedef {{pixels: Uint8ClampedArray, columns: number}} Image */
/**
 * One side of a head: codes of places, a level and perhaps a mark of each token; points with a mark of `bit` are drawn.
 * @typedef {{codes: Values, levels: Uint8Array, table: Uint32Array, marks: Uint8Array | null, bit: number, marked: boolean}} Cloud
 */

/** Red and blue, and green, of one colour at each pixel of a stamp. @typedef {{redBlue: Int32Array, green: Int32Array}} Ink */

// two channels of a pixel in one product: 255·256 leaves the next channel alone
const RED_BLUE = 0xff00ff;
const GREEN = 0x00ff00;
const OPAQUE = 0xff000000;
const SPAN = 65536;
const MIDDLE = 32768;

/** Every `step`-th point of a cloud as a square of `dot` pixels. */
export function splat(
  /** @type {Uint32Array} */ out,
  /** @type {number} */ columns,
  /** @type {Box} */ { x, y, size },
  /** @type {Cloud} */ { codes, levels, table },
  /** @type {number} */ dot,
  step = 1,
) {
  const scale = (size - dot) / SPAN;
  for (let token = 0, at = 0; at < codes.length; token += step, at += 2 * step) {
    const left = x + ((codes[at] * scale) | 0);
    const top = y + (((SPAN - codes[at + 1]) * scale) | 0);
    const colour = table[levels[token]];
    let start = top * columns + left;
    for (let row = 0; row < dot; row++, start += columns)
      for (let column = 0; column < dot; column++) out[start + column] = colour;
  }
}

/** A disc or a square with a smooth edge, `radius` in device pixels. @returns {Stamp} */
export function makeStamp(/** @type {number} */ radius, /** @type {boolean} */ round) {
  const side = 2 * Math.ceil(radius) + 1;
  const middle = (side - 1) / 2;
  const reach = round ? radius : radius * 0.85;
  const alpha = Uint8Array.from({ length: side * side }, (_, at) => {
    const [dx, dy] = [Math.abs((at % side) - middle), Math.abs(Math.floor(at / side) - middle)];
    const distance = round ? Math.hypot(dx, dy) : Math.max(dx, dy);
    return Math.round(255 * Math.max(0, Math.min(1, reach + 0.5 - distance)));
  });
  return { side, alpha };
}

/**
 * Stamps the points of a cloud that are marked, or those that are not; what a camera does not see is left out.
 * @param {Image} image
 * @param {number} size of the square that the plane fills, in device pixels
 * @param {Cloud} cloud
 * @param {Camera} camera
 * @param {Stamp} stamp
 * @param {number} opacity
 */
export function stampPoints({ pixels, columns }, size, cloud, camera, stamp, opacity) {
  const { codes, levels, table, marks, bit, marked } = cloud;
  const out = new Uint32Array(pixels.buffer);
  const scale = (size / SPAN) * camera.zoom;
  const left = size / 2 - (MIDDLE + camera.x * MIDDLE) * scale;
  const top = size / 2 - (MIDDLE - camera.y * MIDDLE) * scale;
  const [half, last] = [stamp.side >> 1, size - stamp.side];
  const { offsets, weights, rest } = inked(stamp, columns, opacity);
  const inks = /** @type {(Ink | undefined)[]} */ (new Array(table.length));
  for (let token = 0, at = 0; at < codes.length; token++, at += 2) {
    if (marks && Boolean(marks[token] & bit) !== marked) continue;
    const x = (codes[at] * scale + left) | 0;
    const y = ((SPAN - codes[at + 1]) * scale + top) | 0;
    if (x < 0 || y < 0 || x > size || y > size) continue;
    const level = levels[token];
    const { redBlue, green } = (inks[level] ??= inkOf(table[level], weights));
    // at the edge the whole stamp stays inside
    const column = Math.min(Math.max(x - half, 0), last);
    const start = Math.min(Math.max(y - half, 0), last) * columns + column;
    for (let pixel = 0; pixel < offsets.length; pixel++) {
      const to = start + offsets[pixel];
      const under = out[to];
      const faded = rest[pixel];
      out[to] =
        (((Math.imul(under & RED_BLUE, faded) + redBlue[pixel]) >>> 8) & RED_BLUE) |
        (((Math.imul(under & GREEN, faded) + green[pixel]) >>> 8) & GREEN) |
        OPAQUE;
    }
  }
}

/** What a colour adds at each pixel of a stamp. @returns {Ink} */
function inkOf(/** @type {number} */ colour, /** @type {Int32Array} */ weights) {
  return {
    redBlue: weights.map((weight) => Math.imul(colour & RED_BLUE, weight)),
    green: weights.map((weight) => Math.imul(colour & GREEN, weight)),
  };
}

/** The pixels of a stamp that leave a trace: where they are after its corner, how much of 256, and what is left. */
function inked(
  /** @type {Stamp} */ { side, alpha },
  /** @type {number} */ columns,
  /** @type {number} */ opacity,
) {
  const all = Array.from(alpha, (value) => Math.round((value * opacity * 256) / 255));
  const places = [...all.keys()].filter((at) => all[at] > 0);
  return {
    offsets: Int32Array.from(places, (at) => Math.floor(at / side) * columns + (at % side)),
    weights: Int32Array.from(places, (at) => all[at]),
    rest: Int32Array.from(places, (at) => 256 - all[at]),
  };
}
