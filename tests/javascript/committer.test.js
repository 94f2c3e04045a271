// @ts-check
// When a component tells the server what was chosen in it.

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { makeChannel } from "../../attnviz/pictures/shared/address.js";
import { makeCommitter } from "../../attnviz/pictures/shared/committer.js";

/** @import { Host } from "../../attnviz/pictures/shared/host.js" */

const SOON_MS = 500;
const nothing = () => undefined;
/** What a committer asks of a page and of an element. */
const LISTENED = /** @type {any} */ ({
  addEventListener: nothing,
  removeEventListener: nothing,
  contains: () => false,
});
Object.assign(globalThis, { document: LISTENED, addEventListener: nothing, removeEventListener: nothing });

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
});

/** A committer in a page, and the rows that the server was told. */
function opened(isPlaying = () => false) {
  const channel = makeChannel();
  /** @type {(number | null)[]} */
  const told = [];
  const host = /** @type {Host} */ (
    /** @type {unknown} */ ({
      address: { get: () => null, set: nothing },
      channel,
      trigger: (/** @type {string} */ _name, /** @type {{query: number}} */ { query }) => told.push(query),
    })
  );
  const committer = makeCommitter(host, LISTENED, nothing, isPlaying);
  committer.start(row(0));
  const wait = () => channel.post({ wants: "commit" });
  return { committer, told, wait };
}

/** @param {number} query @returns {import("../../attnviz/pictures/shared/selection.js").AddressSelection} */
const row = (query) => ({ layer: 0, head: 0, query, key: null, scale: "sqrt", special: "show" });

test("what was chosen is told once, where someone waits for it", () => {
  const { committer, told, wait } = opened();
  for (const query of [1, 2]) {
    committer.update(row(query));
    wait();
  }
  assert.deepEqual(told, []);
  mock.timers.tick(SOON_MS);
  mock.timers.tick(SOON_MS);
  assert.deepEqual(told, [2]);
});

test("nothing is told while it plays, the last place afterwards", () => {
  let plays = true;
  const { committer, told, wait } = opened(() => plays);
  committer.update(row(1));
  wait();
  mock.timers.tick(SOON_MS);
  committer.update(row(2));
  plays = false;
  assert.deepEqual(told, []);
  mock.timers.tick(SOON_MS);
  assert.deepEqual(told, [2]);
});

test("data that comes in between does not swallow what was chosen", () => {
  const { committer, told } = opened();
  committer.update(row(3));
  committer.start(row(3));
  committer.commit();
  committer.start(row(3));
  committer.commit();
  assert.deepEqual(told, [3]);
});

test("a place that new data are shown with is known", () => {
  const { committer, told } = opened();
  committer.start(row(4));
  committer.commit();
  assert.deepEqual(told, []);
});
