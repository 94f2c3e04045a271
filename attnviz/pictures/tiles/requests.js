// @ts-check
// Asks for what is missing, a few tiles at a time: once things are quiet, and not while an answer is on its way.

/** @import { Want } from "../shared/host.js" */

/** What is missing, without the number of the request. @typedef {Omit<Want, "number">} Missing */

const QUIET_MS = 60;
const PATIENCE_MS = 8000;

/**
 * `soon` asks in a moment, `answered` notes that a request was answered. What gets no answer is asked for again.
 * @param {(want: Want) => void} send
 * @param {() => Missing | null} whatIsMissing null where nothing is
 */
export function makeRequests(send, whatIsMissing) {
  let number = 0;
  let quiet = 0;
  let late = 0;
  /** @type {number | null} */
  let asked = null;
  const ask = () => {
    if (asked !== null) return; // its answer draws, and asks again
    const missing = whatIsMissing();
    if (!missing) return;
    asked = number += 1;
    late = setTimeout(giveUp, PATIENCE_MS);
    send({ number, ...missing });
  };
  const giveUp = () => {
    asked = null;
    ask();
  };
  return {
    soon() {
      clearTimeout(quiet);
      quiet = setTimeout(ask, QUIET_MS);
    },
    answered(/** @type {number} */ answer) {
      number = Math.max(number, answer);
      if (asked !== null && answer < asked) return;
      clearTimeout(late);
      asked = null;
    },
    cancel() {
      clearTimeout(quiet);
      clearTimeout(late);
    },
  };
}
