// @ts-check
// The large plot of a long head: tiles, the axes with as many names as fit, and marks for what is chosen or found.

import { ellipsize, isolate } from "../shared/axes.js";
import { fitCanvas, markDrawn, pixelRatio, setData } from "../shared/dom.js";
import { frameBox } from "../shared/panel.js";
import { drawSpectrum, SPECTRUM_ROOM } from "../shared/spectrum.js";
import { withAlpha } from "../shared/theme.js";
import { levelOf, shownRange, tileName, TILE, visibleTiles } from "./camera.js";

const LABEL_FONT = 12;
const AROUND = { left: 104, top: 92, right: 6, bottom: 6 };
const ROUND = [1, 2, 5];
const AXIS_TITLE = 8;

/**
 * The plot's place on the canvas, as large as the width allows and no taller than its matrix asks.
 * @param {number} width
 * @param {number} most
 * @param {number} nQuery
 * @param {number} nKey
 * @param {boolean} [heard]
 */
export function layoutPlot(width, most, nQuery, nKey, heard = false) {
  const side = Math.max(160, Math.min(most, Math.floor(width - AROUND.left - AROUND.right)));
  const ratio = nQuery / nKey;
  const w = ratio > 1 ? Math.max(160, Math.round(side / ratio)) : side;
  const h = ratio < 1 ? Math.max(160, Math.round(side * ratio)) : side;
  return {
    x: AROUND.left,
    y: AROUND.top,
    w,
    h,
    width: AROUND.left + w + AROUND.right,
    height: AROUND.top + h + AROUND.bottom + (heard ? SPECTRUM_ROOM : 0),
  };
}

/** Draws everything; returns the places of the tiles that are missing. */
export function drawPlot(/** @type {HTMLCanvasElement} */ canvas, /** @type {any} */ view) {
  const { plot, camera, frame, theme, header } = view;
  const ctx = fitCanvas(canvas, plot.width, plot.height);
  const level = levelOf(camera, header.top);
  const places = visibleTiles(camera, frame, level);
  ctx.fillStyle = theme.bg2;
  ctx.fillRect(plot.x, plot.y, plot.w, plot.h);
  ctx.save();
  clipToMatrix(ctx, view);
  const missing = header.ready ? places.filter((place) => !drawTile(ctx, view, place)) : places;
  drawBands(ctx, view);
  ctx.restore();
  drawAxis(ctx, view, "row");
  drawAxis(ctx, view, "column");
  nameAxes(ctx, view);
  drawCells(ctx, view);
  if (view.heard) drawHeard(ctx, view);
  if (!header.ready) drawWaiting(ctx, view);
  setData(canvas, {
    x: plot.x,
    y: plot.y,
    w: plot.w,
    h: plot.h,
    level,
    missing: missing.length,
    cameraX: camera.x,
    cameraY: camera.y,
    cellPx: camera.scale,
    heard: view.heard ? plot.y + plot.h : null,
    layer: header.layer,
    head: header.head,
    query: view.pinned?.query ?? null,
    key: view.pinned?.key ?? null,
    ready: header.ready,
  });
  markDrawn(canvas);
  return header.ready ? missing : [];
}

function clipToMatrix(
  /** @type {CanvasRenderingContext2D} */ ctx,
  /** @type {any} */ { plot, camera, frame },
) {
  const x = plot.x + Math.max(0, -camera.x * camera.scale);
  const y = plot.y + Math.max(0, -camera.y * camera.scale);
  const right = Math.min(plot.x + plot.w, plot.x + (frame.nKey - camera.x) * camera.scale);
  const low = Math.min(plot.y + plot.h, plot.y + (frame.nQuery - camera.y) * camera.scale);
  ctx.beginPath();
  ctx.rect(x, y, right - x, low - y);
  ctx.clip();
}

/**
 * One tile; where it is missing, the part of the nearest level above that is here. True when the tile itself was.
 * @param {CanvasRenderingContext2D} ctx
 * @param {any} view
 * @param {any} place
 */
function drawTile(ctx, view, place) {
  const { plot, camera, store, colours, header } = view;
  const ratio = pixelRatio();
  const snap = (/** @type {number} */ at) => Math.round(at * ratio) / ratio;
  const x = snap(plot.x + (place.x - camera.x) * camera.scale);
  const y = snap(plot.y + (place.y - camera.y) * camera.scale);
  const w = snap(plot.x + (place.x + place.side - camera.x) * camera.scale) - x;
  const h = snap(plot.y + (place.y + place.side - camera.y) * camera.scale) - y;
  ctx.imageSmoothingEnabled = false;
  for (let up = 0; place.level + up <= header.top; up++) {
    const picture = store.picture(tileName(place.level + up, place.row >> up, place.column >> up), colours);
    if (!picture) continue;
    const part = TILE / 2 ** up;
    const mask = 2 ** up - 1;
    ctx.drawImage(picture, (place.column & mask) * part, (place.row & mask) * part, part, part, x, y, w, h);
    return up === 0;
  }
  return false;
}

/** Lines on both sides of the row and of the column that a search found; the colours between them stay as they are. */
function drawBands(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {any} */ view) {
  const { plot, camera, theme, found } = view;
  if (!found) return;
  const away = Math.max(3, camera.scale) / 2;
  const y = plot.y + (found.query + 0.5 - camera.y) * camera.scale;
  const x = plot.x + (found.key + 0.5 - camera.x) * camera.scale;
  ctx.fillStyle = withAlpha(theme.accent, 0.8);
  for (const side of [-away - 1, away]) {
    if (found.query !== null) ctx.fillRect(plot.x, y + side, plot.w, 1);
    if (found.key !== null) ctx.fillRect(x + side, plot.y, 1, plot.h);
  }
}

/** The sound under the columns that are shown. */
function drawHeard(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {any} */ view) {
  const { plot, camera, theme, header, heard } = view;
  const [key] = emphasised(view, false);
  const [query] = header.cross ? [null] : emphasised(view, true);
  const strip = {
    x: plot.x,
    y: plot.y + plot.h,
    w: plot.w,
    from: camera.x,
    to: camera.x + plot.w / camera.scale,
  };
  drawSpectrum(ctx, heard, strip, { theme, title: header.strings.heard, key, query });
}

/** Frames of the pinned cell, of the one under the pointer and of the one that a list points at. */
function drawCells(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {any} */ view) {
  const { plot, camera, theme, pinned, hover, pointed } = view;
  const frame = (
    /** @type {any} */ cell,
    /** @type {string} */ colour,
    /** @type {number} */ least,
    /** @type {number} */ width,
  ) => {
    const size = Math.max(least, camera.scale);
    const x = plot.x + (cell.key + 0.5 - camera.x) * camera.scale;
    const y = plot.y + (cell.query + 0.5 - camera.y) * camera.scale;
    if (x < plot.x || y < plot.y || x > plot.x + plot.w || y > plot.y + plot.h) return;
    frameBox(ctx, { x: x - size / 2, y: y - size / 2, w: size, h: size }, { colour, theme, width });
  };
  if (pointed) frame(pointed, theme.accent, 13, 2);
  if (pinned) frame(pinned, theme.accent, 9, 2.5);
  if (hover && camera.scale >= 4) frame(hover, theme.text, 4, 1.5);
}

/**
 * Names along an axis: every token where they fit, round positions where they do not; found tokens get a tick.
 * @param {CanvasRenderingContext2D} ctx
 * @param {any} view
 * @param {"row" | "column"} which
 */
function drawAxis(ctx, view, which) {
  const { plot, camera, frame, theme } = view;
  const row = which === "row";
  const [from, room, n] = row ? [camera.y, plot.h, frame.nQuery] : [camera.x, plot.w, frame.nKey];
  const { labels, marks } = row ? view.axes.rows : view.axes.columns;
  const [first, last] = shownRange(from, room, camera.scale, n);
  const need = LABEL_FONT + 4;
  const every = labelStep(need / camera.scale);
  const named = every <= 2 || Boolean(view.heard && (!row || !view.header.cross));
  const at = (/** @type {number} */ i) => (i + 0.5 - from) * camera.scale;
  const chosen = emphasised(view, row);
  const inside = (/** @type {number} */ i) => at(i) >= 0 && at(i) <= room;
  ctx.save();
  ctx.direction = "ltr";
  ctx.textBaseline = "middle";
  for (let i = Math.ceil(first / every) * every; i < last; i += every) {
    if (!inside(i) || chosen.some((other) => other !== null && Math.abs(other - i) * camera.scale < need))
      continue;
    ctx.font = `${LABEL_FONT}px ${theme.font}`;
    ctx.fillStyle = !named || marks[i] ? theme.muted : theme.text;
    writeLabel(ctx, plot, row, at(i), named ? labels[i] : String(i));
  }
  for (const i of new Set(chosen))
    if (i !== null && inside(i)) {
      ctx.font = `600 ${LABEL_FONT}px ${theme.font}`;
      ctx.fillStyle = theme.accent;
      writeLabel(ctx, plot, row, at(i), labels[i]);
    }
  drawTicks(ctx, view, row, at, room);
  ctx.restore();
}

/** The rows or columns that are always named: those of the cell under the pointer, else the pinned or the found one. */
function emphasised(/** @type {any} */ view, /** @type {boolean} */ row) {
  const cell = view.hover ?? view.pointed ?? view.pinned ?? view.found;
  return [cell ? (row ? cell.query : cell.key) : null];
}

/** 1, 2, 5, 10, 20, … : the smallest that is at least this. */
export function labelStep(/** @type {number} */ least) {
  let ten = 1;
  for (;;) {
    for (const step of ROUND) if (step * ten >= least) return step * ten;
    ten *= 10;
  }
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {any} plot
 * @param {boolean} row
 * @param {number} at
 * @param {string} label
 */
function writeLabel(ctx, plot, row, at, label) {
  const room = (row ? AROUND.left : AROUND.top) - 2 * AXIS_TITLE - 14;
  const text = isolate(ellipsize(ctx, label, room));
  ctx.save();
  if (row) ctx.translate(plot.x - 10, plot.y + at + 0.5);
  else ctx.translate(plot.x + at, plot.y - 10);
  if (!row) ctx.rotate(-Math.PI / 2);
  ctx.textAlign = row ? "right" : "left";
  ctx.fillText(text, 0, 0);
  ctx.restore();
}

/**
 * Small triangles at the edge, one for each place where the token that is looked for stands.
 * @param {CanvasRenderingContext2D} ctx
 * @param {any} view
 * @param {boolean} row
 * @param {(i: number) => number} at
 * @param {number} room
 */
function drawTicks(ctx, view, row, at, room) {
  const { plot, theme, places } = view;
  ctx.fillStyle = theme.accent;
  let before = -9;
  for (const place of places) {
    const i = row ? place.query : place.key;
    const along = i === null ? -1 : at(i);
    if (along < 0 || along > room || along - before < 1) continue;
    before = along;
    ctx.beginPath();
    if (row)
      triangle(
        ctx,
        [plot.x - 1, plot.y + along],
        [plot.x - 7, plot.y + along - 3],
        [plot.x - 7, plot.y + along + 3],
      );
    else
      triangle(
        ctx,
        [plot.x + along, plot.y - 1],
        [plot.x + along - 3, plot.y - 7],
        [plot.x + along + 3, plot.y - 7],
      );
    ctx.fill();
  }
}

function triangle(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {number[][]} */ ...points) {
  for (const [x, y] of points) ctx.lineTo(x, y);
}

function nameAxes(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {any} */ { plot, theme, header }) {
  ctx.save();
  ctx.font = `${LABEL_FONT - 1}px ${theme.font}`;
  ctx.fillStyle = theme.muted;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillText(header.strings.key_axis, plot.x + plot.w / 2, AXIS_TITLE);
  ctx.translate(AXIS_TITLE, plot.y + plot.h / 2);
  ctx.rotate(-Math.PI / 2);
  ctx.fillText(header.strings.query_axis, 0, 0);
  ctx.restore();
}

function drawWaiting(
  /** @type {CanvasRenderingContext2D} */ ctx,
  /** @type {any} */ { plot, theme, header },
) {
  ctx.save();
  ctx.font = `${LABEL_FONT + 1}px ${theme.font}`;
  ctx.fillStyle = theme.muted;
  ctx.textAlign = "center";
  ctx.fillText(header.strings.waiting, plot.x + plot.w / 2, plot.y + plot.h / 2);
  ctx.restore();
}
