// @ts-check
// Holds a click back that comes right after a selection or a typed text was sent. Streamlit sends from a timer, and a click
// that another page or widget hears before the server has it would undo it: the click is made again a moment later. The
// links to the pages are the receipt, for the server draws them anew with what was chosen.

const SETTLE_MS = 60;
const RECEIPT_MS = 3000; // on a busy server a link that leads to an earlier head is worse than a late one
const LOOK_MS = 20;
const PAGE_LINKS = ":is(.st-key-attnviz-widget-pages, .st-key-attnviz-widget-faces)";

/**
 * Watches the clicks of the page. `told` says that one is being sent now; clicks inside of `root` are let through.
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

/**
 * Holds a click on a page's link back until the text that its press has ended is on its way. Streamlit sends a text from
 * a timer, but another page at once: in a slow browser the text came second, with the name of the old page, which the
 * server then showed.
 */
export function holdLinksWhileTextIsSent() {
  let isSending = false;
  /** @type {(() => void) | null} */
  let again = null;
  const sent = () => {
    isSending = false;
    again?.();
    again = null;
  };
  const leave = (/** @type {FocusEvent} */ event) => {
    const [box] = event.composedPath(); // in the shadow root of a component, too
    const isBox = box instanceof HTMLTextAreaElement || box instanceof HTMLInputElement;
    if (!isBox || isSending) return;
    isSending = true;
    setTimeout(() => setTimeout(sent, LOOK_MS)); // Streamlit's timer is set after the first and ends before the second
  };
  const hold = (/** @type {MouseEvent} */ event) => {
    const { target } = event;
    const keepsPage = event.ctrlKey || event.metaKey || event.shiftKey;
    if (!isSending || keepsPage || !(target instanceof Element) || !target.closest(`${PAGE_LINKS} a`)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    again = () => target.dispatchEvent(new MouseEvent("click", event));
  };
  document.addEventListener("focusout", leave, true);
  document.addEventListener("click", hold, true);
}

/** Where the first link of the navigation leads, with the selection that the server knows. */
function firstPageLink() {
  return document.querySelector(`${PAGE_LINKS} a[href*="?"]`)?.getAttribute("href") ?? "";
}
