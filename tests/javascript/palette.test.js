// What the palette finds: `found` of pictures/palette/find.js.

import assert from "node:assert/strict";
import { test } from "node:test";

import { found } from "#pictures/palette/find.js";

const entry = (label, words = "", more = "", kind = "page") => ({ kind, value: label, label, words, more });
const ENTRIES = [
  entry("Start", "film", "Forbid one look."),
  entry("Change › Switchboard", "forbid ablate"),
  entry("Forbidden fruit", "", "", "lesson"),
  entry("한국어", "ko", "", "language"),
];
const HEADS = { n_layers: 4, n_heads: 5, label: (head) => `Open ${head}` };
const labels = (typed) => found(typed, ENTRIES, HEADS).map(({ label }) => label);

test("a name that begins with it comes first, then its words, then what stands below", () => {
  assert.deepEqual(labels("forbid"), ["Forbidden fruit", "Change › Switchboard", "Start"]);
  assert.deepEqual(labels("look FORBID"), ["Start"]);
  assert.deepEqual(labels("nowhere"), []);
  assert.equal(labels("  ").length, ENTRIES.length);
});

test("a head is found however it is written, if the model has it", () => {
  for (const typed of ["L3.H4", "l3h4", "3.4", "3 4", "L03.H04"])
    assert.deepEqual(found(typed, ENTRIES, HEADS)[0], {
      ...entry("Open L3.H4", "", "", "head"),
      value: "L3.H4",
    });
  for (const typed of ["L4.H0", "L0.H5", "34", "L3"])
    assert.deepEqual(
      labels(typed).filter((one) => one.startsWith("Open")),
      [],
    );
});

test("letters of any script are found in either form", () => {
  assert.deepEqual(labels("한국어".normalize("NFD")), ["한국어"]);
});

test("what is pasted by mistake holds up no page", () => {
  for (const typed of [
    " ".repeat(1e5) + "x",
    "l" + " ".repeat(1e5) + "x",
    "a ".repeat(5e4),
    "\ufdfa".repeat(2e4),
  ]) {
    const began = performance.now();
    found(typed, ENTRIES, HEADS);
    assert.ok(performance.now() - began < 1000, `${typed.slice(-2)} took too long`);
  }
  assert.deepEqual(labels("\0"), []);
  assert.deepEqual(labels("\ud83d"), []);
});
