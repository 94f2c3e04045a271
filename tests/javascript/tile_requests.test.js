// Requests for tiles: one at a time, and again where no answer comes.

import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { makeRequests } from "#pictures/tiles/requests.js";

const QUIET_MS = 60;
const PATIENCE_MS = 8000;

function made() {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  const sent = [];
  const state = { missing: { tiles: ["2/0/0"] } };
  const requests = makeRequests(
    ({ number }) => sent.push(number),
    () => state.missing,
  );
  requests.soon();
  mock.timers.tick(QUIET_MS);
  return { requests, sent, state };
}

test("what is missing is asked for once while an answer is on its way, then the rest", () => {
  const { requests, sent, state } = made();
  requests.soon();
  mock.timers.tick(QUIET_MS);
  assert.deepEqual(sent, [1]);
  requests.answered(1);
  requests.soon();
  mock.timers.tick(QUIET_MS);
  assert.deepEqual(sent, [1, 2]);
  state.missing = null;
  requests.answered(2);
  mock.timers.tick(2 * PATIENCE_MS);
  assert.deepEqual(sent, [1, 2]);
});

test("a request whose answer is lost is made again, though nobody touches the picture", () => {
  const { requests, sent } = made();
  mock.timers.tick(PATIENCE_MS);
  assert.deepEqual(sent, [1, 2]);
  requests.answered(1); // the first one, late: the second is still on its way
  requests.soon();
  mock.timers.tick(QUIET_MS);
  assert.deepEqual(sent, [1, 2]);
  requests.cancel();
  mock.timers.tick(2 * PATIENCE_MS);
  assert.deepEqual(sent, [1, 2]);
});
