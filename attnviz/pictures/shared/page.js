// @ts-check
// A page of its own around components, without a server: their style sheets, their places, light and dark.

import { el } from "./dom.js";
import { theme } from "./theme.js";

/** @import { Component, Host, Mounted } from "./host.js" */

/** An element that Python wrote into the page. */
export function byId(/** @type {string} */ id) {
  const node = document.getElementById(id);
  if (!node) throw new Error(`the page has no ${id}`);
  return node;
}

/** The style sheets of components by name, parsed once. @returns {Record<string, CSSStyleSheet>} */
export function parsedSheets(/** @type {Record<string, string>} */ styles) {
  const parsed = Object.entries(styles).map(([name, text]) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    return [name, sheet];
  });
  return Object.fromEntries(parsed);
}

/**
 * A component in a pane, in place of what was there.
 * @param {HTMLElement} pane
 * @param {string} name
 * @param {Component} component
 * @param {Record<string, CSSStyleSheet>} sheets
 * @param {Omit<Host, "root" | "theme">} host
 * @returns {Mounted}
 */
export function mountIn(pane, name, component, sheets, host) {
  const place = el("div", { class: "place", "data-component": name });
  pane.replaceChildren(place);
  const root = place.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = [sheets.shared, ...(sheets[name] ? [sheets[name]] : [])];
  return component({ ...host, root, theme: () => theme(root) });
}

/** The button that changes between light and dark; `redraw` draws what is shown in the new colours. */
export function watchTheme(/** @type {() => void} */ redraw) {
  const button = document.getElementById("theme");
  if (button) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const page = document.documentElement;
      page.dataset.theme = getComputedStyle(page).colorScheme === "dark" ? "light" : "dark";
      redraw();
    });
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

/** Left and right move among the tabs; `open` opens the one at a place. */
export function moveAmong(
  /** @type {readonly HTMLElement[]} */ tabs,
  /** @type {KeyboardEvent} */ event,
  /** @type {(place: number) => void} */ open,
) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const at = tabs.findIndex((tab) => tab.getAttribute("aria-selected") === "true");
  if (!step || at < 0) return;
  event.preventDefault();
  const next = (at + step + tabs.length) % tabs.length;
  open(next);
  tabs[next].focus();
}
