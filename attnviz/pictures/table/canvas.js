// @ts-check
// A plain table whose cells have a bar or a colour behind their text. Rows and columns have headers, and what is
// said by a colour stands in the cell as a number too. A cell that opens something is a button; arrow keys move between
// these.

import { parse } from "../shared/buffer.js";
import { colourFor, inkOn, levelFor, sequential } from "../shared/colors.js";
import { swallow } from "../shared/controls.js";
import { cueScroll, dataAt, el, elementAt, quotingNodes } from "../shared/dom.js";

/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Arrays, TableCell, Header, TableRow } from "./types.js" */

const SCALE = "linear";
/** @type {Readonly<Record<string, readonly [down: number, across: number] | undefined>>} */
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** @returns {Mounted} */
export default function table(/** @type {Host} */ host) {
  const box = el("section", { class: "av av-table" });
  host.root.append(box);
  box.addEventListener("click", (event) => {
    const opens = dataAt(event, "opens");
    if (opens) host.trigger("table", opens);
  });
  box.addEventListener("keydown", moveFocus);
  return {
    refresh: (data) => box.replaceChildren(...makeTable(data, sequential(host.theme().dark))),
    destroy: () => box.remove(),
  };
}

function makeTable(/** @type {Uint8Array} */ data, /** @type {Uint32Array} */ lut) {
  /** @type {{header: Header, arrays: Arrays}} */
  const { header } = parse(data);
  const { caption, corner, columns, rows, kind, note, chosen } = header;
  const names = columns.map((name) => el("th", { scope: "col" }, el("bdi", {}, name)));
  const head = el("thead", {}, el("tr", {}, el("td", {}, corner), ...names));
  const body = el("tbody", {}, ...rows.map((row) => makeRow(row, kind, lut)));
  const table = el("table", { "aria-label": caption, class: `av-table-${kind}` }, head, body);
  ready(table, chosen);
  const region = { class: "av-table-scroll", tabIndex: 0, role: "region", "aria-label": caption };
  const scroll = cueScroll(el("div", region, table));
  return [
    el("h3", { class: "av-heading" }, ...quotingNodes(caption)),
    scroll,
    ...(note ? [el("p", { class: "av-note" }, ...quotingNodes(note))] : []),
  ];
}

/**
 * @param {TableRow} row
 * @param {Header["kind"]} kind
 * @param {Uint32Array} lut
 */
function makeRow({ label, cells, mark }, kind, lut) {
  const hidden = mark ? el("span", { class: "av-table-mark" }, mark) : null;
  const name = el(
    "th",
    { scope: "row", class: mark ? "av-table-marked" : null },
    el("bdi", {}, label),
    hidden,
  );
  const drawn = kind === "tint" ? (/** @type {TableCell} */ cell) => tinted(cell, lut) : barred;
  return el("tr", {}, name, ...cells.map(drawn));
}

/** The text of a cell, as a button where a click opens something. */
function textOf(/** @type {TableCell} */ { text, opens }, /** @type {string} */ name = "") {
  const label = el("bdi", { class: name }, text);
  return opens ? el("button", { class: "av-table-open", type: "button", dataset: { opens } }, label) : label;
}

/** Puts one button into the tab order, and marks the cell that is open. */
function ready(/** @type {HTMLElement} */ table, /** @type {string} */ chosen) {
  const buttons = [...table.querySelectorAll("button")];
  const open = buttons.find((button) => button.dataset.opens === chosen);
  for (const button of buttons) {
    button.tabIndex = button === (open ?? buttons[0]) ? 0 : -1;
    button.setAttribute("aria-pressed", String(button === open));
  }
}

/** Moves the focus with the arrow keys, to the next cell that is a button. */
function moveFocus(/** @type {KeyboardEvent} */ event) {
  const cell = elementAt(event)?.closest("td");
  const [down, across] = STEPS[event.key] ?? [0, 0];
  const row = cell?.parentElement;
  if (!cell || !(row instanceof HTMLTableRowElement) || !(down || across)) return;
  const table = row.closest("tbody");
  const next = table?.rows[row.sectionRowIndex + down]?.cells[cell.cellIndex + across];
  const button = next?.querySelector("button");
  if (!table || !button) return;
  swallow(event);
  for (const other of table.querySelectorAll("button")) other.tabIndex = other === button ? 0 : -1;
  button.focus();
}

function tinted(/** @type {TableCell} */ cell, /** @type {Uint32Array} */ lut) {
  const { share, note, number } = cell;
  const small = number ? el("span", { class: "av-table-number av-number" }, number) : null;
  const style = { backgroundColor: colourFor(lut, share, SCALE), color: inkOn(lut, levelFor(share, SCALE)) };
  return el("td", { style, title: note || null }, textOf(cell), small);
}

function barred(/** @type {TableCell} */ cell) {
  const { share, note } = cell;
  const fill = el("span", {
    class: `av-table-fill${share < 0 ? " av-table-below" : ""}`,
    "aria-hidden": "true",
  });
  fill.style.width = `${100 * Math.min(1, Math.abs(share))}%`;
  return el("td", { title: note || null, class: "av-number" }, fill, textOf(cell, "av-table-text"));
}
