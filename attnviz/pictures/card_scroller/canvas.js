// @ts-check
// Card scroller: nothing to see. When another card has opened it scrolls to the card's top and puts the focus on its heading,
// which a screen reader then reads. It works on the page that Streamlit draws around it, and in no other host. It also
// keeps the learner's progress in the browser; a browser that keeps nothing (private windows) is fine.

import { parse } from "../shared/buffer.js";
import { setData } from "../shared/dom.js";

/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Arrays, Header } from "./types.js" */

const TOP = ".st-key-attnviz-widget-learn-top";
const HEADING = ".st-key-attnviz-widget-learn-card h2";
const KEPT = "attnviz.progress";
const WAY = ".st-key-attnviz-widget-learn-way button";

/** @returns {Mounted} */
export default function cardScroller(/** @type {Host} */ host) {
  const { root } = host;
  const marked = root instanceof ShadowRoot ? root.host : root;
  let arrivals = 0;
  let frame = 0;
  let hasAnswered = false;
  /** @type {string[]} */
  let labels = [];
  // Streamlit may draw the buttons after this component, or draw them anew
  const watcher = new MutationObserver(() => nameWay(labels));
  watcher.observe(document.body, { childList: true, subtree: true });
  return {
    refresh(data) {
      /** @type {{header: Header, arrays: Arrays}} */
      const { header } = parse(data);
      const hasArrived = header.arrivals > arrivals;
      arrivals = header.arrivals;
      if (header.asks && !hasAnswered) {
        hasAnswered = true;
        const progress = kept();
        if (progress) host.send("progress", progress);
      } else if (header.progress) keep(header.progress);
      labels = header.labels;
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => {
        nameWay(labels);
        if (hasArrived) arriveAt(document.querySelector(HEADING));
        if (marked instanceof HTMLElement) setData(marked, { arrivals });
      });
    },
    destroy: () => {
      watcher.disconnect();
      cancelAnimationFrame(frame);
    },
  };
}

function kept() {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null; // storage is switched off
  }
}

function keep(/** @type {string} */ progress) {
  try {
    localStorage.setItem(KEPT, progress);
  } catch {
    // storage is switched off or full: the address and the session still hold the progress
  }
}

function nameWay(/** @type {string[]} */ labels) {
  const buttons = document.querySelectorAll(WAY);
  if (buttons.length !== labels.length) return;
  buttons.forEach((button, place) => button.setAttribute("aria-label", labels[place]));
}

function arriveAt(/** @type {Element | null} */ heading) {
  document.querySelector(TOP)?.scrollIntoView({ block: "start" });
  if (!(heading instanceof HTMLElement)) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}
