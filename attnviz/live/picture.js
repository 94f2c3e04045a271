// @ts-check
// A drawing as the pad sends it, a PNG in a data URL, as the pixels that a model reads.

import { plainContext } from "../pictures/shared/dom.js";

/** @import { PackedArray } from "../pictures/shared/buffer.js" */
/** @import { Input } from "./index.js" */

/** @typedef {NonNullable<Input["picture"]>} Picture */

/** The bytes that a text in base64 stands for. */
export function bytesOf(/** @type {string} */ base64) {
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
}

/** A picture [row, column, rgb] as a model reads it. @returns {Picture} */
export function pictureOf(/** @type {PackedArray} */ { shape: [rows, columns], data }) {
  return { rows, columns, rgb: Uint8Array.from(data) };
}

/** The red, green and blue of each pixel of a picture, at most `side` of them in a row, on white. */
export async function pixelsOf(/** @type {string} */ address, /** @type {number} */ side) {
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = document.createElement("canvas");
  const scale = Math.min(1, side / Math.max(image.width, image.height));
  const [columns, rows] = [Math.round(image.width * scale), Math.round(image.height * scale)];
  Object.assign(canvas, { width: columns, height: rows });
  const context = plainContext(canvas);
  context.fillStyle = "#fff";
  context.fillRect(0, 0, columns, rows);
  context.drawImage(image, 0, 0, columns, rows);
  const { data } = context.getImageData(0, 0, columns, rows);
  const rgb = new Uint8Array(3 * rows * columns);
  for (let pixel = 0; pixel < rows * columns; pixel++)
    for (let c = 0; c < 3; c++) rgb[3 * pixel + c] = data[4 * pixel + c];
  return { rows, columns, rgb };
}
