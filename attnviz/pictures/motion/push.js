// @ts-check
// An arrow is added to a row, more and more of it; the probabilities of the next words follow. Then a random arrow of the
// same length in its place. In: for each moment the probabilities with either arrow, the times of the arrow, the words.

import { fmtFixed } from "../shared/fmt.js";
import { between, clamp } from "../shared/scenes.js";
import { arrow, bar, cellOf, line, write } from "./draw.js";

/** @import { Film, Frame } from "./draw.js" */

const TOP = 78;
const ROW = 32;
const AXIS = 52;
const EDGE = 18; // left and right of the axis
const STEP = 0.25;

/** @type {Film} */
export const PUSH = {
  height: (_, arrays) => TOP + ROW * arrays.head.shape[1],
  paint(frame) {
    const { header, width, roles, theme } = frame;
    const { times, isRandom } = momentNow(frame);
    const colour = isRandom ? theme.muted : roles.key;
    const title = `${fmtFixed(times, 2)} × ${header.labels.arrows[Number(isRandom)]}`;
    write(frame, title, { x: 0, y: 14, size: 15, weight: 700, colour, room: width });
    line(frame, [[EDGE, AXIS], [width - EDGE, AXIS]], theme.border, 1.5); // prettier-ignore
    for (let mark = first(frame); mark <= last(frame); mark++) {
      const x = placeOf(frame, mark);
      line(frame, [[x, AXIS - 4], [x, AXIS + 4]], theme.border, 1.5); // prettier-ignore
      write(frame, fmtFixed(mark, 0), { x, y: AXIS + 14, size: 12, align: "center", colour: theme.muted });
    }
    arrow(frame, [placeOf(frame, 0), AXIS], [placeOf(frame, times), AXIS], colour, 5);
    const names = Math.round(width * 0.22);
    header.labels.words.forEach((word, i) => {
      const value = chanceAt(frame, isRandom ? "random" : "head", i, times);
      const y = TOP + (i + 0.5) * ROW;
      write(frame, word, { x: names - 10, y, align: "right", weight: 600, room: names - 12 });
      bar(frame, { x: names, y: y - 8, w: width - names - 60, h: 16 }, value, colour);
      write(frame, fmtFixed(value, 3), { x: width, y, align: "right", weight: 600 });
    });
  },
  grips(frame) {
    const { times, isRandom } = momentNow(frame);
    const set = (/** @type {number} */ to) => ({
      times: Math.max(first(frame), Math.min(last(frame), Math.round(to / STEP) * STEP)),
      random: Number(isRandom),
    });
    const unit = placeOf(frame, 1) - placeOf(frame, 0);
    return [
      {
        handle: "times",
        at: [placeOf(frame, times), AXIS],
        text: fmtFixed(times, 2),
        to: ([x]) => set((x - placeOf(frame, 0)) / unit),
        by: ([right, up], isLong) => set(times + (right + up) * (isLong ? 1 : STEP)),
      },
    ];
  },
};

/** How much of which arrow is added at this moment. */
function momentNow(/** @type {Frame} */ { so, linear, set }) {
  const isRandom = (set.random ?? Number(linear("random") > 0)) > 0;
  const added = isRandom ? so("random", 0.15, 0.8) : so("head", 0.1, 0.8);
  return { times: set.times ?? added, isRandom };
}

/** The probability of a word, between two moments that were computed. */
function chanceAt(
  /** @type {Frame} */ { arrays },
  /** @type {string} */ name,
  /** @type {number} */ word,
  /** @type {number} */ times,
) {
  const all = arrays.times.data;
  const n = all.length;
  const at = clamp((times - all[0]) / (all[n - 1] - all[0])) * (n - 1);
  const before = Math.min(Math.floor(at), n - 2);
  return between(cellOf(arrays, name, before, word), cellOf(arrays, name, before + 1, word), at - before);
}

function first(/** @type {Frame} */ { arrays }) {
  return arrays.times.data[0];
}

function last(/** @type {Frame} */ { arrays }) {
  return arrays.times.data[arrays.times.data.length - 1];
}

/** Where a number of times is on the axis. */
function placeOf(/** @type {Frame} */ frame, /** @type {number} */ times) {
  const part = (times - first(frame)) / (last(frame) - first(frame));
  return between(EDGE, frame.width - EDGE, part);
}
