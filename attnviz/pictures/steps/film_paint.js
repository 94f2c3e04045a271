// @ts-check
// Paints one moment of a head's film: the query's row of Q passes the keys, products add up to scores, scores become
// weights, rows of V blend into the output. In: what `film_show` made, and a moment. Out: pixels.

import { fmtFixed } from "../shared/fmt.js";
import { frameBox, hatch } from "../shared/matrix.js";
import { Path } from "../shared/path.js";
import { between, clamp, eased, progressAt } from "../shared/scenes.js";
import { FILM_SCENES, partOf, rowOf } from "./film_scenes.js";
import { TOP } from "./film_show.js";
import { subscript, text } from "./film_text.js";

/** @import { FilmStage } from "./film_scenes.js" */
/** @import { FilmShow } from "./film_show.js" */

/** @typedef {FilmShow & {ctx: CanvasRenderingContext2D, so: ReturnType<typeof progressAt<FilmStage>>, linear: (name: FilmStage) => number}} Frame */

/** Paints the moment. */
export function paintFilm(
  /** @type {CanvasRenderingContext2D} */ ctx,
  /** @type {FilmShow} */ show,
  /** @type {number} */ time,
) {
  /** @type {Frame} */
  const frame = {
    ...show,
    ctx,
    so: progressAt(show.scenes, time, FILM_SCENES),
    linear: (name) => partOf(show.scenes, time, name),
  };
  ctx.save();
  ctx.imageSmoothingEnabled = false;
  paintColumnTitles(frame);
  paintKeys(frame);
  paintQuery(frame);
  paintBars(frame);
  paintWhole(frame);
  paintBlend(frame);
  paintHeads(frame);
  ctx.restore();
}

/** What remains of everything but the last scene while that plays. */
function kept(/** @type {Frame} */ { so }) {
  return 1 - so("projected", 0, 0.2);
}

/** How far softmax has made shares of the scores, 0 to 1. */
function softened(/** @type {Frame} */ { so }) {
  return so("weights", 0.25, 0.6);
}

/** The top of the i-th key's row. */
function yOf(/** @type {Frame} */ { rowHeight }, /** @type {number} */ i) {
  return TOP + i * rowHeight;
}

function paintColumnTitles(/** @type {Frame} */ frame) {
  const { ctx, k, v, bar, so, theme } = frame;
  const titles = [
    { title: "K", at: k, alpha: so("q", 0.5, 0.8) },
    {
      title: softened(frame) > 0.5 ? "A" : so("scaled", 0.5, 0.6) > 0.5 ? "S ÷ √d_k" : "S",
      at: bar,
      alpha: so("scores", 0, 0.1),
    },
    { title: "V", at: v, alpha: so("mixed", 0, 0.15) },
  ];
  for (const { title, at, alpha } of titles) {
    ctx.globalAlpha = alpha * kept(frame);
    text(ctx, title.replace("d_k", "dₖ"), {
      x: at.left,
      y: TOP - 9,
      font: `600 13px ${theme.font}`,
      colour: theme.muted,
    });
  }
}

/** The keys: their words, their rows of K and later of V. */
function paintKeys(/** @type {Frame} */ frame) {
  const { ctx, header, row, label, k, v, rowHeight, strips, so, theme } = frame;
  const colours = theme.roles;
  const isPast = so("weights", 0.5, 0.7);
  row.keys.forEach((key, i) => {
    const y = yOf(frame, i);
    ctx.globalAlpha = so("q", 0.45, 0.75) * kept(frame);
    const font = `${key === row.top ? 650 : 400} 13px ${theme.font}`;
    const colour = key === row.top ? colours.key : theme.text;
    text(ctx, header.key_tokens[key], {
      x: label.left,
      y: y + rowHeight / 2,
      font,
      colour,
      room: label.width,
    });
    ctx.globalAlpha *= 1 - 0.75 * isPast;
    ctx.drawImage(strips.k.canvas, 0, i, strips.k.cols, 1, k.left, y + 4, k.width, rowHeight - 8);
    ctx.globalAlpha = so("mixed", 0, 0.2) * kept(frame) * between(0.25, 1, clamp(4 * weightOf(frame, key)));
    ctx.drawImage(strips.v.canvas, 0, i, strips.v.cols, 1, v.left, y + 4, v.width, rowHeight - 8);
  });
}

function weightOf(/** @type {Frame} */ { arrays, row }, /** @type {number} */ key) {
  return rowOf(arrays, "weights", row.query)?.[key] ?? 0;
}

/** How far the query's row has come among the keys: 2.4 is 40 % through the third one. The first takes its time. */
function passing(/** @type {Frame} */ { linear, row }) {
  const part = clamp((linear("scores") - 0.06) / 0.88);
  const n = row.keys.length;
  const slow = n > 1 ? 0.3 : 1;
  return part < slow ? part / slow : 1 + ((part - slow) / (1 - slow)) * (n - 1);
}

/** The row of Q: it lifts off, slides along the keys, and goes. */
function paintQuery(/** @type {Frame} */ frame) {
  const { ctx, header, row, label, k, rowHeight, strips, so, theme } = frame;
  const colour = theme.roles.query;
  const start = yOf(frame, Math.max(0, row.keys.indexOf(row.query)));
  const lifted = so("q", 0.25, 0.6);
  const at = passing(frame);
  const away = so("scores", 0.05, 0.1);
  const along = yOf(frame, Math.min(row.keys.length - 1, Math.max(0, at - 0.5))) - 3;
  const home = between(start, 8, lifted);
  const back = so("scaled", 0, 0.2);
  const y = between(between(home, along, away), 8, back);
  const seen = so("q", 0, 0.15) * (1 - so("weights", 0, 0.2));
  ctx.globalAlpha = seen * (1 - away + back);
  text(ctx, header.rows[row.query], {
    x: label.left,
    y: y + rowHeight / 2,
    font: `650 13px ${theme.font}`,
    colour,
    room: label.width,
  });
  ctx.globalAlpha = seen;
  ctx.drawImage(strips.q.canvas, 0, 0, strips.q.cols, 1, k.left, y + 4, k.width, rowHeight - 8);
  frameBox(ctx, { x: k.left, y: y + 4, w: k.width, h: rowHeight - 8 }, { colour, theme });
}

/** The bars: sums that grow, shrink by √d_k, are wiped by the mask, and become shares. */
function paintBars(/** @type {Frame} */ frame) {
  const { ctx, row, bar, rowHeight, so, theme, arrays } = frame;
  const scores = rowOf(arrays, "scores", row.query);
  const scaled = rowOf(arrays, "scaled", row.query) ?? scores;
  const masked = rowOf(arrays, "masked", row.query) ?? scaled;
  const weights = rowOf(arrays, "weights", row.query);
  if (!scores || !scaled || !masked || !weights) return;
  const most = Math.max(...row.keys.map((key) => Math.abs(scores[key])), 1e-9);
  const low = Math.min(0, ...row.keys.map((key) => scores[key]));
  const unit = (bar.width - 56) / (most - low);
  const soft = softened(frame);
  const zero = bar.left - low * unit * (1 - soft);
  const colours = theme.roles;
  row.keys.forEach((key, i) => {
    const y = yOf(frame, i) + 5;
    const h = rowHeight - 10;
    const now = scoreNow(frame, i, scores[key]);
    if (now === null) return;
    const value = between(now, scaled[key], so("scaled", 0.15, 0.75));
    const isBlocked = masked[key] === -Infinity;
    const wiped = isBlocked ? clamp(so("masked", 0.1, 0.8) * (row.keys.length + 1) - i) : 0;
    const length = between(value * unit * (1 - wiped), weights[key] * (bar.width - 56), soft);
    ctx.globalAlpha = kept(frame);
    ctx.fillStyle = key === row.top ? colours.key : theme.primary;
    ctx.fillRect(Math.min(zero, zero + length), y, Math.max(1, Math.abs(length)), h);
    if (wiped > 0 && soft < 0.5) {
      const box = { x: bar.left, y, w: (bar.width - 56) * wiped, h };
      const path = new Path();
      path.rect(box.x, box.y, box.w, box.h);
      hatch(ctx, path, box, theme);
    }
    const number =
      soft > 0.5 ? fmtFixed(weights[key], 2) : isBlocked && wiped > 0.6 ? "−∞" : fmtFixed(value, 1);
    ctx.globalAlpha *= Math.abs(1 - 2 * soft); // no number stands at a bar of another length
    const x = Math.max(zero, zero + length) + 6;
    const font = `${key === row.top ? 650 : 400} 12.5px ${theme.font}`;
    text(ctx, number, { x, y: y + h / 2 + 0.5, font, colour: theme.text });
  });
}

/** The score as far as its products are added up; null before its turn. */
function scoreNow(/** @type {Frame} */ frame, /** @type {number} */ i, /** @type {number} */ score) {
  const { partial, so } = frame;
  if (so("scores", 0.9, 0.94) >= 1) return score;
  const part = passing(frame) - i;
  if (part <= 0) return null;
  const sums = partial[i];
  return part >= 1 ? score : sums[Math.min(sums.length - 1, Math.floor(part * sums.length))];
}

/** Above the bars: the whole of 1 that softmax divides among the keys. */
function paintWhole(/** @type {Frame} */ frame) {
  const { ctx, row, bar, so, theme } = frame;
  const part = so("weights", 0.55, 0.95);
  if (part <= 0) return;
  const width = bar.width - 56;
  const colours = theme.roles;
  let x = bar.left;
  ctx.globalAlpha = kept(frame) * clamp(part * 3);
  row.keys.forEach((key, i) => {
    const wide = weightOf(frame, key) * width * eased(part, 0, 0.8);
    ctx.fillStyle = key === row.top ? colours.key : i % 2 ? theme.primary : theme.muted;
    ctx.fillRect(x, 14, Math.max(0, wide - 0.5), 14);
    x += wide;
  });
  ctx.strokeStyle = theme.muted;
  ctx.lineWidth = 1;
  ctx.strokeRect(bar.left - 0.5, 13.5, width + 1, 15);
  text(ctx, "= 1", { x: bar.left + width + 6, y: 21, font: `600 13px ${theme.font}`, colour: theme.text });
}

/** Rows of V fly down and blend: each as visible as its weight. */
function paintBlend(/** @type {Frame} */ frame) {
  const { ctx, row, v, rowHeight, strips, blended, so, linear, theme } = frame;
  const part = linear("mixed");
  const n = row.keys.length;
  const bottom = yOf(frame, n) + 14;
  const done = clamp((part - 0.2) / 0.7) * n;
  if (so("mixed") <= 0 || !blended.length) return;
  row.keys.forEach((key, i) => {
    const flight = clamp((done - i) / 2.5);
    if (flight <= 0 || flight >= 1) return;
    ctx.globalAlpha = kept(frame) * (1 - flight * 0.5) * clamp(0.15 + 3 * weightOf(frame, key));
    const y = between(yOf(frame, i), bottom, flight * flight);
    ctx.drawImage(strips.v.canvas, 0, i, strips.v.cols, 1, v.left, y + 4, v.width, rowHeight - 8);
  });
  const landed = Math.floor(done) - 1;
  const alpha = 1 - so("projected", 0.2, 0.4);
  ctx.globalAlpha = alpha;
  const box = { x: v.left, y: bottom, w: v.width, h: rowHeight - 4 };
  if (landed >= 0 && alpha > 0) {
    const strip = part >= 0.95 ? (strips.mixed ?? blended[n - 1]) : blended[Math.min(n - 1, landed)];
    ctx.drawImage(strip.canvas, 0, 0, strip.cols, 1, box.x, box.y, box.w, box.h);
  }
  frameBox(ctx, box, { colour: theme.roles.query, theme });
  const font = `600 13px ${theme.font}`;
  const label = `Z · ${frame.header.rows[row.query]}`;
  text(ctx, label, { x: box.x - 8, y: box.y + box.h / 2, font, colour: theme.text, align: "right" });
}

/** The outputs of all heads beside each other, and W_O, which makes one row of them. */
function paintHeads(/** @type {Frame} */ frame) {
  const { ctx, header, row, strips, so, theme, width, v, rowHeight } = frame;
  const { concat, projected } = strips;
  const part = so("projected", 0.2, 0.5);
  if (part <= 0 || !concat || !projected) return;
  const colours = theme.roles;
  const [start, stop] = header.head_slice;
  const all = { x: 0, y: TOP + 34, w: width - 4, h: 26 };
  const from = { x: v.left, y: yOf(frame, row.keys.length) + 14, w: v.width, h: rowHeight - 4 };
  const to = {
    x: all.x + (all.w * start) / concat.cols,
    y: all.y,
    w: (all.w * (stop - start)) / concat.cols,
    h: all.h,
  };
  const box = {
    x: between(from.x, to.x, part),
    y: between(from.y, to.y, part),
    w: between(from.w, to.w, part),
    h: between(from.h, to.h, part),
  };
  ctx.globalAlpha = so("projected", 0.4, 0.55);
  ctx.drawImage(concat.canvas, 0, 0, concat.cols, 1, all.x, all.y, all.w, all.h);
  ctx.globalAlpha = 1;
  ctx.drawImage(concat.canvas, start, 0, stop - start, 1, box.x, box.y, box.w, box.h);
  frameBox(ctx, box, { colour: colours.query, theme });
  const font = `600 14px ${theme.font}`;
  ctx.globalAlpha = so("projected", 0.4, 0.55);
  text(ctx, `[Z₀ … Z${subscript(header.n_heads - 1)}]`, {
    x: all.x,
    y: all.y - 14,
    font,
    colour: theme.text,
  });
  ctx.globalAlpha = so("projected", 0.6, 0.75);
  text(ctx, "· W_O".replace("_O", "ₒ"), { x: all.x, y: all.y + all.h + 24, font, colour: theme.text });
  ctx.globalAlpha = so("projected", 0.7, 0.9);
  const y = all.y + all.h + 44;
  ctx.drawImage(projected.canvas, 0, 0, projected.cols, 1, all.x, y, all.w, all.h);
  ctx.strokeStyle = theme.muted;
  ctx.strokeRect(all.x + 0.5, y + 0.5, all.w - 1, all.h - 1);
}
