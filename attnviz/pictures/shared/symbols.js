// @ts-check
// Symbols of formulas in a text: W_Q with a real subscript. Mirror of attnviz/teach/lessons/cards/symbols.py.

import { el } from "./dom.js";

const SYMBOL = /([WUdDb]|head)_((?:[QKVO](?:,i)?)|qkv|msa|model|[kvhiV01])(?![A-Za-z0-9_])/g;

/** A text as nodes, its subscripts set low. @returns {(Node | string)[]} */
export function withSubscripts(/** @type {string} */ text) {
  const parts = text.split(SYMBOL); // text, name, index, text, name, index, …
  return parts.flatMap((part, i) => {
    if (i % 3 === 1) return [];
    return i % 3 === 2 ? [parts[i - 1], el("sub", {}, part)] : part;
  });
}
