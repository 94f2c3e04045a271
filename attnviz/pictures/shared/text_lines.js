// @ts-check
// The lines in which the browser has broken a text, each as an SVG text on its own baseline.

import { plainContext } from "./dom.js";
import { svgLine } from "./svg_picture.js";

/** @typedef {{text: string, x: number, y: number, w: number, h: number}} Line */

/** The lines of a text node, where they stand on the screen. */
export function textLines(/** @type {Text} */ node, /** @type {CSSStyleDeclaration} */ style) {
  if (!node.data.trim()) return [];
  const font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  const ascent = ascentOf(font);
  const isUpper = style.textTransform === "uppercase";
  return linesOf(node).map(({ text, x, y, w, h }) => {
    const place = {
      x: style.direction === "rtl" ? x + w : x,
      y: y + h * ascent,
      width: w,
      font,
      colour: style.color,
      direction: style.direction,
    };
    return { box: { x, y, w, h }, node: svgLine(isUpper ? text.toUpperCase() : text, place) };
  });
}

/** The characters of each line; white space that the browser has taken away is in none. @returns {Line[]} */
function linesOf(/** @type {Text} */ node) {
  /** @type {Line[]} */
  const lines = [];
  const range = document.createRange();
  let at = 0;
  for (const character of node.data) {
    range.setStart(node, at);
    range.setEnd(node, (at += character.length));
    const { left, top, right, width, height } = range.getBoundingClientRect();
    if (!height || (!width && /\s/.test(character))) continue;
    const line = lines.at(-1);
    if (line && Math.abs(line.y - top) < height / 2) {
      const end = Math.max(line.x + line.w, right);
      line.x = Math.min(line.x, left);
      line.w = end - line.x;
      line.text += /\s/.test(character) ? " " : character;
    } else lines.push({ text: character, x: left, y: top, w: width, h: height });
  }
  return lines;
}

/** The part of a line's height that is above its baseline. */
function ascentOf(/** @type {string} */ font) {
  const ctx = plainContext(document.createElement("canvas"));
  ctx.font = font;
  const { fontBoundingBoxAscent: above, fontBoundingBoxDescent: below } = ctx.measureText("x");
  return above / (above + below);
}
