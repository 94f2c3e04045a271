// @ts-check
// Keeps what was chosen in the browser and in the address, and tells the server once, when pointer or focus leaves the
// component, or soon where another component waits for it: switching heads costs no message. A change is announced to the
// other components of the page; those that follow show it too and leave telling the server to the one where it was made.

import { placeParameters, readSelection, selectionParameters } from "./selection.js";

/** @import { Host } from "./host.js" */
/** @import { AddressSelection, Place } from "./selection.js" */

const WRITE_AFTER_MS = 150;
const COMMIT_AFTER_MS = 400;

/**
 * `read` gives the selection of the address, after a write that waits; `start` sets what new data are shown with, which the
 * server knows unless something is left to tell, which is `untold`, `update` what is true now; `write` puts a selection into the address once
 * things are quiet, `writeNow` a parameter of a component's own at once; `commit` tells the server, `commitSoon` once things
 * are quiet.
 * @typedef {{read: () => AddressSelection, untold: () => AddressSelection | null, start: (selection: AddressSelection) => void,
 *   update: (selection: AddressSelection) => void, write: (selection: AddressSelection) => void,
 *   writeNow: (name: string, value: string | null) => void, commit: () => void, commitSoon: () => void,
 *   destroy: () => void}} Committer
 */

/**
 * The committer of a component that fills `element`. `follow` is called with what was chosen elsewhere on the page; while
 * the component `isPlaying`, what it passes by is told to no one who waits.
 * @param {Host} host
 * @param {HTMLElement} element
 * @param {(selection: AddressSelection) => void} [follow]
 * @param {() => boolean} [isPlaying]
 * @returns {Committer}
 */
export function makeCommitter(host, element, follow, isPlaying) {
  const writer = makeWriter(host);
  let known = "";
  let current = "";
  const commit = () => {
    if (!current || current === known) return;
    known = current;
    const selection = JSON.parse(current);
    writer.writePlace(selection);
    host.trigger("selection", selection);
  };
  let timer = 0;
  const commitSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(() => (isPlaying?.() ? commitSoon() : commit()), COMMIT_AFTER_MS);
  };
  const stopListening = commitOnLeaving(element, commit);
  const stopServing = host.channel.listen((message) => {
    if ("wants" in message && message.wants === "commit") commitSoon();
  });
  const stopFollowing =
    follow &&
    host.channel.listen((message) => {
      if (!("selection" in message) || message.from === element) return;
      const { selection } = message;
      writer.cancel();
      known = current = JSON.stringify(selection);
      follow(selection);
    });
  return {
    commit,
    commitSoon,
    read() {
      writer.flush();
      return readSelection(host.address);
    },
    untold: () => (current && current !== known ? JSON.parse(current) : null),
    start(selection) {
      const isTold = current === known;
      current = JSON.stringify(selection);
      if (isTold) known = current;
    },
    update(selection) {
      current = JSON.stringify(selection);
      host.channel.post({ selection, from: element });
    },
    write: writer.write,
    writeNow(name, value) {
      writer.flush();
      host.address.set({ [name]: value });
    },
    destroy() {
      clearTimeout(timer);
      stopListening();
      stopServing();
      stopFollowing?.();
      writer.cancel();
    },
  };
}

/** Shows a place that the server names in all components of the page. */
export function announcePlace(/** @type {Host} */ host, /** @type {Place} */ place) {
  const selection = { ...readSelection(host.address), ...place };
  host.channel.post({ selection, from: null });
  makeWriter(host).write(selection);
}

/** A look is forbidden as long as its cell is chosen: the address of another cell does not have it. */
function forbiddenNow(/** @type {Host} */ { address }, /** @type {AddressSelection} */ { query, key }) {
  return address.get("forbid") === `${query}.${key}` ? null : { forbid: null };
}

/** Puts selections into the address: the last one, once nothing has changed for a moment. */
function makeWriter(/** @type {Host} */ host) {
  let timer = 0;
  /** @type {AddressSelection | null} */
  let waiting = null;
  const flush = () => {
    clearTimeout(timer);
    if (waiting) host.address.set({ ...selectionParameters(waiting), ...forbiddenNow(host, waiting) });
    waiting = null;
  };
  return {
    flush,
    /** What the server is told the address says, too: a run of the app may have written the place before meanwhile. */
    writePlace(/** @type {AddressSelection} */ selection) {
      flush();
      host.address.set({ ...placeParameters(selection), ...forbiddenNow(host, selection) });
    },
    write(/** @type {AddressSelection} */ selection) {
      clearTimeout(timer);
      waiting = selection;
      timer = setTimeout(flush, WRITE_AFTER_MS);
    },
    cancel() {
      clearTimeout(timer);
      waiting = null;
    },
  };
}

/**
 * Commits when pointer or focus leaves the element, and when the window loses focus. The keyboard may change the
 * selection while the pointer is elsewhere: a press there, on a link for instance, commits first, and so do the moves
 * that lead to it.
 * @param {HTMLElement} element
 * @param {() => void} commit
 * @returns {() => void} stops listening
 */
function commitOnLeaving(element, commit) {
  const focusOut = (/** @type {FocusEvent} */ event) => {
    if (!(event.relatedTarget instanceof Node && element.contains(event.relatedTarget))) commit();
  };
  const pointerElsewhere = (/** @type {PointerEvent} */ event) => {
    if (!event.composedPath().includes(element)) commit();
  };
  element.addEventListener("pointerleave", commit);
  element.addEventListener("focusout", focusOut);
  document.addEventListener("pointermove", pointerElsewhere, true);
  document.addEventListener("pointerdown", pointerElsewhere, true);
  addEventListener("blur", commit);
  return () => {
    element.removeEventListener("pointerleave", commit);
    element.removeEventListener("focusout", focusOut);
    document.removeEventListener("pointermove", pointerElsewhere, true);
    document.removeEventListener("pointerdown", pointerElsewhere, true);
    removeEventListener("blur", commit);
  };
}
