// @ts-check
// The controls of the pad: radio groups of tools, colours and sizes whose faces are drawn, and plain buttons.

import { button, segmented } from "../shared/controls.js";
import { el, fillNodes, fitCanvas, keycaps } from "../shared/dom.js";
import { Path } from "../shared/path.js";
import { tracePath } from "./drawing.js";

/** @import { Header, Strings } from "./types.js" */
/** @import { ColourName, FormName, Point } from "./drawing.js" */

/** @typedef {"brush" | "eraser" | FormName} Tool */
/** @typedef {"small" | "medium" | "large"} SizeName */
/** What is chosen to draw with. @typedef {{tool: Tool, colour: ColourName, size: SizeName}} Choice */
/** Draws a sign of 16 pixels in an ink. @typedef {(ctx: CanvasRenderingContext2D, ink: string) => void} Face */
/** @typedef {{choose: (change: Partial<Choice>) => void, undo: () => void, clear: () => void}} Actions */
/**
 * The elements; `paintFaces` draws the faces of all options in an ink.
 * @typedef {{surface: HTMLCanvasElement, above: HTMLCanvasElement, undo: HTMLButtonElement, clear: HTMLButtonElement,
 *   spoken: HTMLElement, nodes: HTMLElement[], paintFaces: (ink: string) => void}} Parts
 */

const FACE_PX = 16;
/**
 * The width of a line and the half-side of a form, as shares of the pad's side.
 * @type {Record<SizeName, {width: number, half: number}>}
 */
export const SIZES = {
  small: { width: 0.025, half: 0.1 },
  medium: { width: 0.06, half: 0.22 },
  large: { width: 0.13, half: 0.34 },
};
const SIZE_NAMES = /** @type {const} */ (["small", "medium", "large"]);

/**
 * Builds the pad for what it can draw with.
 * @param {Header} header
 * @param {Choice} choice
 * @param {Actions} actions
 * @returns {Parts}
 */
export function buildParts(header, choice, actions) {
  const { strings } = header;
  const hint = makeHint(strings);
  const surface = el("canvas", { class: "av-drawing-pad-surface", "aria-hidden": "true" });
  const above = el("canvas", {
    class: "av-drawing-pad-above",
    role: "application",
    tabIndex: 0,
    "aria-label": strings.surface,
    "aria-describedby": hint.id,
  });
  const groups = makeGroups(header, choice, actions.choose);
  const undo = button({ label: strings.undo, onClick: actions.undo });
  const clear = button({ label: strings.clear, onClick: actions.clear });
  const spoken = el("p", { class: "av-visually-hidden", role: "status", "aria-live": "polite" });
  const stage = el("div", { class: "av-drawing-pad-stage" }, surface, above);
  const row = el("div", { class: "av-row" }, undo, clear);
  const paintFaces = (/** @type {string} */ ink) => {
    for (const paint of groups.flatMap((group) => group.faces)) paint(ink);
  };
  const nodes = [stage, ...groups.map((group) => group.node), row, hint, spoken];
  return { surface, above, undo, clear, spoken, nodes, paintFaces };
}

/**
 * The radio groups of tools, colours and sizes.
 * @param {Header} header
 * @param {Choice} choice
 * @param {Actions["choose"]} choose
 */
function makeGroups(header, choice, choose) {
  const { strings } = header;
  const forms = /** @type {{name: FormName, points: Point[]}[]} */ (header.forms);
  const colours = /** @type {{name: ColourName, css: string}[]} */ (header.colours);
  const tools = faces(strings, [
    ["brush", brushFace],
    ["eraser", eraserFace],
    ...forms.map(({ name, points }) => /** @type {const} */ ([name, formFace(points)])),
  ]);
  const inks = faces(
    strings,
    colours.map(({ name, css }) => [name, swatch(css)]),
  );
  const sizes = faces(
    strings,
    SIZE_NAMES.map((name, i) => [name, dotFace(2 + 2.5 * i)]),
  );
  return [
    group(strings.tools, tools, choice.tool, (tool) => choose({ tool })),
    group(strings.colours, inks, choice.colour, (colour) => choose({ colour })),
    group(strings.sizes, sizes, choice.size, (size) => choose({ size })),
  ];
}

/**
 * @template {Tool | ColourName | SizeName} Value
 * @param {string} label
 * @param {{value: Value, label: Node, tip: string, paint: (ink: string) => void}[]} options
 * @param {Value} value
 * @param {(value: Value) => void} onChange
 */
function group(label, options, value, onChange) {
  const { node } = segmented({ label, options, value, onChange });
  return { node, faces: options.map((option) => option.paint) };
}

/**
 * Options with drawn faces, and their names for those who cannot see these.
 * @template {Tool | ColourName | SizeName} Value
 * @param {Strings} strings
 * @param {(readonly [Value, Face])[]} drawn
 */
function faces(strings, drawn) {
  return drawn.map(([value, face]) => {
    const canvas = el("canvas", { "aria-hidden": "true" });
    const name = el("span", { class: "av-visually-hidden" }, strings[value]);
    const label = el("span", { class: "av-face" }, canvas, name);
    const paint = (/** @type {string} */ ink) => face(fitCanvas(canvas, FACE_PX, FACE_PX), ink);
    return { value, label, tip: strings[value], paint };
  });
}

/** @returns {Face} */
function formFace(/** @type {Point[]} */ points) {
  return (ctx, ink) => {
    ctx.fillStyle = ink;
    tracePath(ctx, { points, at: [0.5, 0.5], size: 0.44 }, FACE_PX);
    ctx.fill();
  };
}

function brushFace(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {string} */ ink) {
  ctx.strokeStyle = ink;
  ctx.lineWidth = 2.6;
  ctx.lineCap = "round";
  ctx.stroke(new Path("M2 12C5 2 8 16 14 4"));
}

function eraserFace(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {string} */ ink) {
  ctx.strokeStyle = ctx.fillStyle = ink;
  ctx.lineWidth = 1.5;
  ctx.lineJoin = "round";
  ctx.stroke(new Path("M8.5 2.5L13.5 7.5L7 14H4.5L2 11.5V9Z"));
  ctx.fill(new Path("M2 9L4.9 6.1L9.9 11.1L7 14H4.5L2 11.5Z"));
}

/** @returns {Face} */
function swatch(/** @type {string} */ css) {
  return (ctx, ink) => {
    ctx.fillStyle = css;
    ctx.strokeStyle = ink;
    ctx.lineWidth = 0.8;
    ctx.beginPath();
    ctx.arc(FACE_PX / 2, FACE_PX / 2, FACE_PX / 2 - 1, 0, 2 * Math.PI);
    ctx.fill();
    ctx.stroke();
  };
}

/** @returns {Face} */
function dotFace(/** @type {number} */ radius) {
  return (ctx, ink) => {
    ctx.fillStyle = ink;
    ctx.beginPath();
    ctx.arc(FACE_PX / 2, FACE_PX / 2, radius, 0, 2 * Math.PI);
    ctx.fill();
  };
}

function makeHint(/** @type {Strings} */ strings) {
  const keys = { arrows: keycaps("←", "→", "↑", "↓"), shift: keycaps("Shift"), enter: keycaps("Enter") };
  return el("p", { class: "av-hint", id: "av-drawing-pad-hint" }, ...fillNodes(strings.hint, keys));
}
