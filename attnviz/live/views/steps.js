// @ts-check
// Every number of one head, for the canvas Steps. Its formulas and texts come from a header that Python wrote for the model;
// tokens, places and numbers are filled in here. Each stage is derived in plain loops from the one before it, in the order
// of attnviz/attention/formula.py, and compared with what the kernels computed: that is the error of its panel.

import { placeOf } from "../engine/passes.js";
import { axesOf } from "./heads.js";
import { floats, pack } from "./packing.js";
import { sees } from "./scene.js";

/** @import { Arena, Linear, Tensor } from "../engine/arena.js" */
/** @import { Call, Group } from "../engine/passes.js" */
/** @import { Header, ShownPanel, Stage } from "../../pictures/steps/types.js" */
/** @import { PackableArray } from "./packing.js" */
/** @import { Scene } from "./scene.js" */

/** Numbers in rows. @typedef {{rows: number, cols: number, data: Float32Array}} Matrix */
/** A stage with how far it is from what the kernels have, and how far rounding may bring it; null where there is nothing to compare.
 * @typedef {Matrix & {error: number | null, tolerance: number}} DerivedStage
 */

const CAUSAL_BIT = 2; // the second of the reasons that the header names
const STEP = 2 ** -23; // of 32-bit floats
const ROUNDING = 1e-5; // as in attnviz/attention/tolerance.py

/** @returns {Matrix} */
const matrix = (
  /** @type {number} */ rows,
  /** @type {number} */ cols,
  data = new Float32Array(rows * cols),
) => ({
  rows,
  cols,
  data,
});

/** Some columns of a tensor, copied. @returns {Matrix} */
function columnsOf(/** @type {Arena} */ arena, /** @type {Tensor} */ x, from = 0, cols = x.cols) {
  const all = arena.view(x);
  const out = matrix(x.rows, cols);
  for (let row = 0; row < x.rows; row++)
    out.data.set(all.subarray(row * x.cols + from, row * x.cols + from + cols), row * cols);
  return out;
}

/** a · b, or a · bᵀ, summed in 64 bits. @returns {Matrix} */
function product(/** @type {Matrix} */ a, /** @type {Matrix} */ b, isTransposed = false) {
  const [depth, cols] = isTransposed ? [b.cols, b.rows] : [b.rows, b.cols];
  const [across, down] = isTransposed ? [b.cols, 1] : [1, b.cols];
  const out = matrix(a.rows, cols);
  for (let row = 0; row < a.rows; row++)
    for (let col = 0; col < cols; col++) {
      let sum = 0;
      for (let i = 0; i < depth; i++) sum += a.data[row * a.cols + i] * b.data[i * down + col * across];
      out.data[row * cols + col] = sum;
    }
  return out;
}

/** Some columns of x · w + bias, read from the panels of the weights. @returns {Matrix} */
function projection(
  /** @type {Arena} */ arena,
  /** @type {Matrix} */ x,
  /** @type {Linear} */ w,
  from = 0,
  cols = w.columns,
) {
  const out = matrix(x.rows, cols);
  const panel = (/** @type {number} */ column) =>
    arena.view({ at: w.at + (column >> 3) * 8 * w.depth * 4, rows: w.depth, cols: 8 });
  const bias = w.bias ? arena.view({ at: w.bias, rows: 1, cols: w.columns }) : null;
  for (let col = 0; col < cols; col++) {
    const own = panel(from + col);
    const lane = (from + col) & 7;
    for (let row = 0; row < x.rows; row++) {
      let sum = bias ? bias[from + col] : 0;
      for (let i = 0; i < w.depth; i++) sum += x.data[row * x.cols + i] * own[i * 8 + lane];
      out.data[row * cols + col] = sum;
    }
  }
  return out;
}

/** A stage beside the same numbers of the kernels. @returns {DerivedStage} */
function compared(/** @type {Matrix} */ own, /** @type {Matrix} */ kernel, /** @type {number} */ depth) {
  let [error, largest] = [0, 0];
  own.data.forEach((value, place) => {
    error = Math.max(error, Math.abs(value - kernel.data[place]));
    largest = Math.max(largest, Math.abs(value));
  });
  return { ...kernel, error, tolerance: (ROUNDING + STEP * Math.sqrt(depth)) * largest };
}

/** @returns {DerivedStage} */
const alone = (/** @type {Matrix} */ own) => ({ ...own, error: null, tolerance: 0 });

/** q·kᵀ, and the same times the factor of the model. */
function scoresOf(/** @type {Matrix} */ q, /** @type {Matrix} */ k, /** @type {Group} */ { scaling }) {
  const scores = product(q, k, true);
  return {
    scores,
    scaled: matrix(
      scores.rows,
      scores.cols,
      scores.data.map((score) => score * scaling),
    ),
  };
}

/** The scaled scores of a head before its mask. */
export function scaledScores(
  /** @type {Scene} */ { arena, group },
  /** @type {number} */ layer,
  /** @type {number} */ head,
) {
  const { q, k } = group.calls[layer];
  const width = q.cols / group.heads;
  const kvHead = Math.floor((head * group.kvHeads) / group.heads);
  const [own, keys] = [columnsOf(arena, q, head * width, width), columnsOf(arena, k, kvHead * width, width)];
  return scoresOf(own, keys, group).scaled.data;
}

/** The scores with −∞ where a query may not attend to a key. */
function maskedScores(/** @type {Matrix} */ scaled, /** @type {Group} */ group) {
  const out = matrix(scaled.rows, scaled.cols, scaled.data.slice());
  for (let query = 0; query < out.rows; query++)
    for (let key = 0; key < out.cols; key++)
      if (!sees(group, query, key)) out.data[query * out.cols + key] = -Infinity;
  return out;
}

function softmaxRows(/** @type {Matrix} */ { rows, cols, data }) {
  const out = matrix(rows, cols);
  for (let from = 0; from < data.length; from += cols) {
    const row = data.subarray(from, from + cols);
    const most = row.reduce((a, b) => Math.max(a, b), -Infinity);
    const total = row.reduce((sum, score) => sum + Math.exp(score - most), 0);
    row.forEach((score, key) => (out.data[from + key] = Math.exp(score - most) / total));
  }
  return out;
}

/** All stages of one head. @returns {Partial<Record<Stage, DerivedStage>>} */
function stagesOf(
  /** @type {Scene} */ { arena, group },
  /** @type {Call} */ call,
  /** @type {number} */ layer,
  /** @type {number} */ head,
) {
  const width = call.q.cols / group.heads;
  const valueWidth = call.mixed.cols / group.heads;
  const kvHead = Math.floor((head * group.kvHeads) / group.heads);
  const q = columnsOf(arena, call.q, head * width, width);
  const k = columnsOf(arena, call.k, kvHead * width, width);
  const v = columnsOf(arena, call.v, kvHead * valueWidth, valueWidth);
  const { scores, scaled } = scoresOf(q, k, group);
  const masked = maskedScores(scaled, group);
  const place = { at: placeOf(group, layer, head), rows: group.n, cols: group.m };
  const weights = compared(softmaxRows(masked), columnsOf(arena, place), width);
  const mixed = compared(
    product(weights, v),
    columnsOf(arena, call.mixed, head * valueWidth, valueWidth),
    group.m,
  );
  const concat = columnsOf(arena, call.mixed);
  const projected = compared(
    projection(arena, concat, call.o),
    columnsOf(arena, arena.linear(call.mixed, call.o)),
    concat.cols,
  );
  return {
    x: alone(columnsOf(arena, call.x)),
    ...projectedStages(
      arena,
      call,
      { q, k, v },
      { q: head * width, k: kvHead * width, v: kvHead * valueWidth },
    ),
    scores: alone(scores),
    scaled: alone(scaled),
    masked: alone(masked),
    weights,
    mixed,
    concat: alone(concat),
    projected,
  };
}

/**
 * q, k and v, computed again from what they were made of; where q and k are turned, what they were before.
 * @param {Arena} arena
 * @param {Call} call
 * @param {Record<"q" | "k" | "v", Matrix>} own
 * @param {Record<"q" | "k" | "v", number>} from the first column of the head in each
 * @returns {Partial<Record<Stage, DerivedStage>>}
 */
function projectedStages(arena, { x, source, by, unrotated }, own, from) {
  const made = (/** @type {"q" | "k" | "v"} */ stage, /** @type {Matrix} */ kernel) => {
    const { layer, from: first } = by[stage];
    const states = columnsOf(arena, stage === "q" ? x : source);
    return compared(projection(arena, states, layer, first + from[stage], kernel.cols), kernel, layer.depth);
  };
  const v = made("v", own.v);
  if (!unrotated) return { q: made("q", own.q), k: made("k", own.k), v };
  return {
    unrotated_q: made("q", columnsOf(arena, unrotated.q, from.q, own.q.cols)),
    unrotated_k: made("k", columnsOf(arena, unrotated.k, from.k, own.k.cols)),
    q: alone(own.q),
    k: alone(own.k),
    v,
  };
}

/** How long a vector a weight of 1 on each key would write, ‖v·W_O‖. @returns {PackableArray} */
function reachOf(
  /** @type {Arena} */ arena,
  /** @type {Call} */ { o },
  /** @type {Matrix} */ v,
  /** @type {number} */ head,
) {
  const values = arena.tensor(v.rows, o.depth);
  const numbers = arena.view(values).fill(0);
  for (let key = 0; key < v.rows; key++)
    numbers.set(v.data.subarray(key * v.cols, (key + 1) * v.cols), key * o.depth + head * v.cols);
  const written = columnsOf(arena, arena.linear(values, { ...o, bias: 0 }));
  const lengths = Float32Array.from({ length: v.rows }, (_, key) =>
    Math.hypot(...written.data.subarray(key * written.cols, (key + 1) * written.cols)),
  );
  return floats([v.rows], lengths);
}

/** The bit of each cell's reason. @returns {PackableArray} */
function blockedCells(/** @type {Group} */ group) {
  const data = new Uint8Array(group.n * group.m);
  for (let query = 0; query < group.n; query++)
    for (let key = 0; key < group.m; key++)
      if (!sees(group, query, key)) data[query * group.m + key] = CAUSAL_BIT;
  return { data, shape: [group.n, group.m] };
}

/** @returns {Header["panels"][number]} */
function filledPanel(
  /** @type {Header["panels"][number]} */ panel,
  /** @type {DerivedStage | undefined} */ stage,
) {
  if (!stage || panel.shape === null) return panel;
  const { rows, cols, error, tolerance } = stage;
  /** @type {ShownPanel} */
  const shown = { ...panel, shape: [rows, cols], error, tolerance, ok: error === null || error <= tolerance };
  return shown;
}

/**
 * Every stage of a head; `header` is the one that Python wrote for its attention.
 * @param {Scene} scene
 * @param {Header} header
 * @param {number} layer
 * @param {number} head
 */
export function stepsBytes(scene, header, layer, head) {
  const { arena, group, picture } = scene;
  const call = group.calls[layer];
  const stages = stagesOf(scene, call, layer, head);
  const valueWidth = call.mixed.cols / group.heads;
  const v = /** @type {Matrix} */ (stages.v);
  /** @type {Record<string, PackableArray>} */
  const arrays = {};
  if (picture) arrays.picture = { data: picture.rgb, shape: [picture.side, picture.side, 3] };
  arrays.blocked = blockedCells(group);
  arrays.reach = reachOf(arena, call, v, head);
  for (const [stage, { rows, cols, data }] of Object.entries(stages))
    arrays[stage] = floats([rows, cols], data);
  /** @type {Omit<Header, "strings">} */
  const filled = {
    ...header,
    ...axesOf(scene),
    layer,
    head,
    head_slice: [head * valueWidth, (head + 1) * valueWidth],
    panels: header.panels.map((panel) => filledPanel(panel, stages[panel.stage])),
  };
  return pack({ ...filled, strings: scene.texts.strings.steps }, arrays);
}
