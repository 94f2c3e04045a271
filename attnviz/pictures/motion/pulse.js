// @ts-check
// One word was exchanged: how far the rows of all tokens differ then, layer by layer. Lines go to each row that the change
// reaches for the first time; without attention it stays where it began. A hand goes down the layers. In: the differences
// with and without attention, names of tokens and layers.

import { fmtFixed } from "../shared/fmt.js";
import { between, clamp } from "../shared/scenes.js";
import { withAlpha } from "../shared/theme.js";
import { cellOf, disc, line, write } from "./draw.js";

/** @import { Film, Frame } from "./draw.js" */

const TOP = 22;
const TALL = 52;
const LEFT = 40;
const RIGHT = 46; // the number of the last token
const MOST = 58;
const TIGHT = 36; // then only the exchanged words and the last one have their names
const [LEAST, GROWS] = [3, 11]; // the radius of a dot

/** @type {Film} */
export const PULSE = {
  height: (_, arrays) => TOP + TALL * arrays.whole.shape[0] + 8,
  paint(frame) {
    const { header, arrays, roles, theme, so } = frame;
    const { depth, isOff, n, step, x, y } = stateOf(frame);
    const name = isOff ? "bare" : "whole";
    const most = Math.max(...arrays.whole.data);
    const differs = (/** @type {number} */ row, /** @type {number} */ at) =>
      cellOf(arrays, name, row, at) > 0;
    const shown = isOff ? so("off", 0, 0.5) : 1;
    for (let row = 0; row < arrays.whole.shape[0]; row++) {
      const part = clamp(depth - row + 1); // how far the way to this row has come
      for (let to = 0; row && to < n; to++)
        for (let from = 0; from < to; from++)
          if (part > 0 && differs(row, to) && !differs(row - 1, to) && differs(row - 1, from)) {
            const end = [between(x(from), x(to), part), between(y(row - 1), y(row), part)];
            line(frame, [[x(from), y(row - 1)], [end[0], end[1]]], withAlpha(roles.key, 0.45), 1.5); // prettier-ignore
            disc(frame, [end[0], end[1]], LEAST, roles.key);
          }
      const colour = row <= depth ? theme.text : theme.muted;
      write(frame, header.labels.rows[row], { x: 0, y: y(row), weight: 600, colour, room: LEFT - 16 });
      for (let at = 0; at < n; at++) {
        const value = part < 1 ? 0 : shown * cellOf(arrays, name, row, at);
        const radius = value > 0 ? LEAST + GROWS * Math.sqrt(value / most) : LEAST;
        disc(frame, [x(at), y(row)], radius, value > 0 ? roles.key : theme.border);
      }
      if (part < 1) continue;
      const last = { x: x(n - 1) + step / 2 + 6, y: y(row), weight: 600, colour: roles.key };
      write(frame, fmtFixed(shown * cellOf(arrays, name, row, n - 1), 2), last);
    }
    header.labels.tokens.forEach((token, at) => {
      if (step < TIGHT && at < n - 1 && !differs(0, at)) return;
      write(frame, token, { x: x(at), y: 10, align: "center", room: Math.max(step, TIGHT) - 3 });
    });
  },
  grips(frame) {
    const { depth, isOff, y } = stateOf(frame);
    const most = frame.arrays.whole.shape[0] - 1;
    const at = isOff ? most : Math.round(depth);
    const set = (/** @type {number} */ to) => ({ depth: Math.max(0, Math.min(most, Math.round(to))) });
    return [
      {
        handle: "depth",
        at: [LEFT - 8, y(at)],
        text: frame.header.labels.rows[at],
        to: ([, place]) => set((place - y(0)) / TALL),
        by: ([right, up]) => set(at + right - up),
      },
    ];
  },
};

/** How far down the layers it has come, whether attention is off, and where all stands. */
function stateOf(/** @type {Frame} */ { arrays, width, so, set }) {
  const [rows, n] = arrays.whole.shape;
  const step = Math.min(MOST, (width - LEFT - RIGHT) / n);
  const isOff = set.depth === undefined && so("off") > 0;
  return {
    ...{ n, step, isOff },
    depth: set.depth ?? (isOff ? rows - 1 : so("carry", 0.05, 0.95) * (rows - 1)),
    x: (/** @type {number} */ at) => LEFT + (at + 0.5) * step,
    y: (/** @type {number} */ row) => TOP + (row + 0.5) * TALL,
  };
}
