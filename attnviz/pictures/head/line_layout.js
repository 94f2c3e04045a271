// @ts-check
// Where the lines of a head begin and end: the sizes of the picture, the token under a point, and where arrow keys lead.

import { context2d } from "../shared/dom.js";

/** @import { HeadData } from "../shared/numbers.js" */
/** @import { CellPlace, View } from "./view.js" */

/**
 * Tokens of a side stand at an even pitch, `from` on. `near` and `far` are where lines begin and end; `room` is that of a
 * label. Where `isAcross`, one side stands above the other, else they stand side by side.
 * @typedef {{isAcross: boolean, width: number, height: number, room: number, pitch: number, queryPitch: number,
 *   keyPitch: number, from: number, near: number, far: number}} LineLayout
 */

const TITLE_PX = 24;
const ACROSS_TITLE_PX = 56;
const ACROSS_GAP_PX = 190;
const LONGEST_LABEL_PX = 110;
const WIDEST_PITCH_PX = 24;
const WIDEST_ACROSS_PX = 64;
const LABEL_GAP_PX = 8;

/**
 * The layout of the lines; the shorter side has a wider pitch where its labels have no room else.
 * @param {HTMLCanvasElement} canvas
 * @param {View} view
 * @param {number} width
 * @param {number} most how high the picture may be where sides stand side by side
 * @returns {LineLayout}
 */
export function layoutLines(canvas, view, width, most) {
  const { data, isAcross } = view;
  const room = labelRoom(canvas, view, isAcross ? LONGEST_LABEL_PX : width * 0.28);
  const count = Math.max(1, data.rows.length, data.cols.length);
  const near = room + LABEL_GAP_PX;
  if (isAcross) {
    const from = ACROSS_TITLE_PX;
    const pitch = Math.min(WIDEST_ACROSS_PX, (width - from - LABEL_GAP_PX) / count);
    const far = near + ACROSS_GAP_PX;
    const height = far + room + LABEL_GAP_PX;
    return { isAcross, width, height, room, ...pitches(data, pitch, WIDEST_ACROSS_PX), from, near, far };
  }
  const pitch = Math.min(WIDEST_PITCH_PX, most / count);
  const height = TITLE_PX + pitch * count + 4;
  const far = width - room - LABEL_GAP_PX;
  return {
    isAcross,
    width,
    height,
    room,
    ...pitches(data, pitch, WIDEST_PITCH_PX),
    from: TITLE_PX,
    near,
    far,
  };
}

/** Room for the widest label, within a limit. */
function labelRoom(
  /** @type {HTMLCanvasElement} */ canvas,
  /** @type {View} */ { data, axes, theme },
  /** @type {number} */ limit,
) {
  const ctx = context2d(canvas);
  ctx.font = `600 12px ${theme.font}`;
  let room = 24;
  const fit = (/** @type {string} */ label) => {
    room = Math.max(room, Math.min(limit, ctx.measureText(label).width));
  };
  for (const place of data.rows) fit(axes.query.labels[place]);
  for (const place of data.cols) fit(axes.key.labels[place]);
  return Math.ceil(room);
}

/** The pitch of the longer side, and that of each side. */
function pitches(
  /** @type {HeadData} */ { rows, cols },
  /** @type {number} */ pitch,
  /** @type {number} */ most,
) {
  const length = pitch * Math.max(rows.length, cols.length);
  const pitchOf = (/** @type {readonly number[]} */ side) =>
    Math.min(most, length / Math.max(1, side.length));
  return { pitch, queryPitch: pitchOf(rows), keyPitch: pitchOf(cols) };
}

/**
 * The token under a point: a query on the first half, a key on the other, or nothing.
 * @param {LineLayout} layout
 * @param {HeadData} data
 * @param {{x: number, y: number}} point
 * @returns {CellPlace | null}
 */
export function hitLines(layout, data, point) {
  const [along, over] = layout.isAcross ? [point.x, point.y] : [point.y, point.x];
  const isQuery = over < (layout.isAcross ? layout.height : layout.width) / 2;
  const place = Math.floor((along - layout.from) / (isQuery ? layout.queryPitch : layout.keyPitch));
  const side = isQuery ? data.rows : data.cols;
  if (place < 0 || place >= side.length) return null;
  return isQuery ? { query: side[place], key: null } : { query: null, key: side[place] };
}

/**
 * The token that an arrow leads to from the focused one: along its side, or over to the other one; null for other keys.
 * @param {string} key
 * @param {LineLayout} layout
 * @param {HeadData} data
 * @param {CellPlace | null} focus
 * @returns {CellPlace | null}
 */
export function lineStep(key, layout, data, focus) {
  const along = layout.isAcross ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
  const over = layout.isAcross ? ["ArrowUp", "ArrowDown"] : ["ArrowLeft", "ArrowRight"];
  if (![...along, ...over].includes(key)) return null;
  const focusedKey = focus?.query === null ? focus.key : null;
  const here = focusedKey !== null ? data.cols.indexOf(focusedKey) : data.rows.indexOf(focus?.query ?? -1);
  const toKeys = over.includes(key) ? key === over[1] : focusedKey !== null;
  const next = along.includes(key) ? here + (key === along[1] ? 1 : -1) : here;
  const side = toKeys ? data.cols : data.rows;
  const place = side[Math.max(0, Math.min(side.length - 1, next))];
  return toKeys ? { query: null, key: place } : { query: place, key: null };
}
