// @ts-check
// Layers with a window, one above the other: from a token down to all that can have come to its row. A hand may ask from
// another token, or move the edge of the window. In: the number of layers, the window, the token; names of tokens and rows.

import { fmtFixed } from "../shared/fmt.js";
import { clamp } from "../shared/scenes.js";
import { disc, line, write } from "./draw.js";

/** @import { Film, Frame } from "./draw.js" */

const TOP = 40;
const TALL = 56;
const LEFT = 42;
const RIGHT = 48; // how many tokens back
const MOST = 62;
const RADIUS = 9;

/** @type {Film} */
export const REACH = {
  height: (_, arrays) => TOP + TALL * arrays.size.data[0] + 40,
  paint(frame) {
    const { header, roles, theme, so } = frame;
    const { layers, token, tokens, window, x, y, lowest } = stateOf(frame);
    const isByHand = Object.keys(frame.set).length > 0;
    // a single scene does not play
    const grown = isByHand ? layers : header.scenes.length < 2 ? 1 : so("one") + (layers - 1) * so("all");
    const isLit = (/** @type {number} */ depth, /** @type {number} */ at) =>
      at <= token && at >= lowest(depth) && grown >= depth;
    for (let depth = 0; depth < layers; depth++) {
      const part = clamp(grown - depth);
      for (let at = lowest(depth); at <= token && part > 0; at++)
        for (let below = Math.max(0, at - window + 1); below <= at; below++) {
          const from = [x(at), y(depth)];
          const to = [from[0] + (x(below) - from[0]) * part, from[1] + TALL * part];
          line(frame, [[from[0], from[1]], [to[0], to[1]]], roles.key, 1.5); // prettier-ignore
        }
    }
    for (let depth = 0; depth <= layers; depth++) {
      write(frame, header.labels.rows[depth], { x: 0, y: y(depth), weight: 600, room: LEFT - RADIUS });
      for (let at = 0; at < tokens; at++) {
        const colour = !isLit(depth, at) ? theme.border : depth ? roles.key : roles.query;
        disc(frame, [x(at), y(depth)], RADIUS, isLit(depth, at) ? colour : theme.bg, colour);
      }
      const back = { x: x(tokens - 1) + 2 * RADIUS, y: y(depth), weight: 700, colour: roles.key };
      const said = `−${token - lowest(depth)}`;
      if (depth && grown >= depth) write(frame, said, { ...back, size: 15 });
    }
    header.labels.tokens.forEach((name, at) => {
      write(frame, name, { x: x(at), y: y(layers) + 28, align: "center", colour: theme.muted });
    });
  },
  grips(frame) {
    const { token, tokens, window, x, y, step, lowest } = stateOf(frame);
    const columnAt = (/** @type {number} */ place) => Math.floor((place - LEFT) / step);
    const ask = (/** @type {number} */ to) => ({ token: Math.max(0, Math.min(tokens - 1, to)) });
    const wide = (/** @type {number} */ to) => ({ window: Math.max(1, Math.min(token + 1, to)) });
    return [
      {
        handle: "token",
        at: [x(token), y(0)],
        text: frame.header.labels.tokens[token],
        to: ([place]) => ask(columnAt(place)),
        by: ([right, up]) => ask(token + right + up),
      },
      {
        handle: "window",
        at: [x(lowest(1)), y(1)],
        text: fmtFixed(window, 0),
        to: ([place]) => wide(token - columnAt(place) + 1),
        by: ([right, up]) => wide(window - right + up),
      },
    ];
  },
};

/** The size, the token that asks, and where all stands; `lowest` is the first token that a row so far down can hold. */
function stateOf(/** @type {Frame} */ { arrays, header, width, set }) {
  const [layers, window, token] = arrays.size.data;
  const now = { window: set.window ?? window, token: set.token ?? token };
  const tokens = header.labels.tokens.length;
  const step = Math.min(MOST, (width - LEFT - RIGHT) / tokens);
  return {
    ...{ ...now, layers, tokens, step },
    x: (/** @type {number} */ at) => LEFT + (at + 0.5) * step,
    y: (/** @type {number} */ depth) => TOP + depth * TALL,
    lowest: (/** @type {number} */ depth) => Math.max(0, now.token - depth * (now.window - 1)),
  };
}
