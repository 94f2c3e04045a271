// The gallery: what the looks of words are stands below the story, where there is room for it.

import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.Path2D ??= /** @type {any} */ (class {}); // what a browser draws hatchings with
const { PAINTS } = await import("#pictures/gallery/paint.js");

const TOKENS = ["Once", "Ella", "ran"];
const KEY = { key_written: "written", key_asks: "looks", key_read: "looked at" };

/** The texts that a story of some height prints. */
function printed(/** @type {number} */ height) {
  /** @type {string[]} */
  const texts = [];
  const ctx = {
    measureText: (/** @type {string} */ text) => ({ width: 7 * text.length }),
    fillText: (/** @type {string} */ text) => texts.push(text),
    fillRect() {},
    strokeRect() {},
  };
  const show = {
    header: { strings: KEY, story: { tokens: TOKENS, n_given: 1 } },
    arrays: { "story.weights": { data: new Float32Array(9).fill(0.3) } },
    theme: { font: "Inter", text: "#000", muted: "#444", bg2: "#eee", roles: { query: "#808" } },
    lut: new Uint32Array(256),
    ...{ width: 200, height },
  };
  PAINTS.story(/** @type {any} */ (ctx), /** @type {any} */ (show), 1);
  return texts;
}

test("the story says what is written, what looks and what is looked at", () => {
  assert.deepEqual(printed(168), [...TOKENS, "written", "looks", "looked at"]);
  assert.deepEqual(printed(40), TOKENS); // they would lie on the words
});
