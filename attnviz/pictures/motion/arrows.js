// @ts-check
// Two arrows and their dot product: the query turns away from the key, or both are dragged. In: the length of each and the
// angle of the key, in degrees.

import { fmtFixed } from "../shared/fmt.js";
import { between } from "../shared/scenes.js";
import { angleAt, arrow, cellOf, onRing, ring, sector, turned, write } from "./draw.js";

/** @import { Film, Frame, Grip } from "./draw.js" */

const RADIANS = Math.PI / 180;
const REACH = 5; // the longest arrow
const LINE = 27;

/** @type {Film} */
export const ARROWS = {
  height: (_, __, width) => sideOf(width),
  paint(frame) {
    const { width, roles, theme } = frame;
    const { middle, radius } = placeOf(frame);
    const { query, key, between: angle } = arrowsNow(frame);
    ring(frame, middle, radius);
    const [from, to] = [key.angle, key.angle + signed(query.angle - key.angle)];
    sector(
      frame,
      middle,
      radius * 0.2,
      [Math.min(from, to) * RADIANS, Math.max(from, to) * RADIANS],
      theme.primary,
    );
    for (const { name, colour, of } of [
      { name: "k", colour: roles.key, of: key },
      { name: "q", colour: roles.query, of: query },
    ]) {
      const long = (of.length / REACH) * radius;
      arrow(frame, middle, onRing(middle, long, of.angle * RADIANS), colour, 4);
      const [x, y] = onRing(middle, long + 18, of.angle * RADIANS);
      write(frame, name, { x, y, align: "center", weight: 700, size: 16, colour });
    }
    const cosine = Math.cos(angle * RADIANS);
    const left = 2 * middle[0] + 16;
    const say = (
      /** @type {number} */ row,
      /** @type {string} */ text,
      /** @type {string} */ colour,
      size = 15,
    ) =>
      write(frame, text, {
        x: left,
        y: middle[1] + (row - 2) * LINE,
        size,
        weight: 600,
        colour,
        room: width - left,
      });
    say(0, `|q| = ${fmtFixed(query.length, 2)}`, roles.query);
    say(1, `|k| = ${fmtFixed(key.length, 2)}`, roles.key);
    say(2, `cos ${fmtFixed(angle, 0)}° = ${fmtFixed(cosine, 2)}`, theme.text);
    say(3.2, `q·k = ${fmtFixed(query.length * key.length * cosine, 2)}`, theme.primary, 20);
  },
  grips(frame) {
    const { query, key } = arrowsNow(frame);
    return [grip(frame, "query", query), grip(frame, "key", key)];
  },
};

/**
 * The tip of an arrow, which sets its angle and its length: a step to the side turns it, one up makes it longer.
 * @param {Frame} frame
 * @param {string} handle
 * @param {{length: number, angle: number}} of
 * @returns {Grip}
 */
function grip(frame, handle, { length, angle }) {
  const { middle, radius } = placeOf(frame);
  const set = (/** @type {number} */ long, /** @type {number} */ degrees) => ({
    [`${handle}_length`]: Math.max(0, Math.min(REACH, Math.round(long * 10) / 10)),
    [`${handle}_angle`]: Math.round(degrees) % 360,
  });
  return {
    handle,
    at: onRing(middle, (length / REACH) * radius, angle * RADIANS),
    text: `${fmtFixed(length, 1)}, ${fmtFixed(turned(angle, 0), 0)}°`,
    to(point) {
      const long = (Math.hypot(point[0] - middle[0], point[1] - middle[1]) / radius) * REACH;
      return set(long, angleAt(middle, point));
    },
    by: ([right, up], isLong) =>
      set(length + up * (isLong ? 1 : 0.1), turned(angle, -right * (isLong ? 30 : 5))),
  };
}

/** Both arrows at this moment, and the angle between them from 0 to 180 degrees. */
function arrowsNow(/** @type {Frame} */ { arrays, so, set }) {
  const keyAngle = cellOf(arrays, "arrows", 1, 1);
  const turn = between(between(0, 90, so("right", 0.1, 0.8)), 180, so("against", 0.1, 0.8));
  const query = {
    length: set.query_length ?? cellOf(arrays, "arrows", 0, 0),
    angle: set.query_angle ?? keyAngle + turn,
  };
  const key = { length: set.key_length ?? cellOf(arrays, "arrows", 1, 0), angle: set.key_angle ?? keyAngle };
  return { query, key, between: Math.abs(signed(query.angle - key.angle)) };
}

/** An angle between −180 and 180 degrees. */
function signed(/** @type {number} */ degrees) {
  const whole = turned(degrees, 0);
  return whole > 180 ? whole - 360 : whole;
}

function placeOf(/** @type {Frame} */ { width }) {
  const side = sideOf(width);
  /** @type {[number, number]} */
  const middle = [side / 2, side / 2];
  return { middle, radius: side / 2 - 26 };
}

function sideOf(/** @type {number} */ width) {
  return Math.min(320, Math.round(width * 0.58));
}
