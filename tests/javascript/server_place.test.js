// @ts-check
// Where Streamlit is told that its server is, for the addresses at which the app may lie.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { runInNewContext } from "node:vm";

const SCRIPT = readFileSync("attnviz/app/host/server_place.js", "utf8").replace("PAGES", "overview|head");

/** What Streamlit is told at this path. */
function told(/** @type {string} */ pathname) {
  const window = /** @type {{__streamlit?: {BACKEND_BASE_URL: string, HOST_CONFIG: object}}} */ ({});
  runInNewContext(SCRIPT, { window, location: { origin: "https://here", pathname } });
  return window.__streamlit;
}

test("the server lies where the name of a page begins", () => {
  const places = { "/": "", "/overview": "", "/some/folder/head": "/some/folder", "/folder/": "/folder" };
  for (const [path, place] of Object.entries(places))
    assert.equal(told(path)?.BACKEND_BASE_URL, `https://here${place}`);
});

test("Streamlit looks itself where no page is named", () => {
  for (const path of ["/nothing", "/folder", "/overview/more"]) assert.equal(told(path), undefined);
});

test("only the page's own origin may send it messages", () => {
  const told_ = JSON.stringify(told("/head")?.HOST_CONFIG);
  assert.deepEqual(JSON.parse(told_), { allowedOrigins: ["https://here"], useExternalAuthToken: false });
});
