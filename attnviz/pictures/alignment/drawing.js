// @ts-check
// The lines between the two rows of words, and the colours under the words. The wider and more opaque a line, the larger
// the weight. Around one word only its own lines stand out; the others stay as a hint of the whole.

import { colourFor, inkOn, levelFor } from "../shared/colors.js";
import { fitCanvas, markDrawn, setData } from "../shared/dom.js";
import { rankedWords } from "./numbers.js";

/** @import { Theme } from "../shared/theme.js" */
/** @import { WordPlace } from "./numbers.js" */
/** @import { Chips } from "./parts.js" */
/** @import { Choice } from "./numbers.js" */

/**
 * The matrix [target, source] with its words, and the word that is looked from.
 * @typedef {{weights: ArrayLike<number>, nSource: number, nTarget: number, chips: Chips, focus: WordPlace | null,
 *   choice: Choice, lut: Uint32Array, theme: Theme}} View
 */

const HEIGHT_PX = 132;
const FAINTEST = 0.02;
const UNFOCUSED = 0.13; // the strength of lines that are not of the word that is looked from
const SCALE = "linear";
const SIDES = /** @type {const} */ (["source", "target"]);

/** Draws the lines and colours the words. */
export function drawAlignment(/** @type {HTMLCanvasElement} */ canvas, /** @type {View} */ view) {
  const { weights, nSource, nTarget, chips, focus, theme, choice } = view;
  const ctx = fitCanvas(canvas, canvas.parentElement?.scrollWidth ?? 0, HEIGHT_PX);
  ctx.strokeStyle = theme.primary;
  ctx.lineCap = "round";
  for (let target = 0; target < nTarget; target++)
    for (let source = 0; source < nSource; source++) {
      const weight = weights[target * nSource + source];
      if (weight < FAINTEST) continue;
      const isOwn = !focus || focus.word === (focus.side === "target" ? target : source);
      const [from, to] = [middle(chips.source[source]), middle(chips.target[target])];
      strokeLine(ctx, from, to, weight, isOwn ? 1 : UNFOCUSED);
    }
  setData(canvas, { ...choice, side: focus?.side, word: focus?.word });
  markDrawn(canvas);
  paintWords(view);
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} from
 * @param {number} to
 * @param {number} weight
 * @param {number} strength
 */
function strokeLine(ctx, from, to, weight, strength) {
  ctx.globalAlpha = strength * (0.12 + 0.88 * weight);
  ctx.lineWidth = 0.8 + 6 * weight;
  ctx.beginPath();
  ctx.moveTo(from, 3);
  ctx.bezierCurveTo(from, HEIGHT_PX * 0.45, to, HEIGHT_PX * 0.55, to, HEIGHT_PX - 3);
  ctx.stroke();
}

function middle(/** @type {HTMLElement} */ chip) {
  return chip.offsetLeft + chip.offsetWidth / 2;
}

/** Frames the word that is looked from; the words of the other side get the colour of their weight. */
function paintWords(/** @type {View} */ { weights, nSource, chips, focus, lut }) {
  const ranked = focus ? rankedWords(weights, nSource, focus) : [];
  const lit = new Map(ranked.map(({ word, weight }) => [word, weight]));
  for (const side of SIDES)
    chips[side].forEach((chip, i) => {
      const weight = focus && focus.side !== side ? lit.get(i) : undefined;
      chip.classList.toggle("av-word-asks", focus?.side === side && focus.word === i);
      chip.style.backgroundColor = weight === undefined ? "" : colourFor(lut, weight, SCALE);
      chip.style.color = weight === undefined ? "" : inkOn(lut, levelFor(weight, SCALE));
      setData(chip, { weight: weight?.toFixed(4) });
    });
}
