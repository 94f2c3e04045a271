// @ts-check
// Similarity: sentences down and across, in each cell the cosine of two of them, printed and as a colour. A plain table:
// the numbers are text, rows and columns have headers. The row and column under the pointer stand out.
// Data: {strings, caption, sentences: [{text, own}]}, cosine f32 [sentence, sentence].

import { parse } from "../shared/buffer.js";
import { colourFor, inkOn, levelFor, sequential } from "../shared/colors.js";
import { el, fillNodes } from "../shared/dom.js";
import { fill, fmtFixed } from "../shared/fmt.js";
import { mounted } from "../shared/mounted.js";
import { theme } from "../shared/theme.js";

const DECIMALS = 2;
const SCALE = "linear";

/** Streamlit calls this with new data or a new theme. */
export default function similarity(/** @type {any} */ component) {
  return mounted(component, mountSimilarity, showSimilarity);
}

function mountSimilarity(/** @type {any} */ root) {
  const box = el("section", { class: "av av-similarity" });
  root.append(box);
  return { root, box, destroy: () => box.remove() };
}

function showSimilarity(/** @type {any} */ state, /** @type {Uint8Array} */ data) {
  const { header, arrays } = parse(data);
  const lut = sequential(theme(state.root).dark);
  const { strings, caption, sentences } = header;
  const count = sentences.length;
  const values = arrays.cosine.data;
  const heads = sentences.map((/** @type {any} */ _, /** @type {number} */ i) =>
    el("th", { scope: "col", class: "av-similarity-number" }, String(i + 1)),
  );
  const rows = sentences.map((/** @type {any} */ sentence, /** @type {number} */ row) =>
    el(
      "tr",
      {},
      el(
        "th",
        { scope: "row", class: `av-similarity-text${sentence.own ? " av-similarity-own" : ""}` },
        el("span", { class: "av-similarity-number" }, String(row + 1)),
        " ",
        el("bdi", {}, sentence.text),
        sentence.own ? el("span", { class: "av-visually-hidden" }, ` (${strings.own})`) : null,
      ),
      ...sentences.map((/** @type {any} */ _, /** @type {number} */ col) =>
        cosineCell(values[row * count + col], row, col, lut, strings),
      ),
    ),
  );
  const corner = el("td", {});
  const table = el(
    "table",
    { "aria-label": caption },
    el("thead", {}, el("tr", {}, corner, ...heads)),
    el("tbody", {}, ...rows),
  );
  const scroll = el(
    "div",
    { class: "av-similarity-scroll", tabIndex: 0, role: "region", "aria-label": caption },
    table,
  );
  const legend = el(
    "p",
    { class: "av-note" },
    ...fillNodes(strings.legend, { own: el("b", {}, strings.own) }),
  );
  state.box.replaceChildren(scroll, legend);
}

/**
 * @param {number} value
 * @param {number} row
 * @param {number} col
 * @param {Uint32Array} lut
 * @param {Record<string, string>} strings
 */
function cosineCell(value, row, col, lut, strings) {
  const cell = el(
    "td",
    {
      class: "av-number",
      dataset: { row, col },
      title: fill(strings.pair, { row: row + 1, col: col + 1, value: fmtFixed(value, 4) }),
    },
    fmtFixed(value, DECIMALS),
  );
  cell.style.backgroundColor = colourFor(lut, value, SCALE);
  cell.style.color = inkOn(lut, levelFor(value, SCALE));
  return cell;
}
