// @ts-check
// The axes of the large plot: every token where names fit, round positions where they do not, ticks for found tokens.

import { ellipsize, isolate } from "../shared/axes.js";
import { shownRange } from "./camera.js";

/** @import { PlotBox, Scene } from "./scene.js" */

/** Room around the plot for its axes. */
export const AROUND = { left: 104, top: 92, right: 6, bottom: 6 };
export const LABEL_PX = 12;
const TITLE_PX = 8;
const ROUND = [1, 2, 5];

/** Draws both axes with their titles. */
export function drawPlotAxes(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {Scene} */ scene) {
  drawAxis(ctx, scene, true);
  drawAxis(ctx, scene, false);
  drawTitles(ctx, scene);
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {Scene} scene
 * @param {boolean} isRow
 */
function drawAxis(ctx, scene, isRow) {
  const { plot, camera, frame, theme, text, header } = scene;
  const [from, room, n] = isRow ? [camera.y, plot.h, frame.nQuery] : [camera.x, plot.w, frame.nKey];
  const { labels, marks } = isRow ? text.axes.rows : text.axes.columns;
  const [first, last] = shownRange(from, room, camera.scale, n);
  const need = LABEL_PX + 4;
  const every = labelStep(need / camera.scale);
  const isSound = text.heard !== null && (!isRow || !header.cross); // frames have times for names
  const isNamed = every <= 2 || isSound;
  const at = (/** @type {number} */ i) => (i + 0.5 - from) * camera.scale;
  const isInside = (/** @type {number} */ i) => at(i) >= 0 && at(i) <= room;
  const marked = markedOn(scene, isRow);
  ctx.save();
  ctx.direction = "ltr";
  ctx.textBaseline = "middle";
  for (let i = Math.ceil(first / every) * every; i < last; i += every) {
    const isHidden = marked !== null && Math.abs(marked - i) * camera.scale < need;
    if (!isInside(i) || isHidden) continue;
    ctx.font = `${LABEL_PX}px ${theme.font}`;
    ctx.fillStyle = !isNamed || marks[i] ? theme.muted : theme.text;
    writeLabel(ctx, plot, isRow, at(i), isNamed ? labels[i] : String(i));
  }
  if (marked !== null && isInside(marked)) {
    ctx.font = `600 ${LABEL_PX}px ${theme.font}`;
    ctx.fillStyle = theme.roles[isRow ? "query" : "key"];
    writeLabel(ctx, plot, isRow, at(marked), labels[marked]);
  }
  drawTicks(ctx, scene, isRow, at, room);
  ctx.restore();
}

/** The row or column that is always named: of the cell under the pointer, else of the pinned or the found one. */
export function markedOn(/** @type {Scene} */ scene, /** @type {boolean} */ isRow) {
  const cell = scene.hover ?? scene.pointed ?? scene.pinned ?? scene.found;
  return cell ? (isRow ? cell.query : cell.key) : null;
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
 * @param {PlotBox} plot
 * @param {boolean} isRow
 * @param {number} at
 * @param {string} label
 */
function writeLabel(ctx, plot, isRow, at, label) {
  const room = (isRow ? AROUND.left : AROUND.top) - 2 * TITLE_PX - 14;
  const text = isolate(ellipsize(ctx, label, room));
  ctx.save();
  if (isRow) ctx.translate(plot.x - 10, plot.y + at + 0.5);
  else ctx.translate(plot.x + at, plot.y - 10);
  if (!isRow) ctx.rotate(-Math.PI / 2);
  ctx.textAlign = isRow ? "right" : "left";
  ctx.fillText(text, 0, 0);
  ctx.restore();
}

/**
 * Small triangles at the edge, one for each place where the token that is looked for stands.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Scene} scene
 * @param {boolean} isRow
 * @param {(i: number) => number} at
 * @param {number} room
 */
function drawTicks(ctx, { plot, theme, places }, isRow, at, room) {
  ctx.fillStyle = theme.roles[isRow ? "query" : "key"];
  let before = -9;
  for (const place of places) {
    const i = isRow ? place.query : place.key;
    const along = i === null ? -1 : at(i);
    if (along < 0 || along > room || along - before < 1) continue;
    before = along;
    ctx.beginPath();
    for (const [away, aside] of [
      [1, 0],
      [7, -3],
      [7, 3],
    ]) {
      if (isRow) ctx.lineTo(plot.x - away, plot.y + along + aside);
      else ctx.lineTo(plot.x + along + aside, plot.y - away);
    }
    ctx.fill();
  }
}

function drawTitles(
  /** @type {CanvasRenderingContext2D} */ ctx,
  /** @type {Scene} */ { plot, theme, header },
) {
  ctx.save();
  ctx.font = `${LABEL_PX - 1}px ${theme.font}`;
  ctx.fillStyle = theme.muted;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillText(header.strings.key_axis, plot.x + plot.w / 2, TITLE_PX);
  ctx.translate(TITLE_PX, plot.y + plot.h / 2);
  ctx.rotate(-Math.PI / 2);
  ctx.fillText(header.strings.query_axis, 0, 0);
  ctx.restore();
}
