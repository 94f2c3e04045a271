// @ts-check
// Streamlit as the host of the components. Streamlit calls the default export of a component's script with each change
// of its data or of the theme; what that function returns is called when the element goes.

import { makeChannel, pageAddress } from "../../pictures/shared/address.js";
import { theme } from "../../pictures/shared/theme.js";
import { watchBar } from "./bar.js";
import { holdLinksWhileTextIsSent, makeClickGuard } from "./click_guard.js";
import { speakLanguage } from "./language.js";
import { pageScheme } from "./scheme.js";
import { showWhatOpensBelow } from "./show_below.js";
import { skipPastBar } from "./skip_link.js";

/** @import { Component, Events, Host, Mounted } from "../../pictures/shared/host.js" */
/** @import { ShownPicture } from "../../pictures/shared/snapshot.js" */

/**
 * @typedef {{data: Uint8Array | null, parentElement: ShadowRoot, setStateValue: (name: string, value: unknown) => void,
 *   setTriggerValue: (name: string, value: unknown) => void}} StreamlitCall
 */
/**
 * A component in a shadow root, and the call of Streamlit that came last: its functions are the valid ones.
 * @typedef {{mounted: Mounted, call: StreamlitCall, destroy: () => void}} Place
 */

const FONT = "16px Inter";
const LONGEST_WAIT_MS = 2000;
const CHANNEL = makeChannel();
const SCHEME = pageScheme();
/** @type {WeakMap<ShadowRoot, Place>} */
const PLACES = new WeakMap();
/** What is mounted now, in the order in which it came. @type {Set<{shown: () => ShownPicture}>} */
const SHOWN = new Set();
/** @type {Map<string, CSSStyleSheet>} */
const PARSED = new Map();
const PICTURE = 'canvas[role="img"][tabindex="0"]';
/** The page that a component has asked to open: the focus goes to its picture, once that is there. @type {string | null} */
let opening = null;

/**
 * Makes what Streamlit calls out of a component and the names of its style sheets.
 * @param {Record<string, string>} sheets the text of each style sheet
 */
export default function streamlit(sheets) {
  holdLinksWhileTextIsSent();
  watchBar();
  skipPastBar();
  showWhatOpensBelow();
  /** @param {Component} component @param {string[]} names */
  return (component, names) => (/** @type {StreamlitCall} */ call) => {
    if (!call.data) return undefined;
    speakLanguage();
    const root = call.parentElement;
    let place = PLACES.get(root);
    if (place) place.call = call;
    else {
      root.adoptedStyleSheets = names.map((name) => sheetOf(name, sheets[name]));
      place = mountIn(root, component, call, names[names.length - 1]);
      PLACES.set(root, place);
    }
    place.mounted.refresh(call.data);
    whenAtRest(() => root.host.setAttribute("data-mounted", "1")); // style.css shows it then, and what stands below
    if (opening === names[names.length - 1]) takeFocus(root);
    return place.destroy;
  };
}

/** Calls back once a new picture has the size that it takes in its first frame. */
function whenAtRest(/** @type {() => void} */ work) {
  requestAnimationFrame(() => requestAnimationFrame(work));
}

/** Ends when the page has its font, or cannot have it: canvases are drawn with what there is then. */
export async function waitForFont() {
  const late = new Promise((end) => setTimeout(end, LONGEST_WAIT_MS));
  await Promise.race([document.fonts.load(FONT).catch(() => undefined), late]);
}

/**
 * @param {ShadowRoot} root
 * @param {Component} component
 * @param {StreamlitCall} call
 * @param {string} name of the component
 * @returns {Place}
 */
function mountIn(root, component, call, name) {
  const guard = makeClickGuard(root);
  /** @type {Host} */
  const host = {
    root,
    theme: () => theme(root),
    address: pageAddress(),
    channel: CHANNEL,
    scheme: SCHEME,
    pictures: () => inPageOrder([...SHOWN].map(({ shown }) => shown())),
    send: (name, value) => place.call.setStateValue(name, value),
    trigger(name, value) {
      if (name === "selection" || name === "typed" || name === "ask") guard.told();
      if (isOpening(name, value)) opening = value.page;
      place.call.setTriggerValue(name, value);
    },
  };
  const mounted = component(host);
  /** @type {Place} */
  const place = {
    mounted,
    call,
    destroy() {
      mounted.destroy();
      guard.destroy();
      PLACES.delete(root);
      SHOWN.delete(picture);
    },
  };
  const redraw = () => place.call.data && mounted.refresh(place.call.data);
  const picture = { shown: () => ({ root, redraw, background: host.theme().bg, name: `attnviz-${name}` }) };
  SHOWN.add(picture);
  return place;
}

/**
 * @param {keyof Events} name
 * @param {unknown} value
 * @returns {value is Events["open"]}
 */
function isOpening(name, value) {
  return name === "open" && value !== null;
}

function takeFocus(/** @type {ShadowRoot} */ root) {
  const picture = root.querySelector(PICTURE);
  if (!(picture instanceof HTMLElement)) return;
  opening = null;
  picture.focus({ preventScroll: true });
}

/** Pictures from the top of the page to its end. */
function inPageOrder(/** @type {ShownPicture[]} */ pictures) {
  const top = (/** @type {ShownPicture} */ { root }) =>
    (root instanceof ShadowRoot ? root.host : root).getBoundingClientRect().top;
  return pictures.sort((a, b) => top(a) - top(b));
}

function sheetOf(/** @type {string} */ name, /** @type {string} */ text) {
  let sheet = PARSED.get(name);
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    PARSED.set(name, sheet);
  }
  return sheet;
}
