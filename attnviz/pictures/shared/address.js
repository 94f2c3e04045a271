// @ts-check
// What a host needs that lives in an ordinary page: the page's own address, and a channel for its components.

/** @import { Address, Channel, Message } from "./host.js" */

/** The query of the page's address, changed in place: no entry is added to the history. @returns {Address} */
export function pageAddress() {
  return {
    get: (name) => new URLSearchParams(location.search).get(name),
    set(changes) {
      const url = new URL(location.href);
      for (const [name, value] of Object.entries(changes)) {
        if (value === null) url.searchParams.delete(name);
        else url.searchParams.set(name, value);
      }
      if (url.href !== location.href) history.replaceState(history.state, "", url.href);
    },
  };
}

/**
 * An address that is written at most every `everyMs`, and read as if it were written at once: browsers refuse an address
 * that changes with every key.
 * @param {Address} address
 * @param {number} everyMs
 * @returns {Address & {flush: () => void}} `flush` writes what waits
 */
export function calm(address, everyMs) {
  /** @type {Map<string, string | null>} */
  const waiting = new Map();
  let timer = 0;
  const flush = () => {
    clearTimeout(timer);
    timer = 0;
    if (waiting.size) address.set(Object.fromEntries(waiting));
    waiting.clear();
  };
  return {
    get: (name) => (waiting.has(name) ? (waiting.get(name) ?? null) : address.get(name)),
    set(changes) {
      for (const [name, value] of Object.entries(changes)) waiting.set(name, value);
      timer ||= setTimeout(flush, everyMs);
    },
    flush,
  };
}

/** A channel for components that are shown together. @returns {Channel} */
export function makeChannel() {
  /** @type {Set<(message: Message) => void>} */
  const callbacks = new Set();
  return {
    post(message) {
      for (const callback of [...callbacks]) callback(message);
    },
    listen(callback) {
      callbacks.add(callback);
      return () => void callbacks.delete(callback);
    },
  };
}

/** The page's own address, or one in memory where it has none, as in a notebook's frame. @returns {Address} */
export function ownAddress() {
  try {
    history.replaceState(history.state, "", location.href);
    if (location.protocol !== "about:") return pageAddress();
  } catch {
    // a frame without an address of its own
  }
  return memoryAddress();
}

/** @returns {Address} */
function memoryAddress() {
  /** @type {Map<string, string>} */
  const values = new Map();
  return {
    get: (name) => values.get(name) ?? null,
    set(changes) {
      for (const [name, value] of Object.entries(changes)) {
        if (value === null) values.delete(name);
        else values.set(name, value);
      }
    },
  };
}
