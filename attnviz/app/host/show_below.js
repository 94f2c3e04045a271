// @ts-check
// The whole answer opens below the fold: whoever opens it is taken there.

import { wantsLessMotion } from "../../pictures/shared/clock.js";

const DOORS = ".st-key-attnviz-widget-question button";
const BELOW = ".st-key-attnviz-widget-whole";

/** From now on what a click opens below is scrolled to. */
export function showWhatOpensBelow() {
  let isWanted = false;
  const click = (/** @type {MouseEvent} */ { target }) => {
    if (target instanceof Element && target.closest(DOORS)) isWanted = !document.querySelector(BELOW);
  };
  document.addEventListener("click", click, true);
  new MutationObserver(() => {
    const below = isWanted && document.querySelector(BELOW);
    if (!below) return;
    isWanted = false;
    below.scrollIntoView({ block: "start", behavior: wantsLessMotion() ? "auto" : "smooth" });
  }).observe(document.body, { childList: true, subtree: true });
}
