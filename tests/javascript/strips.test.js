// The colours of a row's strips are those of its whole matrix.

import assert from "node:assert/strict";
import { test } from "node:test";

import { diverging } from "#pictures/shared/colors.js";
import { stripsOf } from "#pictures/steps/film_show.js";

/** The colours that `stripsOf` paints, without a browser. */
function coloursOf(/** @type {() => void} */ paint) {
  /** @type {Uint32Array[]} */
  const painted = [];
  const context = { putImageData: ({ data }) => painted.push(new Uint32Array(data.buffer)) };
  globalThis.ImageData = class {
    constructor(width, height) {
      this.data = new Uint8ClampedArray(4 * width * height);
    }
  };
  globalThis.document = { createElement: () => ({ getContext: () => context }) };
  paint();
  return painted.map((one) => [...one]);
}

test("rows of one matrix have one scale of colours, that of its largest number", () => {
  const matrix = { data: Float32Array.of(1.56, 0, 0.88, -0.88, 0.25, 0), shape: [3, 2], dtype: "f32" };
  const lut = diverging(false);
  const level = (/** @type {number} */ value) => lut[Math.round(127.5 + (127.5 * value) / 1.56)];
  const rows = [0, 1, 2].map((row) => coloursOf(() => stripsOf(matrix, [row], false))[0]);
  assert.deepEqual(rows, [
    [level(1.56), level(0)],
    [level(0.88), level(-0.88)],
    [level(0.25), level(0)],
  ]);
});

test("a matrix of zeros has the colour of 0", () => {
  const zeros = { data: new Float32Array(2), shape: [1, 2], dtype: "f32" };
  const [colours] = coloursOf(() => stripsOf(zeros, [0], false));
  assert.deepEqual(colours, [diverging(false)[128], diverging(false)[128]]);
});
