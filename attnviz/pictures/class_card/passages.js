// @ts-check
// Sentences of a card as nodes: paragraphs, lists, pieces in a style. Nothing is read as markup.

import { el } from "../shared/dom.js";
import { withSubscripts } from "../shared/symbols.js";

/** @import { Passage, CardSpan } from "./types.js" */

/** Paragraphs and items as nodes; an item keeps its mark. */
export function passageNodes(/** @type {Passage[]} */ passages) {
  return passages.map(({ mark, spans }) =>
    mark
      ? el(
          "p",
          { class: "cc-item" },
          el("span", { class: "cc-mark" }, mark),
          el("span", {}, ...spanNodes(spans)),
        )
      : el("p", {}, ...spanNodes(spans)),
  );
}

/** The pieces of a line as nodes. @returns {(Node | string)[]} */
export function spanNodes(/** @type {CardSpan[]} */ spans) {
  return spans.map(({ text, style, lang }) => {
    const props = { lang: lang || null };
    return style === "code" ? el("code", props, text) : el(style || "span", props, ...withSubscripts(text));
  });
}

/** The words of a line. */
export function words(/** @type {CardSpan[]} */ spans) {
  return spans.map(({ text }) => text).join("");
}
