// @ts-check
// The page's theme as the components need it: read from the --st-* variables, light or dark by luminance. The colours
// by role (query, key, …) are the --av-* variables of the shared style sheet.

import { plainContext } from "./dom.js";

/** @typedef {"query" | "key" | "value" | "answer" | "off" | "chosen"} Role */
/**
 * @typedef {{text: string, muted: string, faint: string, bg: string, bg2: string, border: string, primary: string,
 *   roles: Readonly<Record<Role, string>>, font: string, mono: string, danger: string, dark: boolean}} Theme
 */

/** @type {readonly Role[]} */
const ROLES = ["query", "key", "value", "answer", "off", "chosen"];

/**
 * @param {ShadowRoot | Element} root the component's parentElement or anything inside it
 * @returns {Theme}
 */
export function theme(root) {
  const style = getComputedStyle(root instanceof ShadowRoot ? root.host : root);
  const read = (/** @type {string} */ name, /** @type {string} */ fallback) => {
    const value = style.getPropertyValue(name).trim();
    return value && value !== "unset" ? value : fallback;
  };
  const bg = read("--st-background-color", "#ffffff");
  const text = read("--st-text-color", "#1d2330");
  const dark = luminance(bg) < 0.4;
  const ofRole = (/** @type {Role} */ role) => [role, sideOf(read(`--av-${role}`, text), dark)];
  return {
    text,
    bg,
    muted: mix(text, bg, 0.34),
    faint: mix(text, bg, 0.86),
    bg2: read("--st-secondary-background-color", "#f4f6f9"),
    border: read("--st-border-color", mix(text, bg, 0.8)),
    primary: read("--st-primary-color", "#2563c9"),
    danger: read("--st-red-text-color", "#b42318"),
    roles: Object.fromEntries(ROLES.map(ofRole)),
    font: read("--st-font", "system-ui, sans-serif"),
    mono: read("--st-code-font", "ui-monospace, monospace"),
    dark,
  };
}

/** One side of `light-dark(a, b)`; any other colour as it is. */
export function sideOf(/** @type {string} */ colour, /** @type {boolean} */ dark) {
  const sides = /^light-dark\(\s*([^,]+?)\s*,\s*([^)]+?)\s*\)$/.exec(colour);
  return sides ? sides[dark ? 2 : 1] : colour;
}

/** Colour a moved towards b by a fraction, as rgb(). */
export function mix(/** @type {string} */ a, /** @type {string} */ b, /** @type {number} */ fraction) {
  const [from, to] = [rgba(a), rgba(b)];
  const part = (/** @type {number} */ i) => Math.round(from[i] + (to[i] - from[i]) * fraction);
  return `rgb(${part(0)}, ${part(1)}, ${part(2)})`;
}

/** The same colour, see-through. */
export function withAlpha(/** @type {string} */ colour, /** @type {number} */ alpha) {
  const [r, g, b] = rgba(colour);
  return `rgba(${r}, ${g}, ${b}, ${alpha})`;
}

/** Relative luminance of a CSS colour, 0..1. */
export function luminance(/** @type {string} */ colour) {
  const linear = rgba(colour)
    .slice(0, 3)
    .map((v) => ((v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}

/** A CSS colour as [r, g, b, a]; names and other notations go through a 1-pixel canvas. */
export function rgba(/** @type {string} */ colour) {
  const hex = /^#([0-9a-f]{3,8})$/i.exec(colour)?.[1];
  if (hex && (hex.length === 6 || hex.length === 8))
    return [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16)).concat(1);
  const parts = /^rgba?\(([^)]+)\)$/
    .exec(colour)?.[1]
    .split(/[\s,/]+/)
    .map(Number);
  if (parts && parts.length >= 3 && parts.every(Number.isFinite))
    return [parts[0], parts[1], parts[2], parts[3] ?? 1];
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const ctx = plainContext(canvas);
  ctx.fillStyle = colour;
  ctx.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = ctx.getImageData(0, 0, 1, 1).data;
  return [r, g, b, a / 255];
}
