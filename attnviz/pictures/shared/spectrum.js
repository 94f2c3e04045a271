// @ts-check
// What a model hears, as a spectrogram under the keys of a heatmap: a frame stands exactly under its column, at any width
// and any zoom. Its axis is in seconds; the span of the key that is pointed at or pinned is marked. Where the sound has
// ended, and the model hears silence that was added, the ground is that of the page.

import { context2d } from "./dom.js";
import { fill, fmtFixed } from "./fmt.js";
import { withAlpha } from "./theme.js";

/** @import { PackedArray } from "./buffer.js" */
/** @import { Heard } from "./heads.js" */
/** @import { Theme } from "./theme.js" */

/** Room under a heatmap, in pixels. */
export const SPECTRUM_ROOM = 96;
const ABOVE = 12;
const BAND = 56;
const FONT = 10.5;
const MIN_SPAN = 3;
const MIN_TICK = 54;
const ROUND_S = [1, 2, 5];

/**
 * A sound with its spectrogram: levels 0..255 [band, column], as many columns for each frame.
 * @typedef {Heard & {levels: PackedArray}} Spectrum
 */
/**
 * Where the strip stands: frame `from` at x, frame `to` at x + w; fractions are parts of a frame.
 * @typedef {{x: number, y: number, w: number, from: number, to: number}} Strip
 */

/**
 * The sound of a header together with its spectrogram; null without a sound.
 * @param {{heard: Heard | null}} header
 * @param {{"heard.levels"?: PackedArray}} arrays
 * @returns {Spectrum | null}
 */
export function heardOf(header, arrays) {
  return header.heard && arrays["heard.levels"] ? { ...header.heard, levels: arrays["heard.levels"] } : null;
}

/**
 * The sentence under the keys; it says where the sound ends if the model hears more.
 * @param {Heard} heard
 * @param {string} note
 * @param {string} rest
 */
export function heardNote(heard, note, rest) {
  const whole = heard.frames * heard.step_s;
  return whole - heard.seconds <= heard.step_s
    ? note
    : `${note} ${fill(rest, { seconds: fmtFixed(heard.seconds, 2), whole: fmtFixed(whole, 2) })}`;
}

/** @type {WeakMap<PackedArray, {colour: string, canvas: HTMLCanvasElement}>} */
const INKED = new WeakMap();

/** The spectrogram in one colour, see-through where it is silent; made once for a colour. */
function inked(/** @type {Spectrum} */ heard, /** @type {string} */ colour) {
  const known = INKED.get(heard.levels);
  if (known?.colour === colour) return known.canvas;
  const {
    shape: [height, width],
    data,
  } = heard.levels;
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width, height });
  const ctx = context2d(canvas);
  ctx.fillStyle = colour;
  ctx.fillRect(0, 0, width, height);
  const image = ctx.getImageData(0, 0, width, height);
  for (let i = 0; i < data.length; i++) image.data[4 * i + 3] = data[i];
  ctx.putImageData(image, 0, 0);
  INKED.set(heard.levels, { colour, canvas });
  return canvas;
}

/**
 * Draws the strip with its axis; `key` and `query` are frames whose spans are marked, `query` only where queries are frames.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Spectrum} heard
 * @param {Strip} strip
 * @param {{theme: Theme, title: string, key: number | null, query: number | null}} view
 */
export function drawSpectrum(ctx, heard, strip, { theme, title, key, query }) {
  const { x, w, from, to } = strip;
  const unit = w / (to - from);
  const y = strip.y + ABOVE;
  const at = (/** @type {number} */ frame) => x + (frame - from) * unit;
  const first = Math.max(0, from);
  const last = Math.min(heard.frames, to);
  const picture = inked(heard, theme.text);
  const per = picture.width / heard.frames;
  const end = Math.min(last, heard.seconds / heard.step_s);
  ctx.save();
  ctx.beginPath();
  ctx.rect(x, strip.y, w, SPECTRUM_ROOM);
  ctx.clip();
  ctx.fillStyle = theme.bg2;
  if (end > first) ctx.fillRect(at(first), y, at(end) - at(first), BAND);
  ctx.imageSmoothingEnabled = unit < per;
  if (last > first)
    ctx.drawImage(
      picture,
      first * per,
      0,
      (last - first) * per,
      picture.height,
      at(first),
      y,
      at(last) - at(first),
      BAND,
    );
  if (query !== null) markSpan(ctx, at(query), unit, y, theme.roles.query);
  if (key !== null) markSpan(ctx, at(key), unit, y, theme.roles.key);
  ctx.restore();
  drawSeconds(ctx, heard, strip, y + BAND, theme, key);
  ctx.font = `${FONT}px ${theme.font}`;
  ctx.fillStyle = theme.muted;
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  ctx.fillText(title, x - 6, y + BAND / 2, x - 8);
}

/**
 * The span of a frame: lines at both of its ends, its inside tinted.
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} left
 * @param {number} unit
 * @param {number} y
 * @param {string} colour
 */
function markSpan(ctx, left, unit, y, colour) {
  const w = Math.max(MIN_SPAN, unit);
  const x = left + (unit - w) / 2;
  ctx.fillStyle = withAlpha(colour, 0.22);
  ctx.fillRect(x, y, w, BAND);
  ctx.fillStyle = colour;
  for (const side of [x - 1, x + w]) ctx.fillRect(side, y - 4, 1, BAND + 8);
}

/**
 * Seconds under the strip at round places; those of the marked frame stand over the others.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Spectrum} heard
 * @param {Strip} strip
 * @param {number} y
 * @param {Theme} theme
 * @param {number | null} key
 */
function drawSeconds(ctx, heard, strip, y, theme, key) {
  const { x, w, from, to } = strip;
  const step = heard.step_s;
  const unit = w / (to - from);
  ctx.font = `${FONT}px ${theme.font}`;
  const span = key === null ? null : spanText(key, step);
  const room = span ? ctx.measureText(span).width / 2 + 6 : 0;
  const middle = key === null ? 0 : Math.max(x + room, Math.min(x + w - room, x + (key + 0.5 - from) * unit));
  ctx.fillStyle = theme.muted;
  ctx.textBaseline = "middle";
  ctx.textAlign = "center";
  for (const { at, text } of secondTicks(
    Math.max(0, from) * step,
    Math.min(heard.frames, to) * step,
    w / ((to - from) * step),
  )) {
    const place = x + (at / step - from) * unit;
    const half = ctx.measureText(text).width / 2;
    ctx.fillRect(place - 0.5, y, 1, 4);
    if (place + half <= x + w + 8 && (!span || Math.abs(place - middle) > room + half))
      ctx.fillText(text, place, y + 12);
  }
  if (!span) return;
  ctx.font = `600 ${FONT}px ${theme.font}`;
  ctx.fillStyle = theme.roles.key;
  ctx.fillText(span, middle, y + 12);
}

/**
 * Round places between two times, `scale` pixels a second, with their names: as many as have room.
 * @param {number} from
 * @param {number} to
 * @param {number} scale
 */
export function secondTicks(from, to, scale) {
  let power = -3;
  let round = 0;
  while (ROUND_S[round] * 10 ** power * scale < MIN_TICK)
    [power, round] = round === 2 ? [power + 1, 0] : [power, round + 1];
  const every = ROUND_S[round] * 10 ** power;
  const digits = Math.max(0, -power);
  const ticks = [];
  for (let i = Math.ceil(from / every - 1e-9); i * every <= to + 1e-9; i++)
    ticks.push({ at: i * every, text: `${fmtFixed(i * every, digits)} s` });
  return ticks;
}

/** From when to when a frame lasts. */
export function spanText(/** @type {number} */ frame, /** @type {number} */ step) {
  const digits = Math.abs(step * 100 - Math.round(step * 100)) < 1e-6 ? 2 : 3;
  return `${fmtFixed(frame * step, digits)}–${fmtFixed((frame + 1) * step, digits)} s`;
}

/**
 * The frame under a point of the strip, or null.
 * @param {Spectrum} heard
 * @param {Strip} strip
 * @param {{x: number, y: number}} point
 */
export function hitSpectrum(heard, strip, point) {
  if (
    point.x < strip.x ||
    point.x >= strip.x + strip.w ||
    point.y < strip.y ||
    point.y >= strip.y + SPECTRUM_ROOM
  )
    return null;
  const frame = Math.floor(strip.from + ((point.x - strip.x) * (strip.to - strip.from)) / strip.w);
  return frame >= 0 && frame < heard.frames ? frame : null;
}
