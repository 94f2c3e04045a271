// @ts-check
// The chosen path: its control and its intervention in sentences, the cells that change most, and its heads to open.

import { button } from "../shared/controls.js";
import { cueScroll, el, foreign, quotingNodes } from "../shared/dom.js";
import { fill } from "../shared/fmt.js";

/** @import { Host } from "../shared/host.js" */
/** @import { CutCell, PathDetail, CircuitHead, Header } from "./types.js" */

/**
 * The nodes that show a cut path.
 * @param {Host} host
 * @param {Header["strings"]} strings
 * @param {PathDetail} detail
 * @param {(CircuitHead | undefined)[]} ends the receiver and the sender
 */
export function detailNodes(host, strings, detail, ends) {
  const buttons = ends.map((head) => (head ? openButton(host, strings.open_head, head) : null));
  return [
    el("h3", { class: "av-title av-circuit-title" }, detail.title),
    ...detail.sentences.map((sentence) => el("p", { class: "av-sentence" }, ...quotingNodes(sentence))),
    ...(detail.cells.length ? [cellTable(host, ends[0], detail, strings.cells)] : []),
    el("div", { class: "av-row" }, ...buttons),
  ];
}

function openButton(
  /** @type {Host} */ host,
  /** @type {string} */ template,
  /** @type {CircuitHead} */ { name, layer, head },
) {
  return button({
    label: fill(template, { head: name }),
    onClick: () => host.trigger("open", { page: "head", layer, head, name, query: null, key: null }),
  });
}

/** The cells that change most; each opens the receiving head there. */
function cellTable(
  /** @type {Host} */ host,
  /** @type {CircuitHead | undefined} */ receiver,
  /** @type {PathDetail} */ { columns, cells },
  /** @type {string} */ caption,
) {
  const headings = columns.map((name) => el("th", { scope: "col" }, name));
  const rows = cells.map((cell) => cellRow(host, receiver, cell));
  const table = el("table", { class: "av-circuit-cells", "aria-label": caption });
  table.append(el("thead", {}, el("tr", {}, ...headings)), el("tbody", {}, ...rows));
  const scroll = el(
    "div",
    { class: "av-circuit-scroll", tabIndex: 0, role: "region", "aria-label": caption },
    table,
  );
  return el("div", {}, el("h3", { class: "av-heading" }, caption), cueScroll(scroll));
}

function cellRow(
  /** @type {Host} */ host,
  /** @type {CircuitHead | undefined} */ receiver,
  /** @type {CutCell} */ { query, key, label, values },
) {
  const open = el("button", { class: "av-circuit-cell", type: "button" }, foreign(label));
  open.addEventListener("click", () => {
    if (!receiver) return;
    const { name, layer, head } = receiver;
    host.trigger("open", { page: "head", layer, head, name, query, key });
  });
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, open),
    ...values.map((value) => el("td", { class: "av-number" }, value)),
  );
}
