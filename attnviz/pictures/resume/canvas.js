// @ts-check
// Resume: keeps the page and the query of the address in this browser; on a start page a button leads back to them.

import { parse } from "../shared/buffer.js";
import { el } from "../shared/dom.js";

/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Arrays, Header } from "./types.js" */

const PLACE = "attnviz.left";

/** @returns {Mounted} */
export default function resume(/** @type {Host} */ host) {
  const box = el("section", { class: "av av-resume" });
  return {
    refresh(data) {
      /** @type {{header: Header, arrays: Arrays}} */
      const { header } = parse(data);
      if (!header.offers) keep({ page: header.page, query: header.query });
      const left = header.offers ? kept() : null;
      box.remove();
      if (!left) return;
      const button = el("button", { type: "button", class: "av-button" }, header.strings.label);
      button.addEventListener("click", () => host.trigger("resume", left));
      box.replaceChildren(button);
      host.root.append(box);
    },
    destroy: () => box.remove(),
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
