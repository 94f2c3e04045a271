// @ts-check
// The two layers of an induction circuit: a head brings each letter the one before it, another finds the key that was
// brought its own letter, and what stands there is copied. A hand may ask from another letter. In: the weights of both
// heads, the letters, the cell that is asked for.

import { fmtFixed } from "../shared/fmt.js";
import { between } from "../shared/scenes.js";
import { withAlpha } from "../shared/theme.js";
import { arch, cellOf, turnOf, write } from "./draw.js";

/** @import { Film, Frame } from "./draw.js" */

const HEIGHT = 230;
const LETTERS = 150;
const BROUGHT = 184;
const CHIP = 30;
const NOT_READ = 0.25; // letters that come after the one that asks

/** @type {Film} */
export const INDUCTION = {
  height: () => HEIGHT,
  paint(frame) {
    const { header, arrays, so, ctx, roles, theme, set } = frame;
    const { letters } = header.labels;
    const [row, column] = askedNow(frame);
    const isByHand = set.asked !== undefined;
    const step = stepOf(frame);
    const x = (/** @type {number} */ i) => (i + 0.5) * step;
    const bring =
      isByHand && header.scenes.some(({ name }) => name === "bring") ? 1 : so("bring", 0.05, 0.95);
    const match = isByHand ? 1 : so("match", 0.1, 0.7);
    letters.forEach((letter, i) => {
      const isAsking = i === row && match > 0;
      const isFound = i === column && match >= 1;
      ctx.globalAlpha = i > row ? NOT_READ : 1;
      chip(frame, x(i), LETTERS, letter, isAsking ? roles.query : isFound ? roles.key : theme.muted);
      ctx.globalAlpha = 1;
      if (i === 0 || i > row) return;
      const part = turnOf(bring, i - 1, row, 0.6);
      const fade = 1 - 0.75 * (isByHand ? 1 : so("match", 0, 0.1));
      ctx.globalAlpha = fade * cellOf(arrays, "previous", i, i - 1);
      arch(
        frame,
        { from: x(i) - 4, to: x(i - 1) + 4, y: LETTERS - 20, rise: 22, colour: theme.primary, width: 2 },
        part,
      );
      ctx.globalAlpha = part;
      const from = between(x(i - 1), x(i), part);
      const isKey = i === column && match > 0.6;
      write(frame, letters[i - 1], {
        ...{ x: from, y: between(LETTERS, BROUGHT, part), size: 15, align: "center" },
        ...{ weight: isKey ? 800 : 500, colour: isKey ? roles.key : theme.primary },
      });
    });
    ctx.globalAlpha = 1;
    paintMatch(frame, { from: x(row), to: x(column), row, column, match });
    if (!isByHand) paintCopy(frame, { from: x(column), to: x(row + 1), letter: letters[column] });
  },
  grips(frame) {
    const { letters } = frame.header.labels;
    const [row] = askedNow(frame);
    const step = stepOf(frame);
    const ask = (/** @type {number} */ at) => ({
      asked: Math.max(1, Math.min(letters.length - 1, Math.floor(at))),
    });
    return [
      {
        handle: "asked",
        at: [(row + 0.5) * step, LETTERS],
        text: letters[row],
        to: ([x]) => ask(x / step),
        by: ([right, up]) => ask(row + right + up),
      },
    ];
  },
};

/** The letter that asks, and the key that gets most of its weight. */
function askedNow(/** @type {Frame} */ { arrays, set }) {
  const [row, column] = arrays.asked.data;
  if (set.asked === undefined) return [row, column];
  let most = 0;
  for (let key = 1; key <= set.asked; key++)
    if (cellOf(arrays, "induction", set.asked, key) > cellOf(arrays, "induction", set.asked, most))
      most = key;
  return [set.asked, most];
}

function stepOf(/** @type {Frame} */ { header, width }) {
  return Math.min(64, width / (header.labels.letters.length + 1.2));
}

/**
 * From the letter that asks to the one that follows it, with the weight.
 * @param {Frame} frame
 * @param {{from: number, to: number, row: number, column: number, match: number}} link
 */
function paintMatch(frame, { from, to, row, column, match }) {
  const { arrays, ctx, roles } = frame;
  const weight = cellOf(arrays, "induction", row, column);
  arch(
    frame,
    { from, to, y: LETTERS - 20, rise: 92, colour: withAlpha(roles.query, 0.85), width: 2 + 4 * weight },
    match,
  );
  ctx.globalAlpha = match >= 1 ? 1 : 0;
  const at = { x: (from + to) / 2, y: LETTERS - 20 - 104, weight: 700, colour: roles.query };
  write(frame, fmtFixed(weight, 2), { ...at, size: 16, align: "center" });
  ctx.globalAlpha = 1;
}

/**
 * What was found becomes the prediction of the next letter.
 * @param {Frame} frame
 * @param {{from: number, to: number, letter: string}} copied
 */
function paintCopy(frame, { from, to, letter }) {
  const { so, roles, ctx } = frame;
  const part = so("copy", 0.1, 0.8);
  if (part <= 0) return;
  const y = LETTERS + 4 * 60 * part * (1 - part) * 0.9;
  ctx.globalAlpha = 1;
  chip(frame, between(from, to, part), y, letter, roles.key);
}

function chip(
  /** @type {Frame} */ frame,
  /** @type {number} */ x,
  /** @type {number} */ y,
  /** @type {string} */ letter,
  /** @type {string} */ colour,
) {
  const { ctx, theme } = frame;
  const wide = letter.length > 1 ? Math.max(CHIP, stepOf(frame) - 6) : CHIP; // a word takes more room
  ctx.fillStyle = theme.bg;
  ctx.strokeStyle = colour;
  ctx.lineWidth = colour === theme.muted ? 1 : 2.5;
  ctx.fillRect(x - wide / 2, y - CHIP / 2, wide, CHIP);
  ctx.strokeRect(x - wide / 2, y - CHIP / 2, wide, CHIP);
  write(frame, letter, { x, y, size: 17, weight: 600, align: "center", room: wide - 4 });
}
