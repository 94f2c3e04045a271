// Masks: their text form, the cells that each blocks, and the weights that follow, by hand.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  blockedBits,
  errorOfSoftmax,
  fittingSize,
  isAsModel,
  maskedWeights,
  masksOfModel,
  readMasks,
  withStroke,
  writtenMasks,
} from "#pictures/masks/layers.js";

const NAMES = ["padding", "causal", "window", "prefix", "block", "custom"];
const header = {
  mask_names: NAMES,
  as_model: 0b10,
  sizes: { window: 2, prefix: 1, block: 2 },
  tokens: [["a", "b", "c"]],
  key_tokens: [["a", "b", "c"]],
  padding: [[0, 0, 0]],
  key_padding: [[0, 0, 1]],
};
const arrays = {
  model_blocks: { data: new Uint8Array(9), shape: [1, 3, 3] },
  scaled: { data: new Float32Array(9), shape: [1, 3, 3] },
  weights: { data: Float32Array.of(1, 0, 0, 0.5, 0.5, 0, 1 / 3, 1 / 3, 1 / 3), shape: [1, 3, 3] },
  sinks: { data: new Float32Array(3).fill(-Infinity), shape: [1, 3] },
};

/** The rows of a mask, "#" where it blocks. */
function pattern(masks, name) {
  const bits = blockedBits(header, arrays, masks, 0);
  const flag = 1 << NAMES.indexOf(name);
  return [0, 1, 2].map((row) =>
    [...bits.slice(3 * row, 3 * row + 3)].map((b) => (b & flag ? "#" : ".")).join(""),
  );
}

test("blockedBits of every kind of mask", () => {
  const masks = {
    ...masksOfModel(header),
    strokes: [{ blocks: true, top: 0, left: 1, bottom: 1, right: 9 }],
  };
  assert.deepEqual(pattern(masks, "padding"), ["..#", "..#", "..#"]);
  assert.deepEqual(pattern(masks, "causal"), [".##", "..#", "..."]);
  assert.deepEqual(pattern(masks, "window"), ["..#", "...", "#.."]); // a distance of 2 is outside a window of 2
  assert.deepEqual(pattern(masks, "prefix"), [".##", "..#", "..."]);
  assert.deepEqual(pattern({ ...masks, sizes: { ...masks.sizes, prefix: 2 } }, "prefix"), [
    "..#",
    "..#",
    "...",
  ]);
  assert.deepEqual(pattern(masks, "block"), ["..#", "..#", "##."]);
  assert.deepEqual(pattern(masks, "custom"), [".##", ".##", "..."]);
});

test("blockedBits of the model's own mask reads the cells of its sentence", () => {
  const named = { ...header, mask_names: ["model"], tokens: [["a"], ["a"]], key_tokens: [["x"], ["x"]] };
  const padded = { ...named, key_padding: [[0], [0]] };
  const cells = { ...arrays, model_blocks: { data: Uint8Array.of(0, 1), shape: [2, 1, 1] } };
  const bits = [0, 1].map((sentence) => [...blockedBits(padded, cells, masksOfModel(padded), sentence)]);
  assert.deepEqual(bits, [[0], [1]]);
});

test("blockedBits lets a later stroke open what an earlier one closed", () => {
  const closed = withStroke(masksOfModel(header), { blocks: true, top: 0, left: 0, bottom: 2, right: 2 });
  const opened = withStroke(closed, { blocks: false, top: 1, left: 1, bottom: 1, right: 1 });
  assert.deepEqual(pattern(opened, "custom"), ["###", "#.#", "###"]);
});

test("readMasks and writtenMasks are each other's inverse, and nonsense is the model's", () => {
  for (const text of ["none", "causal,window=3", "padding,prefix=2,block=5", "custom=+0.1:2.3-1.1:1.1"]) {
    assert.equal(writtenMasks(readMasks(header, text), header), text);
  }
  assert.deepEqual(readMasks(header, "causal,nonsense"), masksOfModel(header));
  assert.deepEqual(readMasks(header, null), masksOfModel(header));
  assert.equal(writtenMasks(readMasks(header, "causal"), header), null); // as the model has it
  assert.deepEqual([fittingSize(NaN), fittingSize(-3), fittingSize(2.6), fittingSize(1e9)], [1, 1, 3, 99999]);
});

test("isAsModel compares the size of a mask that is on, and of no other", () => {
  const own = masksOfModel(header);
  assert.ok(isAsModel({ ...own, sizes: { ...own.sizes, window: 9 } }, header));
  const windowed = { ...header, as_model: 0b100 };
  assert.ok(isAsModel(masksOfModel(windowed), windowed));
  assert.ok(!isAsModel({ ...masksOfModel(windowed), sizes: { ...own.sizes, window: 9 } }, windowed));
});

test("withStroke forgets the oldest of more than 64", () => {
  let masks = masksOfModel(header);
  for (let i = 0; i < 65; i++)
    masks = withStroke(masks, { blocks: true, top: i, left: 0, bottom: i, right: 0 });
  assert.deepEqual([masks.strokes.length, masks.strokes[0].top], [64, 1]);
});

test("maskedWeights is the softmax over open cells; a sink takes its share, a closed row has zeros", () => {
  const scaled = { data: Float32Array.of(0, Math.log(3), 5, 0, 0, 0, 7, 7, 7), shape: [1, 3, 3] };
  const bits = Uint8Array.of(0, 0, 1, 0, 0, 2, 1, 1, 1);
  const found = maskedWeights(header, { ...arrays, scaled }, 0, bits, 1);
  const rounded = (values) => [...values].map((value) => Number(value.toFixed(5)));
  assert.deepEqual(rounded(found), [0.25, 0.75, 0, 0.33333, 0.33333, 0.33333, 0, 0, 0]);
  const sinks = { data: Float32Array.of(Math.log(4), -Infinity, -Infinity), shape: [1, 3] };
  const sunk = maskedWeights(header, { ...arrays, scaled, sinks }, 0, bits, 1);
  assert.deepEqual(rounded(sunk.slice(0, 3)), [0.125, 0.375, 0]);
});

test("errorOfSoftmax is the largest difference, rows of padding left out", () => {
  assert.ok(errorOfSoftmax(header, arrays) < 1e-6);
  const weights = { ...arrays.weights, data: arrays.weights.data.with(7, 0.5) };
  assert.ok(Math.abs(errorOfSoftmax(header, { ...arrays, weights }) - 1 / 6) < 1e-6);
  const twice = (name) => ({
    data: Float32Array.of(...arrays[name].data, ...weights.data),
    shape: [2, 3, 3],
  });
  const both = {
    ...arrays,
    weights: twice("weights"),
    scaled: { data: new Float32Array(18), shape: [2, 3, 3] },
  };
  both.sinks = { data: new Float32Array(6).fill(-Infinity), shape: [2, 3] };
  const pair = Object.fromEntries(
    ["tokens", "key_tokens", "padding", "key_padding"].map((name) => [
      name,
      [...header[name], ...header[name]],
    ]),
  );
  assert.ok(Math.abs(errorOfSoftmax({ ...header, ...pair }, both) - 1 / 6) < 1e-6);
  const padded = { ...header, padding: [[0, 0, 1]] };
  assert.ok(errorOfSoftmax(padded, { ...arrays, weights }) < 1e-6);
});
