// Heads sorted by a measure, and the rows that they stand in.

import assert from "node:assert/strict";
import { test } from "node:test";

import { arranged, measureText, sortedHeads, sortedRows, sortings } from "#pictures/grid/order.js";

test("sortedHeads puts the largest first, equal ones in the model's order, those without a number last", () => {
  assert.deepEqual(sortedHeads([0.5, NaN, 0.9, 0.5, -1]), [2, 0, 3, 4, 1]);
  assert.deepEqual(sortedHeads([0.5, NaN, 0.9, 0.5, -1], [null, 4, 0, 3]), [0, 3, 4]);
});

test("sortedRows fills its last row with empty places", () => {
  assert.deepEqual(sortedRows([3, 1, 2], 2), [
    [0, 2],
    [1, null],
  ]);
  assert.deepEqual(sortedRows([], 2), []);
});

test("sortings cuts the numbers of each measure out of one array", () => {
  const header = { n_layers: 1, n_heads: 2, measures: [{ name: "a" }, { name: "b" }] };
  const found = sortings(header, { data: Float32Array.of(1, 2, 3, 4), shape: [2, 2] });
  assert.deepEqual(
    found.map(({ name, values }) => [name, ...values]),
    [
      ["a", 1, 2],
      ["b", 3, 4],
    ],
  );
  assert.deepEqual(sortings(header, undefined), []);
});

test("arranged leaves the model's own order where no measure is chosen", () => {
  const header = { n_layers: 2, n_heads: 2 };
  const own = [
    [0, 1],
    [2, 3],
  ];
  assert.deepEqual(arranged(header, null, 3), own);
  assert.deepEqual(arranged(header, { values: [1, 4, 2, 3] }, 3), [
    [1, 3, 2],
    [0, null, null],
  ]);
});

test("measureText prints a share as percent, other numbers with two digits, and a dash for none", () => {
  assert.equal(measureText({ unit: "share", values: [0.123] }, 0), "12%");
  assert.equal(measureText({ unit: "nats", values: [1.236] }, 0), "1.24");
  assert.equal(measureText({ unit: "share", values: [NaN] }, 0), "–");
});
