// @ts-check
// Class messages: holds a line to the class and asks for a run when the count that comes is not the one that was drawn.
// Where no socket opens it asks every few seconds instead. What the presenter has chosen in a real head is announced to
// the pictures of the page. The seat, or the presenter's key, stays in this tab alone: a reload finds it, an address that
// is copied does not have it.

import { parse } from "../shared/buffer.js";
import { announcePlace } from "../shared/committer.js";
import { el, setData, setText } from "../shared/dom.js";
import { keepSeat } from "./kept.js";
import { DEAF_AFTER, makeLine } from "./line.js";

/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Place } from "../shared/selection.js" */
/** @import { Arrays, Header } from "./types.js" */

/**
 * `drawn` is the count on the page, `told` the one that came last; `askedAt` is when a run was asked for.
 * @typedef {{host: Host, header: Header | null, isLive: boolean, drawn: number, told: number | null,
 *   chosen: string, askedAt: number, askTimer: number, againTimer: number,
 *   nodes: {box: HTMLElement, sign: HTMLElement, words: HTMLElement}}} State
 */

const GAP_MS = 250; // the presenter's page need not run for each of thirty answers
const AGAIN_MS = 4000; // a run that was asked for and never came is asked for again
const ANY_COUNT = -1; // no count is ever this one: the page runs in any case

/** @returns {Mounted} */
export default function classMessages(/** @type {Host} */ host) {
  const state = makeState(host);
  let hasBegun = false;
  const line = makeLine({
    onOpen: () => showLive(state, true),
    onCount: (count) => takeCount(state, count),
    onEnded: () => {
      showLive(state, false);
      ask(state, ANY_COUNT);
    },
    onUnseated: () => ask(state, ANY_COUNT),
    onLost: (tries) => {
      showLive(state, false);
      if (tries > DEAF_AFTER) ask(state, ANY_COUNT);
    },
  });
  return {
    refresh(data) {
      /** @type {{header: Header, arrays: Arrays}} */
      const { header } = parse(data);
      state.header = header;
      state.drawn = header.drawn;
      line.move(header);
      showLive(state, state.isLive);
      announceChosen(state, header);
      const kept = keepSeat(header);
      // with the time: another session of the server, which was sent the last value too, must see a change
      if (kept) host.send("kept", { ...kept, at: Date.now() });
      if (!hasBegun && header.arrives) state.nodes.box.scrollIntoView({ block: "center" });
      hasBegun = true;
      if (state.told !== null) takeCount(state, state.told);
    },
    destroy() {
      line.close();
      clearTimeout(state.askTimer);
      clearTimeout(state.againTimer);
      state.nodes.box.remove();
    },
  };
}

/** @returns {State} */
function makeState(/** @type {Host} */ host) {
  const sign = el("span", { "aria-hidden": "true" });
  const words = el("span");
  const box = el("p", { class: "av av-class-messages", role: "status" }, sign, words);
  host.root.append(box);
  const timers = { askedAt: 0, askTimer: 0, againTimer: 0 };
  const nodes = { box, sign, words };
  return { host, header: null, isLive: false, drawn: 0, told: null, chosen: "null", ...timers, nodes };
}

/** What the presenter has chosen, where that is not what was announced last. */
function announceChosen(/** @type {State} */ state, /** @type {Header} */ { chosen }) {
  const text = JSON.stringify(chosen);
  if (chosen && text !== state.chosen)
    announcePlace(state.host, /** @type {Place} */ (/** @type {unknown} */ (chosen)));
  state.chosen = text;
}

/** A count came: where it is not the one on the page, the page runs again, but not more often than it must. */
function takeCount(/** @type {State} */ state, /** @type {number} */ count) {
  state.told = count;
  if (count === state.drawn || state.askTimer) return;
  const isFollower = state.header?.heed === "stage";
  const wait = isFollower ? 0 : Math.max(0, state.askedAt + GAP_MS - Date.now());
  state.askTimer = setTimeout(() => {
    state.askTimer = 0;
    if (state.told !== null && state.told !== state.drawn) ask(state, state.told);
  }, wait);
}

function ask(/** @type {State} */ state, /** @type {number} */ count) {
  state.askedAt = Date.now();
  state.host.send("heard", { count, at: state.askedAt });
  clearTimeout(state.againTimer);
  state.againTimer = setTimeout(() => {
    if (state.told !== null) takeCount(state, state.told);
  }, AGAIN_MS);
}

function showLive(/** @type {State} */ state, /** @type {boolean} */ isLive) {
  const { nodes, header } = state;
  state.isLive = isLive;
  nodes.box.hidden = header?.heed === "wall"; // the listener to the stage beside it says it already
  setData(nodes.box, { heard: isLive ? "live" : "lost", drawn: state.drawn });
  setText(nodes.sign, isLive ? "●" : "○");
  if (header) setText(nodes.words, isLive ? header.strings.live : header.strings.lost);
}
