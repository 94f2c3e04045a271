// @ts-check
// A query turns among keys; the weights follow, and with them the output. In: the angles of the keys in degrees, the
// weights and the output for each degree of the query, the scenes' angles.

import { fmtFixed, fmtVector } from "../shared/fmt.js";
import { between } from "../shared/scenes.js";
import { angleAt, arrow, bar, cellOf, lineColour, onRing, ring, turned, write } from "./draw.js";

/** @import { Film, Frame } from "./draw.js" */

const ROW = 34;
const RADIANS = Math.PI / 180;

/** @type {Film} */
export const QUERY = {
  height: (_, __, width) => sideOf(width) + 8,
  paint(frame) {
    const { header, arrays, width, roles, theme } = frame;
    const side = sideOf(width);
    /** @type {[number, number]} */
    const middle = [side / 2, side / 2 + 4];
    const radius = side / 2 - 26;
    const angle = angleNow(frame);
    ring(frame, middle, radius);
    arrays.keys.data.forEach((degrees, i) => {
      const at = onRing(middle, radius, degrees * RADIANS);
      arrow(frame, middle, at, lineColour(frame, i), 3);
      const [x, y] = onRing(middle, radius + 14, degrees * RADIANS);
      write(frame, `k${sub(i)}`, { x, y, align: "center", weight: 700, colour: lineColour(frame, i) });
    });
    arrow(frame, middle, onRing(middle, radius * 0.86, angle * RADIANS), roles.query, 5);
    const [x, y] = onRing(middle, radius * 0.6, (angle + 14) * RADIANS);
    write(frame, "q", { x, y, align: "center", weight: 700, size: 16, colour: roles.query });
    const left = side + 18;
    const room = width - left;
    const at = Math.min(360, Math.round(angle));
    const n = arrays.keys.shape[1];
    for (let i = 0; i < n; i++) {
      const weight = cellOf(arrays, "weights", at, i);
      const line = middle[1] - ROW * n * 0.6 + i * ROW;
      const name = header.labels.keys[i];
      write(frame, name, {
        x: left,
        y: line,
        size: 13,
        colour: lineColour(frame, i),
        weight: 600,
        room: room - 50,
      });
      write(frame, fmtFixed(weight, 2), { x: width, y: line, size: 13, align: "right", weight: 600 });
      bar(frame, { x: left, y: line + 9, w: room, h: 8 }, weight, lineColour(frame, i));
    }
    const numbers = Array.from({ length: arrays.outputs.shape[1] }, (_, i) =>
      fmtFixed(cellOf(arrays, "outputs", at, i), 2),
    );
    const text = `${header.labels.output[0]}: ${fmtVector(numbers)}`;
    write(frame, text, {
      x: left,
      y: middle[1] + ROW * n * 0.6,
      size: 14,
      weight: 600,
      colour: theme.text,
      room,
    });
  },
  grips(frame) {
    const side = sideOf(frame.width);
    /** @type {[number, number]} */
    const middle = [side / 2, side / 2 + 4];
    const angle = angleNow(frame);
    return [
      {
        handle: "angle",
        at: onRing(middle, (side / 2 - 26) * 0.86, angle * RADIANS),
        text: `${fmtFixed(angle, 0)}°`,
        to: (point) => ({ angle: Math.round(angleAt(middle, point)) % 360 }),
        by: ([right, up], isLong) => ({ angle: turned(angle, (right + up) * (isLong ? 30 : 5)) }),
      },
    ];
  },
};

/** The direction of the query at this moment, in degrees. */
function angleNow(/** @type {Frame} */ { arrays, so, set }) {
  if ("angle" in set) return set.angle;
  const halfway = arrays.between.data[0];
  return between(between(0, halfway, so("halfway", 0.1, 0.8)), 360, so("round", 0.05, 0.95));
}

function sideOf(/** @type {number} */ width) {
  return Math.min(280, Math.round(width * 0.5));
}

function sub(/** @type {number} */ i) {
  return "₀₁₂₃₄₅"[i];
}
