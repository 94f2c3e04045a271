// @ts-check
// Paints one moment of the film. In: the layout, the numbers, the colours and a moment. Out: pixels; nothing is kept, so
// that any moment can be painted, forwards, backwards, or as a still.

import { frameBox } from "../shared/matrix.js";
import { colourAt, inkOn, levelFor } from "../shared/colors.js";
import { headName } from "../shared/fmt.js";
import { between, clamp, progressAt } from "../shared/scenes.js";
import { withAlpha } from "../shared/theme.js";
import { stampHead, thumbRect } from "../shared/thumbs.js";
import { printedWeight, SCENES } from "./script.js";

/** @import { Theme } from "../shared/theme.js" */
/** @import { Atlas } from "../shared/thumbs.js" */
/** @import { Box, Layout } from "./layout.js" */
/** @import { Arrays, Header } from "./types.js" */
/** @import { SceneName } from "./script.js" */

/**
 * `atlas` has the heads in the first sentence, `then` the one head in the second.
 * @typedef {{header: Header, arrays: Arrays, layout: Layout, atlas: Atlas, then: Atlas, theme: Theme, lut: Uint32Array,
 *   }} Show
 */
/**
 * A moment that is painted.
 * @typedef {Show & {ctx: CanvasRenderingContext2D, so: ReturnType<typeof progressAt<SceneName>>, shift: number}} Frame
 */

const WIDEST_ARC = 15;
const FAINT = 0.1;
const NUMBER_FONT = 13;
const LABEL_PX = 116; // the width of a control under a word

/** @param {CanvasRenderingContext2D} ctx @param {Show} show @param {number} time */
export function paintFilm(ctx, show, time) {
  const so = progressAt(SCENES, time);
  const shift = -show.layout.rise * (1 - so("heads", 0, 0.25));
  /** @type {Frame} */
  const frame = { ...show, ctx, so, shift };
  ctx.save();
  for (const paint of [paintHeads, paintQuestions, paintArcs, paintChips, paintNumbers]) {
    ctx.globalAlpha = 1;
    paint(frame);
  }
  ctx.restore();
}

/** How far the weights have come from the first sentence to the second, 0 to 1. */
function shareOfSecond(/** @type {Frame} */ { so }) {
  return so("change", 0.3, 0.6);
}

/** The weight of the row at this moment: of the first sentence, the second, or on the way. */
function weightNow(/** @type {Frame} */ frame, /** @type {number} */ key) {
  const { "first.row": first, "second.row": second } = frame.arrays;
  return between(first.data[key], second.data[key], shareOfSecond(frame));
}

/** All heads come one after the other, fade but for one, and that one grows in the corner. */
function paintHeads(/** @type {Frame} */ frame) {
  const { ctx, header, layout, atlas, so } = frame;
  const { n_layers, n_heads, layer, head } = header;
  const geom = { ...layout.thumb, layers: n_layers, heads: n_heads };
  const dim = (1 - (1 - FAINT) * so("head", 0, 0.2)) * (1 - so("head", 0.25, 0.45));
  ctx.imageSmoothingEnabled = false;
  for (let row = 0; row < n_layers; row++)
    for (let col = 0; col < n_heads; col++) {
      const late = 0.1 + (0.65 * (row * n_heads + col)) / (n_layers * n_heads);
      const alpha = so("heads", late, late + 0.1) * dim;
      if (alpha <= 0 || (row === layer && col === head)) continue;
      ctx.globalAlpha = alpha;
      stampHead(ctx, atlas, row, col, thumbRect(geom, row, col));
    }
  const late = 0.1 + (0.65 * (layer * n_heads + head)) / (n_layers * n_heads);
  ctx.globalAlpha = so("heads", late, late + 0.1);
  if (ctx.globalAlpha > 0) paintHead(frame, thumbRect(geom, layer, head));
}

/** The one head, from its place in the grid to its corner, the query's row framed; then in the second sentence. */
function paintHead(/** @type {Frame} */ frame, /** @type {Box} */ from) {
  const { ctx, header, layout, atlas, then, so, theme } = frame;
  const { layer, head, tokens, query, key } = header;
  const grown = so("head", 0.25, 0.55);
  const to = layout.big;
  const box = {
    x: between(from.x, to.x, grown),
    y: between(from.y, to.y, grown),
    w: between(from.w, to.w, grown),
    h: between(from.h, to.h, grown),
  };
  stampHead(ctx, atlas, layer, head, box);
  const opacity = ctx.globalAlpha;
  ctx.globalAlpha = opacity * shareOfSecond(frame);
  if (ctx.globalAlpha > 0) stampHead(ctx, then, 0, 0, box);
  ctx.globalAlpha = opacity;
  const chosen = so("head", 0, 0.15);
  ctx.strokeStyle = withAlpha(theme.roles.chosen, chosen);
  ctx.lineWidth = 2;
  ctx.strokeRect(box.x - 1, box.y - 1, box.w + 2, box.h + 2);
  if (grown < 1) return;
  text(ctx, headName(layer, head), {
    x: to.x,
    y: to.y - 12,
    font: `600 15px ${theme.font}`,
    colour: theme.text,
  });
  const cell = { w: to.w / tokens.length, h: to.h / tokens.length };
  ctx.globalAlpha = so("head", 0.55, 0.65);
  frameBox(
    ctx,
    { x: to.x, y: to.y + query * cell.h, w: to.w, h: cell.h },
    { colour: theme.roles.query, theme },
  );
  ctx.globalAlpha = so("head", 0.6, 0.7);
  const at = { x: to.x + key * cell.w, y: to.y + query * cell.h, ...cell };
  frameBox(ctx, at, { colour: theme.roles.key, theme, width: 3 });
  paintBars(frame);
}

/** Beside the head: what the query gives the key, and the control, what the other rows give it. */
function paintBars(/** @type {Frame} */ frame) {
  const { ctx, header, layout, so, theme } = frame;
  const { strings, tokens, query, key } = header;
  const gone = 1 - so("arcs", 0, 0.15);
  const { weight, others } = header.first.key;
  const left = layout.big.x + layout.big.w + 18;
  const most = Math.min(260, layout.width - left - 52);
  const bars = [
    { label: `${tokens[query]} → ${tokens[key]}`, size: weight, colour: theme.roles.query },
    { label: `${strings.others_to} → ${tokens[key]}`, size: others, colour: theme.muted },
  ];
  bars.forEach(({ label, size, colour }, i) => {
    const grown = so("head", 0.65 + 0.12 * i, 0.8 + 0.12 * i);
    const y = layout.big.y + 20 + 58 * i;
    ctx.globalAlpha = gone * clamp(grown * 4);
    text(ctx, label, {
      x: left,
      y,
      font: `500 14px ${theme.font}`,
      colour: theme.text,
      room: layout.width - left,
    });
    ctx.fillStyle = theme.faint;
    ctx.fillRect(left, y + 11, most, 13);
    ctx.fillStyle = colour;
    ctx.fillRect(left, y + 11, most * size * grown, 13);
    const x = left + most * size * grown + 6;
    text(ctx, printedWeight(size), { x, y: y + 18, font: `600 15px ${theme.font}`, colour: theme.text });
  });
}

/** The query turns to every other word: thin lines of one width, since nothing is computed yet. */
function paintQuestions(/** @type {Frame} */ frame) {
  const { ctx, header, layout, so, theme } = frame;
  const gone = 1 - so("heads", 0, 0.2);
  if (gone <= 0) return;
  layout.chips.forEach((_, key) => {
    if (key === header.query) return;
    const late = 0.2 + (0.35 * Math.abs(key - header.query)) / layout.chips.length;
    const part = so("asks", late, late + 0.3);
    if (part > 0) arc(frame, key, part, { colour: withAlpha(theme.roles.query, 0.5 * gone), width: 1.3 });
  });
  ctx.globalAlpha = 1;
}

/** The weights of the head as arcs: as wide as the weight. */
function paintArcs(/** @type {Frame} */ frame) {
  const { ctx, header, layout, so, theme } = frame;
  const { query, key, rival } = header;
  const part = so("arcs", 0.1, 0.55);
  if (part <= 0) return;
  layout.chips.forEach((_, at) => {
    if (at === query) return;
    const weight = weightNow(frame, at);
    const ahead = at === rival ? shareOfSecond(frame) : 0;
    const colour = at === key ? theme.roles.key : ahead > 0.5 ? theme.roles.off : theme.primary;
    const alpha = at === key || at === rival ? 0.9 : 0.55;
    ctx.globalAlpha = Math.min(alpha, 0.12 + weight * 6);
    arc(frame, at, part, { colour, width: Math.max(0.7, WIDEST_ARC * weight) });
  });
}

/**
 * Part of the arc from the query to a key: above the words of a line, to the side between lines.
 * @param {Frame} frame
 * @param {number} key
 * @param {number} part
 * @param {{colour: string, width: number}} pen
 */
function arc({ ctx, layout, header, shift }, key, part, { colour, width }) {
  const [from, to] = [layout.chips[header.query], layout.chips[key]];
  const [x0, y0] = [from.x + from.w / 2, from.y + shift - 2];
  const [x3, y3] = [to.x + to.w / 2, to.y + shift - 2];
  const high = Math.min(0.42 * Math.hypot(x3 - x0, y3 - y0) + 14, Math.min(y0, y3) * 1.25);
  const points = [x0, y0, x0, y0 - high, x3, y3 - high, x3, y3];
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  const steps = 40;
  for (let i = 1; i <= steps * part + 0.5; i++) {
    const t = i / steps;
    ctx.lineTo(
      bezier(points[0], points[2], points[4], points[6], t),
      bezier(points[1], points[3], points[5], points[7], t),
    );
  }
  ctx.lineWidth = width;
  ctx.lineCap = "round";
  ctx.lineJoin = "round";
  ctx.strokeStyle = colour;
  ctx.stroke();
}

/** A cubic curve. @param {number} a @param {number} b @param {number} c @param {number} d @param {number} t */
function bezier(a, b, c, d, t) {
  const u = 1 - t;
  return a * u * u * u + 3 * b * u * u * t + 3 * c * u * t * t + d * t * t * t;
}

/** The words: they come one by one, the query lights up, keys take the colour of their weight, one word turns over. */
function paintChips(/** @type {Frame} */ frame) {
  const { ctx, header, layout, so, theme, lut, shift } = frame;
  const { tokens, special, query, changed, changed_to: word } = header;
  const weighed = so("arcs", 0.45, 0.7);
  const turn = so("change", 0.04, 0.26);
  layout.chips.forEach((box, i) => {
    const late = (0.55 * i) / tokens.length;
    ctx.globalAlpha = so("sentence", late, late + 0.25);
    const y = box.y + shift;
    const isQuery = i === query;
    const level = levelFor(weightNow(frame, i), "linear");
    const isLit = weighed > 0.5;
    const asks = isQuery ? so("asks", 0, 0.15) : 0;
    ctx.beginPath();
    ctx.roundRect(box.x, y, box.w, box.h, 7);
    ctx.fillStyle = isLit ? colourAt(lut, level) : special[i] ? theme.bg : theme.bg2;
    ctx.fill();
    ctx.lineWidth = 1 + 2 * asks;
    ctx.strokeStyle =
      asks > 0 ? theme.roles.query : i === changed && turn > 0 ? theme.roles.off : theme.border;
    ctx.setLineDash(special[i] ? [3, 3] : []);
    ctx.stroke();
    ctx.setLineDash([]);
    const colour = isLit ? inkOn(lut, level) : special[i] ? theme.muted : theme.text;
    ctx.save();
    ctx.translate(box.x + box.w / 2, y + box.h / 2 + 1);
    if (i === changed) ctx.scale(1, Math.max(0.02, Math.abs(1 - 2 * turn)));
    const label = i === changed && turn > 0.5 ? word : tokens[i];
    const font = `${asks > 0.5 ? 650 : 500} ${layout.font}px ${theme.font}`;
    text(ctx, label, { x: 0, y: 0, font, colour, align: "center" });
    ctx.restore();
  });
}

/** Below the key, its rival and the special token: the weight, and the other rows' mean as its control. */
function paintNumbers(/** @type {Frame} */ frame) {
  const { header, layout, so } = frame;
  const { key, rival, special_key: special, strings } = header;
  const first = so("arcs", 0.6, 0.8);
  const then = so("change", 0.6, 0.75);
  const others = (/** @type {number} */ weight) => `${strings.others} ${printedWeight(weight)}`;
  const now = then > 0.5 ? header.second : header.first;
  const shown = Math.max(first - so("change", 0.3, 0.45), then);
  label(frame, key, printedWeight(now.key.weight), others(now.key.others), shown);
  if (then <= 0) return;
  label(frame, rival, printedWeight(now.rival.weight), others(now.rival.others), then);
  const isBeside = Math.abs(layout.chips[special].x - layout.chips[key].x) < LABEL_PX;
  const control = isBeside ? "" : others(now.special.others); // two controls would lie over each other
  label(frame, special, printedWeight(now.special.weight), control, then);
}

/**
 * @param {Frame} frame
 * @param {number} at
 * @param {string} number
 * @param {string} control
 * @param {number} alpha
 */
function label({ ctx, layout, theme, shift }, at, number, control, alpha) {
  const box = layout.chips[at];
  const x = Math.max(56, Math.min(layout.width - 56, box.x + box.w / 2));
  const y = box.y + box.h + shift;
  ctx.globalAlpha = alpha;
  text(ctx, number, { x, y: y + 11, font: `650 16px ${theme.font}`, colour: theme.text, align: "center" });
  const font = `400 ${NUMBER_FONT}px ${theme.font}`;
  text(ctx, control, { x, y: y + 28, font, colour: theme.muted, align: "center" });
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {string} label
 * @param {{x: number, y: number, font: string, colour: string, align?: CanvasTextAlign, room?: number}} opts
 */
function text(ctx, label, { x, y, font, colour, align = "left", room }) {
  ctx.font = font;
  ctx.fillStyle = colour;
  ctx.textAlign = align;
  ctx.textBaseline = "middle";
  ctx.fillText(label, x, y, room);
}
