// @ts-check
// The legend of the squares of Look: a sign for each bar that is there, and no line where there is none.

import assert from "node:assert/strict";
import { test } from "node:test";

/** @typedef {{children: (Element | string)[], className: string, hidden: boolean}} Element */

const STRINGS = { legend_looks: "looks: {query} at {key}", legend_corner: "a part of the corner" };
const HEADER = /** @type {any} */ ({ strings: STRINGS });
const TOKENS = { query: "to", key: "Mary" };
const EFFECTS = /** @type {any} */ ({ legend: "matters" });

// what a browser has, as far as the legend needs it
Object.assign(globalThis, { document: { createElement: element }, Node: Object, Path2D: Object });
const { showLegend } = await import("../../attnviz/pictures/grid/parts.js");

/** An element of a page, as far as the legend makes any. */
function element() {
  /** @type {any} */
  const made = { style: {}, dataset: {}, children: [], hidden: true, className: "" };
  made.append = (/** @type {Element[]} */ ...nodes) => made.children.push(...nodes);
  made.replaceChildren = (/** @type {Element[]} */ ...nodes) => {
    made.children = nodes;
  };
  return made;
}

/** Whether the legend is hidden, and the swatch and the text of each of its signs. */
function legend(/** @type {typeof TOKENS | null} */ tokens, /** @type {any} */ effects) {
  const node = element();
  showLegend(node, HEADER, tokens, effects);
  const signs = node.children.map((/** @type {{children: [Element, string]}} */ { children }) => {
    const [swatch, text] = children;
    return [swatch.className.replace("av-swatch av-swatch-", ""), text.replace(/[\u2066-\u2069]/g, "")];
  });
  return [node.hidden, ...signs];
}

test("where no head has a bar there is no legend", () => assert.deepEqual(legend(null, null), [true]));

test("the bar of a look is named where a cell is chosen", () =>
  assert.deepEqual(legend(TOKENS, null), [false, ["key", "looks: to at Mary"]]));

test("the bar of an effect and its corner are named once they are measured", () =>
  assert.deepEqual(legend(null, EFFECTS), [
    false,
    ["answer", "matters"],
    ["corner", "a part of the corner"],
  ]));
