// The stage: where a look goes instead, how large numbers are printed, and where arcs stand.

import assert from "node:assert/strict";
import { test } from "node:test";

import { arcAcross, arcBetween, swung, widthOf } from "#pictures/stage/arcs.js";
import { onAxis } from "#pictures/stage/bars.js";
import { percent } from "#pictures/stage/words.js";

test("swung shares what is left of a row, without the key and the query itself", () => {
  // without 0.9 a tenth is left: 0.05 becomes a half, 0.03 three tenths; 0.01 is a tenth, not more
  const row = [0.05, 0.9, 0.03, 0.01, 0.01];
  const found = swung(row, 4, 1);
  assert.deepEqual(
    found.map(({ at }) => at),
    [0, 2],
  );
  assert.ok(Math.abs(found[0].weight - 0.5) < 1e-12 && Math.abs(found[1].weight - 0.3) < 1e-12);
  assert.deepEqual(swung([0.5, 0.5], 1, 0), []);
});

test("arcBetween reaches its apex in the middle", () => {
  const { d, x, y } = arcBetween({ x: 100, top: 203 }, { x: 20, top: 203 }, 50);
  assert.equal([x, y].join(), "60,50");
  const [, start, bend] = /M100 (\d+)C100 (-?[\d.]+)/.exec(d) ?? [];
  assert.equal(Number(start), 200);
  assert.ok(Math.abs(0.25 * Number(start) + 0.75 * Number(bend) - 50) < 1e-9); // a cubic at a half
});

test("arcAcross stays in the room between two lines", () => {
  const [upper, lower] = [
    { x: 20, top: 0, bottom: 30 },
    { x: 100, top: 103, bottom: 133 },
  ];
  const one = arcAcross(lower, upper, 6);
  assert.deepEqual(one, arcAcross(upper, lower, 6));
  assert.match(one.d, /^M106 100C106 .*,14 33$/);
  const bends = [...one.d.matchAll(/(-?[\d.]+),/g)].map(([, y]) => Number(y)); // of a curve within its control points
  assert.ok(bends.length === 2 && bends.every((y) => y > 30 && y < 103));
  assert.deepEqual([one.x, one.y], [60, 66.5]);
});

test("widthOf grows with the weight", () => {
  assert.ok(widthOf(0) > 0 && widthOf(1) > 3 * widthOf(0.1));
});

test("percent and onAxis keep small numbers apart", () => {
  assert.deepEqual([0.993, 0.0039, 0.00001, 0].map(percent), ["99%", "0.39%", "<\u20090.01%", "0%"]);
  assert.deepEqual([1, 1e-3, 1e-6, -1e-7].map(onAxis), [1, 0.5, 0, 0]);
});
