// @ts-check
// Tokens change places: their rows of the weights slide, then their columns; no number changes. In: the weights before,
// the new order, the names of the tokens.

import { between } from "../shared/scenes.js";
import { cell, cellOf, write } from "./draw.js";

/** @import { Film, Frame } from "./draw.js" */

const TOP = 30;
const TALL = 38;
const MOST = 64;
const LEFT = 40;

/** @type {Film} */
export const SHUFFLE = {
  height: (_, arrays) => TOP + TALL * arrays.weights.shape[0] + 4,
  paint(frame) {
    const { header, arrays, so, roles, theme } = frame;
    const order = orderNow(frame);
    const isByHand = Object.keys(frame.set).length > 0;
    const wide = wideOf(frame);
    const left = LEFT;
    const placeOf = (/** @type {number} */ token, /** @type {number} */ part) =>
      between(token, order.indexOf(token), part);
    const [rows, columns] = isByHand ? [1, 1] : [so("rows", 0.15, 0.9), so("columns", 0.15, 0.9)];
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
  grips(frame) {
    const order = orderNow(frame);
    const wide = wideOf(frame);
    const { tokens } = frame.header.labels;
    return order.map((token, place) => {
      const move = (/** @type {number} */ to) => {
        const others = order.filter((other) => other !== token);
        others.splice(Math.max(0, Math.min(others.length, to)), 0, token);
        return Object.fromEntries(others.map((other, at) => [`place_${at}`, other]));
      };
      return {
        handle: "token",
        at: [LEFT + (place + 0.5) * wide, 14],
        text: `${tokens[token]} ${place}`,
        to: ([x]) => move(Math.floor((x - LEFT) / wide)),
        by: ([right, up]) => move(place + right + up),
      };
    });
  },
};

/** The tokens in their new order: the one that was computed, or the one that a hand has made. */
function orderNow(/** @type {Frame} */ { arrays, set }) {
  return Array.from(arrays.order.data, (token, place) => {
    if (Object.keys(set).length) return set[`place_${place}`];
    return token;
  });
}

function wideOf(/** @type {Frame} */ { arrays, width }) {
  return Math.min(MOST, (width - LEFT - 4) / arrays.order.data.length);
}
