// @ts-check
// The four miniatures, each painted at a moment between 0 and 1: nothing but the moment moves them.

import { colourAt, inkOn, levelFor, levelTable } from "../shared/colors.js";
import { plainContext } from "../shared/dom.js";
import { hatchBlocked, paintLevels } from "../shared/matrix.js";
import { between, clamp, eased } from "../shared/scenes.js";
import { withAlpha } from "../shared/theme.js";

/** @import { Theme } from "../shared/theme.js" */
/** @import { Arrays, Header } from "./types.js" */

/** @typedef {{header: Header, arrays: Arrays, theme: Theme, lut: Uint32Array, width: number, height: number}} Show */
/** @typedef {(ctx: CanvasRenderingContext2D, show: Show, part: number) => void} Paint */

const FONT = 13;
const KEY_FONT = 12;
const GAP = 8;
const FAINT = 0.06; // weights that are not drawn as lines
const CHIP = { height: 21, pad: 4, gap: 3, line: 26 };

/** @typedef {Exclude<keyof Header, "strings">} Miniature */

/** @type {Record<Miniature, Paint>} */
export const PAINTS = { translator, picture, story, birth };

/** A word after the other is written, and its lines come from the words that it read. @type {Paint} */
function translator(ctx, { header, arrays, theme, lut, width, height }, part) {
  const { source, target } = header.translator;
  const weights = arrays["translator.weights"].data;
  const written = part * (target.length + 0.5);
  const y = (/** @type {number} */ at, /** @type {number} */ count) => ((at + 0.5) * height) / count;
  ctx.font = `500 ${FONT}px ${theme.font}`;
  ctx.textBaseline = "middle";
  const widest = (/** @type {string[]} */ words) =>
    Math.max(...words.map((word) => ctx.measureText(word).width));
  const left = widest(source) + GAP;
  const right = width - widest(target) - GAP;
  target.forEach((word, row) => {
    const come = clamp(written - row);
    if (!come) return;
    source.forEach((_, column) => {
      const weight = weights[row * source.length + column];
      if (weight < FAINT) return;
      const [from, to] = [y(column, source.length), y(row, target.length)];
      ctx.globalAlpha = Math.sqrt(weight);
      ctx.strokeStyle = colourAt(lut, 190);
      ctx.lineWidth = 1 + 2 * weight;
      ctx.beginPath();
      ctx.moveTo(left, from);
      ctx.lineTo(between(left, right, come), between(from, to, come));
      ctx.stroke();
    });
    ctx.globalAlpha = come;
    ctx.fillStyle = theme.text;
    ctx.textAlign = "left";
    ctx.fillText(word, right + GAP, y(row, target.length));
  });
  ctx.globalAlpha = 1;
  ctx.fillStyle = theme.text;
  ctx.textAlign = "right";
  source.forEach((word, column) => ctx.fillText(word, left - GAP, y(column, source.length)));
}

/** The picture goes dark where [CLS] does not look; then the answer comes. @type {Paint} */
function picture(ctx, { header, arrays, theme, width, height }, part) {
  const [rows, columns] = arrays["picture.pixels"].shape;
  const side = Math.min(height, width * 0.6);
  const drawn = pixelsOf(arrays["picture.pixels"].data, rows, columns);
  ctx.imageSmoothingEnabled = false;
  ctx.drawImage(drawn, 0, 0, side, side);
  const [across, down] = [arrays["picture.weights"].shape[1], arrays["picture.weights"].shape[0]];
  const weights = arrays["picture.weights"].data;
  const most = Math.max(...weights);
  const dark = eased(part, 0.1, 0.7);
  weights.forEach((weight, at) => {
    const [x, y] = [at % across, Math.floor(at / across)];
    ctx.fillStyle = withAlpha("#10171a", 0.85 * dark * (1 - Math.sqrt(weight / most)));
    ctx.fillRect((x * side) / across, (y * side) / down, side / across + 0.5, side / down + 0.5);
  });
  const come = eased(part, 0.7, 1);
  const { answer, probability } = header.picture;
  const [x, room] = [side + 2 * GAP, width - side - 2 * GAP];
  ctx.globalAlpha = come;
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  ctx.fillStyle = theme.text;
  ctx.font = `600 ${FONT}px ${theme.font}`;
  answer.split(" ").forEach((word, line) => ctx.fillText(word, x, height / 2 - 20 + 17 * line, room));
  ctx.fillStyle = theme.faint;
  ctx.fillRect(x, height / 2 + 12, room, 6);
  ctx.fillStyle = theme.primary;
  ctx.fillRect(x, height / 2 + 12, room * probability * come, 6);
  ctx.globalAlpha = 1;
}

/** Token by token the text grows; behind each token the weight that the newest one gives it. @type {Paint} */
function story(ctx, { header, arrays, theme, lut, width, height }, part) {
  const { tokens, n_given: nGiven } = header.story;
  const nWritten = tokens.length - nGiven;
  const shown = nGiven + Math.min(nWritten, Math.floor(part * (nWritten + 1)));
  const asks = shown > nGiven && shown - 1;
  const row = asks === false ? null : arrays["story.weights"].data.subarray(asks * tokens.length);
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  let [x, y] = [0, 0];
  tokens.slice(0, shown).forEach((token, at) => {
    ctx.font = `${at >= nGiven ? "italic 600" : "400"} ${FONT}px ${theme.font}`;
    const wide = ctx.measureText(token).width + 2 * CHIP.pad;
    if (x + wide > width) [x, y] = [0, y + CHIP.line];
    const isRead = row !== null;
    const level = isRead ? levelFor(row[at], "sqrt") : 0;
    ctx.fillStyle = isRead ? colourAt(lut, level) : theme.bg2;
    ctx.fillRect(x, y, wide, CHIP.height);
    if (at === asks) {
      ctx.strokeStyle = theme.roles.query;
      ctx.lineWidth = 2;
      ctx.strokeRect(x + 1, y + 1, wide - 2, CHIP.height - 2);
    }
    ctx.fillStyle = isRead ? inkOn(lut, level) : theme.text;
    ctx.fillText(token, x + CHIP.pad, y + CHIP.height / 2 + 0.5);
    x += wide + CHIP.gap;
  });
  if (y + 2 * CHIP.line <= height) storyKey(ctx, { header, theme, lut, height });
}

/** What the looks of words are, below them: written by the model, the one that looks, what it looks at. */
function storyKey(
  /** @type {CanvasRenderingContext2D} */ ctx,
  /** @type {Pick<Show, "header" | "theme" | "lut" | "height">} */ {
    header: { strings },
    theme,
    lut,
    height,
  },
) {
  const y = height - CHIP.height / 2;
  const read = levelFor(0.4, "sqrt");
  let x = 0;
  const say = (/** @type {string} */ text, /** @type {string} */ ink, /** @type {string} */ style) => {
    ctx.font = `${style} ${KEY_FONT}px ${theme.font}`;
    ctx.fillStyle = ink;
    ctx.fillText(text, x + CHIP.pad, y + 0.5);
    x += ctx.measureText(text).width + 2 * CHIP.pad + GAP;
  };
  const box = (/** @type {string} */ text) => {
    ctx.font = `400 ${KEY_FONT}px ${theme.font}`;
    return /** @type {const} */ ([
      x + 1,
      y - CHIP.height / 2 + 1,
      ctx.measureText(text).width + 2 * CHIP.pad - 2,
      CHIP.height - 2,
    ]);
  };
  say(strings.key_written, theme.muted, "italic 600");
  ctx.strokeStyle = theme.roles.query;
  ctx.lineWidth = 2;
  ctx.strokeRect(...box(strings.key_asks));
  say(strings.key_asks, theme.muted, "400");
  ctx.fillStyle = colourAt(lut, read);
  ctx.fillRect(...box(strings.key_read));
  say(strings.key_read, inkOn(lut, read), "400");
}

/** The heatmap of the head and the curve of its score, step by step of the training. @type {Paint} */
function birth(ctx, { header, arrays, theme, lut, width, height }, part) {
  const { letters, steps, chance } = header.birth;
  const at = Math.min(steps.length - 1, Math.floor(part * steps.length));
  const size = letters.length;
  const side = Math.min(height, width * 0.5);
  const values = arrays["birth.weights"].data.subarray(at * size * size, (at + 1) * size * size);
  const image = new ImageData(size, size);
  const pixels = new Uint32Array(image.data.buffer);
  paintLevels(
    { values, rows: size, cols: size, lut, levels: levelTable("u8", "sqrt") },
    pixels,
    size,
    size,
    size,
    0,
  );
  ctx.imageSmoothingEnabled = false;
  ctx.drawImage(canvasOf(image), 0, 0, side, side);
  const blocked = values.map((_, cell) => Number(cell % size > Math.floor(cell / size))); // what comes later
  hatchBlocked(ctx, { x: 0, y: 0, w: side, h: side, rows: size, cols: size, blocked, theme }, 5);
  const [left, right, top, bottom] = [side + 2 * GAP, width - 3, 4, height - 4];
  const x = (/** @type {number} */ step) => between(left, right, step / steps[steps.length - 1]);
  const y = (/** @type {number} */ score) => between(bottom, top, score);
  ctx.strokeStyle = theme.muted;
  ctx.lineWidth = 1;
  ctx.setLineDash([3, 3]);
  strokeLine(ctx, [
    [left, y(chance)],
    [right, y(chance)],
  ]);
  ctx.setLineDash([]);
  strokeLine(ctx, [
    [left, top],
    [left, bottom],
    [right, bottom],
  ]);
  ctx.strokeStyle = theme.primary;
  ctx.lineWidth = 2;
  const scores = [...arrays["birth.scores"].data].slice(0, at + 1);
  strokeLine(
    ctx,
    scores.map((score, i) => [x(steps[i]), y(score)]),
  );
  ctx.fillStyle = theme.primary;
  ctx.beginPath();
  ctx.arc(x(steps[at]), y(scores[at]), 3, 0, 2 * Math.PI);
  ctx.fill();
}

function strokeLine(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {[number, number][]} */ points) {
  ctx.beginPath();
  points.forEach(([x, y], i) => (i ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
  ctx.stroke();
}

/** @param {ArrayLike<number>} rgb @param {number} rows @param {number} columns */
function pixelsOf(rgb, rows, columns) {
  const image = new ImageData(columns, rows);
  for (let i = 0; i < rows * columns; i++)
    image.data.set([rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2], 255], 4 * i);
  return canvasOf(image);
}

function canvasOf(/** @type {ImageData} */ image) {
  const canvas = document.createElement("canvas");
  canvas.width = image.width;
  canvas.height = image.height;
  plainContext(canvas).putImageData(image, 0, 0);
  return canvas;
}
