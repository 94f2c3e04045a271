// @ts-check
// Query and key turn by their positions; the angle between them stays when both move on. In: the positions, the degrees
// for each, and how far both move on.

import { fmtFixed } from "../shared/fmt.js";
import { between } from "../shared/scenes.js";
import { arrow, onRing, ring, sector, write } from "./draw.js";

/** @import { Film, Frame } from "./draw.js" */

const RADIANS = Math.PI / 180;
const BELOW = 54; // the row of positions
const BESIDE = 0.2; // of an arrow stands its name, in radians

/** @type {Film} */
export const ROTARY = {
  height: (_, __, width) => sideOf(width) + BELOW,
  paint(frame) {
    const { arrays, so, width, roles, theme, ctx, set } = frame;
    const [m, n, degrees, later] = arrays.turns.data;
    const side = sideOf(width);
    /** @type {[number, number]} */
    const middle = [side / 2, side / 2];
    const radius = side / 2 - 24;
    const on = later * so("later", 0.05, 0.85);
    const query = set.query ?? m * so("query", 0.1, 0.9) + on;
    const key = set.key ?? n * so("key", 0.1, 0.9) + on;
    const angles = { query: query * degrees, key: key * degrees };
    ring(frame, middle, radius);
    const isByHand = "query" in set || "key" in set;
    const open = isByHand ? 1 : so("score", 0, 0.5);
    if (open > 0) {
      const to = between(angles.key, angles.query, open) * RADIANS;
      sector(frame, middle, radius * 0.42, [angles.key * RADIANS, to], theme.primary);
    }
    paintArrow(frame, middle, radius, { name: "k", degrees: angles.key, colour: roles.key });
    paintArrow(frame, middle, radius * 0.86, { name: "q", degrees: angles.query, colour: roles.query });
    const left = side + 16;
    const room = width - left;
    write(frame, `q: ${fmtFixed(angles.query, 0)}°`, {
      x: left,
      y: middle[1] - 46,
      size: 16,
      colour: roles.query,
      room,
    });
    write(frame, `k: ${fmtFixed(angles.key, 0)}°`, {
      x: left,
      y: middle[1] - 20,
      size: 16,
      colour: roles.key,
      room,
    });
    ctx.globalAlpha = isByHand ? 1 : so("score", 0.2, 0.6);
    const gap = angles.query - angles.key;
    const score = `cos ${fmtFixed(gap, 0)}° = ${fmtFixed(Math.cos(gap * RADIANS), 2)}`;
    write(frame, score, { x: left, y: middle[1] + 14, size: 18, weight: 700, colour: theme.primary, room });
    ctx.globalAlpha = 1;
    paintPositions(frame, side, { query, key, last: Math.max(m, n) + later });
  },
  grips(frame) {
    const { arrays, so, set, width } = frame;
    const [m, n, , later] = arrays.turns.data;
    const last = Math.max(m, n) + later;
    const on = later * so("later", 0.05, 0.85);
    const places = {
      query: set.query ?? m * so("query", 0.1, 0.9) + on,
      key: set.key ?? n * so("key", 0.1, 0.9) + on,
    };
    const step = (width - 24) / last;
    return Object.entries(places).map(([handle, place]) => {
      const move = (/** @type {number} */ to) => ({
        ...places,
        [handle]: Math.round(Math.max(0, Math.min(last, to))),
      });
      return {
        handle,
        at: [12 + place * step, sideOf(width) + 19],
        text: fmtFixed(place, 0),
        to: ([x]) => move((x - 12) / step),
        by: ([right, up], isLong) => move(place + (right + up) * (isLong ? 4 : 1)),
      };
    });
  },
};

/**
 * @param {Frame} frame
 * @param {[number, number]} middle
 * @param {number} radius
 * @param {{name: string, degrees: number, colour: string}} look
 */
function paintArrow(frame, middle, radius, { name, degrees, colour }) {
  const angle = degrees * RADIANS;
  arrow(frame, middle, onRing(middle, radius, angle), colour, 4);
  const [x, y] = onRing(middle, radius * 0.62, angle + (name === "q" ? BESIDE : -BESIDE));
  write(frame, name, { x, y, align: "center", weight: 700, size: 16, colour });
}

/**
 * The places in the text, with query and key on theirs.
 * @param {Frame} frame
 * @param {number} top
 * @param {{query: number, key: number, last: number}} places
 */
function paintPositions(frame, top, { query, key, last }) {
  const { ctx, width, theme, roles } = frame;
  const step = (width - 24) / last;
  for (let place = 0; place <= last; place++)
    write(frame, String(place), {
      x: 12 + place * step,
      y: top + 40,
      size: 12,
      align: "center",
      colour: theme.muted,
    });
  for (const { name, at, colour } of [
    { name: "k", at: key, colour: roles.key },
    { name: "q", at: query, colour: roles.query },
  ]) {
    ctx.fillStyle = colour;
    ctx.beginPath();
    ctx.arc(12 + at * step, top + 19, 10, 0, 2 * Math.PI);
    ctx.fill();
    write(frame, name, {
      x: 12 + at * step,
      y: top + 19,
      size: 13,
      weight: 700,
      align: "center",
      colour: theme.bg,
    });
  }
}

function sideOf(/** @type {number} */ width) {
  return Math.min(280, Math.round(width * 0.58));
}
