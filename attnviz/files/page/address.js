// @ts-check
// Where a page keeps what was chosen: in its own address, or in memory where it has none, as in a notebook's frame.

import { pageAddress } from "../../pictures/shared/address.js";

/** @import { Address } from "../../pictures/shared/host.js" */

/** @returns {Address} */
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
