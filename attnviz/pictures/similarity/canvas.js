// @ts-check
// Similarity: sentences down and across, in each cell the cosine of two of them, printed and as a colour. A plain table:
// the numbers are text, rows and columns have headers. The row and column under the pointer stand out.

import { parse } from "../shared/buffer.js";
import { colourFor, inkOn, levelFor, sequential } from "../shared/colors.js";
import { el, fillNodes, foreign } from "../shared/dom.js";
import { fill, fmtFixed } from "../shared/fmt.js";

/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Arrays, Header, Strings } from "./types.js" */

const DECIMALS = 2;
const SCALE = "linear";

/** @returns {Mounted} */
export default function similarity(/** @type {Host} */ host) {
  const box = el("section", { class: "av av-similarity" });
  host.root.append(box);
  return {
    refresh: (data) => box.replaceChildren(...makeTable(data, sequential(host.theme().dark))),
    destroy: () => box.remove(),
  };
}

function makeTable(/** @type {Uint8Array} */ data, /** @type {Uint32Array} */ lut) {
  /** @type {{header: Header, arrays: Arrays}} */
  const { header, arrays } = parse(data);
  const { strings, caption, sentences, n_own: nOwn } = header;
  const heads = sentences.map((_, i) => el("th", { scope: "col", class: "av-similarity-number" }, i + 1));
  const rows = sentences.map((sentence, row) => {
    const cells = sentences.map((_, col) => {
      const value = arrays.cosine.data[row * sentences.length + col];
      return cosineCell(value, row, col, lut, strings);
    });
    return el("tr", {}, sentenceCell(sentence, row < nOwn, row, strings), ...cells);
  });
  const head = el("thead", {}, el("tr", {}, el("td", {}), ...heads));
  const table = el("table", { "aria-label": caption }, head, el("tbody", {}, ...rows));
  const region = { class: "av-similarity-scroll", tabIndex: 0, role: "region", "aria-label": caption };
  const legend = fillNodes(strings.legend, { own: el("b", {}, strings.own) });
  return [el("div", region, table), el("p", { class: "av-note" }, ...legend)];
}

/**
 * @param {string} text
 * @param {boolean} own
 * @param {number} row
 * @param {Strings} strings
 */
function sentenceCell(text, own, row, strings) {
  return el(
    "th",
    { scope: "row", class: `av-similarity-text${own ? " av-similarity-own" : ""}` },
    el("span", { class: "av-similarity-number" }, row + 1),
    " ",
    foreign(text),
    own ? el("span", { class: "av-visually-hidden" }, ` (${strings.own})`) : null,
  );
}

/**
 * @param {number} value
 * @param {number} row
 * @param {number} col
 * @param {Uint32Array} lut
 * @param {Strings} strings
 */
function cosineCell(value, row, col, lut, strings) {
  const title = fill(strings.pair, { row: row + 1, col: col + 1, value: fmtFixed(value, 4) });
  const style = { backgroundColor: colourFor(lut, value, SCALE), color: inkOn(lut, levelFor(value, SCALE)) };
  const props = { class: "av-number", dataset: { row, col }, title, style };
  return el("td", props, fmtFixed(value, DECIMALS));
}
