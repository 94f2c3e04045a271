// @ts-check
// Nodes of an SVG picture. Text becomes a text node, so a token such as "<script>" can only ever be shown; nothing here
// writes markup, and no attribute but the ones named here comes from data.

import { short } from "./path.js";
import { rgba } from "./theme.js";

const SVG = "http://www.w3.org/2000/svg";
// characters that XML forbids, and the isolates that canvases put around a label: each text of a picture stands alone
const UNWRITABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff\u2066-\u2069]/g;
const HALVES = /\p{Surrogate}/gu; // one half of a pair, which is no character

/** @typedef {Record<string, string | number | null>} Attributes */

/**
 * An SVG element; attributes that are null are left out.
 * @param {string} name
 * @param {Attributes} attributes
 * @param {...Node} children
 */
export function svgNode(name, attributes, ...children) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null) continue;
    node.setAttribute(key, typeof value === "number" ? short(value) : value);
  }
  node.append(...children);
  return node;
}

/** A colour as `fill` or `stroke` with its opacity apart: not every program reads rgba(). @returns {Attributes} */
export function paint(
  /** @type {"fill" | "stroke"} */ kind,
  /** @type {string} */ colour,
  /** @type {number} */ alpha = 1,
) {
  const [r, g, b, a] = rgba(colour);
  const hex = [r, g, b].map((part) => Math.round(part).toString(16).padStart(2, "0")).join("");
  const opacity = a * alpha;
  return { [kind]: `#${hex}`, [`${kind}-opacity`]: opacity < 1 ? opacity : null };
}

/** A font as CSS writes it ("600 12px sans-serif"), in SVG's attributes. @returns {Attributes} */
export function fontOf(/** @type {string} */ font) {
  const { style } = document.createElement("span");
  style.font = font;
  const { fontFamily, fontSize, fontStyle, fontWeight } = style;
  return {
    "font-family": fontFamily,
    "font-size": fontSize,
    "font-style": fontStyle === "normal" ? null : fontStyle,
    "font-weight": fontWeight === "normal" || fontWeight === "400" ? null : fontWeight,
  };
}

/**
 * A line of text on its baseline, exactly as wide as it stands on the screen, in whatever font a reader has.
 * @param {string} text
 * @param {{x: number, y: number, width: number, font: string, colour: string, alpha?: number, anchor?: string,
 *   direction?: string}} place
 */
export function svgLine(text, place) {
  const { x, y, width, font, colour, alpha = 1, anchor = "start", direction = "ltr" } = place;
  const clean = text.replace(UNWRITABLE, "").replace(HALVES, "\ufffd");
  const attributes = {
    x,
    y,
    textLength: width > 0 ? width : null,
    lengthAdjust: width > 0 ? "spacingAndGlyphs" : null,
    "text-anchor": anchor === "start" ? null : anchor,
    direction: direction === "rtl" ? "rtl" : null,
    "unicode-bidi": "isolate",
    "xml:space": "preserve",
    ...fontOf(font),
    ...paint("fill", colour, alpha),
  };
  return svgNode("text", attributes, document.createTextNode(clean));
}

/** An SVG picture as the text of a file. */
export function svgFile(
  /** @type {{x: number, y: number, w: number, h: number}} */ box,
  /** @type {string} */ background,
  /** @type {readonly Node[]} */ nodes,
) {
  const { x, y, w, h } = box;
  const root = svgNode(
    "svg",
    { width: w, height: h, viewBox: [x, y, w, h].map(short).join(" ") },
    svgNode("rect", { x, y, width: w, height: h, ...paint("fill", background) }),
    ...nodes,
  );
  return new XMLSerializer().serializeToString(root);
}
