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
  /** @type {Record<string, string | null>} */
  const address = {};
  const host = /** @type {Host} */ (
    /** @type {unknown} */ ({
      address: {
        get: (/** @type {string} */ name) => address[name] ?? null,
        set: (/** @type {object} */ changes) => Object.assign(address, changes),
      },
      channel,
      trigger: (/** @type {string} */ _name, /** @type {{query: number}} */ { query }) => told.push(query),
    })
  );
  const committer = makeCommitter(host, LISTENED, nothing, isPlaying);
  committer.start(row(0));
  const wait = () => channel.post({ wants: "commit" });
  return { committer, told, wait, address };
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

test("what is told the address says, even where a run of the app wrote the row before meanwhile", () => {
  const { committer, address } = opened();
  committer.update(row(5));
  committer.write(row(5));
  mock.timers.tick(SOON_MS);
  assert.equal(address.query, "5");
  Object.assign(address, { query: "14", key: "2", forbid: "14.2", paths: "1" });
  assert.equal(committer.untold()?.query, 5);
  committer.commit();
  assert.deepEqual(address, { ...address, query: "5", key: null, forbid: null, paths: "1" });
  assert.equal(committer.untold(), null);
});
