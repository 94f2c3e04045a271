// Compare: the cell that differs most, beside the median head; the labels of the common axes.

import assert from "node:assert/strict";
import { test } from "node:test";

import { commonAxes } from "#pictures/pair/labels.js";
import { largestOf } from "#pictures/pair/numbers.js";

const head = (...values) => {
  const real = values.filter((value) => !Number.isNaN(value));
  return { values: Float32Array.from(values), limit: Math.max(...real.map(Math.abs)) };
};

test("largestOf names head and cell of the largest difference, with the median head's largest", () => {
  const each = [
    head(0, 0.125, 0, 0, 0, 0),
    head(0.25, 0, 0, 0, 0, 0),
    head(0, 0, NaN, 0, -0.75, 0.5),
    head(0, 0, 0, 0, 0, 0.5),
  ];
  const median = (0.25 + 0.5) / 2;
  assert.deepEqual(largestOf(each, 2, 3), { layer: 1, head: 0, row: 1, col: 1, value: -0.75, median });
  assert.equal(largestOf(each.slice(0, 3), 1, 3).median, 0.25);
});

test("largestOf has nothing to name where both sides are equal", () => {
  assert.equal(largestOf([head(0, 0), head(NaN, 0)], 2, 2), null);
});

test("largestOf finds the cell although its limit has more digits than the stored differences", () => {
  const each = [{ values: Float32Array.from([0, 0.1]), limit: 0.1 }];
  assert.equal(largestOf(each, 1, 2)?.col, 1);
});

test("commonAxes says once what the names of two rows have in common, so that the other word is in sight", () => {
  const row = (...tokens) =>
    tokens.map((token, at) => (tokens[at + 1] ? `${token}\u2009⇢\u2009${tokens[at + 1]}` : token));
  const side = (...tokens) => ({
    rows: row(...tokens),
    key_tokens: tokens,
    special: tokens.map(() => 0),
    key_special: tokens.map(() => 0),
  });
  const slots = [0, 1, 2, 3].map((at) => [at, at, Number(at !== 2)]);
  const [a, b] = [side("Mary", "met", "John", "there"), side("Mary", "met", "Tom", "there")];
  const { rows, cols } = commonAxes({ a, b, rows: slots, cols: slots });
  const plain = (texts) => texts.map((text) => text.replace(/[\u2066-\u2069]/g, "").replace(/\u2009/g, ""));
  assert.deepEqual(plain(rows), ["Mary⇢met", "met⇢John / Tom", "John → Tom", "there"]);
  assert.deepEqual(plain(cols), ["Mary", "met", "John → Tom", "there"]);
});
