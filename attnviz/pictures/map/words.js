// @ts-check
// The map in words: what a head's plane keeps, and what a point gives or gets.

import { fill, fmtFixed, fmtList, fmtPercent, withPercent } from "../shared/fmt.js";
import { ordersOf } from "./order.js";
import { QUERY, labelOf, placeOf, textAt, weightsOf } from "./points.js";

/** @import { Point, Points } from "./points.js" */

const NAMED = 3;

/** What the plane of a head keeps, and how to read it. @returns {string[]} */
export function sentencesOf(/** @type {Points} */ { header }, /** @type {number} */ number) {
  const { strings, heads, tsne } = header;
  const { layer, head, kept, popularity } = heads[number];
  if (tsne?.head === number)
    return [
      fill(strings.tsne, { head: `L${layer}.H${head}` }),
      fill(strings.tsne_kept, { kept: correlation(tsne.kept), plane: correlation(tsne.plane) }),
      ...(header.rotated ? [strings.rotated] : []),
    ];
  const known = heads.map((other) => other.kept ?? NaN).filter(Number.isFinite);
  const median = known.sort((a, b) => a - b)[Math.floor(known.length / 2)] ?? 0;
  const values = { head: `L${layer}.H${head}`, kept: percent(kept ?? 0), median: percent(median) };
  return [
    ...(kept === null ? [] : [fill(strings.rule, values), strings.many]),
    ...(popularity !== null && popularity > 0.5
      ? [fill(strings.popular, { share: percent(popularity) })]
      : []),
    ...(header.rotated ? [strings.rotated] : []),
    ...(header.more ? [strings.more] : []),
  ];
}

function correlation(/** @type {number | null} */ value) {
  return value === null ? "\u2013" : fmtFixed(value, 2);
}

function percent(/** @type {number} */ share) {
  return String(Math.round(100 * share));
}

/** A point and the strongest weights that it gives or gets. */
export function pointInWords(
  /** @type {Points} */ points,
  /** @type {number} */ head,
  /** @type {Point} */ point,
) {
  const { strings } = points.header;
  const { span, position } = textAt(points, point.token);
  const weights = weightsOf(points, head, point);
  const order = [...weights.keys()].sort((a, b) => weights[b] - weights[a]).slice(0, NAMED);
  const strongest = order.map(
    (other) => `${labelOf(points, span[0] + other)} ${withPercent(fmtPercent(weights[other]))}`,
  );
  const token = labelOf(points, point.token);
  const isQuery = point.side === QUERY;
  const sentence = fill(isQuery ? strings.point_query : strings.point_key, {
    token,
    position,
    others: fmtList(strongest),
  });
  return placeOf(points, head, point).edge ? `${sentence} ${strings.edge}` : sentence;
}

/** How far the picture has the order of a query's weights, beside a random order and the text's other queries, and which of
 * these do not count. */
export function orderInWords(
  /** @type {Points} */ points,
  /** @type {number} */ head,
  /** @type {Point} */ { token, side },
) {
  if (side !== QUERY || points.header.tsne?.head === head) return null;
  const { text, position, span } = textAt(points, token);
  const orders = ordersOf(points, head, text);
  const own = orders[position];
  if (!own) return null;
  const all = orders.filter((order) => order !== null);
  const { strings } = points.header;
  const left = [...orders.keys()].filter((at) => orders[at] === null);
  const names = left.slice(0, NAMED).map((at) => labelOf(points, span[0] + at));
  const sentence = fill(strings.order, {
    n: own.n,
    kept: fmtFixed(own.kept, 2),
    chance: fmtFixed(1 / Math.sqrt(own.n - 1), 2),
    key: labelOf(points, span[0] + own.key),
    rank: own.rank,
    first: all.filter(({ rank }) => rank === 1).length,
    queries: all.length,
  });
  if (!left.length) return sentence;
  const more = left.length > NAMED ? ["…"] : [];
  const leftOut = fill(strings.order_left, { left: left.length, names: fmtList([...names, ...more]) });
  return `${sentence} ${leftOut}`;
}

/** A point in short, for what is under the pointer. */
export function pointInShort(/** @type {Points} */ points, /** @type {Point} */ { token, side }) {
  const { strings } = points.header;
  const { position } = textAt(points, token);
  const role = side === QUERY ? strings.query : strings.key;
  return fill(strings.point, { token: labelOf(points, token), role, position });
}
