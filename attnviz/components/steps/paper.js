// @ts-check
// What the canvases of a panel show already: an edit changes some stages and leaves the others, and painting is what
// costs most. In: a panel and what is to be shown. Out: whether it looks otherwise than when it was last painted.

import { pixelRatio } from "../shared/dom.js";

/** What all panels have in common as long as one text, head and theme is shown; made once for new data. */
export function paperOf(/** @type {any} */ { header, theme }) {
  const {
    tokens,
    special,
    written,
    key_tokens: keys,
    key_special: keySpecial,
    key_written: keyWritten,
    cross,
    layer,
    head,
    head_slice: slice,
  } = header;
  return JSON.stringify([
    theme,
    tokens,
    special,
    written,
    keys,
    keySpecial,
    keyWritten,
    cross,
    layer,
    head,
    slice,
  ]);
}

/**
 * Whether the lower canvas has to be painted; it is taken as painted then.
 * @param {any} panel
 * @param {any} show
 * @param {{ends: [number, number]}} scale
 */
export function baseIsOld(panel, show, scale) {
  const { info } = panel;
  const { data } = show.arrays[info.stage];
  const before = panel.shows;
  const frame = JSON.stringify([
    pixelRatio(),
    info.rows,
    info.cols,
    info.signed,
    scale.ends,
    show.scale,
    show.mode,
    show.widths,
    show.shown,
  ]);
  if (before && before.paper === show.paper && before.frame === frame && sameNumbers(before.data, data))
    return false;
  panel.shows = { paper: show.paper, frame, data };
  return true;
}

/** The same for the upper canvas, which holds the marks. */
export function marksAreOld(/** @type {any} */ panel, /** @type {any} */ show) {
  const { layout, from, hover, marked } = panel;
  const { width, height, geom } = layout;
  const frame = JSON.stringify([pixelRatio(), show.query, show.key, hover, width, height, geom, from]);
  if (marked && marked.paper === show.paper && marked.frame === frame) return false;
  panel.marked = { paper: show.paper, frame };
  return true;
}

/** Whether two matrices are equal bit by bit. */
function sameNumbers(/** @type {Float32Array} */ a, /** @type {Float32Array} */ b) {
  const bits = (/** @type {Float32Array} */ of) => new Uint32Array(of.buffer, of.byteOffset, of.length);
  const [x, y] = [bits(a), bits(b)];
  return x.length === y.length && x.every((value, i) => value === y[i]);
}
