// @ts-check
// Pairs of columns as hands of clocks, and the sine of each hand as it goes on. In: the period of each pair in positions,
// how far the scenes go, and the names of the pairs.

import { fmtFixed } from "../shared/fmt.js";
import { between } from "../shared/scenes.js";
import { arrow, line, lineColour, onRing, ring, write } from "./draw.js";

/** @import { Film, Frame } from "./draw.js" */

const WAVE = 52;
const GAP = 10;
const AXIS = 24;
const NAME = 20;

/** @type {Film} */
export const CLOCKS = {
  height: (_, arrays, width) =>
    dial(arrays.periods.shape[1], width) + NAME + arrays.periods.shape[1] * (WAVE + GAP) + AXIS,
  paint(frame) {
    const { header, arrays, width, theme, linear } = frame;
    const n = arrays.periods.shape[1];
    const size = dial(n, width);
    const [near, far] = arrays.reach.data;
    const position = between(near * linear("near"), far, linear("far"));
    for (let pair = 0; pair < n; pair++) {
      const colour = lineColour(frame, pair);
      const period = arrays.periods.data[pair];
      const angle = (2 * Math.PI * position) / period;
      /** @type {[number, number]} */
      const middle = [(pair + 0.5) * (width / n), size / 2];
      ring(frame, middle, size / 2 - 6);
      arrow(frame, middle, onRing(middle, size / 2 - 8, angle), colour, 3);
      const room = width / n - 6;
      write(frame, header.labels.pairs[pair], {
        x: middle[0],
        y: size + 9,
        size: 13,
        weight: 600,
        align: "center",
        colour,
        room,
      });
      paintWave(frame, { top: size + NAME + pair * (WAVE + GAP), period, position, far, colour });
    }
    const y = size + NAME + n * (WAVE + GAP) + 8;
    const x = (position / far) * (width - 60);
    write(frame, `${header.labels.position[0]} ${fmtFixed(position, 0)}`, {
      ...{
        x: Math.min(Math.max(x, 40), width - 60),
        y,
        size: 13,
        weight: 600,
        align: "center",
        colour: theme.muted,
      },
    });
  },
};

/**
 * The sine of a hand up to a position, and its number there.
 * @param {Frame} frame
 * @param {{top: number, period: number, position: number, far: number, colour: string}} wave
 */
function paintWave(frame, { top, period, position, far, colour }) {
  const { width, theme } = frame;
  const right = width - 60;
  const sine = (/** @type {number} */ at) => Math.sin((2 * Math.PI * at) / period);
  const y = (/** @type {number} */ value) => top + WAVE / 2 - (WAVE / 2 - 3) * value;
  line(frame, [[0, y(0)], [right, y(0)]], theme.faint, 1); // prettier-ignore
  const count = Math.max(2, Math.ceil((position / far) * right));
  const points = Array.from({ length: count + 1 }, (_, i) => {
    const at = (position * i) / count;
    return /** @type {[number, number]} */ ([(at / far) * right, y(sine(at))]);
  });
  line(frame, points, colour, 2.5);
  const last = points[points.length - 1];
  write(frame, fmtFixed(sine(position), 2), { x: last[0] + 6, y: last[1], size: 13, weight: 600, colour });
}

function dial(/** @type {number} */ n, /** @type {number} */ width) {
  return Math.min(110, Math.floor(width / n) - 8);
}
