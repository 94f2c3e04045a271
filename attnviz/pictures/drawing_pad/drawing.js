// @ts-check
// A drawing as a list of deeds, in shares of the pad's side, so that it can be painted at any size and the last deed can
// be undone. Nothing is ever painted that is not in the list.

/** A point of a form, within ±1. @typedef {[x: number, y: number]} Point */
/** @typedef {"circle" | "square" | "triangle" | "star" | "cross" | "heart"} FormName */
/** @typedef {"red" | "orange" | "yellow" | "green" | "blue" | "purple" | "black"} ColourName */

import { context2d } from "../shared/dom.js";

/** @import { PackedArray } from "../shared/buffer.js" */

/** A place on the pad, in shares of its side. @typedef {[x: number, y: number]} Spot */
/** @typedef {{kind: "line", colour: string, width: number, points: Spot[]}} Line */
/** A form of half-side `size` around `at`; its points are within ±1. @typedef {{at: Spot, size: number, points: Point[]}} Outline */
/** A picture that fills the pad. @typedef {{kind: "picture", picture: HTMLCanvasElement}} Filled */
/** "clear" hides all deeds before it. @typedef {Line | (Outline & {kind: "form", colour: string}) | Filled | {kind: "clear"}} Deed */

export const GROUND = "#ffffff";

/**
 * Paints everything since the last "clear" on a white ground.
 * @param {CanvasRenderingContext2D} ctx
 * @param {readonly Deed[]} deeds
 * @param {number} side
 */
export function paintDeeds(ctx, deeds, side) {
  ctx.fillStyle = GROUND;
  ctx.fillRect(0, 0, side, side);
  const start = deeds.map((deed) => deed.kind).lastIndexOf("clear") + 1;
  for (const deed of deeds.slice(start)) paintDeed(ctx, deed, side);
}

/**
 * Paints one deed over what is there.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Deed} deed
 * @param {number} side
 */
export function paintDeed(ctx, deed, side) {
  if (deed.kind === "line") paintLine(ctx, deed, side);
  else if (deed.kind === "picture") ctx.drawImage(deed.picture, 0, 0, side, side);
  else if (deed.kind === "form") {
    ctx.fillStyle = deed.colour;
    tracePath(ctx, deed, side);
    ctx.fill();
  }
}

/**
 * Makes the outline of a form the current path.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Outline} form
 * @param {number} side
 */
export function tracePath(ctx, { at, size, points }, side) {
  ctx.beginPath();
  for (const [x, y] of points) ctx.lineTo((at[0] + x * size) * side, (at[1] + y * size) * side);
  ctx.closePath();
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {Line} line
 * @param {number} side
 */
function paintLine(ctx, { colour, width, points }, side) {
  ctx.strokeStyle = ctx.fillStyle = colour;
  ctx.lineWidth = width * side;
  ctx.lineCap = ctx.lineJoin = "round";
  ctx.beginPath();
  if (points.length === 1) {
    ctx.arc(points[0][0] * side, points[0][1] * side, (width * side) / 2, 0, 2 * Math.PI);
    ctx.fill();
    return;
  }
  for (const [x, y] of points) ctx.lineTo(x * side, y * side);
  ctx.stroke();
}

/** The deed that fills the pad with the red, green and blue of each pixel, row by row. @returns {Filled} */
export function filledWith(/** @type {PackedArray} */ { shape: [rows, columns], data }) {
  const picture = document.createElement("canvas");
  Object.assign(picture, { width: columns, height: rows });
  const image = new ImageData(columns, rows);
  for (let pixel = 0; pixel < rows * columns; pixel++)
    image.data.set([data[3 * pixel], data[3 * pixel + 1], data[3 * pixel + 2], 255], 4 * pixel);
  context2d(picture).putImageData(image, 0, 0);
  return { kind: "picture", picture };
}

/** The drawing as a PNG in a data URL. */
export function asPng(/** @type {readonly Deed[]} */ deeds, /** @type {number} */ side) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = side;
  paintDeeds(context2d(canvas), deeds, side);
  return canvas.toDataURL("image/png");
}
