// @ts-check
// Resume: nothing to see. Keeps the page and the query of the address in this browser, and tells a start page that asks.

import { parse } from "../shared/buffer.js";

/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Arrays, Header } from "./types.js" */

const PLACE = "attnviz.left";

/** @returns {Mounted} */
export default function resume(/** @type {Host} */ host) {
  let hasAsked = false;
  return {
    refresh(data) {
      /** @type {{header: Header, arrays: Arrays}} */
      const { header } = parse(data);
      const left = header.asks && !hasAsked ? kept() : null;
      hasAsked = true;
      if (left && left.page !== header.page) host.trigger("resume", left);
      else keep({ page: header.page, query: header.query });
    },
    destroy() {},
  };
}

/** What this browser keeps; null where it keeps nothing, or forbids to look. */
function kept() {
  try {
    const left = JSON.parse(localStorage.getItem(PLACE) ?? "null");
    const isWhole = typeof left?.page === "string" && typeof left?.query === "string";
    return isWhole ? { page: String(left.page), query: String(left.query) } : null;
  } catch {
    return null;
  }
}

function keep(/** @type {{page: string, query: string}} */ left) {
  try {
    localStorage.setItem(PLACE, JSON.stringify(left));
  } catch {
    // a browser that keeps nothing opens the start page each time
  }
}
