// @ts-check
// A causal mask wipes the future, row by row; then the softmax shares out what is left. In: scaled scores, weights, words.

import { between, clamp } from "../shared/scenes.js";
import { cell, cellOf, write } from "./draw.js";

/** @import { Film, Frame } from "./draw.js" */

const TOP = 26;
const MOST = 62;
const TALL = 36;

/** @type {Film} */
export const MASK = {
  height: (_, arrays) => TOP + TALL * arrays.scaled.shape[0] + 4,
  paint(frame) {
    const { header, arrays, so, linear, ctx, roles, theme, width } = frame;
    const n = arrays.scaled.shape[0];
    const left = Math.min(90, Math.round(width * 0.2));
    const wide = Math.min(MOST, (width - left - 40) / n);
    const limit = Math.max(...Array.from(arrays.scaled.data, Math.abs), 1e-9);
    const wiped = linear("wipe") * n;
    const weighed = so("weights", 0, 0.6);
    const isWeights = weighed > 0.5;
    header.labels.words.forEach((word, i) => {
      const isNow = Math.floor(wiped) === i && linear("wipe") > 0 && linear("wipe") < 1;
      const colour = isNow ? roles.query : theme.text;
      const y = TOP + i * TALL + TALL / 2;
      write(frame, word, {
        x: left - 8,
        y,
        align: "right",
        weight: isNow ? 700 : 400,
        colour,
        room: left - 10,
      });
      write(frame, word, { x: left + (i + 0.5) * wide, y: 12, align: "center", room: wide - 4 });
    });
    for (let row = 0; row < n; row++)
      for (let column = 0; column < n; column++) {
        const box = { x: left + column * wide, y: TOP + row * TALL, w: wide, h: TALL };
        const gone = column > row ? clamp((wiped - row) * 1.6 - (column - row - 1) * 0.25) : 0;
        const scaled = cellOf(arrays, "scaled", row, column);
        const value = isWeights && column <= row ? cellOf(arrays, "weights", row, column) : scaled;
        ctx.globalAlpha = so("scores", 0, 0.5) * between(1, 0.25, isWeights ? 2 - 2 * weighed : 2 * weighed);
        if (gone < 1) cell(frame, box, value, isWeights ? {} : { limit });
        if (gone > 0) paintGone(frame, box, gone, isWeights);
      }
    ctx.globalAlpha = 1;
    for (let row = 0; row < n; row++) {
      const open = wiped >= row + 1 ? String(row + 1) : "";
      const at = { x: left + n * wide + 12, y: TOP + row * TALL + TALL / 2 };
      write(frame, open, { ...at, weight: 600, colour: roles.key });
    }
  },
};

/** A cell that is blocked: −∞, and 0 as a weight. */
function paintGone(
  /** @type {Frame} */ frame,
  /** @type {{x: number, y: number, w: number, h: number}} */ { x, y, w, h },
  /** @type {number} */ gone,
  /** @type {boolean} */ isWeight,
) {
  const { ctx, theme } = frame;
  ctx.globalAlpha = 1;
  ctx.fillStyle = theme.bg;
  ctx.fillRect(x + (w - 2) * (1 - gone), y, (w - 2) * gone, h - 2);
  ctx.fillStyle = theme.faint;
  ctx.fillRect(x + (w - 2) * (1 - gone), y, (w - 2) * gone, h - 2);
  if (gone < 1) return;
  const at = { x: x + w / 2 - 1, y: y + h / 2, colour: theme.muted };
  write(frame, isWeight ? "0" : "−∞", { ...at, align: "center" });
}
