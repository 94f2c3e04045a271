// @ts-check
// Asks for what is missing, a few tiles at a time: once things are quiet, and not while an answer is on its way.

/** @import { Want } from "../shared/host.js" */

/** What is missing, without the number of the request. @typedef {Omit<Want, "number">} Missing */

const QUIET_MS = 60;
const PATIENCE_MS = 8000;

/**
 * `soon` asks in a moment, `answered` notes that a request was answered.
 * @param {(want: Want) => void} send
 * @param {() => Missing | null} whatIsMissing null where nothing is
 */
export function makeRequests(send, whatIsMissing) {
  let number = 0;
  let timer = 0;
  /** @type {{number: number, at: number} | null} */
  let asked = null;
  const ask = () => {
    if (asked && performance.now() - asked.at < PATIENCE_MS) return; // its answer draws, and asks again
    const missing = whatIsMissing();
    if (!missing) return;
    number += 1;
    asked = { number, at: performance.now() };
    send({ number, ...missing });
  };
  return {
    soon() {
      clearTimeout(timer);
      timer = setTimeout(ask, QUIET_MS);
    },
    answered(/** @type {number} */ answer) {
      number = Math.max(number, answer);
      if (!asked || answer >= asked.number) asked = null;
    },
    cancel: () => clearTimeout(timer),
  };
}
