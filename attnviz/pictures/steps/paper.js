// @ts-check
// What the canvases of a panel show already: an edit changes some stages and leaves the others, and painting is what
// costs most. In: a picture and what is to be shown. Out: true if it looks otherwise than when it was last painted.

import { pixelRatio } from "../shared/dom.js";

/** @import { Theme } from "../shared/theme.js" */
/** @import { ColourScale } from "./scales.js" */
/** @import { Drawn, Picture, Show } from "./state.js" */
/** @import { Header } from "./types.js" */

/** What all panels have in common as long as one text, head and theme is shown; made once for new data. */
export function paperOf(/** @type {Header} */ header, /** @type {Theme} */ theme) {
  return JSON.stringify([
    theme,
    header.rows,
    header.special,
    header.written,
    header.key_tokens,
    header.key_special,
    header.key_written,
    header.cross,
    header.layer,
    header.head,
    header.head_slice,
  ]);
}

/**
 * True if the lower canvas has to be painted; it is taken as painted then.
 * @param {Picture} picture
 * @param {Show} show
 * @param {Float32Array} data
 * @param {ColourScale} scale
 */
export function baseIsOld(picture, show, data, scale) {
  const { info, painted } = picture;
  const { paper, mode, widths, shown } = show;
  const frame = JSON.stringify([
    pixelRatio(),
    info.rows,
    info.cols,
    info.signed,
    scale.ends,
    show.selection.scale,
    mode,
    widths,
    shown,
  ]);
  if (painted?.paper === paper && painted.frame === frame && sameNumbers(painted.data, data)) return false;
  picture.painted = { paper, frame, data };
  return true;
}

/** The same for the upper canvas, which holds the marks. */
export function marksAreOld(
  /** @type {Picture} */ picture,
  /** @type {Show} */ { paper, selection },
  /** @type {Drawn} */ { layout, from },
) {
  const { hover, marked } = picture;
  const { width, height, geom } = layout;
  const { query, key } = selection;
  const frame = JSON.stringify([pixelRatio(), query, key, hover, width, height, geom, from]);
  if (marked?.paper === paper && marked.frame === frame) return false;
  picture.marked = { paper, frame };
  return true;
}

/** True if two matrices are equal bit by bit. */
function sameNumbers(/** @type {Float32Array} */ a, /** @type {Float32Array} */ b) {
  const bitsOf = (/** @type {Float32Array} */ data) =>
    new Uint32Array(data.buffer, data.byteOffset, data.length);
  const [x, y] = [bitsOf(a), bitsOf(b)];
  return x.length === y.length && x.every((value, i) => value === y[i]);
}
