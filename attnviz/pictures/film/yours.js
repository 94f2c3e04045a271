// @ts-check
// "Now your sentence": a text box, a button, and sentences to begin with.

import { el, setText } from "../shared/dom.js";

/** @import { Header } from "./types.js" */

/** @typedef {ReturnType<typeof makeYours>} Yours */

const MAX_CHARS = 400;

export function makeYours(/** @type {(text: string) => void} */ onText) {
  const label = el("label", { class: "film-label" });
  const input = el("input", { type: "text", class: "film-input", maxlength: MAX_CHARS, dir: "auto" });
  const button = el("button", { type: "submit", class: "av-button av-primary film-look" });
  const caption = el("span", { class: "av-caption" });
  const chips = el("div", { class: "film-examples" });
  const node = el(
    "form",
    { class: "film-yours" },
    label,
    el("div", { class: "film-line" }, input, button),
    chips,
  );
  label.append(caption);
  node.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = input.value.trim();
    if (text) onText(text);
    else input.focus();
  });
  const chip = (/** @type {string} */ text) =>
    el(
      "button",
      { type: "button", class: "av-button film-example", dir: "auto", on: { click: () => onText(text) } },
      text,
    );
  return {
    node,
    focus: () => input.focus({ preventScroll: true }),
    /** Draws the eye to the box. */
    beckon: (/** @type {boolean} */ isNow) => void node.classList.toggle("now", isNow),
    write(/** @type {Header} */ { strings, texts }) {
      setText(caption, strings.your_text);
      setText(button, strings.look);
      input.setAttribute("placeholder", strings.placeholder);
      input.setAttribute("aria-label", strings.your_text);
      chips.setAttribute("role", "group");
      chips.setAttribute("aria-label", strings.examples);
      chips.replaceChildren(...texts.map(chip));
    },
  };
}
