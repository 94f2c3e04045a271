// @ts-check
// Rows of V, each times its weight, flow together into the output. A hand on a weight takes from the others what it gives
// to one. In: weights, values, and the words.

import { between, clamp } from "../shared/scenes.js";
import { bar, cell, cellOf, turnOf, write } from "./draw.js";
import { fmtFixed } from "../shared/fmt.js";

/** @import { Film, Frame } from "./draw.js" */

const ROW = 38;
const TOP = 6;
const GAP = 30; // above the output

/** @type {Film} */
export const BLEND = {
  height: (_, arrays) => TOP + ROW * (arrays.values.shape[0] + 1) + GAP,
  paint(frame) {
    const { header, arrays, so, ctx, theme, roles } = frame;
    const [n, d] = arrays.values.shape;
    const isByHand = Object.keys(frame.set).length > 0;
    const weights = weightsNow(frame);
    const at = columns(frame, d);
    const limit = Math.max(...Array.from(arrays.values.data, Math.abs), 1e-9);
    const sums = new Array(d).fill(0);
    const below = TOP + n * ROW + GAP;
    for (let row = 0; row < n; row++) {
      const y = TOP + row * ROW;
      const weight = weights[row];
      const grown = isByHand ? 1 : turnOf(so("weights", 0.2, 0.95), row, n);
      write(frame, header.labels.keys[row], { x: 0, y: y + 17, weight: 600, room: at.bar - 8 });
      bar(frame, { x: at.bar, y: y + 12, w: at.barWidth, h: 10 }, weight * grown, roles.query);
      ctx.globalAlpha = grown;
      write(frame, fmtFixed(weight, 2), { x: at.values - 8, y: y + 17, align: "right" });
      ctx.globalAlpha = 1;
      const moved = isByHand ? 1 : turnOf(so("products"), row, n);
      const sunk = isByHand ? 1 : turnOf(so("sum", 0, 0.85), row, n);
      for (let column = 0; column < d; column++) {
        const value = cellOf(arrays, "values", row, column);
        const box = { y, w: at.cell, h: ROW - 6 };
        cell(frame, { ...box, x: at.values + column * at.cell }, value, { limit, decimals: 0 });
        sums[column] += sunk * weight * value;
        if (moved <= 0 || sunk >= 1) continue;
        const x = between(at.values, at.products, moved) + column * at.cell;
        const down = between(y, below, sunk);
        ctx.globalAlpha = 1 - 0.6 * sunk;
        cell(frame, { ...box, x, y: down }, between(value, weight * value, moved), { limit });
        ctx.globalAlpha = 1;
      }
    }
    ctx.globalAlpha = isByHand ? 1 : so("sum", 0, 0.15);
    ctx.fillStyle = theme.border;
    ctx.fillRect(at.products - 6, below - 14, d * at.cell + 10, 1.5);
    write(frame, header.labels.query[0], {
      x: at.products - 12,
      y: below + 16,
      weight: 700,
      colour: roles.query,
      align: "right",
    });
    sums.forEach((sum, column) =>
      cell(frame, { x: at.products + column * at.cell, y: below, w: at.cell, h: ROW - 6 }, sum, { limit }),
    );
  },
  grips(frame) {
    const weights = weightsNow(frame);
    const at = columns(frame, frame.arrays.values.shape[1]);
    return weights.map((weight, row) => ({
      handle: "weight",
      at: [at.bar + at.barWidth * weight, TOP + row * ROW + 17],
      text: `${frame.header.labels.keys[row]} ${fmtFixed(weight, 2)}`,
      to: ([x]) => shared(weights, row, (x - at.bar) / at.barWidth),
      by: ([right, up], isLong) => shared(weights, row, weight + (right + up) * (isLong ? 0.2 : 0.02)),
    }));
  },
};

/** The weights of the card; once a hand has set them, those. */
function weightsNow(/** @type {Frame} */ { arrays, set }) {
  const [n] = arrays.values.shape;
  return Array.from({ length: n }, (_, row) => set[`weight_${row}`] ?? cellOf(arrays, "weights", 0, row));
}

/** All weights once one of them is set: the others share the rest in proportion. */
function shared(
  /** @type {readonly number[]} */ weights,
  /** @type {number} */ row,
  /** @type {number} */ to,
) {
  const part = Math.round(100 * clamp(to)) / 100;
  const rest = 1 - weights[row];
  const share = (/** @type {number} */ weight) =>
    rest > 0 ? (weight * (1 - part)) / rest : (1 - part) / (weights.length - 1);
  return Object.fromEntries(weights.map((weight, i) => [`weight_${i}`, i === row ? part : share(weight)]));
}

/** Where bars, values and products stand. */
function columns(/** @type {Frame} */ { width }, /** @type {number} */ d) {
  const bars = Math.round(width * 0.17);
  const barWidth = Math.round(width * 0.15);
  const values = bars + barWidth + 50;
  const gap = Math.round(width * 0.06);
  const room = Math.floor((width - values - gap) / (2 * d));
  const wide = Math.min(70, room);
  return { bar: bars, barWidth, values, cell: wide, products: values + d * wide + gap };
}
