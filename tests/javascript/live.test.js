// The live page without a page: the token that is looked at while one types, and the line of requests to a worker.

import assert from "node:assert/strict";
import { test } from "node:test";

import { addressesOf, withRoot } from "../../attnviz/live/addresses.js";
import { follow } from "../../attnviz/live/follow.js";
import { makeLine } from "../../attnviz/live/line.js";

const tokens = (text) => text.split(" ").map((label) => ({ label, special: label.startsWith("[") }));
const followed = (place, before, now) => follow(place, tokens(before), tokens(now));

test("follow keeps a token in front of an edit, and moves one behind it", () => {
  assert.equal(followed(1, "the cat sat on the mat", "the cat sat on the red mat"), 1);
  assert.equal(followed(5, "the cat sat on the mat", "the cat sat on the red mat"), 6);
  assert.equal(followed(4, "a b c d e", "a e"), 1);
  assert.equal(followed(0, "[CLS] a [SEP]", "[CLS] a b [SEP]"), 0);
  assert.equal(followed(2, "[CLS] a [SEP]", "[CLS] a b [SEP]"), 3);
});

test("follow tells repeated words apart by what is around them", () => {
  assert.equal(followed(4, "the cat sat on the mat", "oh the cat sat on the mat"), 5);
  assert.equal(followed(3, "a a a a", "a a a a a"), 3);
});

test("follow keeps the place of a word that is changed, and lets go of one that is gone", () => {
  assert.equal(followed(2, "the cat sat on", "the cat sits on"), 2);
  assert.equal(followed(2, "the cat sat on", "the cat on"), null);
  assert.equal(followed(null, "a b", "a b c"), null);
  assert.equal(followed(7, "a b", "a b c"), null);
});

function worker() {
  const sent = [];
  const line = { sent, postMessage: (message) => sent.push(message), onmessage: null };
  line.answer = (kind) => line.onmessage({ data: { kind, number: sent.at(-1).number } });
  return line;
}

test("makeLine has one request under way, and the latest of each kind waits", () => {
  const end = worker();
  const heard = [];
  const line = makeLine(end, (answer, request) => heard.push([answer.kind, request.text]));
  for (const text of ["a", "ab", "abc"]) line.ask({ kind: "show", text });
  assert.deepEqual(
    end.sent.map(({ text }) => text),
    ["a"],
  );
  end.answer("progress");
  assert.deepEqual(
    end.sent.map(({ text }) => text),
    ["a"],
  );
  end.answer("shown");
  assert.deepEqual(
    end.sent.map(({ text }) => text),
    ["a", "abc"],
  );
  end.answer("shown");
  assert.ok(line.isIdle());
  assert.deepEqual(heard, [
    ["progress", "a"],
    ["shown", "a"],
    ["shown", "abc"],
  ]);
});

test("makeLine sends what is seen before what can wait, and what a page needs before both", () => {
  const end = worker();
  const line = makeLine(end, () => {});
  for (const kind of ["verify", "refine", "write", "show", "load", "texts"]) line.ask({ kind });
  assert.ok(line.waits("verify") && line.waits("refine") && !line.waits("effects"));
  for (let i = 0; i < 5; i++) end.answer("done");
  assert.deepEqual(
    end.sent.map(({ kind }) => kind),
    ["verify", "texts", "load", "show", "write", "refine"],
  );
});

test("makeLine leaves out an answer to a request that is over", () => {
  const end = worker();
  const heard = [];
  const line = makeLine(end, (answer) => heard.push(answer.kind));
  line.ask({ kind: "show" });
  end.answer("shown");
  end.onmessage({ data: { kind: "shown", number: 1 } });
  assert.deepEqual(heard, ["shown"]);
});

test("addressesOf names every file of a model once, each shard of its words too", () => {
  globalThis.location = { href: "https://example.org/site/ja/index.html?model=m#text=a" };
  const weights = { form: "planes", high: "h", low: "l", shape: [600, 3], rows: 256 };
  const files = withRoot(
    {
      kernels: "k.wasm",
      config: "m/config.json",
      steps: { ja: "m/steps.ja.json" },
      weights: { ...weights, high_shards: "m/{shard}.high", low_shards: "m/{shard}.low" },
    },
    "../",
  );
  const found = addressesOf(files).map((address) => address.replace("https://example.org/site/", ""));
  const shards = ["000", "001", "002"];
  assert.deepEqual(found.sort(), [
    "h", "k.wasm", "l", "m/config.json", "m/steps.ja.json",
    ...shards.flatMap((shard) => [`m/${shard}.high`, `m/${shard}.low`]),
  ].sort()); // prettier-ignore
});
