// @ts-check
// Streamlit's link “Skip to main content” leads to a box that holds the bar as well. Here it leads past bar and strip, to
// what stands first behind them.

const LINK = "[data-testid=stSkipToContent]";
const BLOCKS = "[data-testid=stMainBlockContainer] > [data-testid=stVerticalBlock] > *";
const ABOVE = ["bar", "heading", "strip", "strip-b"].map((name) => `.st-key-attnviz-widget-${name}`).join();

/** From now on the link leads to the content of the page. */
export function skipPastBar() {
  const skip = (/** @type {MouseEvent} */ event) => {
    if (!(event.target instanceof Element) || !event.target.closest(LINK)) return;
    const blocks = [...document.querySelectorAll(BLOCKS)];
    const first = blocks.findLastIndex((block) => block.querySelector(ABOVE)) + 1;
    const content = blocks.slice(first).find((block) => block.getBoundingClientRect().height > 0);
    if (!(content instanceof HTMLElement)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    content.tabIndex = -1;
    content.focus();
  };
  document.addEventListener("click", skip, true);
}
