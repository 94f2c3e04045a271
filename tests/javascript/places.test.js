// Places on pictures: a camera there and back, the layout of lines, the token under a point and under an arrow key.

import assert from "node:assert/strict";
import { test } from "node:test";

import { hitLines, layoutLines, lineStep } from "#pictures/head/line_layout.js";
import { inPlane, onCanvas } from "#pictures/map/camera.js";

test("onCanvas and inPlane are each other's inverse, and up is up", () => {
  const view = { camera: { x: 0.25, y: -0.5, zoom: 4 }, size: 100 };
  assert.deepEqual(onCanvas(view, { x: 0.25, y: -0.5 }), { x: 50, y: 50 });
  assert.deepEqual(onCanvas(view, { x: 0.35, y: -0.4 }).x > 50, true);
  assert.ok(onCanvas(view, { x: 0.25, y: -0.4 }).y < 50);
  const back = inPlane(view, onCanvas(view, { x: 0.7, y: 0.3 }));
  assert.ok(Math.abs(back.x - 0.7) < 1e-12 && Math.abs(back.y - 0.3) < 1e-12);
});

/** A canvas whose every letter is 10 px wide. */
const canvas = { getContext: () => ({ measureText: (text) => ({ width: 10 * text.length }) }) };
const view = (isAcross, rows, cols) => ({
  isAcross,
  data: { rows, cols },
  axes: { query: { labels: ["a", "bb", "ccc", "d"] }, key: { labels: ["x", "y"] } },
  theme: { font: "serif" },
});

test("layoutLines gives the shorter side a wider pitch, up to the widest", () => {
  const side = layoutLines(canvas, view(false, [0, 1, 2, 3], [0, 1]), 400, 80);
  assert.deepEqual([side.pitch, side.queryPitch, side.keyPitch], [20, 20, 24]);
  assert.deepEqual([side.room, side.near, side.far], [30, 38, 362]); // "ccc" and a gap of 8
  assert.equal(side.height, 24 + 4 * 20 + 4);
  const across = layoutLines(canvas, view(true, [0, 1, 2, 3], [0, 1]), 264, 80);
  assert.deepEqual([across.pitch, across.queryPitch, across.keyPitch], [50, 50, 64]);
  assert.deepEqual([across.near, across.far], [38, 228]);
});

test("hitLines finds the query on the first half and the key on the other", () => {
  const [data, width] = [{ rows: [0, 2, 3], cols: [1, 4] }, 400];
  const layout = { isAcross: false, width, height: 90, queryPitch: 20, keyPitch: 30, from: 24 };
  assert.deepEqual(hitLines(layout, data, { x: 10, y: 44 }), { query: 2, key: null });
  assert.deepEqual(hitLines(layout, data, { x: 10, y: 43.9 }), { query: 0, key: null });
  assert.deepEqual(hitLines(layout, data, { x: 200, y: 54 }), { query: null, key: 4 });
  assert.equal(hitLines(layout, data, { x: 10, y: 23 }), null);
  assert.equal(hitLines(layout, data, { x: 10, y: 84 }), null);
  const across = { ...layout, isAcross: true, width: 90, height: 400 };
  assert.deepEqual(hitLines(across, data, { x: 44, y: 10 }), { query: 2, key: null });
});

test("lineStep walks along a side, stops at its ends, and goes over to the other side", () => {
  const data = { rows: [0, 2, 3], cols: [1, 4] };
  const step = (key, focus, isAcross = false) => lineStep(key, { isAcross }, data, focus);
  const query = (at) => ({ query: at, key: null });
  const key = (at) => ({ query: null, key: at });
  assert.deepEqual(step("ArrowDown", query(2)), query(3));
  assert.deepEqual(step("ArrowDown", query(3)), query(3));
  assert.deepEqual(step("ArrowUp", query(2)), query(0));
  assert.deepEqual(step("ArrowDown", null), query(0));
  assert.deepEqual(step("ArrowRight", query(3)), key(4)); // the third query, and the last key
  assert.deepEqual(step("ArrowLeft", key(4)), query(2));
  assert.deepEqual(step("ArrowUp", key(4)), key(1));
  assert.equal(step("Enter", query(2)), null);
  assert.deepEqual(step("ArrowRight", query(2), true), query(3));
  assert.deepEqual(step("ArrowDown", query(0), true), key(1));
});
