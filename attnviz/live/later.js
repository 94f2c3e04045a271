// @ts-check
// The canvases that a page does not open with: their script comes once, after the first picture or when one of them is
// needed. `scripts_with` of pictures/shared/html_parts.py writes it; it calls `attnvizLater`.

import { el } from "../pictures/shared/dom.js";
import { fill } from "../pictures/shared/fmt.js";
import { parsedSheets } from "../pictures/shared/page.js";
import { say } from "./lines.js";

/** @import { Component } from "../pictures/shared/host.js" */
/** @import { Page, Session } from "./state.js" */

/** Fetches all canvases; a script that did not come is asked for again next time. @returns {Promise<void>} */
export function fetchLater(/** @type {Page} */ page) {
  const { components, index, sheets } = page;
  if (index.later === null) return Promise.resolve();
  const address = (index.root ?? "") + index.later;
  page.later ??= new Promise((resolve, reject) => {
    const take = (
      /** @type {Record<string, Component>} */ more,
      /** @type {Record<string, string>} */ styles,
    ) => {
      Object.assign(components, more);
      Object.assign(sheets, parsedSheets(styles));
      resolve();
    };
    Object.assign(globalThis, { attnvizLater: take });
    const fail = () => {
      page.later = null;
      reject(new Error(address));
    };
    document.head.append(el("script", { src: address, on: { error: fail } }));
  });
  return page.later;
}

/** Does something once all canvases are there. */
export function withAll(
  /** @type {Page} */ page,
  /** @type {Session} */ session,
  /** @type {() => void} */ act,
) {
  fetchLater(page).then(act, ({ message }) => {
    session.trouble = fill(page.index.texts["refused.fetch"], { file: message });
    say(page);
  });
}
