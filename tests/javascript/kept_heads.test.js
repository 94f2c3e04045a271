// Some heads alone: which of them are chosen, stepped to and stand in the matrix of heads.

import assert from "node:assert/strict";
import { test } from "node:test";

import { arrangement } from "#pictures/shared/head_picker.js";
import { headStep, neighbour } from "#pictures/shared/headkeys.js";
import { clampSelection } from "#pictures/shared/selection.js";

const EXTENT = { n_layers: 4, n_heads: 3, n_query: 5, n_key: 5, kept: [[], [0, 2], [], [1]] };
const at = (layer, head) => ({ layer, head });

test("clampSelection goes to the nearest head that was kept, the layer first", () => {
  const near = (layer, head) => {
    const fitting = clampSelection({ layer, head, query: 4, key: 1 }, EXTENT);
    assert.deepEqual([fitting.query, fitting.key], [4, 1]);
    return [fitting.layer, fitting.head];
  };
  assert.deepEqual(near(1, 2), [1, 2]);
  assert.deepEqual(near(1, 1), [1, 0]);
  assert.deepEqual(near(0, 9), [1, 2]);
  assert.deepEqual(near(9, 0), [3, 1]);
  assert.deepEqual(near(null, null), [1, 0]);
  const whole = clampSelection({ layer: 2, head: 9, query: null, key: null }, { ...EXTENT, kept: [] });
  assert.deepEqual([whole.layer, whole.head], [2, 2]);
});

test("neighbour steps over heads that were not kept, and stays where there is no further one", () => {
  assert.deepEqual(neighbour(EXTENT, at(1, 0), 1), at(1, 2));
  assert.deepEqual(neighbour(EXTENT, at(1, 2), 1), at(3, 1));
  assert.deepEqual(neighbour(EXTENT, at(3, 1), 1), at(3, 1));
  assert.deepEqual(neighbour(EXTENT, at(3, 1), -1), at(1, 2));
  assert.deepEqual(neighbour(EXTENT, at(1, 0), -1), at(1, 0));
  assert.deepEqual(neighbour({ ...EXTENT, kept: [] }, at(1, 2), 1), at(2, 0));
});

test("headStep leads to the next layer that has a head", () => {
  const press = (key, from) => headStep({ key, shiftKey: true }, EXTENT, from);
  assert.deepEqual(press("ArrowDown", at(1, 0)).layer, 3);
  assert.deepEqual(press("ArrowUp", at(3, 1)).layer, 1);
  assert.deepEqual(press("ArrowUp", at(1, 0)).layer, 1);
});

test("arrangement leaves the places of the others empty", () => {
  assert.deepEqual(arrangement(4, 3, undefined, EXTENT.kept), [
    [null, null, null],
    [3, null, 5],
    [null, null, null],
    [null, 10, null],
  ]);
});
