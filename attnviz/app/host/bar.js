// @ts-check
// The bar for who hears the page or has no pointer. It says which link is that of the page, which Streamlit's page links do
// not: the server names their containers `current`. Its links are one stop of the Tab key, its menus another; within each,
// arrow keys, Home and End lead on (the toolbar pattern of ARIA).

const BAR = ".st-key-attnviz-widget-bar";
const SCROLLER = ".st-key-attnviz-widget-faces"; // a stop of its own where none of its links is one
const CURRENT = '[class*="st-key-attnviz-widget-current-"] a';
/** English names, which `language.js` puts into the language of the page. */
const GROUPS = [
  { label: "Rooms", items: `${BAR} a`, box: "[data-testid=stVerticalBlock]:not([class*=st-key-attnviz])" },
  { label: "Menus", items: `${BAR} [data-testid=stPopoverButton]`, box: ".st-key-attnviz-widget-bar-menus" },
];
/** @type {Readonly<Record<string, (at: number, last: number) => number>>} */
const KEYS = {
  ArrowRight: (at, last) => (at === last ? 0 : at + 1),
  ArrowLeft: (at, last) => (at ? at - 1 : last),
  Home: () => 0,
  End: (_, last) => last,
};

/** From now on the links of the page that is shown carry `aria-current`, and the bar has two stops. */
export function watchBar() {
  let asked = 0;
  const mark = () => {
    asked = 0;
    for (const link of document.querySelectorAll(`${BAR} a`)) {
      if (link.matches(CURRENT)) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    for (const group of GROUPS) makeOneStop(group);
    document.querySelector(SCROLLER)?.setAttribute("tabindex", "-1");
  };
  const soon = () => {
    asked ||= requestAnimationFrame(mark);
  };
  new MutationObserver(soon).observe(document.body, {
    childList: true,
    subtree: true,
    attributeFilter: ["class", "href"],
  });
  document.addEventListener("keydown", move);
  document.addEventListener("focusin", ({ target }) => {
    for (const { items } of GROUPS)
      if (target instanceof Element && target.matches(items)) stopAt(items, target);
  });
  soon();
}

/** Names a group and leaves it one stop: where it was, else the page that is shown, else the first. */
function makeOneStop(/** @type {typeof GROUPS[number]} */ { label, items, box }) {
  const all = elementsOf(items);
  const stops = all.filter(({ tabIndex }) => tabIndex >= 0);
  const node = all[0]?.closest(box);
  if (node && node.getAttribute("role") !== "toolbar") {
    node.setAttribute("role", "toolbar");
    node.setAttribute("aria-label", label);
  }
  if (stops.length !== 1) stopAt(items, all.find((item) => item.matches("[aria-current]")) ?? all[0]);
}

function stopAt(/** @type {string} */ items, /** @type {Element | undefined} */ stop) {
  for (const item of elementsOf(items)) item.tabIndex = item === stop ? 0 : -1;
}

/** @returns {HTMLElement[]} */
function elementsOf(/** @type {string} */ items) {
  return [...document.querySelectorAll(items)].filter((item) => item instanceof HTMLElement);
}

function move(/** @type {KeyboardEvent} */ event) {
  const { target } = event;
  const group = GROUPS.find(({ items }) => target instanceof HTMLElement && target.matches(items));
  const to = KEYS[event.key];
  if (!group || !to || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const all = elementsOf(group.items).filter((item) => item.offsetParent !== null || item.offsetWidth > 0);
  event.preventDefault();
  all[to(all.indexOf(/** @type {HTMLElement} */ (target)), all.length - 1)].focus();
}
