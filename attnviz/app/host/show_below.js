// @ts-check
// The whole answer opens below the fold: whoever opens it, on Change or by a miniature of Start, is taken there, and stays
// there while its pictures arrive.

const DOORS = ".st-key-attnviz-widget-question button, [class*=st-key-attnviz-component-gallery]";
const BELOW = ".st-key-attnviz-widget-whole";
const WAITS_MS = 60000; // for a busy server
const ARRIVING_MS = 8000;
const HANDS = ["wheel", "pointerdown", "keydown", "touchmove"]; // whoever does something goes on alone

/** From now on what a click opens below is scrolled to. */
export function showWhatOpensBelow() {
  let until = 0;
  let hasCome = false;
  const bring = () => {
    if (performance.now() < until) document.querySelector(BELOW)?.scrollIntoView({ block: "start" });
  };
  const sizes = new ResizeObserver(bring);
  const arrivals = new MutationObserver(() => {
    const below = performance.now() < until && document.querySelector(BELOW);
    if (!below) return;
    if (!hasCome) until = performance.now() + ARRIVING_MS;
    hasCome = true;
    sizes.observe(below);
    bring();
  });
  const stop = () => {
    until = 0;
    sizes.disconnect();
    arrivals.disconnect();
  };
  for (const hand of HANDS) document.addEventListener(hand, stop, { capture: true, passive: true });
  const click = (/** @type {MouseEvent} */ { target }) => {
    if (!(target instanceof Element && target.closest(DOORS)) || document.querySelector(BELOW)) return;
    until = performance.now() + WAITS_MS;
    hasCome = false;
    arrivals.observe(document.body, { childList: true, subtree: true });
  };
  document.addEventListener("click", click, true);
}
