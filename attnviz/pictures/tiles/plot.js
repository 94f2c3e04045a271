// @ts-check
// The large plot of a long head: tiles, its axes, and marks for what is chosen or found.

import { frameBox } from "../shared/matrix.js";
import { fitCanvas, markDrawn, pixelRatio, setData } from "../shared/dom.js";
import { drawSpectrum, SPECTRUM_ROOM } from "../shared/spectrum.js";
import { withAlpha } from "../shared/theme.js";
import { levelOf, TILE, tileName, visibleTiles } from "./camera.js";
import { AROUND, drawPlotAxes, LABEL_PX, markedOn } from "./plot_axes.js";

/** @import { Spectrum } from "../shared/spectrum.js" */
/** @import { Cell, TilePlace } from "./camera.js" */
/** @import { PlotBox, Scene } from "./scene.js" */

const MIN_PX = 160;
const CELLS_FROM_SCALE = 4; // cells this large are framed under the pointer

/**
 * The plot's place on the canvas, as large as the width allows and no taller than its matrix asks.
 * @param {number} width
 * @param {number} most
 * @param {{n_query: number, n_key: number}} header
 * @param {boolean} isHeard
 * @returns {PlotBox}
 */
export function layoutPlot(width, most, { n_query, n_key }, isHeard) {
  const side = Math.max(MIN_PX, Math.min(most, Math.floor(width - AROUND.left - AROUND.right)));
  const ratio = n_query / n_key;
  const w = ratio > 1 ? Math.max(MIN_PX, Math.round(side / ratio)) : side;
  const h = ratio < 1 ? Math.max(MIN_PX, Math.round(side * ratio)) : side;
  const height = AROUND.top + h + AROUND.bottom + (isHeard ? SPECTRUM_ROOM : 0);
  return { x: AROUND.left, y: AROUND.top, w, h, width: AROUND.left + w + AROUND.right, height };
}

/** Draws everything; returns the places of the tiles that are missing. */
export function drawPlot(/** @type {HTMLCanvasElement} */ canvas, /** @type {Scene} */ scene) {
  const { plot, camera, frame, theme, header, text } = scene;
  const ctx = fitCanvas(canvas, plot.width, plot.height);
  const level = levelOf(camera, header.top);
  const places = visibleTiles(camera, frame, level);
  ctx.fillStyle = theme.bg2;
  ctx.fillRect(plot.x, plot.y, plot.w, plot.h);
  ctx.save();
  clipToMatrix(ctx, scene);
  const missing = header.ready ? places.filter((place) => !drawTile(ctx, scene, place)) : places;
  drawFoundLines(ctx, scene);
  ctx.restore();
  drawPlotAxes(ctx, scene);
  drawCells(ctx, scene);
  if (text.heard) drawSound(ctx, scene, text.heard);
  if (!header.ready) drawWaiting(ctx, scene);
  writeFacts(canvas, scene, level, missing.length);
  markDrawn(canvas);
  return header.ready ? missing : [];
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Scene} scene
 * @param {number} level
 * @param {number} missing
 */
function writeFacts(canvas, { plot, camera, header, text, pinned }, level, missing) {
  const { x, y, w, h } = plot;
  const { layer, head, ready } = header;
  const heard = text.heard ? y + h : null;
  const place = { layer, head, query: pinned?.query, key: pinned?.key };
  const look = { cameraX: camera.x, cameraY: camera.y, cellPx: camera.scale };
  setData(canvas, { x, y, w, h, level, missing, ...look, heard, ...place, ready });
}

function clipToMatrix(
  /** @type {CanvasRenderingContext2D} */ ctx,
  /** @type {Scene} */ { plot, camera, frame },
) {
  const x = plot.x + Math.max(0, -camera.x * camera.scale);
  const y = plot.y + Math.max(0, -camera.y * camera.scale);
  const right = Math.min(plot.x + plot.w, plot.x + (frame.nKey - camera.x) * camera.scale);
  const low = Math.min(plot.y + plot.h, plot.y + (frame.nQuery - camera.y) * camera.scale);
  ctx.beginPath();
  ctx.rect(x, y, right - x, low - y);
  ctx.clip();
}

/** Draws a tile, or the part of the nearest level above that is here; returns true if the tile itself was here. */
function drawTile(
  /** @type {CanvasRenderingContext2D} */ ctx,
  /** @type {Scene} */ { plot, camera, store, colours, header },
  /** @type {TilePlace} */ place,
) {
  const ratio = pixelRatio();
  const snap = (/** @type {number} */ at) => Math.round(at * ratio) / ratio;
  const x = snap(plot.x + (place.x - camera.x) * camera.scale);
  const y = snap(plot.y + (place.y - camera.y) * camera.scale);
  const w = snap(plot.x + (place.x + place.side - camera.x) * camera.scale) - x;
  const h = snap(plot.y + (place.y + place.side - camera.y) * camera.scale) - y;
  ctx.imageSmoothingEnabled = false;
  for (let up = 0; place.level + up <= header.top; up++) {
    const name = tileName(place.level + up, place.row >> up, place.column >> up);
    const picture = store.picture(name, colours);
    if (!picture) continue;
    const part = TILE / 2 ** up;
    const mask = 2 ** up - 1;
    ctx.drawImage(picture, (place.column & mask) * part, (place.row & mask) * part, part, part, x, y, w, h);
    return up === 0;
  }
  return false;
}

/** Lines on both sides of the row and of the column that a search found; the colours between them stay as they are. */
function drawFoundLines(
  /** @type {CanvasRenderingContext2D} */ ctx,
  /** @type {Scene} */ { plot, camera, theme, found },
) {
  if (!found) return;
  const { query, key } = found;
  const away = Math.max(3, camera.scale) / 2;
  for (const side of [-away - 1, away]) {
    ctx.fillStyle = withAlpha(theme.roles.query, 0.8);
    if (query !== null)
      ctx.fillRect(plot.x, plot.y + (query + 0.5 - camera.y) * camera.scale + side, plot.w, 1);
    ctx.fillStyle = withAlpha(theme.roles.key, 0.8);
    if (key !== null) ctx.fillRect(plot.x + (key + 0.5 - camera.x) * camera.scale + side, plot.y, 1, plot.h);
  }
}

/** The sound under the columns that are shown. */
function drawSound(
  /** @type {CanvasRenderingContext2D} */ ctx,
  /** @type {Scene} */ scene,
  /** @type {Spectrum} */ heard,
) {
  const { plot, camera, theme, header } = scene;
  const { x, w } = plot;
  const strip = { x, y: plot.y + plot.h, w, from: camera.x, to: camera.x + w / camera.scale };
  const query = header.cross ? null : markedOn(scene, true);
  drawSpectrum(ctx, heard, strip, { theme, title: header.strings.heard, key: markedOn(scene, false), query });
}

/** Frames the pinned cell, the one under the pointer and the one that a list points at. */
function drawCells(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {Scene} */ scene) {
  const { plot, camera, theme, pinned, hover, pointed } = scene;
  const frame = (
    /** @type {Cell} */ { query, key },
    /** @type {string} */ colour,
    /** @type {number} */ least,
    /** @type {number} */ width,
  ) => {
    const size = Math.max(least, camera.scale);
    const x = plot.x + (key + 0.5 - camera.x) * camera.scale;
    const y = plot.y + (query + 0.5 - camera.y) * camera.scale;
    if (x < plot.x || y < plot.y || x > plot.x + plot.w || y > plot.y + plot.h) return;
    frameBox(ctx, { x: x - size / 2, y: y - size / 2, w: size, h: size }, { colour, theme, width });
  };
  if (pointed) frame(pointed, theme.roles.chosen, 13, 2);
  if (pinned) frame(pinned, theme.roles.chosen, 9, 2.5);
  if (hover && camera.scale >= CELLS_FROM_SCALE) frame(hover, theme.text, 4, 1.5);
}

function drawWaiting(
  /** @type {CanvasRenderingContext2D} */ ctx,
  /** @type {Scene} */ { plot, theme, header },
) {
  ctx.save();
  ctx.font = `${LABEL_PX + 1}px ${theme.font}`;
  ctx.fillStyle = theme.muted;
  ctx.textAlign = "center";
  ctx.fillText(header.strings.waiting, plot.x + plot.w / 2, plot.y + plot.h / 2);
  ctx.restore();
}
