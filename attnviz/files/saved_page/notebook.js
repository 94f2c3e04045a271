// @ts-check
// A page in a live frame of a notebook: it tells the notebook what is chosen, hears what the notebook chooses, and asks its
// kernel for the heads that the page lacks. Only the window around the frame is heard.

/** @import { ViewName } from "./index.js" */

/**
 * What is chosen, as page and notebook tell it to each other.
 * @typedef {{layer: number, head: number, query: number | null, key: number | null, view: ViewName, group: number}} Chosen
 */
/** What a notebook sends: what was chosen there, or the buffer of a head; null where there is none. */
/** @typedef {{chosen?: Chosen, wanted?: string, data?: Uint8Array | null}} Message */
/**
 * `tell` sends what is chosen, once; `ask` requests the buffer of a head, which `answer` has after it arrived.
 * @typedef {{tell: (chosen: Chosen) => void, ask: (wanted: string) => void, answer: (wanted: string) => Uint8Array | null}} Notebook
 */

/**
 * @param {{choose: (chosen: Chosen) => void, arrived: () => void}} callbacks
 * @returns {Notebook}
 */
export function connect({ choose, arrived }) {
  /** @type {Map<string, Uint8Array>} */
  const answers = new Map();
  let known = "";
  const send = (/** @type {object} */ message) => parent.postMessage({ attnviz: message }, "*");
  addEventListener("message", (event) => {
    if (event.source !== parent || !event.data?.attnviz) return;
    /** @type {Message} */
    const { chosen, wanted, data } = event.data.attnviz;
    if (chosen && written(chosen) !== known) {
      known = written(chosen);
      choose(chosen);
    }
    if (wanted && data) {
      answers.set(wanted, data);
      arrived();
    }
  });
  send({ ready: true });
  return {
    tell(chosen) {
      if (written(chosen) === known) return;
      known = written(chosen);
      send({ chosen });
    },
    ask: (wanted) => send({ wanted }),
    answer: (wanted) => answers.get(wanted) ?? null,
  };
}

/** A selection as text, whatever the order of its parts. */
function written(/** @type {Chosen} */ { layer, head, query, key, view, group }) {
  return JSON.stringify([layer, head, query, key, view, group]);
}
