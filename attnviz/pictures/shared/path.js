// @ts-check
// A path that knows its own text, so that what is drawn with it can be written as SVG.

/** Path2D as the components use it: from SVG's path text, or of rectangles. `text` is the same path as SVG writes it. */
export class Path extends Path2D {
  constructor(/** @type {string} */ text = "") {
    super(text);
    this.text = text;
  }

  /** @override */
  rect(/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ w, /** @type {number} */ h) {
    super.rect(x, y, w, h);
    this.text += rectPath(x, y, w, h);
  }
}

/** A rectangle as SVG's path text. */
export function rectPath(
  /** @type {number} */ x,
  /** @type {number} */ y,
  /** @type {number} */ w,
  /** @type {number} */ h,
) {
  return `M${short(x)} ${short(y)}h${short(w)}v${short(h)}h${short(-w)}z`;
}

/** A length in a picture: two decimals of a pixel. */
export function short(/** @type {number} */ value) {
  return String(Math.round(value * 100) / 100);
}
