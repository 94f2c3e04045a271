// @ts-check
// "Save picture": a mounted component as one SVG of exactly what is on the screen. Canvases give their own drawing calls
// (trace.js), text stays text, drawn with the fonts, colours and places that the browser gave it. Controls stay out.

import { INVITES, el, plainContext } from "./dom.js";
import { short } from "./path.js";
import { paint, svgFile, svgLine, svgNode } from "./svg_picture.js";
import { textLines } from "./text_lines.js";
import { startTracing } from "./trace.js";
import { tracedImage } from "./trace_image.js";

/** @typedef {{x: number, y: number, w: number, h: number}} Box */
/** What is drawn on canvases meanwhile, and the boxes of all that is in the picture. */
/** @typedef {{nodesOf: ReturnType<typeof startTracing>["nodesOf"], boxes: Box[]}} Plate */
/**
 * What is on the screen in a component's place: its root, what draws it again, the page's background, and a name for files.
 * @typedef {{root: ShadowRoot | HTMLElement, redraw: () => void, background: string, name: string}} ShownPicture
 */
/** Where a picture comes from: a line for each text, with the model, the head and the text. @typedef {readonly string[]} Origin */

const FRAMES = 3; // components draw in the next frame, and some of them lines in the one after
const CONTROLS =
  "select, input, textarea, label, .av-button, .av-seg, .av-segs, .av-pick, .av-check, .av-icon, .av-hint, .av-visually-hidden," +
  ` .${INVITES}`;
const MARGIN_PX = 8;
const LINE_PX = 15;
const FONT_PX = 11;
const MIN_WIDTH_PX = 320; // of a line that says where a picture comes from
const FAINT = 0.7;

/** Makes the SVG file of what a component shows, with a line below for each text that it comes from. */
export async function snapshot(
  /** @type {ShownPicture} */ { root, redraw, background },
  /** @type {Origin} */ origin,
) {
  const tracing = startTracing(background);
  try {
    redraw();
    for (let frame = 0; frame < FRAMES; frame++) await new Promise((done) => requestAnimationFrame(done));
    await new Promise((done) => setTimeout(done));
  } finally {
    tracing.stop();
  }
  /** @type {Plate} */
  const plate = { nodesOf: tracing.nodesOf, boxes: [] };
  const nodes = [...root.children].flatMap((child) => elementNodes(child, plate));
  const box = around(plate.boxes);
  const { font, colour } = letters(root);
  const width = Math.max(box.w, MIN_WIDTH_PX);
  const lines = origin.map((line, i) =>
    svgLine(cut(line, width - 2 * MARGIN_PX, font), {
      x: box.x + MARGIN_PX,
      y: box.y + box.h + (i + 1) * LINE_PX - MARGIN_PX / 2,
      width: 0,
      font,
      colour,
      alpha: FAINT,
    }),
  );
  const high = box.h + (lines.length ? lines.length * LINE_PX + MARGIN_PX / 2 : 0);
  return svgFile({ ...box, w: lines.length ? width : box.w, h: high }, background, [...nodes, ...lines]);
}

/** The font and colour of a component's text. */
function letters(/** @type {ShadowRoot | HTMLElement} */ root) {
  const style = getComputedStyle(root.firstElementChild ?? document.body);
  return { font: `${FONT_PX}px ${style.fontFamily}`, colour: style.color };
}

/** A text with an ellipsis where it is longer than a width. */
function cut(/** @type {string} */ text, /** @type {number} */ width, /** @type {string} */ font) {
  const ctx = plainContext(document.createElement("canvas"));
  ctx.font = font;
  const signs = [...text];
  let length = signs.length;
  while (length > 1 && ctx.measureText(`${signs.slice(0, length).join("")}…`).width > width) length--;
  return length < signs.length ? `${signs.slice(0, length).join("")}…` : text;
}

/** The box around all boxes, with a margin; a margin alone where there is nothing. @returns {Box} */
function around(/** @type {readonly Box[]} */ boxes) {
  const left = Math.min(...boxes.map(({ x }) => x));
  const top = Math.min(...boxes.map(({ y }) => y));
  const right = Math.max(...boxes.map(({ x, w }) => x + w));
  const bottom = Math.max(...boxes.map(({ y, h }) => y + h));
  if (!boxes.length) return { x: 0, y: 0, w: MARGIN_PX, h: MARGIN_PX };
  const [x, y] = [left - MARGIN_PX, top - MARGIN_PX];
  return { x, y, w: right - left + 2 * MARGIN_PX, h: bottom - top + 2 * MARGIN_PX };
}

/** Gives a file to the visitor, as a download. */
export function download(/** @type {string} */ svg, /** @type {string} */ name) {
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  el("a", { href: url, download: `${name}.svg` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // a slow disk is still reading it
}

/** True if a component has something that a picture can show. */
export function hasPicture(/** @type {ShadowRoot | HTMLElement} */ root) {
  return [...root.querySelectorAll("canvas, svg")].some(
    (node) => node.checkVisibility() && !node.closest(".av-line-of-text"),
  );
}

/** An element with what is in it. @returns {SVGElement[]} */
function elementNodes(/** @type {Element} */ element, /** @type {Plate} */ plate) {
  if (element.matches(CONTROLS) || element instanceof HTMLStyleElement) return [];
  const style = getComputedStyle(element);
  const hasBox = style.display !== "contents"; // whose children alone are on the screen
  if (hasBox && !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return [];
  const ground = boxNodes(element, style);
  if (ground.length) plate.boxes.push(boxOf(element));
  const nodes = [...ground, ...contentNodes(element, style, plate)];
  const opacity = Number(style.opacity);
  const shown = opacity < 1 && nodes.length ? [svgNode("g", { opacity }, ...nodes)] : nodes;
  return style.overflow === "visible" || !shown.length ? shown : [cutTo(boxOf(element), shown)];
}

/** @returns {SVGElement[]} */
function contentNodes(
  /** @type {Element} */ element,
  /** @type {CSSStyleDeclaration} */ style,
  /** @type {Plate} */ plate,
) {
  if (element instanceof HTMLCanvasElement) return canvasNodes(element, plate);
  if (element instanceof HTMLImageElement || element instanceof SVGSVGElement)
    plate.boxes.push(boxOf(element));
  if (element instanceof HTMLImageElement)
    return [imageNode(element, element.naturalWidth, element.naturalHeight)];
  if (element instanceof SVGSVGElement) return [drawingNode(element)];
  return [...element.childNodes].flatMap((child) => {
    if (child instanceof Element) return elementNodes(child, plate);
    const lines = child instanceof Text ? textLines(child, style) : [];
    plate.boxes.push(...lines.map(({ box }) => box));
    return lines.map(({ node }) => node);
  });
}

/** A canvas by its drawing calls; by its pixels where these are not known. @returns {SVGElement[]} */
function canvasNodes(/** @type {HTMLCanvasElement} */ canvas, /** @type {Plate} */ plate) {
  const box = boxOf(canvas);
  if (!box.w || !box.h || !canvas.width || !canvas.height) return [];
  plate.boxes.push(box);
  const nodes = plate.nodesOf(canvas);
  if (!nodes) return [imageNode(canvas, canvas.width, canvas.height)];
  return [cutTo(box, [svgNode("g", { transform: `translate(${short(box.x)} ${short(box.y)})` }, ...nodes)])];
}

/**
 * @param {HTMLCanvasElement | HTMLImageElement} source
 * @param {number} w
 * @param {number} h
 */
function imageNode(source, w, h) {
  return tracedImage(source, { x: 0, y: 0, w, h }, boxOf(source), { isSmooth: true, alpha: 1 });
}

/** A drawing that is SVG already, with the colours that its style sheet gives. */
function drawingNode(/** @type {SVGSVGElement} */ drawing) {
  const copy = /** @type {SVGSVGElement} */ (drawing.cloneNode(true));
  const originals = [drawing, ...drawing.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((node, i) => {
    const style = getComputedStyle(originals[i]);
    for (const name of KEPT_STYLES) node.setAttribute(name, style.getPropertyValue(name));
    node.removeAttribute("style");
    node.removeAttribute("class");
  });
  const { x, y, w, h } = boxOf(drawing);
  for (const [name, value] of Object.entries({ x, y, width: w, height: h }))
    copy.setAttribute(name, short(value));
  return copy;
}

const KEPT_STYLES = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-opacity",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linecap",
  "opacity",
  "visibility",
  "font-family",
  "font-size",
  "font-weight",
  "text-anchor",
  "dominant-baseline",
];

/** Background and borders. @returns {SVGElement[]} */
function boxNodes(/** @type {Element} */ element, /** @type {CSSStyleDeclaration} */ style) {
  const { x, y, w, h } = boxOf(element);
  if (!w || !h || element instanceof SVGElement) return [];
  const rx = Math.min(Number.parseFloat(style.borderTopLeftRadius) || 0, w / 2, h / 2) || null;
  const nodes = [];
  const ground = paint("fill", style.backgroundColor);
  if (ground["fill-opacity"] !== 0) nodes.push(svgNode("rect", { x, y, width: w, height: h, rx, ...ground }));
  return [...nodes, ...gradientNodes(style, { x, y, w, h }), ...borderNodes(style, { x, y, w, h }, rx)];
}

/**
 * The borders: one frame where all four are alike, else a line for each.
 * @param {CSSStyleDeclaration} style
 * @param {Box} box
 * @param {number | null} rx
 * @returns {SVGElement[]}
 */
function borderNodes(style, { x, y, w, h }, rx) {
  const sides = ["top", "right", "bottom", "left"].map((side) => {
    const read = (/** @type {string} */ name) => style.getPropertyValue(`border-${side}-${name}`);
    return {
      wide: read("style") === "none" ? 0 : Number.parseFloat(read("width")) || 0,
      colour: read("color"),
    };
  });
  const [{ wide, colour }] = sides;
  if (sides.every((side) => side.wide === wide && side.colour === colour)) {
    if (!wide) return [];
    const inner = { x: x + wide / 2, y: y + wide / 2, width: w - wide, height: h - wide };
    return [
      svgNode("rect", { ...inner, rx, fill: "none", ...paint("stroke", colour), "stroke-width": wide }),
    ];
  }
  const [top, right, bottom, left] = sides;
  const lines = [
    { x, y, width: w, height: top.wide, colour: top.colour },
    { x: x + w - right.wide, y, width: right.wide, height: h, colour: right.colour },
    { x, y: y + h - bottom.wide, width: w, height: bottom.wide, colour: bottom.colour },
    { x, y, width: left.wide, height: h, colour: left.colour },
  ];
  return lines
    .filter(({ width, height }) => width && height)
    .map(({ colour: shade, ...line }) => svgNode("rect", { ...line, ...paint("fill", shade) }));
}

let gradientCount = 0;

/** A colour bar that the style sheet draws from left to right. @returns {SVGElement[]} */
function gradientNodes(/** @type {CSSStyleDeclaration} */ style, /** @type {Box} */ { x, y, w, h }) {
  const colours = /^linear-gradient\((?:to right|90deg), (.*)\)$/
    .exec(style.backgroundImage)?.[1]
    .match(/rgba?\([^)]*\)/g);
  if (!colours) return [];
  const id = `gradient${++gradientCount}`;
  const stops = colours.map((colour, i) => {
    const { fill, "fill-opacity": opacity } = paint("fill", colour);
    return svgNode("stop", { offset: i / (colours.length - 1), "stop-color": fill, "stop-opacity": opacity });
  });
  const gradient = svgNode("linearGradient", { id }, ...stops);
  return [gradient, svgNode("rect", { x, y, width: w, height: h, fill: `url(#${id})` })];
}

let cutCount = 0;

/** Nodes cut to a box, as an element cuts what is larger than itself. */
function cutTo(/** @type {Box} */ { x, y, w, h }, /** @type {readonly Node[]} */ nodes) {
  const id = `cut${++cutCount}`;
  const edge = svgNode("rect", { x, y, width: w, height: h });
  return svgNode("g", { "clip-path": `url(#${id})` }, svgNode("clipPath", { id }, edge), ...nodes);
}

/** @returns {Box} */
function boxOf(/** @type {Element} */ element) {
  const { x, y, width, height } = element.getBoundingClientRect();
  return { x, y, w: width, h: height };
}
