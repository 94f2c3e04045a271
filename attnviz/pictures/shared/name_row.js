// @ts-check
// The name of the chosen head between buttons for its neighbours, with further buttons after it.

import { button } from "./controls.js";
import { el } from "./dom.js";

/** @import { SharedStrings } from "./heads.js" */

/**
 * @param {Pick<SharedStrings, "previous_head" | "next_head">} strings
 * @param {HTMLElement} title
 * @param {(by: number) => void} step
 * @param {...HTMLElement} openers
 */
export function nameRow(strings, title, step, ...openers) {
  const stepButton = (/** @type {string} */ label, /** @type {string} */ text, /** @type {number} */ by) => {
    const node = button({ label, text, onClick: () => step(by) });
    node.classList.add("av-step-button");
    return node;
  };
  const back = stepButton(strings.previous_head, "‹", -1);
  const forth = stepButton(strings.next_head, "›", 1);
  return el("div", { class: "av-row" }, back, title, forth, ...openers);
}
