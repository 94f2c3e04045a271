// @ts-check
// A picture as a vision model reads it: scaled as Pillow scales it bit by bit, then its numbers as transformers'
// ViTImageProcessor makes them.

import { Refusal } from "../refusal.js";

/** Three bytes for each pixel, row by row. @typedef {{rows: number, columns: number, rgb: Uint8Array}} Picture */

const BITS = 22; // of the coefficients, as whole numbers
const MOST_SIDE = 4096;
const COLOURS = 3;

/** For each place of the result the first place that it is made of, and the shares of it and of those behind it.
 * @param {number} from
 * @param {number} to
 */
function triangles(from, to) {
  const scale = from / to;
  const support = Math.max(scale, 1);
  return Array.from({ length: to }, (_, place) => {
    const centre = (place + 0.5) * scale;
    const first = Math.max(0, Math.trunc(centre - support + 0.5));
    const stop = Math.min(from, Math.trunc(centre + support + 0.5));
    const heights = Array.from({ length: stop - first }, (_, i) =>
      Math.max(0, 1 - Math.abs((i + first - centre + 0.5) / support)),
    );
    const sum = heights.reduce((total, height) => total + height, 0);
    return { first, shares: heights.map((height) => Math.trunc(0.5 + (height / sum) * 2 ** BITS)) };
  });
}

/** Scales the columns of a picture. @param {Picture} picture @param {number} columns @returns {Picture} */
function scaledAcross({ rows, columns: from, rgb }, columns) {
  const out = new Uint8Array(rows * columns * COLOURS);
  const parts = triangles(from, columns);
  for (let row = 0; row < rows; row++)
    parts.forEach(({ first, shares }, column) => {
      for (let colour = 0; colour < COLOURS; colour++) {
        const at = (row * from + first) * COLOURS + colour;
        const sum = shares.reduce(
          (total, share, i) => total + rgb[at + i * COLOURS] * share,
          2 ** (BITS - 1),
        );
        out[(row * columns + column) * COLOURS + colour] = Math.min(255, sum >> BITS);
      }
    });
  return { rows, columns, rgb: out };
}

/** Rows as columns. @param {Picture} picture @returns {Picture} */
function turned({ rows, columns, rgb }) {
  const out = new Uint8Array(rgb.length);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      const at = (row * columns + column) * COLOURS;
      out.set(rgb.subarray(at, at + COLOURS), (column * rows + row) * COLOURS);
    }
  return { rows: columns, columns: rows, rgb: out };
}

/** A picture with sides of so many pixels. @param {Picture} picture @param {number} side @returns {Picture} */
export function scaledTo(picture, side) {
  const { rows, columns, rgb } = picture;
  const isPicture = [rows, columns].every((n) => Number.isInteger(n) && n > 0 && n <= MOST_SIDE);
  if (!isPicture || rgb.length !== rows * columns * COLOURS)
    throw new Refusal("input", { found: `a picture of ${rows} × ${columns} pixels in ${rgb.length} bytes` });
  const across = columns === side ? picture : scaledAcross(picture, side);
  return rows === side ? across : turned(scaledAcross(turned(across), side));
}

/**
 * The numbers of a picture, [colour, row, column].
 * @param {Picture} picture
 * @param {Record<string, unknown>} settings the preprocessor_config.json of the model
 */
export function pixelsOf({ rows, columns, rgb }, settings) {
  const { rescale, mean, std } = readSettings(settings);
  const out = new Float32Array(rgb.length);
  const area = rows * columns;
  for (let place = 0; place < area; place++)
    for (let colour = 0; colour < COLOURS; colour++) {
      const value = Math.fround(rgb[place * COLOURS + colour] * rescale);
      out[colour * area + place] = Math.fround(value - mean[colour]) / std[colour];
    }
  return out;
}

function readSettings(/** @type {Record<string, unknown>} */ settings) {
  const { do_rescale: rescales, do_normalize: normalizes, resample = 2, do_center_crop: crops } = settings;
  if (resample !== 2 || crops === true)
    throw new Refusal("input", { found: "a picture that is not scaled evenly" });
  const numbers = (/** @type {unknown} */ value, /** @type {number} */ otherwise) =>
    Float32Array.from(normalizes === false || !Array.isArray(value) ? Array(COLOURS).fill(otherwise) : value);
  return {
    rescale: rescales === false ? 1 : Number(settings.rescale_factor ?? 1 / 255),
    mean: numbers(settings.image_mean, 0),
    std: numbers(settings.image_std, 1),
  };
}
