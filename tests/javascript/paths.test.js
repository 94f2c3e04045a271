// The paths of a circuit: read out of the buffer, and which of them are drawn.

import assert from "node:assert/strict";
import { test } from "node:test";

import { MAX_DRAWN, readPaths, shownPaths, strongestPaths } from "#pictures/circuit/paths.js";

const path = (sender, receiver, side, moved, chance = NaN, isChance = false) => ({
  id: `${sender}-${receiver}.${side}`,
  sender,
  receiver,
  side,
  moved,
  chance,
  isChance,
});

test("readPaths takes sender, receiver and side in turn, the strongest first, and leaves out what moves nothing", () => {
  const header = { columns: [{ heads: [{ name: "a" }] }, { heads: [{ name: "b" }] }] };
  // [sender, receiver, side]: a→a q k v, a→b q k v, b→a q k v, b→b q k v
  const data = Float32Array.of(0, 0, 0, 0.5, -1, 0.75, NaN, 0, 0, 0, 0, 0.25);
  assert.deepEqual(readPaths(header, { data }), [
    path("a", "b", "v", 0.75),
    path("a", "b", "q", 0.5),
    path("b", "b", "v", 0.25),
  ]);
  const byChance = Float32Array.of(0, 0, 0, 0.125, 0, NaN, 0, 0, 0, 0, 0, NaN);
  const reach = byChance.map((mean) => 4 * mean);
  const [values, queries] = readPaths(header, { data }, { data: byChance }, { data: reach });
  assert.deepEqual(
    [values, queries],
    [path("a", "b", "v", 0.75, NaN), path("a", "b", "q", 0.5, 0.125, true)],
  );
  reach[3] = 0.4375;
  assert.equal(readPaths(header, { data }, { data: byChance }, { data: reach })[1].isChance, false);
});

test("shownPaths draws the eight strongest, and those as strong as the last of them is printed", () => {
  const all = Array.from({ length: 20 }, (_, i) => path("a", `b${i}`, "q", 1 - i / 100));
  const shown = shownPaths(all, { sides: "qkv", chance: false, least: null, head: null });
  assert.equal(shown.least, 0.929);
  assert.equal(shown.drawn.length, 8);
  assert.equal(shownPaths(all, { sides: "kv", chance: false, least: null, head: null }).drawn.length, 0);
  const exact = shownPaths(all, { sides: "q", chance: false, least: 0.95, head: null });
  assert.deepEqual([exact.total, exact.drawn.length], [6, 6]); // a path that moves exactly so much belongs to it
});

test("shownPaths of a head draws four of its paths, however little they move", () => {
  const strong = Array.from({ length: 15 }, (_, i) => path("a", `b${i}`, "q", 1));
  const weak = Array.from({ length: 6 }, (_, i) => path("c", `d${i}`, "k", 0.1 - i / 100));
  const shown = shownPaths([...strong, ...weak], { sides: "qkv", chance: false, least: null, head: "c" });
  assert.deepEqual([shown.drawn.length, shown.least], [4, 0.07]);
  const received = shownPaths([...strong, ...weak], { sides: "qkv", chance: false, least: null, head: "d2" });
  assert.deepEqual(received.drawn, [weak[2]]);
});

test("shownPaths leaves out what chance moves as much, unless it is wanted", () => {
  const all = Array.from({ length: 20 }, (_, i) => path("a", `b${i}`, "q", 1 - i / 100, 0.5, i % 2 === 0));
  const choice = { sides: "q", least: null, head: null };
  const clear = shownPaths(all, { ...choice, chance: false });
  assert.deepEqual([clear.drawn.length, clear.least], [8, 0.85]);
  assert.ok(clear.drawn.every(({ isChance }) => !isChance));
  const both = shownPaths(all, { ...choice, chance: true });
  assert.deepEqual([both.drawn.length, both.least], [16, 0.85]); // the threshold stays where it was
});

test("shownPaths draws no more than a picture holds, and says how many there are", () => {
  const all = Array.from({ length: MAX_DRAWN + 9 }, (_, i) => path("a", `b${i}`, "q", 1));
  const shown = shownPaths(all, { sides: "q", chance: false, least: 0.5, head: null });
  assert.deepEqual([shown.drawn.length, shown.total], [MAX_DRAWN, MAX_DRAWN + 9]);
});

test("strongestPaths has the strongest path into or out of each head, in the sides that are drawn", () => {
  const all = [
    path("a", "b", "v", 0.9),
    path("a", "b", "q", 0.5),
    path("b", "c", "k", 0.4),
    path("a", "c", "k", 0.3),
  ];
  assert.deepEqual(strongestPaths(all, "qk"), { a: all[1], b: all[1], c: all[2] });
  assert.deepEqual(strongestPaths(all, "v"), { a: all[0], b: all[0] });
});
