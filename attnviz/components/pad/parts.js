// @ts-check
// The controls of the pad: radio groups of tools, colours and sizes whose faces are drawn, and plain buttons.

import { button, segmented } from "../shared/controls.js";
import { el, fillNodes, fitCanvas, keycaps } from "../shared/dom.js";
import { tracePath } from "./drawing.js";

const FACE = 16;
/** Widths of a line and half-sides of a form, as shares of the pad's side. */
export const PAD_SIZES = /** @type {const} */ ([
  ["small", 0.025, 0.1],
  ["medium", 0.06, 0.22],
  ["large", 0.13, 0.34],
]);

/**
 * @param {any} header
 * @param {any} choice
 * @param {{choose: (change: any) => void, undo: () => void, clear: () => void, look: () => void}} act
 */
export function buildPadParts(header, choice, act) {
  const { strings, colours, forms } = header;
  const hint = padHint(strings);
  const tools = [
    { value: "brush", face: brushFace },
    { value: "eraser", face: eraserFace },
    ...forms.map((/** @type {any} */ form) => ({ value: form.name, face: formFace(form.points) })),
  ];
  const group = (
    /** @type {string} */ label,
    /** @type {string} */ name,
    /** @type {{value: string, face: Face}[]} */ options,
  ) =>
    segmented({
      label,
      value: choice[name],
      options: options.map(({ value, face }) => ({
        value,
        label: faced(strings[value], face),
        tip: strings[value],
      })),
      onChange: (value) => act.choose({ [name]: value }),
    });
  const surface = el("canvas", { class: "av-pad-surface", "aria-hidden": "true" });
  const above = el("canvas", {
    class: "av-pad-above",
    role: "application",
    tabIndex: 0,
    "aria-label": strings.surface,
    "aria-describedby": hint.id,
  });
  const toolRow = group(strings.tools, "tool", tools);
  const colourRow = group(
    strings.colours,
    "colour",
    colours.map((/** @type {any} */ each) => ({ value: each.name, face: swatch(each.css) })),
  );
  const sizeRow = group(
    strings.sizes,
    "size",
    PAD_SIZES.map(([value], i) => ({ value, face: dotFace(2 + 2.5 * i) })),
  );
  const undo = button({ label: strings.undo, onClick: act.undo });
  const clear = button({ label: strings.clear, onClick: act.clear });
  const look = button({ label: strings.look, kind: "primary", onClick: act.look });
  const spoken = el("p", { class: "av-visually-hidden", role: "status", "aria-live": "polite" });
  const stage = el("div", { class: "av-pad-stage" }, surface, above);
  const row = el("div", { class: "av-row" }, undo, clear);
  return {
    surface,
    above,
    undo,
    clear,
    look,
    spoken,
    stage,
    nodes: [stage, toolRow.node, colourRow.node, sizeRow.node, row, look, hint, spoken],
  };
}

/** @typedef {(ctx: CanvasRenderingContext2D, ink: string) => void} Face */

/** A drawn face with its name for those who cannot see it. */
function faced(/** @type {string} */ name, /** @type {Face} */ face) {
  const canvas = el("canvas", { "aria-hidden": "true" });
  const node = el("span", { class: "av-face" }, canvas, el("span", { class: "av-visually-hidden" }, name));
  node.paint = (/** @type {string} */ ink) => face(fitCanvas(canvas, FACE, FACE), ink);
  return node;
}

/** Paints all faces in the theme's ink. */
export function paintFaces(/** @type {HTMLElement} */ box, /** @type {string} */ ink) {
  for (const node of box.querySelectorAll(".av-face")) /** @type {any} */ (node).paint(ink);
}

/** @returns {Face} */
function formFace(/** @type {[number, number][]} */ points) {
  return (ctx, ink) => {
    ctx.fillStyle = ink;
    tracePath(ctx, { points, at: [0.5, 0.5], size: 0.44 }, FACE);
    ctx.fill();
  };
}

function brushFace(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {string} */ ink) {
  ctx.strokeStyle = ink;
  ctx.lineWidth = 2.6;
  ctx.lineCap = "round";
  ctx.stroke(new Path2D("M2 12C5 2 8 16 14 4"));
}

function eraserFace(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {string} */ ink) {
  ctx.strokeStyle = ctx.fillStyle = ink;
  ctx.lineWidth = 1.5;
  ctx.lineJoin = "round";
  ctx.stroke(new Path2D("M8.5 2.5L13.5 7.5L7 14H4.5L2 11.5V9Z"));
  ctx.fill(new Path2D("M2 9L4.9 6.1L9.9 11.1L7 14H4.5L2 11.5Z"));
}

/** @returns {Face} */
function swatch(/** @type {string} */ css) {
  return (ctx, ink) => {
    ctx.fillStyle = css;
    ctx.strokeStyle = ink;
    ctx.lineWidth = 0.8;
    ctx.beginPath();
    ctx.arc(FACE / 2, FACE / 2, FACE / 2 - 1, 0, 2 * Math.PI);
    ctx.fill();
    ctx.stroke();
  };
}

/** @returns {Face} */
function dotFace(/** @type {number} */ radius) {
  return (ctx, ink) => {
    ctx.fillStyle = ink;
    ctx.beginPath();
    ctx.arc(FACE / 2, FACE / 2, radius, 0, 2 * Math.PI);
    ctx.fill();
  };
}

function padHint(/** @type {Record<string, string>} */ strings) {
  const keys = { arrows: keycaps("←", "→", "↑", "↓"), shift: keycaps("Shift"), enter: keycaps("Enter") };
  return el("p", { class: "av-hint", id: "av-pad-hint" }, ...fillNodes(strings.hint, keys));
}
