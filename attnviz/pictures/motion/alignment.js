// @ts-check
// A translation is written word by word; from each word lines go to what it attends to, as strong as the weights. In:
// cross-attention, and the words of both languages.

import { between } from "../shared/scenes.js";
import { withAlpha } from "../shared/theme.js";
import { cellOf, line, turnOf, write } from "./draw.js";
import { fmtFixed } from "../shared/fmt.js";

/** @import { Film } from "./draw.js" */

const ROW = 30;
const TOP = 8;
const WIDEST_LINE = 9;
const LEAST = 0.03;
const NUMBER = 190; // to the right of a word's beginning

/** @type {Film} */
export const ALIGNMENT = {
  height: (_, arrays) => TOP * 2 + ROW * Math.max(...arrays.weights.shape),
  paint(frame) {
    const { header, arrays, so, linear, width, ctx, roles, theme, set } = frame;
    const { source, written } = header.labels;
    const left = Math.round(width * 0.3);
    const right = Math.round(width * 0.64);
    const y = (/** @type {number} */ i) => TOP + (i + 0.5) * ROW;
    const now = set.word === undefined ? linear("write") * written.length : set.word + 0.99;
    source.forEach((word, i) => {
      ctx.globalAlpha = set.word === undefined ? turnOf(so("read", 0, 0.8), i, source.length) : 1;
      write(frame, word, {
        x: left - 10,
        y: y(i),
        size: 17,
        align: "right",
        weight: 600,
        colour: roles.key,
        room: left - 12,
      });
    });
    written.forEach((word, j) => {
      const grown = Math.min(1, Math.max(0, (now - j) * 1.6));
      if (grown <= 0) return;
      const isNow = Math.floor(now) === j && (set.word !== undefined || linear("write") < 1);
      let strongest = 0;
      for (let i = 0; i < source.length; i++) {
        const weight = cellOf(arrays, "weights", j, i);
        if (weight > cellOf(arrays, "weights", j, strongest)) strongest = i;
        if (weight < LEAST) continue;
        const to = /** @type {[number, number]} */ ([
          between(right - 6, left, grown),
          between(y(j), y(i), grown),
        ]);
        const colour = withAlpha(isNow ? roles.query : theme.primary, isNow ? 1 : 0.35 + 0.45 * weight);
        ctx.globalAlpha = 1;
        line(frame, [[right - 6, y(j)], to], colour, Math.max(0.8, WIDEST_LINE * weight)); // prettier-ignore
      }
      ctx.globalAlpha = grown;
      const weight =
        isNow || linear("write") === 1 ? ` ${fmtFixed(cellOf(arrays, "weights", j, strongest), 2)}` : "";
      write(frame, word, {
        x: right,
        y: y(j),
        size: 17,
        weight: 600,
        colour: roles.query,
        room: width - right - 44,
      });
      write(frame, weight, {
        x: Math.min(width, right + NUMBER),
        y: y(j),
        size: 13,
        align: "right",
        colour: theme.muted,
      });
    });
    ctx.globalAlpha = 1;
  },
  grips({ header, linear, width, set }) {
    const { written } = header.labels;
    const word = set.word ?? Math.min(written.length - 1, Math.floor(linear("write") * written.length));
    const move = (/** @type {number} */ to) => ({ word: Math.max(0, Math.min(written.length - 1, to)) });
    return [
      {
        handle: "word",
        at: [Math.round(width * 0.64) - 18, TOP + (word + 0.5) * ROW],
        text: written[word],
        to: ([, y]) => move(Math.floor((y - TOP) / ROW)),
        by: ([right, up]) => move(word + right - up),
      },
    ];
  },
};
