// The arithmetic of one cell on numbers worked by hand: products, softmax, mixing, and how much a key writes.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  addUp,
  beforeMask,
  dotProduct,
  effectOf,
  mixedOf,
  reasonsOf,
  rowOf,
  softmaxOf,
  valueAt,
} from "#pictures/steps/arithmetic.js";

const matrix = (...rows) => ({ data: Float32Array.from(rows.flat()), shape: [rows.length, rows[0].length] });

test("rowOf and valueAt read a row and an entry, null where there is no matrix", () => {
  const m = matrix([1, 2, 3], [4, 5, 6]);
  assert.deepEqual([...rowOf(m, 1)], [4, 5, 6]);
  assert.equal(valueAt(m, 1, 0), 4);
  assert.equal(valueAt(m, 0, 2), 3);
  assert.deepEqual([rowOf(undefined, 0), valueAt(undefined, 0, 0)], [null, null]);
});

test("beforeMask is the last of scaled, capped and biased that there is", () => {
  const [scaled, capped, biased] = [matrix([1]), matrix([2]), matrix([3])];
  assert.equal(beforeMask({ scaled }), scaled);
  assert.equal(beforeMask({ scaled, capped }), capped);
  assert.equal(beforeMask({ scaled, capped, biased }), biased);
});

test("dotProduct sorts its products by size, equal ones by component", () => {
  const arrays = {
    q: matrix([9, 9, 9, 9], [1, -3, 2, -1]),
    k: matrix([2, 2, 3, 2]),
    scores: matrix([0], [-5]),
  };
  const { terms, score } = dotProduct(arrays, 1, 0);
  assert.equal(score, -5); // the buffer's number, not ours: 2 − 6 + 6 − 2 = 0
  assert.deepEqual(
    terms.map(({ component, product }) => [component, product]),
    [
      [1, -6],
      [2, 6],
      [0, 2],
      [3, -2],
    ],
  );
  assert.deepEqual(terms[1], { component: 2, q: 2, k: 3, product: 6 });
  for (const missing of ["q", "k", "scores"])
    assert.equal(dotProduct({ ...arrays, [missing]: undefined }, 1, 0), null);
});

test("addUp gives the rest that makes rounded numbers add up to the rounded total", () => {
  // 0.333 + 0.333 = 0.666 is printed 0.33 + 0.33; of a total of 1.00 0.34 is left
  assert.deepEqual(addUp([0.333, 0.333], 0.9999, 2), { shown: [0.33, 0.33], rest: 0.34, total: 1 });
  assert.deepEqual(addUp([], -0.126, 2), { shown: [], rest: -0.13, total: -0.13 });
  assert.deepEqual(addUp([0.5, -0.25], 0.25, 2), { shown: [0.5, -0.25], rest: 0, total: 0.25 });
});

test("softmaxOf divides exp(score − max) by the sum over the row", () => {
  const masked = matrix([0, Math.log(3), -Infinity]);
  const found = softmaxOf({ masked, weights: matrix([0.25, 0.75, 0]) }, 0, 0);
  assert.equal(found.live, 2);
  assert.ok(Math.abs(found.max - Math.log(3)) < 1e-6 && found.score === 0);
  assert.ok(Math.abs(found.exp - 1 / 3) < 1e-6 && Math.abs(found.sum - 4 / 3) < 1e-6);
  assert.equal(found.weight, 0.25);
  const blocked = softmaxOf({ masked, weights: matrix([0.25, 0.75, 0]) }, 0, 2);
  assert.deepEqual([blocked.exp, blocked.weight], [0, 0]);
});

test("softmaxOf is null where the weight did not come about so, from a difference of 1e-5 on", () => {
  const masked = matrix([0, 0]);
  assert.equal(softmaxOf({ masked, weights: matrix([0.50002, 0.5]) }, 0, 0), null);
  assert.notEqual(softmaxOf({ masked, weights: matrix([0.500009, 0.5]) }, 0, 0), null);
  assert.equal(softmaxOf({ masked }, 0, 0), null);
  assert.equal(softmaxOf({ weights: masked }, 0, 0), null);
});

test("softmaxOf of a row without a live key has a sum of 0, whatever stands in it", () => {
  const masked = matrix([-Infinity, -Infinity]);
  const { exp, sum, live, weight } = softmaxOf({ masked, weights: matrix([0.5, 0.5]) }, 0, 1);
  assert.deepEqual({ exp, sum, live, weight }, { exp: 0, sum: 0, live: 0, weight: 0.5 });
});

test("mixedOf weighs v, and the shares of all keys sum to 1", () => {
  const arrays = {
    v: matrix([4, 0], [0, 8]),
    weights: matrix([0.75, 0.25]),
    mixed: matrix([3, 2]), // 0.75·(4, 0) + 0.25·(0, 8)
  };
  const [first, second] = [mixedOf(arrays, 0, 0), mixedOf(arrays, 0, 1)];
  assert.deepEqual([first.weighted, second.weighted], [[3, 0], [0, 2]]); // prettier-ignore
  assert.ok(Math.abs(first.share - 9 / 13) < 1e-9 && Math.abs(second.share - 4 / 13) < 1e-9);
  assert.equal(mixedOf({ ...arrays, mixed: matrix([0, 0]) }, 0, 0).share, null);
  for (const missing of ["v", "mixed", "weights"])
    assert.equal(mixedOf({ ...arrays, [missing]: undefined }, 0, 0), null);
});

test("effectOf ranks a key by weight × reach, and beside it by the weight alone", () => {
  // effects 0.5·1, 0.3·2 and 0.2·4: by effect the last is first, by weight it is last
  const arrays = { weights: matrix([0.5, 0.25, 0.2]), reach: { data: Float32Array.of(1, 2, 4), shape: [3] } };
  const ranks = [0, 1, 2].map((key) => effectOf(arrays, 0, key));
  assert.deepEqual(
    ranks.map(({ rank, rankByWeight, count }) => [rank, rankByWeight, count]),
    [
      [2, 1, 3], // 0.5, as the next one: equal effects share a rank
      [2, 2, 3],
      [1, 3, 3],
    ],
  );
  assert.ok(Math.abs(ranks[2].effect - 0.8) < 1e-6 && ranks[2].norm === 4);
  assert.equal(effectOf({ weights: matrix([0, 0, 0]), reach: arrays.reach }, 0, 0), null);
  assert.equal(effectOf({ weights: arrays.weights }, 0, 0), null);
});

test("reasonsOf names the masks whose bits are set", () => {
  assert.deepEqual(reasonsOf(0b101, ["padding", "causal", "window"]), ["padding", "window"]);
  assert.deepEqual(reasonsOf(0, ["padding"]), []);
});
