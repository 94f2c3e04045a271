// @ts-check
// A causal mask wipes the future, row by row; then the softmax shares out what is left. A hand may block one more cell: its
// row shares out anew, no other row changes. In: scaled scores, weights, words.

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
    const { header, arrays, so, linear, ctx, roles, theme, set } = frame;
    const { n, left, wide } = gridOf(frame);
    const limit = Math.max(...Array.from(arrays.scaled.data, Math.abs), 1e-9);
    const isByHand = "row" in set;
    const isAfter = !header.scenes.some(({ name }) => name === "wipe"); // the mask is there from the beginning
    const wiped = isByHand || isAfter ? n : linear("wipe") * n;
    const weighed = isByHand || isAfter ? 1 : so("weights", 0, 0.6);
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
        const isBlocked = row === set.row && column === set.column && row > 0;
        const future = column > row ? clamp((wiped - row) * 1.6 - (column - row - 1) * 0.25) : 0;
        const gone = isBlocked ? 1 : future;
        const scaled = cellOf(arrays, "scaled", row, column);
        const value = isWeights && column <= row ? weightNow(frame, row, column) : scaled;
        const shown = isAfter || isByHand ? 1 : so("scores", 0, 0.5);
        ctx.globalAlpha = shown * between(1, 0.25, isWeights ? 2 - 2 * weighed : 2 * weighed);
        if (gone < 1) cell(frame, box, value, isWeights ? {} : { limit });
        if (gone > 0) paintGone(frame, box, gone, isWeights);
      }
    ctx.globalAlpha = 1;
    for (let row = 0; row < n; row++) {
      const isShort = row === set.row && set.column <= row && row > 0;
      const open = wiped >= row + 1 ? String(row + 1 - Number(isShort)) : "";
      const at = { x: left + n * wide + 12, y: TOP + row * TALL + TALL / 2 };
      write(frame, open, { ...at, weight: 600, colour: roles.key });
    }
  },
  grips(frame) {
    const { n, left, wide } = gridOf(frame);
    const { row = n - 1, column = 0 } = frame.set;
    const inside = (/** @type {number} */ at) => Math.max(0, Math.min(n - 1, at));
    const words = frame.header.labels.words;
    return [
      {
        handle: "block",
        at: [left + (column + 0.5) * wide, TOP + (row + 0.5) * TALL],
        text: `${words[row]} → ${words[column]}`,
        to: ([x, y]) => ({
          row: inside(Math.floor((y - TOP) / TALL)),
          column: inside(Math.floor((x - left) / wide)),
        }),
        by: ([right, up]) => ({ row: inside(row - up), column: inside(column + right) }),
      },
    ];
  },
};

/** A weight; in the row in which a cell was blocked by hand the others share what that cell had. */
function weightNow(
  /** @type {Frame} */ { arrays, set },
  /** @type {number} */ row,
  /** @type {number} */ column,
) {
  const weight = cellOf(arrays, "weights", row, column);
  if (row !== set.row || set.column > row || row === 0) return weight;
  return weight / (1 - cellOf(arrays, "weights", row, set.column));
}

function gridOf(/** @type {Frame} */ { arrays, width }) {
  const n = arrays.scaled.shape[0];
  const left = Math.min(90, Math.round(width * 0.2));
  return { n, left, wide: Math.min(MOST, (width - left - 40) / n) };
}

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
