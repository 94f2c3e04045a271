// @ts-check
// The switches of the masks: a checkbox each, marked by its hatch, and a number beside those that have a size.

import { el, fitCanvas, setText } from "../shared/dom.js";
import { fill } from "../shared/fmt.js";
import { Path } from "../shared/path.js";
import { hatchPath, maskColours } from "./hatching.js";
import { fittingSize, sizedName } from "./layers.js";
import { maskTitle } from "./words.js";

/** @import { Theme } from "../shared/theme.js" */
/** @import { Masks } from "./layers.js" */
/** @import { Actions } from "./state.js" */
/** @import { Header, SizedName } from "./types.js" */

/** The switch of a mask. @typedef {{input: HTMLInputElement, tag: HTMLElement, size: HTMLInputElement | null, node: HTMLElement}} MaskBox */

const SWATCH = { x: 0, y: 0, w: 22, h: 14 };

/**
 * The switches of all masks. `now` gives the masks that are on when one is used.
 * @param {Header} header
 * @param {Theme} theme
 * @param {() => Masks} now
 * @param {Actions} actions
 * @returns {MaskBox[]}
 */
export function makeBoxes(header, theme, now, actions) {
  return header.mask_names.map((name, bit) => {
    const flag = 1 << bit;
    const title = maskTitle(header, name);
    const tag = el("span", { class: "tag" });
    const change = () => {
      const { variant } = now();
      actions.masks({ variant: input.checked ? variant | flag : variant & ~flag });
    };
    const input = el("input", { type: "checkbox", "data-mask": name, on: { change } });
    const sized = sizedName(name);
    const size = sized ? sizeBox(header, sized, title, now, actions) : null;
    const swatch = hatchSwatch(theme, flag);
    const label = el("label", { class: "av-check" }, input, swatch, el("span", {}, title), tag);
    return { input, tag, size, node: el("span", { class: "layer" }, label, size) };
  });
}

/**
 * @param {Header} header
 * @param {SizedName} name
 * @param {string} title
 * @param {() => Masks} now
 * @param {Actions} actions
 */
function sizeBox(header, name, title, now, actions) {
  const most = Math.max(...header.key_tokens.map((keys) => keys.length));
  const change = () => {
    if (box.value) actions.masks({ sizes: { ...now().sizes, [name]: fittingSize(Number(box.value)) } });
  };
  const box = el("input", {
    type: "number",
    class: "size",
    min: "1",
    max: String(most),
    step: "1",
    "data-size": name,
    "aria-label": fill(header.strings.size_of, { mask: title }),
    on: { input: change },
  });
  return box;
}

/**
 * Sets the switches to the masks that are on, and tags those that the model did not run like that.
 * @param {MaskBox[]} boxes
 * @param {Header} header
 * @param {Masks} masks
 */
export function showBoxes(boxes, header, { variant, sizes }) {
  const { strings } = header;
  boxes.forEach(({ input, tag, size }, bit) => {
    const flag = 1 << bit;
    const isOn = Boolean(variant & flag);
    const sized = sizedName(header.mask_names[bit]);
    const isResized = isOn && sized !== null && sizes[sized] !== header.sizes[sized];
    const isSame = isOn === Boolean(header.as_model & flag) && !isResized;
    input.checked = isOn;
    setText(tag, isSame ? strings.as_ran : strings.what_if);
    tag.hidden = isSame && !isOn;
    tag.classList.toggle("what-if", !isSame);
    if (size && sized && Number(size.value) !== sizes[sized]) size.value = String(sizes[sized]);
  });
}

/** A small sample of the hatch of one or more masks. */
export function hatchSwatch(/** @type {Theme} */ theme, /** @type {number} */ bits) {
  const canvas = el("canvas", { class: "swatch", "aria-hidden": "true" });
  const path = new Path();
  const ctx = fitCanvas(canvas, SWATCH.w, SWATCH.h);
  path.rect(0, 0, SWATCH.w, SWATCH.h);
  ctx.fillStyle = theme.bg2;
  ctx.fill(path);
  maskColours(theme).forEach((colour, bit) => {
    if (bits & (1 << bit)) hatchPath(ctx, path, SWATCH, colour, bit);
  });
  return canvas;
}
