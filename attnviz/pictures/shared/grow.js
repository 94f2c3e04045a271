// @ts-check
// A square of the grid grows into the large picture of its head, in place, and shrinks back. Grid and head are two
// canvases of one page: one is shown, the other hidden; each tells the other on the channel where the flight begins.

import { el } from "./dom.js";

/**
 * The head opens (`isOpen`) or the grid comes back. `from` is where the picture was, as the window sees it; `picture`
 * has the cells of the head that goes.
 * @typedef {{isOpen: boolean, from: Box, picture: HTMLCanvasElement | null}} Growth
 */
/** @typedef {{x: number, y: number, width: number, height: number}} Box */

const GROW = { duration: 240, easing: "cubic-bezier(0.2, 0.7, 0.2, 1)" };

/** The box of a part of a canvas, as the window sees it. @returns {Box} */
export function boxOf(
  /** @type {HTMLCanvasElement} */ canvas,
  /** @type {{x: number, y: number, w: number, h: number}} */ part,
) {
  const { left, top } = canvas.getBoundingClientRect();
  return { x: left + part.x, y: top + part.y, width: part.w, height: part.h };
}

/** Moves a copy of a picture from one box to the other, over what stands there; what stands there fades in. */
export function fly(
  /** @type {HTMLElement} */ place,
  /** @type {HTMLCanvasElement} */ picture,
  /** @type {Box} */ from,
  /** @type {Box} */ to,
) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches || !to.width || !picture.width) return;
  const copy = el("canvas", { class: "av-flying", "aria-hidden": "true" });
  Object.assign(copy, { width: picture.width, height: picture.height });
  copy.getContext("2d")?.drawImage(picture, 0, 0);
  const { x, y, width, height } = to;
  Object.assign(copy.style, { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` });
  const move = `translate(${from.x - x}px, ${from.y - y}px) scale(${from.width / width}, ${from.height / height})`;
  place.after(copy);
  place.animate([{ opacity: 0 }, { opacity: 1 }], GROW);
  const flight = copy.animate([{ transform: move }, { transform: "none" }], GROW);
  flight.onfinish = flight.oncancel = () => copy.remove();
}
