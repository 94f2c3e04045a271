// Numbers of one head: a row without a look that is forbidden.

import assert from "node:assert/strict";
import { test } from "node:test";
import { codeOf, weightOf } from "../../attnviz/pictures/shared/buffer.js";
import { rowWeights, withoutLook } from "../../attnviz/pictures/shared/numbers.js";

const SIZE = { nQuery: 2, nKey: 3, rows: [0, 1], cols: [0, 1, 2] };

test("the rest of the row grows to 1, the other rows stay", () => {
  const data = { ...SIZE, values: Float32Array.of(0.25, 0.5, 0.25, 0.75, 0.0625, 0.1875), dtype: "f32" };
  const off = withoutLook(data, { query: 1, key: 0 });
  assert.deepEqual([...rowWeights(off, 1)], [0, 0.25, 0.75]);
  assert.deepEqual([...rowWeights(off, 0)], [0.25, 0.5, 0.25]);
  assert.deepEqual([...rowWeights(data, 1)], [0.75, 0.0625, 0.1875]);
});

test("codes stay codes, within half a step of the root", () => {
  for (const dtype of /** @type {const} */ (["u8", "u16"])) {
    const weights = [0.9, 0.06, 0.04, 0.2, 0.3, 0.5];
    const data = { ...SIZE, values: Uint16Array.from(weights, (weight) => codeOf(weight, dtype)), dtype };
    const off = rowWeights(withoutLook(data, { query: 0, key: 0 }), 0);
    const least = 2 * Math.sqrt(0.6) * (dtype === "u8" ? 1 / 255 : 1 / 65535) * 4;
    assert.equal(off[0], 0);
    assert.ok(Math.abs(off[1] - 0.6) < least && Math.abs(off[2] - 0.4) < least, `${off}`);
  }
});

test("a row of that look alone stays as it is", () => {
  const data = { ...SIZE, values: Float32Array.of(1, 0, 0, 0.5, 0.5, 0), dtype: "f32" };
  assert.equal(withoutLook(data, { query: 0, key: 0 }), data);
});

test("a code is the weight again", () => {
  for (const code of [0, 1, 100, 255]) assert.equal(codeOf(weightOf(code, "u8"), "u8"), code);
});
