// @ts-check
// The lines between the two rows of words, and the colours under the words. The wider and more opaque a line, the larger
// the weight. Around one word only its own lines stand out; the others stay as a hint of the whole.

import { colourFor, inkOn, levelFor } from "../shared/colors.js";
import { fitCanvas, markDrawn, setData } from "../shared/dom.js";
import { ranked } from "./numbers.js";

const HEIGHT = 132;
const FAINTEST = 0.02;
const SCALE = "linear";

/** Draws everything for a view: {weights, source, target, chips, focus, choice, lut, theme}. */
export function drawAlignment(/** @type {HTMLCanvasElement} */ canvas, /** @type {any} */ view) {
  const { chips, focus, theme, choice } = view;
  const width = canvas.parentElement?.scrollWidth ?? 0;
  const ctx = fitCanvas(canvas, width, HEIGHT);
  ctx.strokeStyle = theme.primary;
  ctx.lineCap = "round";
  const nSource = view.source.length;
  for (let target = 0; target < view.target.length; target++)
    for (let source = 0; source < nSource; source++) {
      const weight = view.weights[target * nSource + source];
      const mine = !focus || (focus.side === "target" ? focus.word === target : focus.word === source);
      if (weight >= FAINTEST)
        strokeLine(ctx, middle(chips.source[source]), middle(chips.target[target]), weight, mine ? 1 : 0.13);
    }
  setData(canvas, {
    layer: choice.layer,
    head: choice.head,
    mean: choice.mean,
    side: focus?.side,
    word: focus?.word,
  });
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
  ctx.bezierCurveTo(from, HEIGHT * 0.45, to, HEIGHT * 0.55, to, HEIGHT - 3);
  ctx.stroke();
}

function middle(/** @type {HTMLElement} */ chip) {
  return chip.offsetLeft + chip.offsetWidth / 2;
}

/** The word that is looked from gets a frame, the words of the other side the colour of their weight. */
function paintWords(/** @type {any} */ view) {
  const { chips, focus, lut } = view;
  const lit = new Map();
  if (focus)
    for (const { word, weight } of ranked(view.weights, view.source.length, focus)) lit.set(word, weight);
  for (const side of /** @type {const} */ (["source", "target"]))
    chips[side].forEach((/** @type {HTMLElement} */ chip, /** @type {number} */ i) => {
      const weight = focus && focus.side !== side ? lit.get(i) : undefined;
      chip.classList.toggle("av-word-asks", !!focus && focus.side === side && focus.word === i);
      chip.style.backgroundColor = weight === undefined ? "" : colourFor(lut, weight, SCALE);
      chip.style.color = weight === undefined ? "" : inkOn(lut, levelFor(weight, SCALE));
      setData(chip, { weight: weight === undefined ? null : weight.toFixed(4) });
    });
}
