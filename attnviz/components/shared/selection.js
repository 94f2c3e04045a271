// @ts-check
// What the visitor has chosen: layer, head, query, key, scale, special. It lives in the browser and in the URL; the
// server is told once, when pointer or focus leaves the component, so that switching heads costs no message.

/**
 * `more`: other parameters that a component owns, null for one that is to go.
 * @typedef {{layer: number | null, head: number | null, query: number | null, key: number | null,
 *   scale: "linear" | "sqrt" | "log", special: "show" | "hide", more?: Record<string, string | null>}} Selection
 */

const ANNOUNCED = "attnviz-selection";
const URL_DELAY_MS = 150;
const SETTLE_MS = 60; // Streamlit sends in a timer
const RECEIPT_MS = 1500;
const LOOK_MS = 20;
const PAGES = ".st-key-attnviz-widget-pages";
const INDICES = /** @type {const} */ (["layer", "head", "query", "key"]);

/** The selection in the page's address; what is missing or malformed is null or the default. @returns {Selection} */
export function readSelection(search = location.search) {
  const params = new URLSearchParams(search);
  const scale = params.get("scale");
  const index = (/** @type {string} */ name) =>
    /^\d{1,5}$/.test(params.get(name) ?? "") ? Number(params.get(name)) : null;
  return {
    layer: index("layer"),
    head: index("head"),
    query: index("query"),
    key: index("key"),
    scale: scale === "linear" || scale === "log" ? scale : "sqrt",
    special: params.get("special") === "hide" ? "hide" : "show",
  };
}

/** A parameter of a component's own, as it stands in the address; null where it does not. */
export function readParameter(/** @type {string} */ name, search = location.search) {
  return new URLSearchParams(search).get(name);
}

/**
 * A selection that fits the data: layer and head are clamped, query and key dropped when out of range; where layers differ,
 * as those of the layer.
 * @param {Selection} selection
 * @param {{n_layers: number, n_heads: number, n_query: number, n_key: number, shapes?: number[][] | null}} size
 * @returns {Selection}
 */
export function clampSelection(selection, size) {
  const clamp = (/** @type {number | null} */ v, /** @type {number} */ n) =>
    Math.max(0, Math.min(n - 1, v ?? 0));
  const drop = (/** @type {number | null} */ v, /** @type {number} */ n) => (v !== null && v < n ? v : null);
  const layer = clamp(selection.layer, size.n_layers);
  const [heads, rows, cols] = size.shapes?.[layer] ?? [size.n_heads, size.n_query, size.n_key];
  const query = drop(selection.query, rows);
  return {
    ...selection,
    layer,
    head: clamp(selection.head, heads),
    query,
    key: query === null ? null : drop(selection.key, cols),
  };
}

/**
 * The selection after a change, where layers differ: it fits its layer, and a cell goes whose tokens this layer does not have.
 * @param {Selection} before
 * @param {Selection} after
 * @param {any[]} headers of each layer
 * @returns {Selection}
 */
export function fitLayer(before, after, headers) {
  const [old, now] = [headers[before.layer ?? 0], headers[after.layer ?? 0]];
  const kept = clampSelection(after, headers[0]);
  if (
    old === now ||
    (old.tokens.join() === now.tokens.join() && old.key_tokens.join() === now.key_tokens.join())
  )
    return kept;
  return { ...kept, query: null, key: null };
}

let urlTimer = 0;
/** @type {Selection | null} */
let unwritten = null;

/** Mirrors a selection into the address, once things have been quiet for a moment; other parameters stay. */
export function writeSelection(/** @type {Selection} */ selection) {
  clearTimeout(urlTimer);
  unwritten = selection;
  urlTimer = setTimeout(flushWrite, URL_DELAY_MS);
}

/** Writes a pending address change now: before new data is matched with what the address says. */
export function flushWrite() {
  clearTimeout(urlTimer);
  if (unwritten) replaceUrl(unwritten);
  unwritten = null;
}

/** Forgets an address change that has not been written yet. */
export function cancelWrite() {
  clearTimeout(urlTimer);
  unwritten = null;
}

/** Puts one parameter of a page's own into the address; null takes it out. */
export function writeParameter(/** @type {string} */ name, /** @type {string | null} */ value) {
  flushWrite();
  const url = new URL(location.href);
  if (value === null) url.searchParams.delete(name);
  else url.searchParams.set(name, value);
  if (url.href !== location.href) history.replaceState(history.state, "", url.href);
}

/**
 * Has all components of the page show a head and a cell that were chosen on someone else's page.
 * @param {{layer: number, head: number, query: number | null, key: number | null}} place
 */
export function announceSelection(place) {
  const selection = { ...readSelection(), ...place };
  dispatchEvent(new CustomEvent(ANNOUNCED, { detail: { selection, from: null } }));
  writeSelection(selection);
}

function replaceUrl(/** @type {Selection} */ selection) {
  const url = new URL(location.href);
  const put = (/** @type {string} */ name, /** @type {string | number | null} */ value) =>
    value === null ? url.searchParams.delete(name) : url.searchParams.set(name, String(value));
  for (const name of INDICES) put(name, selection[name]);
  put("scale", selection.scale === "sqrt" ? null : selection.scale);
  put("special", selection.special === "show" ? null : selection.special);
  for (const [name, value] of Object.entries(selection.more ?? {})) put(name, value);
  if (url.href !== location.href) history.replaceState(history.state, "", url.href);
}

/** Where the first link of the navigation leads. */
function navigated() {
  return document.querySelector(`${PAGES} a[href*="?"]`)?.getAttribute("href") ?? "";
}

/**
 * Tells the server about the selection when pointer or focus leaves `element` or the window loses focus.
 * `start` sets what the server already knows, `update` what is true now, `bind` renews the callback. An update is
 * announced to the other components of the page; those that give `follow` show it too, and leave telling to this one.
 * It is told as an event: of values that reach a busy server Streamlit forgets all but the last message's, of events none.
 * @param {HTMLElement} element
 * @param {(selection: Selection) => void} [follow]
 */
export function makeCommitter(element, follow) {
  let send = (/** @type {string} */ _name, /** @type {any} */ _value) => {};
  let known = "";
  let current = "";
  let hrefs = "";
  let heldTimer = 0;
  let sentAt = -Infinity;
  const commit = () => {
    if (!current || current === known) return;
    known = current;
    sentAt = performance.now();
    hrefs = navigated();
    flushWrite();
    send("selection", JSON.parse(current));
  };
  // A click that another page or widget hears before the server has had the value would undo it: it is made again later.
  // The links to the pages are the receipt, for they are drawn anew with what was chosen.
  const holdClick = (/** @type {MouseEvent} */ event) => {
    const path = event.composedPath();
    const link = /** @type {any} */ (path.find((node) => node instanceof HTMLAnchorElement));
    const since = performance.now() - sentAt;
    const receipt = Boolean(link?.matches(`${PAGES} *`)) && navigated() === hrefs;
    if (
      since >= (receipt ? RECEIPT_MS : SETTLE_MS) ||
      path.includes(element) ||
      event.ctrlKey ||
      event.metaKey ||
      event.shiftKey
    )
      return;
    event.preventDefault();
    event.stopImmediatePropagation();
    clearTimeout(heldTimer);
    heldTimer = setTimeout(
      () => path[0].dispatchEvent(new MouseEvent("click", event)),
      Math.max(LOOK_MS, SETTLE_MS - since),
    );
  };
  const focusOut = (/** @type {FocusEvent} */ event) => {
    if (!(event.relatedTarget instanceof Node && element.contains(event.relatedTarget))) commit();
  };
  // the keyboard may change the selection while the pointer is elsewhere: a press there, on a link for instance, is told
  // to the server first, and so are the moves that lead to it
  const pointerElsewhere = (/** @type {PointerEvent} */ event) => {
    if (!event.composedPath().includes(element)) commit();
  };
  const hear = (/** @type {any} */ event) => {
    if (event.detail.from === element) return;
    cancelWrite();
    known = current = JSON.stringify(event.detail.selection);
    follow?.(event.detail.selection);
  };
  if (follow) addEventListener(ANNOUNCED, hear);
  element.addEventListener("pointerleave", commit);
  document.addEventListener("pointermove", pointerElsewhere, true);
  document.addEventListener("pointerdown", pointerElsewhere, true);
  document.addEventListener("click", holdClick, true);
  element.addEventListener("focusout", focusOut);
  addEventListener("blur", commit);
  return {
    commit,
    start(/** @type {Selection} */ selection) {
      known = current = JSON.stringify(selection);
    },
    update(/** @type {Selection} */ selection) {
      current = JSON.stringify(selection);
      dispatchEvent(new CustomEvent(ANNOUNCED, { detail: { selection, from: element } }));
    },
    bind(/** @type {(name: string, value: any) => void} */ fn) {
      send = fn;
    },
    destroy() {
      removeEventListener(ANNOUNCED, hear);
      element.removeEventListener("pointerleave", commit);
      document.removeEventListener("pointermove", pointerElsewhere, true);
      document.removeEventListener("pointerdown", pointerElsewhere, true);
      document.removeEventListener("click", holdClick, true);
      element.removeEventListener("focusout", focusOut);
      removeEventListener("blur", commit);
    },
  };
}
