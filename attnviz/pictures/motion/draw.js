// @ts-check
// What the moving pictures of the cards draw alike: texts, cells with a number, bars, arrows. In: the frame of a moment.

import { colourAt, inkOn, levelFor, signedLevel } from "../shared/colors.js";
import { fmtFixed } from "../shared/fmt.js";
import { clamp } from "../shared/scenes.js";
import { withAlpha } from "../shared/theme.js";

/** @import { Point } from "../shared/handles.js" */
/** @import { Theme } from "../shared/theme.js" */
/** @import { Arrays, Header } from "./types.js" */

/** Numbers that were set by hand, by their names. @typedef {Readonly<Record<string, number>>} Numbers */
/**
 * A moment that is painted: `so` says how far a scene has come, slow at both ends, `linear` at an even pace. `set` has the
 * numbers that were set by hand: where one is there, it stands for what the scenes say.
 * @typedef {{ctx: CanvasRenderingContext2D, width: number, height: number, theme: Theme, header: Header, arrays: Arrays,
 *   lut: Uint32Array, signed: Uint32Array, roles: {query: string, key: string}, set: Numbers,
 *   so: (name: string, from?: number, to?: number) => number, linear: (name: string) => number}} Frame
 */
/**
 * What can be dragged: where it is now, what it says there, the numbers at a point, and those a step to the right or up.
 * @typedef {{handle: string, at: Point, text: string, to: (point: Point) => Numbers,
 *   by: (step: Point, isLong: boolean) => Numbers}} Grip
 */
/**
 * How tall a film is at a width, how it paints a moment, and what can be dragged then.
 * @typedef {{height: (header: Header, arrays: Arrays, width: number) => number, paint: (frame: Frame) => void,
 *   grips?: (frame: Frame) => readonly Grip[]}} Film
 */
/** @typedef {{x: number, y: number, w: number, h: number}} Box */
/**
 * @typedef {{x: number, y: number, size?: number, weight?: number, colour?: string, align?: CanvasTextAlign,
 *   room?: number}} Place
 */

const HEAD_PX = 8;

/** Writes a text; one that has not enough `room` gets smaller. */
export function write(
  /** @type {Frame} */ { ctx, theme },
  /** @type {string} */ text,
  /** @type {Place} */ place,
) {
  const { x, y, size = 14, weight = 400, colour = theme.text, align = "left", room = Infinity } = place;
  ctx.font = `${weight} ${size}px ${theme.font}`;
  const wide = ctx.measureText(text).width;
  if (wide > room) ctx.font = `${weight} ${Math.max(9, (size * room) / wide)}px ${theme.font}`;
  ctx.fillStyle = colour;
  ctx.textAlign = align;
  ctx.textBaseline = "middle";
  ctx.fillText(text, x, y);
}

/** A number of an array of rows, where `columns` stand in a row. */
export function cellOf(
  /** @type {Arrays} */ arrays,
  /** @type {string} */ name,
  /** @type {number} */ row,
  /** @type {number} */ column,
) {
  const { data, shape } = arrays[name];
  return data[row * shape[1] + column];
}

/**
 * A cell with its number, coloured as a weight 0 to 1, or as a signed number against a `limit`.
 * @param {Frame} frame
 * @param {Box} box
 * @param {number} value
 * @param {{limit?: number, decimals?: number}} [options]
 */
export function cell(frame, box, value, { limit, decimals = 2 } = {}) {
  const { ctx, theme, lut, signed } = frame;
  const table = limit === undefined ? lut : signed;
  const level = limit === undefined ? levelFor(value, "sqrt") : signedLevel(value, limit);
  ctx.fillStyle = level < 0 ? theme.bg2 : colourAt(table, level);
  ctx.fillRect(box.x, box.y, box.w - 2, box.h - 2);
  const ink = level < 0 ? theme.muted : inkOn(table, level);
  const at = {
    x: box.x + box.w / 2 - 1,
    y: box.y + box.h / 2,
    align: /** @type {CanvasTextAlign} */ ("center"),
  };
  const size = Math.min(14, box.h * 0.55);
  write(frame, fmtFixed(value, decimals), { ...at, size, colour: ink, room: box.w - 6 });
}

/** A bar from the left of a box, as long as a part of it, on its faint track. */
export function bar(
  /** @type {Frame} */ { ctx, theme },
  /** @type {Box} */ { x, y, w, h },
  /** @type {number} */ part,
  /** @type {string} */ colour,
) {
  ctx.fillStyle = theme.faint;
  ctx.fillRect(x, y, w, h);
  ctx.fillStyle = colour;
  ctx.fillRect(x, y, w * clamp(part), h);
}

/** A straight line from a point to another. */
export function line(
  /** @type {Frame} */ { ctx },
  /** @type {readonly [number, number][]} */ points,
  /** @type {string} */ colour,
  width = 2,
) {
  ctx.strokeStyle = colour;
  ctx.lineWidth = width;
  ctx.beginPath();
  points.forEach(([x, y], i) => (i ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
  ctx.stroke();
}

/** A filled disc, with an edge if it has a colour of its own. */
export function disc(
  /** @type {Frame} */ { ctx },
  /** @type {readonly [number, number]} */ [x, y],
  /** @type {number} */ radius,
  /** @type {string} */ colour,
  edge = "",
) {
  ctx.fillStyle = colour;
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, 2 * Math.PI);
  ctx.fill();
  if (!edge) return;
  ctx.strokeStyle = edge;
  ctx.lineWidth = 2;
  ctx.stroke();
}

/** An arrow from a point to another. */
export function arrow(
  /** @type {Frame} */ frame,
  /** @type {[number, number]} */ from,
  /** @type {[number, number]} */ to,
  /** @type {string} */ colour,
  width = 3,
) {
  const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
  const long = Math.hypot(to[0] - from[0], to[1] - from[1]);
  const head = Math.min(HEAD_PX + width, long);
  line(
    frame,
    [from, [to[0] - head * 0.6 * Math.cos(angle), to[1] - head * 0.6 * Math.sin(angle)]],
    colour,
    width,
  );
  tip(frame, to, angle, colour, head);
}

/** The head of an arrow that points along an angle. */
export function tip(
  /** @type {Frame} */ { ctx },
  /** @type {[number, number]} */ [x, y],
  /** @type {number} */ angle,
  /** @type {string} */ colour,
  size = HEAD_PX,
) {
  ctx.fillStyle = colour;
  ctx.beginPath();
  ctx.moveTo(x, y);
  for (const side of [-0.42, 0.42])
    ctx.lineTo(x - size * Math.cos(angle + side), y - size * Math.sin(angle + side));
  ctx.closePath();
  ctx.fill();
}

/**
 * An arch from a place on a line to another, as far as it has grown, with a head at its end.
 * @param {Frame} frame
 * @param {{from: number, to: number, y: number, rise: number, colour: string, width?: number}} arch
 * @param {number} grown
 */
export function arch(frame, { from, to, y, rise, colour, width = 3 }, grown) {
  if (grown <= 0) return;
  const N = 28;
  const points = Array.from({ length: N + 1 }, (_, i) => {
    const part = (grown * i) / N;
    return /** @type {[number, number]} */ ([from + (to - from) * part, y - 4 * rise * part * (1 - part)]);
  });
  line(frame, points, colour, width);
  if (grown < 1) return;
  const [before, last] = [points[N - 2], points[N]];
  tip(frame, last, Math.atan2(last[1] - before[1], last[0] - before[0]), colour, HEAD_PX + width);
}

/** A circle's arc between two angles, counted against the clock as in mathematics. */
export function sector(
  /** @type {Frame} */ { ctx },
  /** @type {[number, number]} */ [x, y],
  /** @type {number} */ radius,
  /** @type {[number, number]} */ [from, to],
  /** @type {string} */ colour,
) {
  ctx.fillStyle = withAlpha(colour, 0.22);
  ctx.strokeStyle = colour;
  ctx.lineWidth = 2;
  ctx.beginPath();
  ctx.moveTo(x, y);
  const N = 24;
  for (let i = 0; i <= N; i++) {
    const angle = from + ((to - from) * i) / N;
    ctx.lineTo(x + radius * Math.cos(angle), y - radius * Math.sin(angle));
  }
  ctx.closePath();
  ctx.fill();
  ctx.stroke();
}

/** A ring with its cross of axes. */
export function ring(
  /** @type {Frame} */ { ctx, theme },
  /** @type {[number, number]} */ [x, y],
  /** @type {number} */ radius,
) {
  ctx.strokeStyle = theme.border;
  ctx.lineWidth = 1;
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, 2 * Math.PI);
  ctx.moveTo(x - radius, y);
  ctx.lineTo(x + radius, y);
  ctx.moveTo(x, y - radius);
  ctx.lineTo(x, y + radius);
  ctx.stroke();
}

/** The point of a circle at an angle. @returns {[number, number]} */
export function onRing(
  /** @type {[number, number]} */ [x, y],
  /** @type {number} */ radius,
  /** @type {number} */ angle,
) {
  return [x + radius * Math.cos(angle), y - radius * Math.sin(angle)];
}

/** The angle at which a point lies as seen from a middle, in degrees from 0 to 360. */
export function angleAt(/** @type {Point} */ middle, /** @type {Point} */ point) {
  return turned((Math.atan2(middle[1] - point[1], point[0] - middle[0]) * 180) / Math.PI, 0);
}

/** An angle in degrees and some more, from 0 to 360. */
export function turned(/** @type {number} */ degrees, /** @type {number} */ by) {
  return (((degrees + by) % 360) + 360) % 360;
}

/** The colour of the i-th of several lines. */
export function lineColour(/** @type {Frame} */ { theme, roles }, /** @type {number} */ i) {
  return [theme.primary, theme.roles.off, roles.key, roles.query][i % 4];
}

/** How far the i-th of n things has come that begin one after the other. */
export function turnOf(
  /** @type {number} */ part,
  /** @type {number} */ i,
  /** @type {number} */ n,
  overlap = 0.5,
) {
  const long = 1 / (1 + (n - 1) * (1 - overlap));
  return clamp((part - i * long * (1 - overlap)) / long);
}
