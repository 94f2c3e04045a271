// Edits: their text form, replacing one another, and what the panels show of edited and original numbers.

import assert from "node:assert/strict";
import { test } from "node:test";

import { arraysOf, largestChange, readEdit, valueOf, withEdit, writtenEdits } from "#pictures/steps/edits.js";

const array = (...data) => ({ data: Float32Array.from(data), shape: [1, data.length] });
const edit = (stage, row, column, value) => ({ stage, row, column, value });

test("readEdit and writtenEdits carry infinite numbers, whole rows and nine digits", () => {
  assert.equal(readEdit(edit("mask", 0, 1, "closed")).value, -Infinity);
  assert.equal(readEdit(edit("mask", 0, 1, "opened")).value, Infinity);
  assert.equal(readEdit(edit("q", 0, 1, 0.5)).value, 0.5);
  const edits = [edit("q", 3, 5, 0.7), edit("mask", 2, null, -Infinity), edit("mask", 2, 1, Infinity)];
  assert.equal(writtenEdits(edits), "q.3.5=0.7,mask.2.*=-inf,mask.2.1=inf");
  assert.equal(writtenEdits([edit("k", 0, 0, 1 / 3)]), "k.0.0=0.333333333");
  assert.equal(writtenEdits([]), "");
});

test("withEdit replaces an edit of the same entry, and a whole row all of that row", () => {
  const first = [edit("mask", 2, 1, -Infinity), edit("mask", 3, 1, -Infinity), edit("q", 2, 1, 4)];
  const again = withEdit(first, edit("mask", 2, 1, Infinity));
  assert.deepEqual(again, [first[1], first[2], edit("mask", 2, 1, Infinity)]);
  const row = withEdit(first, edit("mask", 2, null, -Infinity));
  assert.deepEqual(row, [first[1], first[2], edit("mask", 2, null, -Infinity)]);
  const beside = withEdit(first, edit("mask", 2, 0, Infinity));
  assert.equal(beside.length, 4);
});

test("arraysOf shows edited, original or the difference, and 0 where both are infinite", () => {
  const edited = {
    scaled: array(1, 2),
    masked: array(3, -Infinity, -Infinity),
    was_masked: array(1, 5, -Infinity),
  };
  const head = { header: { panels: [{ stage: "scaled" }, { stage: "masked" }] }, edited };
  assert.equal(arraysOf(head, "edited").masked, edited.masked);
  assert.equal(arraysOf(head, "original").masked, edited.was_masked);
  assert.deepEqual([...arraysOf(head, "difference").masked.data], [2, -Infinity, 0]);
  assert.equal(arraysOf(head, "difference").scaled, edited.scaled);
});

test("largestChange is the largest size of a difference, null where nothing changed", () => {
  assert.equal(largestChange({ q: array(1, -4, 2), was_q: array(1, 3, 0) }, "q"), 7);
  assert.equal(largestChange({ q: array(1), was_q: array(1) }, "q"), 0);
  assert.equal(largestChange({ masked: array(-Infinity), was_masked: array(0) }, "masked"), Infinity);
  assert.equal(largestChange({ q: array(1) }, "q"), null);
});

test("valueOf is null outside the matrix", () => {
  const edited = { q: { data: Float32Array.of(1, 2, 3, 4, 5, 6), shape: [2, 3] } };
  assert.equal(valueOf(edited, { stage: "q", row: 1, column: 2 }), 6);
  assert.equal(valueOf(edited, { stage: "q", row: 2, column: 0 }), null);
  assert.equal(valueOf(edited, { stage: "q", row: 0, column: 3 }), null);
  assert.equal(valueOf(edited, { stage: "k", row: 0, column: 0 }), null);
});
