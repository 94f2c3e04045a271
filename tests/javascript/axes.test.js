// Axes: how names that are too long for their room are shortened.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ellipsize, READS } from "#pictures/shared/axes.js";

/** A context whose letters are a pixel wide. */
const ctx = /** @type {CanvasRenderingContext2D} */ (
  /** @type {unknown} */ ({ measureText: (/** @type {string} */ text) => ({ width: text.length }) })
);

test("ellipsize leaves out the token after a row's own before it cuts that", () => {
  const name = `went${READS}to`;
  assert.deepEqual(
    [9, 8, 4, 3].map((room) => ellipsize(ctx, name, room)),
    [name, "went", "went", "we…"],
  );
  assert.equal(ellipsize(ctx, "store", 4), "sto…");
});
