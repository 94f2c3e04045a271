// How far the picture of a head has the order of a query's weights.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ordersOf, rankCorrelation } from "#pictures/map/order.js";
import { readPoints } from "#pictures/map/points.js";

test("rankCorrelation is Spearman's, with shared ranks", () => {
  // scipy.stats.spearmanr of the same numbers
  assert.ok(
    Math.abs(rankCorrelation([3, 1, 2, 2, 5], [0.2, 0.1, 0.4, 0.1, 0.9]) - 0.7631578947368421) < 1e-12,
  );
  assert.equal(rankCorrelation([1, 2, 3], [3, 2, 1]), -1);
  assert.equal(rankCorrelation([1, 1, 1], [3, 2, 1]), null);
});

test("ordersOf sees where the heaviest key is not the furthest out", () => {
  const codes = (/** @type {number[]} */ xs) => xs.flatMap((x) => [32768 + Math.round(32767 * x), 32768]);
  const queries = [0.5, 0.5, -0.5, 0.5];
  const keys = [0.1, 0.8, 0.4, -0.2];
  // rows of queries; the first two see too few keys
  const weights = [1, 0, 0, 0, 0.5, 0.5, 0, 0, 0.6, 0.1, 0.3, 0, 0.05, 0.3, 0.6, 0.05];
  const header = { texts: [[0, 4, 1, 1]], labels: ["a"] };
  const arrays = {
    label_of: { data: new Uint16Array(4) },
    places: { data: Uint16Array.from([...codes(queries), ...codes(keys)]) },
    weights: { data: Uint16Array.from(weights, (one) => Math.round(65535 * Math.sqrt(one))), dtype: "u16" },
  };
  const [one, two, third, last] = ordersOf(readPoints(header, arrays), 0, 0);
  assert.deepEqual([one, two], [null, null]);
  assert.deepEqual(third, { n: 3, kept: 1, key: 0, rank: 1 });
  assert.equal(last?.rank, 2, "the key at 0.4 has the largest weight, that at 0.8 lies further out");
  assert.equal(last?.key, 2);
});
