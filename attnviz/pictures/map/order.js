// @ts-check
// How far the picture has the order of a query's weights: for each query of a text how far out its keys lie in its
// direction, as they are drawn, beside the weights that it gives them: the rank correlation, and the place of the heaviest.

import { KEY, QUERY, placeOf, weightsOf } from "./points.js";

/** @import { Points } from "./points.js" */

/**
 * `n` keys have a weight; `kept` is the rank correlation over them. `key` has the largest weight and is the `rank`-th from
 * outside in the query's direction.
 * @typedef {{n: number, kept: number, key: number, rank: number}} Order
 */

const LEAST = 3; // keys: two are always in one order or the other

/** @type {WeakMap<Points, {head: number, text: number, orders: (Order | null)[]}>} */
const KNOWN = new WeakMap();

/**
 * The order of each query of a text; null for a query with too few keys, or with keys that are drawn all alike.
 * @param {Points} points
 * @param {number} head
 * @param {number} text
 * @returns {(Order | null)[]}
 */
export function ordersOf(points, head, text) {
  const known = KNOWN.get(points);
  if (known?.head === head && known.text === text) return known.orders;
  const [start, stop] = points.header.texts[text];
  const keys = Array.from({ length: stop - start }, (_, at) =>
    placeOf(points, head, { token: start + at, side: KEY }),
  );
  const orders = keys.map((_, at) => {
    const query = { token: start + at, side: QUERY };
    const { x, y } = placeOf(points, head, query);
    const weights = weightsOf(points, head, query);
    const seen = [...weights.keys()].filter((key) => weights[key] > 0);
    const out = seen.map((key) => x * keys[key].x + y * keys[key].y);
    const given = seen.map((key) => weights[key]);
    const kept = rankCorrelation(out, given);
    if (seen.length < LEAST || kept === null) return null;
    const top = given.indexOf(Math.max(...given));
    const rank = 1 + out.filter((one) => one > out[top]).length;
    return { n: seen.length, kept, key: seen[top], rank };
  });
  KNOWN.set(points, { head, text, orders });
  return orders;
}

/** Spearman's rank correlation; null where one side has a single rank. */
export function rankCorrelation(/** @type {number[]} */ first, /** @type {number[]} */ second) {
  const [a, b] = [ranksOf(first), ranksOf(second)];
  const middle = (first.length - 1) / 2;
  const sum = (/** @type {number[]} */ p, /** @type {number[]} */ q) =>
    p.reduce((total, rank, at) => total + (rank - middle) * (q[at] - middle), 0);
  const spread = Math.sqrt(sum(a, a) * sum(b, b));
  return spread > 0 ? sum(a, b) / spread : null;
}

/** Ranks from 0; equal values share the mean of theirs. */
function ranksOf(/** @type {number[]} */ values) {
  const order = [...values.keys()].sort((a, b) => values[a] - values[b]);
  const ranks = values.map(() => 0);
  for (let from = 0, to = 0; from < order.length; from = to) {
    while (to < order.length && values[order[to]] === values[order[from]]) to++;
    for (let at = from; at < to; at++) ranks[order[at]] = (from + to - 1) / 2;
  }
  return ranks;
}
