// @ts-check
// Tokens change places: their rows of the weights slide, then their columns; no number changes. In: the weights before,
// the new order, the names of the tokens.

import { between } from "../shared/scenes.js";
import { cell, cellOf, write } from "./draw.js";

/** @import { Film } from "./draw.js" */

const TOP = 30;
const TALL = 38;
const MOST = 64;

/** @type {Film} */
export const SHUFFLE = {
  height: (_, arrays) => TOP + TALL * arrays.weights.shape[0] + 4,
  paint(frame) {
    const { header, arrays, so, width, roles, theme } = frame;
    const order = Array.from(arrays.order.data);
    const n = order.length;
    const left = 40;
    const wide = Math.min(MOST, (width - left - 4) / n);
    const placeOf = (/** @type {number} */ token, /** @type {number} */ part) =>
      between(token, order.indexOf(token), part);
    const [rows, columns] = [so("rows", 0.15, 0.9), so("columns", 0.15, 0.9)];
    const moves = (/** @type {number} */ token) => order[token] !== token;
    // what moves lies above what stays
    const tokens = order.map((_, i) => i).sort((a, b) => Number(moves(a)) - Number(moves(b)));
    for (const row of tokens)
      for (const column of tokens) {
        const x = left + placeOf(column, columns) * wide;
        const y = TOP + placeOf(row, rows) * TALL;
        cell(frame, { x, y, w: wide, h: TALL }, cellOf(arrays, "weights", row, column));
      }
    for (const token of tokens) {
      const look = moves(token) ? { weight: 700, colour: roles.query } : { colour: theme.text };
      const name = header.labels.tokens[token];
      write(frame, name, {
        ...look,
        x: left - 8,
        y: TOP + (placeOf(token, rows) + 0.5) * TALL,
        align: "right",
      });
      write(frame, name, {
        ...look,
        x: left + (placeOf(token, columns) + 0.5) * wide,
        y: 14,
        align: "center",
      });
    }
  },
};
