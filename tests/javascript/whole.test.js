// Overview of a long text: what is there before all weights have come, and what is only a maximum.

import assert from "node:assert/strict";
import { test } from "node:test";

import { makeWhole } from "#pictures/grid/whole.js";

const SIZE = { n_layers: 2, n_heads: 2, n_query: 3, n_key: 3 };
const MATRIX = [1, 2, 3, 4, 5, 6, 7, 8, 9];

/** @returns {any} */
function packed(/** @type {number[]} */ values, /** @type {number[]} */ shape) {
  return { data: Uint8Array.from(values), shape, dtype: "u8" };
}

function first() {
  const header = { ...SIZE, first: { layer: 1, head: 0, side: 2 } };
  const largest = [5, 6, 8, 9].map((value) => value * 10);
  const arrays = {
    weights: packed(MATRIX, [1, 1, 3, 3]),
    "first.largest": packed([...largest, ...largest, 5, 6, 8, 9, ...largest], [2, 2, 2, 2]),
  };
  return makeWhole(/** @type {any} */ (header), /** @type {any} */ (arrays));
}

test("one head has its weights, the others maxima that are not taken for weights", () => {
  const whole = first();
  assert.deepEqual(
    [whole.has(1, 0), whole.has(0, 0), whole.has(1, 1), whole.isWhole()],
    [true, false, false, false],
  );
  assert.deepEqual([...whole.weights.data.subarray(18, 27)], MATRIX);
  assert.equal(
    whole.weights.data.reduce((sum, value) => sum + value),
    45,
  );
  assert.deepEqual([...whole.largestOf(0, 1)], [50, 50, 60, 50, 50, 60, 80, 80, 90]);
});

test("weights that come fill their layers, causal ones with their zeros", () => {
  const whole = first();
  const rest = { capture: "", sentences: [], measures: [], measured: null };
  const starts = Uint32Array.from([0, 1, 3, 6]);
  const causal = { ...packed([...Array(12).keys()], [1, 2, 3, 3]), first: 1, starts, squares: new Map() };
  whole.take({ ...rest, first_layer: 0, weights: causal });
  assert.deepEqual([whole.has(0, 0), whole.has(0, 1), whole.has(1, 1)], [true, true, false]);
  assert.deepEqual([...whole.weights.data.subarray(9, 18)], [6, 0, 0, 7, 8, 0, 9, 10, 11]);
  whole.take({ ...rest, first_layer: 1, weights: packed([...MATRIX, ...MATRIX], [1, 2, 3, 3]) });
  assert.ok(whole.isWhole());
});

test("of some heads, these alone have room, and what comes of them lies at their places", () => {
  const header = { ...SIZE, first: { layer: 1, head: 1, side: 2 }, kept: [[1], [1]] };
  const places = (/** @type {number} */ size) => new Map([1, 3].map((place, i) => [place, i * size]));
  const largest = { ...packed([50, 60, 80, 90, 5, 6, 8, 9], [2, 2, 2, 2]), places: places(4) };
  const arrays = { weights: packed(MATRIX, [1, 1, 3, 3]), "first.largest": largest };
  const whole = makeWhole(/** @type {any} */ (header), /** @type {any} */ (arrays));
  assert.deepEqual([...whole.weights.data], [...Array(9).fill(0), ...MATRIX]);
  assert.deepEqual([whole.has(0, 1), whole.has(1, 1), whole.isWhole()], [false, true, false]);
  assert.deepEqual([...whole.largestOf(0, 1)], [50, 50, 60, 50, 50, 60, 80, 80, 90]);
  const rest = { capture: "", sentences: [], measures: [], measured: null };
  const ten = MATRIX.map((value) => value * 10);
  const part = { ...packed(ten, [1, 2, 3, 3]), places: new Map([[1, 0]]) };
  whole.take({ ...rest, first_layer: 0, weights: part });
  assert.deepEqual([...whole.weights.data], [...ten, ...MATRIX]);
  assert.ok(whole.isWhole() && whole.has(0, 1) && !whole.has(0, 0));
});
