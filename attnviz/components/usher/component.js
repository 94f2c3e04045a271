// @ts-check
// Usher: nothing to see. When another card has opened it scrolls to the card's top and puts the focus on its heading,
// which a screen reader then reads. Data: {arrivals, labels: what a screen reader says for each number of the way}.

import { parse } from "../shared/buffer.js";
import { setData } from "../shared/dom.js";
import { mounted } from "../shared/mounted.js";

const USHER_TOP = ".st-key-attnviz-widget-learn-top";
const USHER_HEADING = ".st-key-attnviz-widget-learn-card h2";
const USHER_WAY = ".st-key-attnviz-widget-learn-way button";

/** Streamlit calls this with new data or a new theme. */
export default function usher(/** @type {any} */ component) {
  return mounted(component, mountUsher, refreshUsher);
}

function mountUsher(/** @type {any} */ root) {
  const view = /** @type {any} */ ({ root, arrivals: 0, frame: 0 });
  view.destroy = () => cancelAnimationFrame(view.frame);
  return view;
}

function refreshUsher(/** @type {any} */ view, /** @type {Uint8Array} */ data) {
  const { header } = parse(data);
  const arrived = header.arrivals > view.arrivals;
  view.arrivals = header.arrivals;
  cancelAnimationFrame(view.frame);
  view.frame = requestAnimationFrame(() => {
    nameWay(header.labels);
    if (arrived) arriveAt(document.querySelector(USHER_HEADING));
    setData(view.root.host ?? view.root, { arrivals: view.arrivals });
  });
}

function nameWay(/** @type {string[]} */ labels) {
  const buttons = document.querySelectorAll(USHER_WAY);
  if (buttons.length === labels.length)
    buttons.forEach((button, place) => button.setAttribute("aria-label", labels[place]));
}

function arriveAt(/** @type {Element | null} */ heading) {
  document.querySelector(USHER_TOP)?.scrollIntoView({ block: "start" });
  if (!(heading instanceof HTMLElement)) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}
