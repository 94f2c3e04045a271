// @ts-check
// Says which link of the bar leads to the page that is shown, for who hears the page: Streamlit's page links do not. The
// server names the containers of these links `current`.

const BAR = ".st-key-attnviz-widget-bar";
const CURRENT = '[class*="st-key-attnviz-widget-current-"] a';

/** From now on the links of the page that is shown carry `aria-current`. */
export function markCurrentPage() {
  let asked = 0;
  const mark = () => {
    asked = 0;
    for (const link of document.querySelectorAll(`${BAR} a`)) {
      if (link.matches(CURRENT)) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  };
  const soon = () => {
    asked ||= requestAnimationFrame(mark);
  };
  new MutationObserver(soon).observe(document.body, {
    childList: true,
    subtree: true,
    attributeFilter: ["class", "href"],
  });
  soon();
}
