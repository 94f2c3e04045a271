// @ts-check
// Head lines: queries on one side, keys on the other, one line for each weight, the more opaque the larger, on any colour scale. The
// sides stand side by side, or one above the other. Unfocused, each query's strongest keys are drawn, of several heads each in its colour,
// and kept as a picture; focused on a token, all of its lines. Lines of similar opacity share one stroke, so a picture costs a few strokes
// rather than one per line.

import { ellipsize, isolate, shownLabels, SPECIAL, WRITTEN } from "../shared/axes.js";
import { scaleValue } from "../shared/colors.js";
import { context2d, fitCanvas, markDrawn, setData } from "../shared/dom.js";
import { withAlpha } from "../shared/theme.js";
import { placeOf } from "./heatmap.js";
import { topKeys, weightAt } from "../shared/numbers.js";

const BANDS = 16;
const OPACITY_SCALE = "sqrt";
const OPACITY_POWER = 1.5;
const HEAD_ROOM = 24;
const ACROSS_GAP = 190;
const MOST_LABEL = 110;
const MANY_LINES = 4096;
const MOST_PITCH = 24;
const MOST_ACROSS = 64;

/** Sizes of the picture: labels on both sides, tokens of a side at an even pitch, of the shorter side at a wider one if its
 * labels have no room else. */
/**
 * @param {HTMLCanvasElement} canvas
 * @param {any} view
 * @param {number} most
 */
export function layoutLines(canvas, view, most) {
  const { data, labels, keyLabels, theme, linesWidth: width, across } = view;
  const ctx = context2d(canvas);
  ctx.font = `600 12px ${theme.font}`;
  let room = 24;
  const limit = across ? MOST_LABEL : width * 0.28;
  const fit = (/** @type {string} */ name) => {
    room = Math.max(room, Math.min(limit, ctx.measureText(name).width));
  };
  for (const i of data.rows) fit(labels[i]);
  for (const i of data.cols) fit(keyLabels[i]);
  room = Math.ceil(room);
  const count = Math.max(1, data.rows.length, data.cols.length);
  if (across) {
    const from = 56;
    const pitch = Math.min(MOST_ACROSS, (width - from - 8) / count);
    const near = room + 8;
    return {
      across,
      width,
      room,
      ...pitches(data, pitch, MOST_ACROSS),
      from,
      near,
      far: near + ACROSS_GAP,
      height: near + ACROSS_GAP + room + 8,
    };
  }
  const pitch = Math.min(MOST_PITCH, most / count);
  return {
    across,
    width,
    room,
    ...pitches(data, pitch, MOST_PITCH),
    from: HEAD_ROOM,
    near: room + 8,
    far: width - room - 8,
    height: HEAD_ROOM + pitch * count + 4,
  };
}

/** The pitch of the longer side, and that of each side. */
function pitches(/** @type {any} */ data, /** @type {number} */ pitch, /** @type {number} */ most) {
  const length = pitch * Math.max(data.rows.length, data.cols.length);
  const of = (/** @type {any} */ side) => Math.min(most, length / Math.max(1, side.length));
  return { pitch, queryPitch: of(data.rows), keyPitch: of(data.cols) };
}

/**
 * Draws the picture for what is focused: {query}, {key} or nothing.
 * @param {HTMLCanvasElement} canvas
 * @param {any} cache
 * @param {any} view
 * @param {any} layout
 */
export function drawLines(canvas, cache, view, layout) {
  const ctx = fitCanvas(canvas, layout.width, layout.height);
  const { data, focus } = view;
  const row = placeOf(data.rows, focus?.query);
  const col = row === null ? placeOf(data.cols, focus?.key) : null;
  if (row !== null || col !== null)
    strokeHeads(ctx, view, layout, (/** @type {any} */ head) => focusedBands(head, row, col));
  else ctx.drawImage(wholePicture(cache, view, layout), 0, 0, layout.width, layout.height);
  drawSide(ctx, view, layout, {
    shown: data.rows,
    labels: view.labels,
    marks: view.marks,
    hi: row,
    title: view.strings.query,
    far: false,
  });
  drawSide(ctx, view, layout, {
    shown: data.cols,
    labels: view.keyLabels,
    marks: view.keyMarks,
    hi: col,
    title: view.strings.key,
    far: true,
  });
  setData(canvas, {
    layer: view.layer,
    head: view.head,
    query: row === null ? null : focus.query,
    key: col === null ? null : focus.key,
    top: view.top,
    across: layout.across ? 1 : null,
    heads: view.heads.length,
    pitch: layout.pitch,
    from: layout.from,
    near: layout.near,
    far: layout.far,
  });
  markDrawn(canvas);
}

/** Whether so many lines have to be drawn that the heatmap should be on the screen first. */
export function linesAreMany(/** @type {any} */ cache, /** @type {any} */ view, /** @type {any} */ layout) {
  const { data, focus, top } = view;
  const { rows, cols } = data;
  if (placeOf(rows, focus?.query) !== null || placeOf(cols, focus?.key) !== null) return false;
  const known = cache.name === pictureName(view, layout) && cache.data === data.values;
  return !known && view.heads.length * rows.length * Math.min(top || cols.length, cols.length) > MANY_LINES;
}

/** What an unfocused picture depends on, beside its numbers. */
function pictureName(/** @type {any} */ view, /** @type {any} */ layout) {
  return [
    view.heads.map((/** @type {any} */ head) => head.name),
    view.specialMode,
    view.inWords,
    view.top,
    layout.across,
    layout.width,
    layout.height,
    view.theme.dark,
    devicePixelRatio,
  ].join();
}

/** The unfocused picture, drawn once for what is shown and its size. */
function wholePicture(/** @type {any} */ cache, /** @type {any} */ view, /** @type {any} */ layout) {
  const name = pictureName(view, layout);
  if (cache.name !== name || cache.data !== view.data.values) {
    cache.canvas ??= document.createElement("canvas");
    strokeHeads(
      fitCanvas(cache.canvas, layout.width, layout.height),
      view,
      layout,
      (/** @type {any} */ head) => strongestBands(head, view.top || head.data.cols.length),
    );
    Object.assign(cache, { name, data: view.data.values });
  }
  return cache.canvas;
}

/**
 * The lines of every head that is shown, the chosen one on top.
 * @param {CanvasRenderingContext2D} ctx
 * @param {any} view
 * @param {any} layout
 * @param {(head: any) => number[][]} bandsOf
 */
function strokeHeads(ctx, view, layout, bandsOf) {
  for (const head of [...view.heads].reverse()) strokeBands(ctx, head.colour, layout, bandsOf(head));
}

/** Lines by opacity: bands[b] = [row, col, row, col, ...]. @returns {number[][]} */
function emptyBands() {
  return Array.from({ length: BANDS + 1 }, () => []);
}

function strongestBands(/** @type {any} */ { data }, /** @type {number} */ count) {
  const bands = emptyBands();
  const place = new Map(data.cols.map((/** @type {number} */ key, /** @type {number} */ i) => [key, i]));
  data.rows.forEach((/** @type {number} */ query, /** @type {number} */ row) => {
    for (const key of count < data.cols.length ? topKeys(data, query, count) : data.cols) {
      bands[Math.round(BANDS * scaleValue(weightAt(data, query, key), OPACITY_SCALE))].push(
        row,
        /** @type {number} */ (place.get(key)),
      );
    }
  });
  return bands;
}

function focusedBands(
  /** @type {any} */ { data },
  /** @type {number | null} */ row,
  /** @type {number | null} */ col,
) {
  const bands = emptyBands();
  const add = (/** @type {number} */ r, /** @type {number} */ c) =>
    bands[Math.round(BANDS * scaleValue(weightAt(data, data.rows[r], data.cols[c]), OPACITY_SCALE))].push(
      r,
      c,
    );
  if (row !== null) for (let c = 0; c < data.cols.length; c++) add(row, c);
  else for (let r = 0; r < data.rows.length; r++) add(r, /** @type {number} */ (col));
  return bands;
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {string} colour
 * @param {any} layout
 * @param {number[][]} bands
 */
function strokeBands(ctx, colour, layout, bands) {
  const { near, far, from, pitch, queryPitch, keyPitch, across } = layout;
  const thick = Math.max(0.7, Math.min(2.2, pitch / 9));
  const asks = (/** @type {number} */ place) => from + (place + 0.5) * queryPitch;
  const answers = (/** @type {number} */ place) => from + (place + 0.5) * keyPitch;
  ctx.strokeStyle = colour;
  for (let band = 1; band <= BANDS; band++) {
    const pairs = bands[band];
    if (!pairs.length) continue;
    ctx.globalAlpha = (band / BANDS) ** OPACITY_POWER;
    ctx.lineWidth = thick * (0.6 + (0.7 * band) / BANDS);
    ctx.beginPath();
    for (let i = 0; i < pairs.length; i += 2) {
      if (across) {
        ctx.moveTo(asks(pairs[i]), near);
        ctx.lineTo(answers(pairs[i + 1]), far);
      } else {
        ctx.moveTo(near, asks(pairs[i]));
        ctx.lineTo(far, answers(pairs[i + 1]));
      }
    }
    ctx.stroke();
  }
  ctx.globalAlpha = 1;
}

/**
 * The tokens of one side and what it is called; `far` is the right or the lower side.
 * @param {CanvasRenderingContext2D} ctx
 * @param {any} view
 * @param {any} layout
 * @param {{shown: readonly number[], labels: string[], marks: number[], hi: number | null, title: string, far: boolean}} side
 */
function drawSide(ctx, view, layout, side) {
  const { shown, labels, marks, hi, far } = side;
  const { theme } = view;
  const { across, from, room } = layout;
  const pitch = far ? layout.keyPitch : layout.queryPitch;
  const edge = far ? layout.far + 8 : layout.near - 8;
  ctx.direction = "ltr";
  ctx.textBaseline = "middle";
  ctx.font = `11px ${theme.font}`;
  ctx.fillStyle = theme.muted;
  ctx.textAlign = across || far ? "left" : "right";
  if (across) ctx.fillText(side.title, 0, far ? layout.far : layout.near, from - 4);
  else ctx.fillText(side.title, edge, 8);
  const most = across ? room : Math.min(room, far ? layout.width - edge : edge);
  for (const i of shownLabels(shown.length, pitch, 15, hi)) {
    const token = shown[i];
    const at = from + (i + 0.5) * pitch;
    ctx.font = `${marks[token] & WRITTEN ? "italic " : ""}${i === hi ? "600 " : ""}12px ${theme.font}`;
    ctx.fillStyle =
      i === hi ? theme.accent : marks[token] & SPECIAL ? withAlpha(theme.muted, 0.75) : theme.text;
    const text = isolate(ellipsize(ctx, labels[token], most));
    if (across) drawUpright(ctx, text, at, edge, far);
    else ctx.fillText(text, edge, at + 0.5);
  }
}

/**
 * Text that reads upwards, ending or beginning at the side.
 * @param {CanvasRenderingContext2D} ctx
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {boolean} far
 */
function drawUpright(ctx, text, x, y, far) {
  ctx.save();
  ctx.translate(x, y);
  ctx.rotate(-Math.PI / 2);
  ctx.textAlign = far ? "right" : "left";
  ctx.fillText(text, 0, 0);
  ctx.restore();
}

/**
 * The token under a point: a query on the first half, a key on the other, or nothing.
 * @param {any} layout
 * @param {any} data
 * @param {{x: number, y: number}} point
 */
export function hitLines(layout, data, point) {
  const [along, over] = layout.across ? [point.x, point.y] : [point.y, point.x];
  const asks = over < (layout.across ? layout.height : layout.width) / 2;
  const place = Math.floor((along - layout.from) / (asks ? layout.queryPitch : layout.keyPitch));
  if (place < 0 || place >= (asks ? data.rows : data.cols).length) return null;
  return asks ? { query: data.rows[place], key: null } : { query: null, key: data.cols[place] };
}

/**
 * The token that an arrow leads to from the focused one: along its side, or over to the other one; null for other keys.
 * @param {string} key
 * @param {any} layout
 * @param {any} data
 * @param {any} focus
 */
export function lineStep(key, layout, data, focus) {
  const along = layout.across ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
  const over = layout.across ? ["ArrowUp", "ArrowDown"] : ["ArrowLeft", "ArrowRight"];
  if (![...along, ...over].includes(key)) return null;
  const onKeys = focus !== null && focus.query === null && focus.key !== null;
  const list = onKeys ? data.cols : data.rows;
  const here = focus === null ? -1 : list.indexOf(onKeys ? focus.key : focus.query);
  const clamp = (/** @type {number} */ i, /** @type {readonly number[]} */ of) =>
    of[Math.max(0, Math.min(of.length - 1, i))];
  const toKeys = over.includes(key) ? key === over[1] : onKeys;
  const next = along.includes(key) ? here + (key === along[1] ? 1 : -1) : here;
  return toKeys ? { query: null, key: clamp(next, data.cols) } : { query: clamp(next, data.rows), key: null };
}
