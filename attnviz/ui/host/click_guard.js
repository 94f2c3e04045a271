// @ts-check
// Holds a click back that comes right after a selection was sent. Streamlit sends from a timer, and a click that another
// page or widget hears before the server has the selection would undo it: the click is made again a moment later. The
// links to the pages are the receipt, for the server draws them anew with what was chosen.

const SETTLE_MS = 60;
const RECEIPT_MS = 1500;
const LOOK_MS = 20;
const PAGE_LINKS = ".st-key-attnviz-widget-pages";

/**
 * Watches the clicks of the page. `told` says that a selection is being sent now; clicks inside of `root` are let through.
 * @param {ShadowRoot} root
 */
export function makeClickGuard(root) {
  let toldAt = -Infinity;
  let linkThen = "";
  let timer = 0;
  const holdClick = (/** @type {MouseEvent} */ event) => {
    const path = event.composedPath();
    const link = path.find((node) => node instanceof HTMLAnchorElement);
    const noReceipt = link?.matches(`${PAGE_LINKS} *`) && firstPageLink() === linkThen;
    const since = performance.now() - toldAt;
    const keepsPage = event.ctrlKey || event.metaKey || event.shiftKey;
    if (since >= (noReceipt ? RECEIPT_MS : SETTLE_MS) || path.includes(root) || keepsPage) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    clearTimeout(timer);
    const again = () => path[0].dispatchEvent(new MouseEvent("click", event));
    timer = setTimeout(again, Math.max(LOOK_MS, SETTLE_MS - since));
  };
  document.addEventListener("click", holdClick, true);
  return {
    told() {
      toldAt = performance.now();
      linkThen = firstPageLink();
    },
    destroy() {
      document.removeEventListener("click", holdClick, true);
    },
  };
}

/** Where the first link of the navigation leads, with the selection that the server knows. */
function firstPageLink() {
  return document.querySelector(`${PAGE_LINKS} a[href*="?"]`)?.getAttribute("href") ?? "";
}
