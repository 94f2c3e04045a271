// What a mask hides, point by point of a picture.

import assert from "node:assert/strict";
import { test } from "node:test";

import { hiddenPoints, maskLayer, sameForAll } from "#pictures/shared/hidden.js";

/** @returns {any} */
function mask(/** @type {string[]} */ layers, /** @type {number[]} */ shape) {
  return { data: Uint8Array.from(layers.join(""), Number), shape, dtype: "u8" };
}

const CAUSAL = ["10000", "11000", "11100", "11110", "11111"];
const points = (/** @type {Uint8Array} */ hidden) => [...hidden].join("");

test("each hidden cell of a causal mask is a hidden point, for every layer where all are alike", () => {
  const visible = mask(CAUSAL, [1, 5, 5]);
  assert.equal(points(hiddenPoints(visible, 3, 5, 5)), "0111100111000110000100000");
  assert.equal(maskLayer(visible, 3), 0);
  assert.equal(sameForAll(visible), visible);
});

test("a point that stands for several cells is hidden only where all of them are", () => {
  // rows 0-1, 2-3, 4 and the same columns: the first two rows see columns 0 and 1 alone
  assert.equal(points(hiddenPoints(mask(CAUSAL, [1, 5, 5]), 0, 3, 3)), "011001000");
});

test("layers with masks of their own hide their own cells", () => {
  const visible = mask(["1011", "1111"], [2, 2, 2]);
  assert.equal(points(hiddenPoints(visible, 0, 2, 2)), "0100");
  assert.equal(points(hiddenPoints(visible, 1, 2, 2)), "0000");
  assert.equal(sameForAll(visible), null);
});

test("layers of different sizes have their masks one after the other", () => {
  const shapes = [
    [1, 2, 2],
    [1, 1, 3],
  ];
  const visible = { ...mask(["1011", "110"], [7]), shapes };
  assert.equal(points(hiddenPoints(visible, 0, 2, 2)), "0100");
  assert.equal(points(hiddenPoints(visible, 1, 1, 3)), "001");
});
