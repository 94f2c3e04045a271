// Films under a hand: what is dragged sets numbers that keep their rules, wherever the hand goes.

import assert from "node:assert/strict";
import { test } from "node:test";

import { FILMS } from "#pictures/motion/films.js";

/** @import { Frame, Numbers } from "#pictures/motion/draw.js" */

/** A matrix as a film gets it. */
function matrix(/** @type {number[][]} */ rows) {
  return { data: Float32Array.from(rows.flat()), shape: [rows.length, rows[0].length] };
}

/**
 * A moment at the beginning of a film, 600 pixels wide.
 * @param {Record<string, number[][]>} arrays
 * @param {Record<string, string[]>} labels
 * @param {Numbers} [set]
 * @returns {Frame}
 */
function frame(arrays, labels, set = {}) {
  const numbers = Object.fromEntries(Object.entries(arrays).map(([name, rows]) => [name, matrix(rows)]));
  return /** @type {any} */ ({
    ...{ width: 600, height: 300, set, so: () => 0, linear: () => 0 },
    ...{ arrays: numbers, header: { labels, scenes: [] } },
  });
}

/** The grips of a film at a moment. */
function gripsOf(/** @type {keyof typeof FILMS} */ film, /** @type {Frame} */ at) {
  const grips = FILMS[film].grips?.(at);
  assert.ok(grips, `${film} has grips`);
  return grips;
}

test("blend: weights stay shares of one whole", () => {
  const arrays = { weights: [[0.5, 0, 0.5]], values: [[5], [0], [-3]] };
  const labels = { keys: ["0", "1", "2"], query: ["="] };
  let set = {};
  for (const [row, x] of /** @type {const} */ ([
    [0, 200],
    [1, 1000],
    [2, -50],
    [0, 150],
    [2, 180],
  ])) {
    set = gripsOf("blend", frame(arrays, labels, set))[row].to([x, 0]);
    const weights = Object.values(set);
    assert.ok(Math.abs(weights.reduce((sum, weight) => sum + weight, 0) - 1) < 1e-9, String(weights));
    assert.ok(weights.every((weight) => weight >= 0));
  }
});

test("shuffle: a dragged token changes places, none is lost", () => {
  const arrays = { order: [[0, 1, 2, 3]], weights: Array.from({ length: 4 }, () => [1, 2, 3, 4]) };
  const labels = { tokens: ["a", "b", "c", "d"] };
  const moved = gripsOf("shuffle", frame(arrays, labels))[0].to([40 + 2.5 * 64, 0]);
  assert.deepEqual(Object.values(moved), [1, 2, 0, 3]);
  const back = gripsOf("shuffle", frame(arrays, labels, moved))[2].by([-1, 0], false);
  assert.deepEqual(Object.values(back), [1, 0, 2, 3]);
});

test("softmax: a blocked key has no ring, a score stays in reach", () => {
  const arrays = { scores: [[1.4, -0.7, -Infinity]] };
  const grips = gripsOf("softmax", frame(arrays, { keys: ["a", "b", "c"] }));
  assert.equal(grips.length, 2);
  const same = grips[1].to(grips[1].at);
  assert.ok(Math.abs(same.score_1 + 0.7) < 0.051);
  assert.ok(grips[0].to([0, -9999]).score_0 < 5);
});

test("softmax: one scene, which does not play, has bars and weights", () => {
  const at = frame({ scores: [[3, 1]] }, { keys: ["a", "b"] });
  const tall = /** @type {number[]} */ ([]);
  const written = /** @type {string[]} */ ([]);
  const ctx = new Proxy(
    {
      fillRect: (/** @type {number[]} */ ...box) => tall.push(box[3]),
      fillText: (/** @type {string} */ said) => written.push(said),
      measureText: () => ({ width: 10 }),
    },
    { get: (own, name) => Reflect.get(own, name) ?? (() => undefined), set: () => true },
  );
  const fonts = { roles: {}, theme: { fonts: {}, font: "" } };
  FILMS.softmax.paint(/** @type {any} */ ({ ...at, ...fonts, ctx, header: { ...at.header, scenes: [{}] } }));
  assert.ok(tall.length === 2 && tall[0] > 50 && tall[1] > 15, String(tall));
  assert.ok(written.includes("0.881") && written.includes("0.119"), String(written));
});

test("arrows: the tip goes to the point, in tenths and degrees", () => {
  const at = frame({ arrows: [[4, 20], [3, 20]] }, {}); // prettier-ignore
  for (const grip of gripsOf("arrows", at)) {
    const set = grip.to(grip.at);
    assert.deepEqual(Object.values(set), grip.handle === "query" ? [4, 20] : [3, 20]);
  }
});

test("the rest: a point outside stays at the edge", () => {
  const square = [[1, 0], [0.4, 0.6]]; // prettier-ignore
  /** @type {[keyof typeof FILMS, Record<string, number[][]>, Record<string, string[]>][]} */
  const films = [
    ["mask", { scaled: square, weights: square }, { words: ["a", "b"] }],
    ["rotary", { turns: [[2, 1, 30, 4]] }, {}],
    ["push", { times: [[-1, 0, 1, 2]], head: square, random: square }, { words: ["a", "b"] }],
    ["cut", { along: [[4]] }, {}],
    ["induction", { induction: square, previous: square, asked: [[1, 0]] }, { letters: ["a", "b"] }],
    ["training", { steps: [[0, 20, 40]] }, { step: ["step"] }],
    ["pulse", { whole: square, bare: square }, { tokens: ["a", "b"], rows: ["X", "L0"] }],
    ["reach", { size: [[2, 2, 1]] }, { tokens: ["0", "1"], rows: ["L1", "L0", "X"] }],
    ["alignment", { weights: square }, { written: ["a", "b"], source: ["c", "d"] }],
  ];
  for (const [film, arrays, labels] of films)
    for (const grip of gripsOf(film, frame(arrays, labels)))
      for (const point of /** @type {const} */ ([
        [-9999, -9999],
        [9999, 9999],
      ])) {
        const set = grip.to(point);
        const again = gripsOf(film, frame(arrays, labels, set)).find(({ handle }) => handle === grip.handle);
        assert.ok(again && Object.values(set).every(Number.isFinite), film);
        assert.ok(again.at[0] > -20 && again.at[0] < 620, `${film} ${again.at}`);
      }
});

test("induction: the key is the one with the largest weight of the row that asks", () => {
  const weights = [[1, 0, 0], [0.2, 0.8, 0], [0.1, 0.7, 0.2]]; // prettier-ignore
  const arrays = { induction: weights, previous: weights, asked: [[1, 0]] };
  const film = frame(arrays, { letters: ["a", "b", "c"] });
  assert.deepEqual(gripsOf("induction", film)[0].by([1, 0], false), { asked: 2 });
});

test("reach: the edge of the window stays in the text, and follows the token", () => {
  const at = { size: [[3, 3, 7]] };
  const labels = { tokens: [..."01234567"], rows: ["L2", "L1", "L0", "X"] };
  const [token, edge] = gripsOf("reach", frame(at, labels));
  assert.deepEqual([token.by([-1, 0], false), edge.by([-1, 0], false)], [{ token: 6 }, { window: 4 }]);
  assert.deepEqual([edge.to([-99, 0]), edge.to([999, 0])], [{ window: 8 }, { window: 1 }]);
  const [, moved] = gripsOf("reach", frame(at, labels, { token: 1 }));
  assert.ok(moved.at[0] < edge.at[0] && moved.text === "3");
});

test("cut: a patch is counted row by row", () => {
  const [grip] = gripsOf("cut", frame({ along: [[4]] }, {}, { patch: 6 }));
  assert.equal(grip.text, "1 + 1 · 4 + 2 = 7");
  assert.deepEqual(grip.by([0, -1], false), { patch: 10 });
});
