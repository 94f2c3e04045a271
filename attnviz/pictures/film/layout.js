// @ts-check
// Where the film's words and heads stand, for a width: the heads above, the sentence below, on one line where it fits.

/** @import { Theme } from "../shared/theme.js" */
/** @import { Header } from "./types.js" */

/** @typedef {{x: number, y: number, w: number, h: number}} Box */
/**
 * `rise` is how far above its place the sentence stands before the heads come; `big` is where the one head comes to.
 * @typedef {{width: number, height: number, font: number, chips: Box[], rise: number, oneLine: boolean,
 *   thumb: {x: number, y: number, size: number, gap: number}, big: Box}} Layout
 */

const FONTS = [21, 20, 19, 18, 17, 16, 15, 14];
const WRAPPED_FONT = 15;
const GAP = 6;
const PAD = 7;
const LINE = 64;
const BELOW = 40; // room for two lines of numbers
const THUMB_GAP = 4;
const MAX_THUMB = 34;
const ABOVE_WORDS = 30;

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {Header} header
 * @param {number} width
 * @param {Theme} theme
 * @returns {Layout}
 */
export function layoutFilm(ctx, header, width, theme) {
  const { tokens, changed, changed_to: word, n_layers, n_heads } = header;
  const widths = (/** @type {number} */ font) => {
    ctx.font = `500 ${font}px ${theme.font}`;
    return tokens.map((token, i) => {
      const label = i === changed ? [token, word] : [token];
      return Math.ceil(Math.max(...label.map((text) => ctx.measureText(text).width))) + 2 * PAD;
    });
  };
  const long = (/** @type {number} */ font) => widths(font).reduce((sum, wide) => sum + wide + GAP, -GAP);
  const font = FONTS.find((size) => long(size) <= width - 4);
  const size = Math.min(MAX_THUMB, Math.floor((width + THUMB_GAP) / n_heads) - THUMB_GAP);
  const gridWidth = n_heads * (size + THUMB_GAP) - THUMB_GAP;
  const gridHeight = n_layers * (size + THUMB_GAP) - THUMB_GAP;
  const top = Math.max(gridHeight, 200) + ABOVE_WORDS;
  const chips = placed(widths(font ?? WRAPPED_FONT), width, top, (font ?? WRAPPED_FONT) + 13);
  const bottom = Math.max(...chips.map(({ y, h }) => y + h));
  const height = bottom + BELOW;
  return {
    width,
    height,
    font: font ?? WRAPPED_FONT,
    chips,
    oneLine: font !== undefined,
    rise: Math.round((top + bottom) / 2 - height / 2),
    thumb: { x: Math.round((width - gridWidth) / 2), y: 0, size, gap: THUMB_GAP },
    big: { x: 2, y: 24, w: width < 600 ? 128 : 156, h: width < 600 ? 128 : 156 },
  };
}

/** Boxes of these widths, line by line, each line in the middle. @returns {Box[]} */
function placed(
  /** @type {number[]} */ widths,
  /** @type {number} */ room,
  /** @type {number} */ top,
  /** @type {number} */ h,
) {
  /** @type {number[][]} */
  const lines = [[]];
  let used = 0;
  widths.forEach((wide, i) => {
    if (used + wide > room && used > 0) {
      lines.push([]);
      used = 0;
    }
    lines[lines.length - 1].push(i);
    used += wide + GAP;
  });
  return lines.flatMap((line, row) => {
    const total = line.reduce((sum, i) => sum + widths[i] + GAP, -GAP);
    let x = Math.round((room - total) / 2);
    return line.map((i) => {
      const box = { x, y: top + row * LINE, w: widths[i], h };
      x += widths[i] + GAP;
      return box;
    });
  });
}
