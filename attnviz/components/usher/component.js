// @ts-check
// Usher: nothing to see. When another card has opened it scrolls to the card's top and puts the focus on its heading,
// which a screen reader then reads. It works on the page that Streamlit draws around it, and in no other host.

import { parse } from "../shared/buffer.js";
import { setData } from "../shared/dom.js";

/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Arrays, Header } from "./types.js" */

const TOP = ".st-key-attnviz-widget-learn-top";
const HEADING = ".st-key-attnviz-widget-learn-card h2";
const WAY = ".st-key-attnviz-widget-learn-way button";

/** @returns {Mounted} */
export default function usher(/** @type {Host} */ host) {
  const { root } = host;
  const marked = root instanceof ShadowRoot ? root.host : root;
  let arrivals = 0;
  let frame = 0;
  return {
    refresh(data) {
      /** @type {{header: Header, arrays: Arrays}} */
      const { header } = parse(data);
      const hasArrived = header.arrivals > arrivals;
      arrivals = header.arrivals;
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => {
        nameWay(header.labels);
        if (hasArrived) arriveAt(document.querySelector(HEADING));
        if (marked instanceof HTMLElement) setData(marked, { arrivals });
      });
    },
    destroy: () => cancelAnimationFrame(frame),
  };
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
