// The words of Streamlit in the language of a page: those that it has, its sentences with a value, and nothing else.

import assert from "node:assert/strict";
import { test } from "node:test";

import { read, translated } from "#host/language.js";

const words = { Open: "開く", "Help for": "{what} のヘルプ", "MB per file": "{size} MB まで" };

test("a word of Streamlit is translated, also around a value", () => {
  assert.equal(translated("Open", words), "開く");
  assert.equal(translated("Help for W_Q", words), "W_Q のヘルプ");
  assert.equal(translated("64MB per file", words), "64 MB まで");
});

test("what is no word of Streamlit stays, also a name of every object", () => {
  for (const said of ["open", "Help", "The cat sat", "constructor", "__proto__", ""]) {
    assert.equal(translated(said, words), said);
    assert.equal(translated(said, {}), said);
  }
});

test("read takes the words out of a string of CSS, and none out of nothing", () => {
  assert.deepEqual(read(' "{\\"Open\\": \\"開く\\"}" '), { Open: "開く" });
  assert.deepEqual(read(""), {});
});
