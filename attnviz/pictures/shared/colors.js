// @ts-check
// Colour scales: 256-entry tables (packed RGBA for ImageData), interpolated in OKLab so that equal steps look equal.
// Both ramps change lightness monotonically (sequential) or symmetrically (diverging) and stay readable
// with red-green colour blindness. Scales map a weight 0..1 to a place 0..1 on the ramp.

import { topCode } from "./buffer.js";
import { rgba } from "./theme.js";

/** @import { Dtype } from "./buffer.js" */
/** @import { Scale } from "./selection.js" */

/** Weights at or below this are the first colour of the log scale. */
export const LOG_FLOOR = 1e-4;
/** @type {readonly Scale[]} */
export const SCALES = ["linear", "sqrt", "log"];

/** @type {Record<string, [number, string][]>} */
const STOPS = {
  light: [
    [0, "#f6f9fb"],
    [0.14, "#d6ecea"],
    [0.34, "#93d0ca"],
    [0.54, "#4ba2b7"],
    [0.73, "#316c9f"],
    [0.89, "#31407c"],
    [1, "#1d1a42"],
  ],
  dark: [
    [0, "#161b27"],
    [0.14, "#212c4e"],
    [0.34, "#2b4f8c"],
    [0.54, "#2c82a8"],
    [0.74, "#4cb9ae"],
    [0.9, "#b4e5bb"],
    [1, "#fcfde2"],
  ],
  divergingLight: [
    [0, "#7a3b06"],
    [0.2, "#c9762a"],
    [0.37, "#efc292"],
    [0.5, "#f7f7f6"],
    [0.63, "#a9cbe8"],
    [0.8, "#3f7fc0"],
    [1, "#10386e"],
  ],
  divergingDark: [
    [0, "#ffae45"],
    [0.2, "#d27c2c"],
    [0.37, "#7a4718"],
    [0.5, "#1b1f2a"],
    [0.63, "#1f4a80"],
    [0.8, "#4b93dd"],
    [1, "#70bdff"],
  ],
};
/** @type {Map<string, Uint32Array>} */
const TABLES = new Map();

/** The table for values >= 0. */
export function sequential(/** @type {boolean} */ dark) {
  return table(dark ? "dark" : "light");
}

/** The table for signed values, symmetric around index 127.5: negative orange, positive blue. */
export function diverging(/** @type {boolean} */ dark) {
  return table(dark ? "divergingDark" : "divergingLight");
}

/** @returns {Uint32Array} */
function table(/** @type {string} */ name) {
  let lut = TABLES.get(name);
  if (!lut) {
    const stops = STOPS[name].map(([at, hex]) => ({ at, lab: oklab(rgba(hex)) }));
    lut = Uint32Array.from({ length: 256 }, (_, i) => rampAt(stops, i / 255));
    TABLES.set(name, lut);
  }
  return lut;
}

function rampAt(/** @type {{at: number, lab: number[]}[]} */ stops, /** @type {number} */ t) {
  let i = 1;
  while (i < stops.length - 1 && t > stops[i].at) i++;
  const a = stops[i - 1];
  const b = stops[i];
  const f = (t - a.at) / (b.at - a.at);
  const [r, g, blue] = srgb(a.lab.map((v, j) => v + (b.lab[j] - v) * f));
  return ((255 << 24) | (blue << 16) | (g << 8) | r) >>> 0;
}

function oklab(/** @type {number[]} */ rgb) {
  const [r, g, b] = rgb.map((v) => ((v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function srgb(/** @type {number[]} */ lab) {
  const [L, A, B] = lab;
  const l = (L + 0.3963377774 * A + 0.2158037573 * B) ** 3;
  const m = (L - 0.1055613458 * A - 0.0638541728 * B) ** 3;
  const s = (L - 0.0894841775 * A - 1.291485548 * B) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  return linear.map((v) =>
    Math.round(255 * Math.min(1, Math.max(0, v <= 0.0031308 ? 12.92 * v : 1.055 * v ** (1 / 2.4) - 0.055))),
  );
}

/** Place 0..1 of a weight 0..1 on the ramp; the log scale begins at `floor`. */
export function scaleValue(/** @type {number} */ weight, /** @type {Scale} */ scale, floor = LOG_FLOOR) {
  const w = Math.min(1, Math.max(0, weight));
  if (scale === "linear") return w;
  if (scale === "sqrt") return Math.sqrt(w);
  return w <= floor ? 0 : 1 - Math.log10(w) / Math.log10(floor);
}

/** The weight at a place of the ramp: inverse of scaleValue. */
export function unscaleValue(/** @type {number} */ place, /** @type {Scale} */ scale) {
  if (scale === "linear") return place;
  return scale === "sqrt" ? place * place : LOG_FLOOR ** (1 - place);
}

/** Index 0..255 into a table for a weight. */
export function levelFor(/** @type {number} */ weight, /** @type {Scale} */ scale, floor = LOG_FLOOR) {
  return Math.round(255 * scaleValue(weight, scale, floor));
}

/** @type {Map<string, Uint8Array>} */
const LEVELS = new Map();

/**
 * The table from a stored code (u8 or u16, square root of the weight) to the index 0..255 of its colour. Weights that
 * are stored as they are (f32) have no table; `levelFor` finds their colour.
 */
export function levelTable(/** @type {Dtype} */ dtype, /** @type {Scale} */ scale) {
  const name = `${dtype} ${scale}`;
  const top = topCode(dtype);
  let levels = LEVELS.get(name);
  if (!levels) {
    levels = Uint8Array.from({ length: top + 1 }, (_, code) => levelFor((code / top) ** 2, scale));
    LEVELS.set(name, levels);
  }
  return levels;
}

/** Index for a signed value against a symmetric limit (|value| = limit is the last colour). */
export function signedLevel(/** @type {number} */ value, /** @type {number} */ limit) {
  if (!Number.isFinite(value)) return -1;
  return limit > 0 ? Math.round(127.5 + 127.5 * Math.max(-1, Math.min(1, value / limit))) : 128;
}

/** The CSS colour of a table at index 0..255. */
export function colourAt(/** @type {Uint32Array} */ lut, /** @type {number} */ level) {
  const v = lut[Math.max(0, Math.min(255, level))];
  return `rgb(${v & 255}, ${(v >> 8) & 255}, ${(v >> 16) & 255})`;
}

/**
 * The CSS colour of a weight.
 * @param {Uint32Array} lut
 * @param {number} weight
 * @param {Scale} scale
 */
export function colourFor(lut, weight, scale) {
  return colourAt(lut, levelFor(weight, scale));
}

/**
 * Black or white, whichever is readable on the table's colour at this index: the one with the larger WCAG contrast, which
 * is black above a relative luminance of 0.179 and never below 4.5 : 1.
 */
export function inkOn(/** @type {Uint32Array} */ lut, /** @type {number} */ level) {
  const v = lut[Math.max(0, Math.min(255, level))];
  const linear = (/** @type {number} */ byte) =>
    byte <= 10 ? byte / 3294.6 : ((byte / 255 + 0.055) / 1.055) ** 2.4;
  const light = 0.2126 * linear(v & 255) + 0.7152 * linear((v >> 8) & 255) + 0.0722 * linear((v >> 16) & 255);
  return light > 0.179 ? "#000000" : "#ffffff";
}
