// @ts-check
// Paints the way of one row: a line for each key with its row of K, its score, the same divided on the same axis, its
// weight and its row of V; the query's row of Q above, the output below, and what W_O makes of all heads. In: the numbers
// of a row and the stop that is looked at. Out: pixels, and where the lines are.

import { fmtFixed } from "../shared/fmt.js";
import { frameBox, hatch } from "../shared/matrix.js";
import { Path } from "../shared/path.js";
import { between, clamp } from "../shared/scenes.js";
import { beforeMask } from "./arithmetic.js";
import { rowOf } from "./film_scenes.js";
import { stripsOf } from "./film_show.js";
import { subscript, text } from "./film_text.js";
import { isUsualScaling, scalingText } from "./scaled.js";

/** @import { FloatArray } from "../shared/buffer.js" */
/** @import { Theme } from "../shared/theme.js" */
/** @import { FilmRow, FilmStage } from "./film_scenes.js" */
/** @import { Column, Strips } from "./film_show.js" */
/** @import { Arrays, Header } from "./types.js" */

/** A part of the picture that is dimmed or not as a whole. @typedef {"query" | "k" | "scores" | "scaled" | "weights" | "v" | "output" | "heads"} Part */
/**
 * `key` is the chosen one, `stop` what is looked at alone, null for all of it.
 * @typedef {{header: Header, arrays: Arrays, row: FilmRow, key: number, stop: FilmStage | null, theme: Theme,
 *   width: number}} RowShow
 */
/**
 * Where everything stands: `zeros` are those of the two columns on one axis, `unit` a score of 1 in pixels.
 * @typedef {{label: Column, k: Column | null, scores: Column, scaled: Column, weights: Column, v: Column, top: number,
 *   lineHeight: number, bottom: number, height: number, unit: number, zeros: {scores: number, scaled: number}}} RowLayout
 */
/** @typedef {RowShow & RowLayout & {ctx: CanvasRenderingContext2D}} Paper */

const TOP_PX = 80; // the query's row, then the titles of the columns
const LINE_PX = 24;
const HEADS_PX = 46;
const GAP_PX = 14;
const NUMBER_PX = 42; // beside a bar
const NARROW_NUMBER_PX = 34; // of the chosen key alone
const WEIGHT_PX = 34;
const NARROW_PX = 520; // narrower pictures leave K out, and the scores' numbers but one
const DIMMED = 0.22;
const AXIS_SHARE = 0.44; // of the room: both columns of scores

/** What is looked at on each stop; the rest is dimmed. @type {Record<FilmStage, readonly Part[]>} */
const LIT = {
  q: ["query", "k", "v"],
  scores: ["query", "k", "scores"],
  scaled: ["scores", "scaled"],
  masked: ["scaled", "weights"],
  weights: ["weights"],
  mixed: ["weights", "v", "output"],
  projected: ["output", "heads"],
};

/** @returns {RowLayout} */
export function layoutRow(/** @type {RowShow} */ { arrays, row, width }) {
  const hasK = width >= NARROW_PX;
  const label = { left: 0, width: hasK ? 88 : 62 };
  const room = width - label.width - (hasK ? 5 : 4) * GAP_PX;
  const bars = room * AXIS_SHARE;
  const rest = room - bars;
  const k = hasK ? { left: label.width + GAP_PX, width: Math.floor(rest * 0.34) } : null;
  const start = k ? k.left + k.width + GAP_PX : label.width + GAP_PX;
  const ends = [arrays.scores, beforeMask(arrays)].map((stage) => endsOf(stage, row));
  const numbers = (/** @type {{low: number, high: number}} */ { low, high }) =>
    hasK ? (low < 0 ? NUMBER_PX : 0) + (high > 0 ? NUMBER_PX : 0) : NARROW_NUMBER_PX;
  const spans = ends.map(({ low, high }) => high - low);
  const forBars = Math.max(24, bars - numbers(ends[0]) - numbers(ends[1]));
  const unit = forBars / (spans[0] + spans[1] || 1);
  const columns = ends.map((end, i) => numbers(end) + spans[i] * unit);
  const zeroOf = (/** @type {number} */ left, /** @type {{low: number}} */ { low }) =>
    left + (low < 0 && hasK ? NUMBER_PX : 0) - low * unit;
  const scores = { left: start, width: columns[0] };
  const scaled = { left: start + columns[0] + GAP_PX, width: columns[1] };
  const weights = {
    left: scaled.left + scaled.width + GAP_PX,
    width: Math.floor(rest * (hasK ? 0.34 : 0.5)),
  };
  const vLeft = weights.left + weights.width + GAP_PX;
  const bottom = TOP_PX + row.keys.length * LINE_PX;
  return {
    ...{ label, k, scores, scaled, weights, v: { left: vLeft, width: width - vLeft - 3 } },
    ...{ top: TOP_PX, lineHeight: LINE_PX, bottom, unit },
    zeros: { scores: zeroOf(scores.left, ends[0]), scaled: zeroOf(scaled.left, ends[1]) },
    height: bottom + LINE_PX + 14 + (arrays.concat && arrays.projected ? HEADS_PX : 0),
  };
}

/** The least and the largest number of a row, with 0. */
function endsOf(/** @type {FloatArray | undefined} */ stage, /** @type {FilmRow} */ { query, keys }) {
  const values = stage ? keys.map((key) => stage.data[query * stage.shape[1] + key]) : [];
  const finite = values.filter(Number.isFinite);
  return { low: Math.min(0, ...finite), high: Math.max(0, ...finite) };
}

/** Paints it, and says where everything stands. @returns {RowLayout} */
export function paintRow(
  /** @type {(width: number, height: number) => CanvasRenderingContext2D} */ fit,
  /** @type {RowShow} */ show,
) {
  const layout = layoutRow(show);
  const ctx = fit(show.width, layout.height);
  /** @type {Paper} */
  const paper = { ...show, ...layout, ctx };
  ctx.save();
  ctx.imageSmoothingEnabled = false;
  paintQuery(paper);
  paintTitles(paper);
  show.row.keys.forEach((key, i) => paintLine(paper, key, TOP_PX + i * LINE_PX));
  paintAxes(paper);
  paintOutput(paper);
  paintHeads(paper);
  paintChosen(paper);
  ctx.restore();
  return layout;
}

function lit(/** @type {Paper} */ { stop }, /** @type {Part} */ part) {
  return stop === null || LIT[stop].includes(part) ? 1 : DIMMED;
}

function strip(
  /** @type {Paper} */ paper,
  /** @type {FloatArray | undefined} */ matrix,
  /** @type {number} */ row,
  /** @type {{x: number, y: number, w: number, h: number}} */ box,
) {
  if (!matrix) return;
  const one = stripOf(matrix, row, paper.theme.dark);
  paper.ctx.drawImage(one.canvas, 0, 0, one.cols, 1, box.x, box.y, box.w, box.h);
}

/** @type {WeakMap<Float32Array, Map<string, Strips>>} */
const STRIPS = new WeakMap();

/** A row as colours, made once for each theme. */
function stripOf(/** @type {FloatArray} */ matrix, /** @type {number} */ row, /** @type {boolean} */ dark) {
  const known = STRIPS.get(matrix.data) ?? new Map();
  STRIPS.set(matrix.data, known);
  const name = `${row} ${dark}`;
  const made = known.get(name) ?? stripsOf(matrix, [row], dark);
  known.set(name, made);
  return made;
}

function paintQuery(/** @type {Paper} */ paper) {
  const { ctx, header, arrays, row, label, k, scores, theme } = paper;
  const at = k ?? { left: label.width + GAP_PX, width: scores.width };
  const box = { x: at.left, y: 8, w: at.width, h: 16 };
  ctx.globalAlpha = lit(paper, "query");
  strip(paper, arrays.q, row.query, box);
  frameBox(ctx, box, { colour: theme.roles.query, theme });
  text(ctx, `q · ${header.rows[row.query]}`, {
    ...{ x: label.width + GAP_PX - 8, y: 16, align: "right", room: label.width },
    ...{ font: `650 13px ${theme.font}`, colour: theme.roles.query },
  });
}

/** The names of the columns, and in words what they are; that of the stop stands on a line. */
function paintTitles(/** @type {Paper} */ paper) {
  const { header, stop, k, scores, scaled, weights, v } = paper;
  const { strings } = header;
  const divided = isUsualScaling(header) ? "÷ √dₖ" : `· ${scalingText(header.scaling, 3)}`;
  const says = header.by_kernel ? strings.says_k_typed : strings.says_k;
  if (k) paintTitle(paper, "k", "K", k, stop === "q", says);
  paintTitle(paper, "scores", "q · k", scores, stop === "scores", strings.says_scores);
  paintTitle(paper, "scaled", divided, scaled, stop === "scaled", strings.says_scaled);
  const [mask, softmax] = [`${strings.stop_mask} ·`, "softmax"];
  paper.ctx.font = `700 13px ${paper.theme.font}`;
  const both = paper.ctx.measureText(`${mask} ${softmax}`).width;
  if (both <= weights.width + GAP_PX - 8) {
    const wide = paintTitle(paper, "weights", mask, weights, stop === "masked", strings.says_weights);
    const left = weights.left + wide + 4;
    const column = { left, width: weights.width - wide + GAP_PX - 8 };
    paintTitle(paper, "weights", softmax, column, stop === "weights");
  } else {
    // where there is no room for both, each in its turn
    const [title, isStop] = stop === "masked" ? [strings.stop_mask, true] : [softmax, stop === "weights"];
    paintTitle(paper, "weights", title, weights, isStop, strings.says_weights);
  }
  paintTitle(paper, "v", "V", v, stop === "q" || stop === "mixed", strings.says_v);
}

/**
 * Returns its width.
 * @param {Paper} paper
 * @param {Part} part
 * @param {string} title
 * @param {Column} column
 * @param {boolean} isStop
 * @param {string} [words]
 */
function paintTitle(paper, part, title, { left, width }, isStop, words = "") {
  const { ctx, theme } = paper;
  const y = TOP_PX - 32;
  ctx.globalAlpha = lit(paper, part);
  ctx.font = `400 12px ${theme.font}`;
  if (ctx.measureText(words).width <= width + GAP_PX)
    text(ctx, words, { x: left, y: y + 19, font: ctx.font, colour: theme.muted });
  const font = `${isStop ? 700 : 600} 13px ${theme.font}`;
  text(ctx, title, { x: left, y, font, colour: isStop ? theme.text : theme.muted, room: width });
  const wide = ctx.measureText(title).width;
  if (isStop) ctx.fillRect(left, y + 8, wide, 2);
  return wide;
}

/** The line of a key. */
function paintLine(/** @type {Paper} */ paper, /** @type {number} */ key, /** @type {number} */ y) {
  const { ctx, header, arrays, row, label, k, v, theme } = paper;
  const isChosen = key === paper.key;
  const weight = rowOf(arrays, "weights", row.query)?.[key] ?? 0;
  ctx.globalAlpha = 1;
  text(ctx, header.key_tokens[key], {
    ...{ x: label.width, y: y + LINE_PX / 2, align: "right", room: label.width },
    font: `${isChosen ? 650 : 400} 13px ${theme.font}`,
    colour: isChosen ? theme.roles.key : theme.text,
  });
  const line = { y: y + 4, h: LINE_PX - 8 };
  if (k) {
    ctx.globalAlpha = lit(paper, "k");
    strip(paper, arrays.k, key, { x: k.left, w: k.width, ...line });
  }
  paintScore(paper, "scores", arrays.scores, key, line);
  paintScore(paper, "scaled", beforeMask(arrays), key, line);
  paintWeight(paper, key, weight, line);
  // as visible as its weight, but on the first stop, where there are no weights yet
  ctx.globalAlpha = lit(paper, "v") * (paper.stop === "q" ? 1 : between(0.12, 1, clamp(1.5 * weight)));
  strip(paper, arrays.v, key, { x: v.left, w: v.width, ...line });
}

/** A bar from 0 on the axis of all scores, with its number at its end. */
function paintScore(
  /** @type {Paper} */ paper,
  /** @type {"scores" | "scaled"} */ part,
  /** @type {FloatArray | undefined} */ stage,
  /** @type {number} */ key,
  /** @type {{y: number, h: number}} */ { y, h },
) {
  const { ctx, row, unit, zeros, theme } = paper;
  if (!stage) return;
  const value = stage.data[row.query * stage.shape[1] + key];
  if (!Number.isFinite(value)) return;
  const length = value * unit;
  const isChosen = key === paper.key;
  ctx.globalAlpha = lit(paper, part) * (isChosen ? 1 : 0.55);
  ctx.fillStyle = isChosen ? theme.roles.key : theme.text;
  ctx.fillRect(zeros[part] + Math.min(0, length), y + 1, Math.max(1, Math.abs(length)), h - 2);
  ctx.globalAlpha = lit(paper, part);
  if (!paper.k && !isChosen) return;
  const isLeft = value < 0 && paper.k !== null;
  text(ctx, fmtFixed(value, 1), {
    x: zeros[part] + (isLeft ? length - 5 : Math.max(0, length) + 5),
    y: y + h / 2 + 0.5,
    font: `${isChosen ? 650 : 400} 12px ${theme.font}`,
    colour: theme.text,
    align: isLeft ? "right" : "left",
  });
}

/** Its share of 1; a blocked key is hatched. */
function paintWeight(
  /** @type {Paper} */ paper,
  /** @type {number} */ key,
  /** @type {number} */ weight,
  /** @type {{y: number, h: number}} */ { y, h },
) {
  const { ctx, arrays, row, weights, theme } = paper;
  const isChosen = key === paper.key;
  const isBlocked = rowOf(arrays, "masked", row.query)?.[key] === -Infinity;
  const full = weights.width - WEIGHT_PX;
  ctx.globalAlpha = lit(paper, "weights");
  if (isBlocked) {
    const box = { x: weights.left, y, w: full, h };
    const path = new Path();
    path.rect(box.x, box.y, box.w, box.h);
    hatch(ctx, path, box, theme);
  } else {
    ctx.fillStyle = theme.bg2;
    ctx.fillRect(weights.left, y, full, h);
    ctx.fillStyle = isChosen ? theme.roles.key : theme.primary;
    ctx.fillRect(weights.left, y, Math.max(1, weight * full), h);
  }
  text(ctx, isBlocked && paper.stop === "masked" ? "−∞" : fmtFixed(weight, 2), {
    ...{ x: weights.left + full + 6, y: y + h / 2 + 0.5, colour: theme.text },
    font: `${isChosen ? 650 : 400} 12px ${theme.font}`,
  });
}

/** The two zeros of the one axis. */
function paintAxes(/** @type {Paper} */ paper) {
  const { ctx, zeros, bottom, theme } = paper;
  ctx.fillStyle = theme.muted;
  for (const part of /** @type {const} */ (["scores", "scaled"])) {
    ctx.globalAlpha = lit(paper, part);
    ctx.fillRect(zeros[part] - 0.5, TOP_PX - 2, 1, bottom - TOP_PX + 4);
  }
}

/** The row of Z, below the rows of V that it is a blend of. */
function paintOutput(/** @type {Paper} */ paper) {
  const { ctx, header, arrays, row, v, bottom, theme } = paper;
  if (!arrays.mixed) return;
  const box = { x: v.left, y: bottom + 12, w: v.width, h: 16 };
  ctx.globalAlpha = lit(paper, "output");
  ctx.fillStyle = theme.muted;
  ctx.fillRect(v.left + v.width / 2, bottom + 1, 1, 9);
  strip(paper, arrays.mixed, row.query, box);
  frameBox(ctx, box, { colour: theme.roles.query, theme });
  text(ctx, `Z · ${header.rows[row.query]}`, {
    ...{ x: box.x - 8, y: box.y + 8, align: "right", room: v.left - 16 },
    ...{ font: `650 13px ${theme.font}`, colour: theme.roles.query },
  });
}

/** The outputs of all heads side by side, this one framed, and the row that W_O makes of them. */
function paintHeads(/** @type {Paper} */ paper) {
  const { ctx, header, arrays, row, label, width, bottom, theme } = paper;
  const { concat, projected } = arrays;
  if (!concat || !projected) return;
  const [start, stop] = header.head_slice;
  const y = bottom + LINE_PX + 18;
  const all = { x: label.width + GAP_PX, y, w: width - label.width - GAP_PX - 3, h: 12 };
  const unit = all.w / concat.shape[1];
  ctx.globalAlpha = lit(paper, "heads");
  strip(paper, concat, row.query, all);
  strip(paper, projected, row.query, { ...all, y: y + 20 });
  const own = { x: all.x + start * unit, y, w: (stop - start) * unit, h: all.h };
  frameBox(ctx, own, { colour: theme.roles.query, theme });
  const font = `600 12px ${theme.font}`;
  const colour = paper.stop === "projected" ? theme.text : theme.muted;
  const at = { x: label.width, align: /** @type {const} */ ("right"), font, colour, room: label.width };
  text(ctx, header.n_heads > 1 ? `Z₀ … Z${subscript(header.n_heads - 1)}` : "Z₀", { ...at, y: y + 6 });
  text(ctx, "· Wₒ", { ...at, y: y + 26 });
}

/** The line of the chosen key, from its word to its row of V. */
function paintChosen(/** @type {Paper} */ paper) {
  const { ctx, row, width, theme } = paper;
  const i = row.keys.indexOf(paper.key);
  if (i < 0) return;
  ctx.globalAlpha = 1;
  const box = { x: 2, y: TOP_PX + i * LINE_PX + 2, w: width - 4, h: LINE_PX - 4 };
  frameBox(ctx, box, { colour: theme.roles.key, theme, dashed: true, width: 1.5 });
}
