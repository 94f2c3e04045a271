// @ts-check
// The language that a page has before anything is laid out, by its address and by the browser.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { runInNewContext } from "node:vm";

const SCRIPT = readFileSync("attnviz/app/host/first_language.js", "utf8").replace("TAGS", "en ja zh-CN");

/** The language of the document at this address in a browser of this language. */
function language(/** @type {string} */ search, /** @type {string} */ asked) {
  const document = { documentElement: { lang: "" } };
  runInNewContext(SCRIPT, {
    document,
    navigator: { language: asked },
    location: { search },
    URLSearchParams,
  });
  return document.documentElement.lang;
}

test("the address names the language, whatever the browser asks for", () => {
  assert.equal(language("?lang=ja", "en-US"), "ja");
  assert.equal(language("?model=minilm&lang=zh", "ja"), "zh-CN");
});

test("the browser asks where the address names none that there is", () => {
  for (const search of ["", "?lang=", "?lang=fr", "?lang=zh-CN"])
    assert.equal(language(search, "ja-JP"), "ja");
  assert.equal(language("", "ZH_TW"), "zh-CN");
});

test("what nobody speaks is English", () => assert.equal(language("?lang=fr", "de"), "en"));
