// @ts-check
// Ledger: a plain table whose cells have a bar or a colour behind their text. Rows and columns have headers, and what is
// said by a colour stands in the cell as a number too.

import { parse } from "../shared/buffer.js";
import { colourFor, inkOn, levelFor, sequential } from "../shared/colors.js";
import { cueScroll, el } from "../shared/dom.js";

/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Arrays, Cell, Header, Row } from "./types.js" */

const SCALE = "linear";

/** @returns {Mounted} */
export default function ledger(/** @type {Host} */ host) {
  const box = el("section", { class: "av av-ledger" });
  host.root.append(box);
  return {
    refresh: (data) => box.replaceChildren(...makeTable(data, sequential(host.theme().dark))),
    destroy: () => box.remove(),
  };
}

function makeTable(/** @type {Uint8Array} */ data, /** @type {Uint32Array} */ lut) {
  /** @type {{header: Header, arrays: Arrays}} */
  const { header } = parse(data);
  const { caption, corner, columns, rows, kind, note } = header;
  const names = columns.map((name) => el("th", { scope: "col" }, el("bdi", {}, name)));
  const head = el("thead", {}, el("tr", {}, el("td", {}, corner), ...names));
  const body = el("tbody", {}, ...rows.map((row) => makeRow(row, kind, lut)));
  const table = el("table", { "aria-label": caption, class: `av-ledger-${kind}` }, head, body);
  const region = { class: "av-ledger-scroll", tabIndex: 0, role: "region", "aria-label": caption };
  const scroll = cueScroll(el("div", region, table));
  return [
    el("h3", { class: "av-heading" }, caption),
    scroll,
    ...(note ? [el("p", { class: "av-note" }, note)] : []),
  ];
}

/**
 * @param {Row} row
 * @param {Header["kind"]} kind
 * @param {Uint32Array} lut
 */
function makeRow({ label, cells, mark }, kind, lut) {
  const hidden = mark ? el("span", { class: "av-ledger-mark" }, mark) : null;
  const name = el(
    "th",
    { scope: "row", class: mark ? "av-ledger-marked" : null },
    el("bdi", {}, label),
    hidden,
  );
  const drawn = kind === "tint" ? (/** @type {Cell} */ cell) => tinted(cell, lut) : barred;
  return el("tr", {}, name, ...cells.map(drawn));
}

function tinted(/** @type {Cell} */ { text, share, note, number }, /** @type {Uint32Array} */ lut) {
  const small = number ? el("span", { class: "av-ledger-number av-number" }, number) : null;
  const style = { backgroundColor: colourFor(lut, share, SCALE), color: inkOn(lut, levelFor(share, SCALE)) };
  return el("td", { style, title: note || null }, el("bdi", {}, text), small);
}

function barred(/** @type {Cell} */ { text, share, note }) {
  const fill = el("span", {
    class: `av-ledger-fill${share < 0 ? " av-ledger-below" : ""}`,
    "aria-hidden": "true",
  });
  fill.style.width = `${100 * Math.min(1, Math.abs(share))}%`;
  return el(
    "td",
    { title: note || null, class: "av-number" },
    fill,
    el("bdi", { class: "av-ledger-text" }, text),
  );
}
