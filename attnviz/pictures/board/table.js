// @ts-check
// A small matrix as a table: numbers in coloured cells, blocked cells hatched, sums beside, one cell in the tab order.

import { colourAt, inkOn } from "../shared/colors.js";
import { cueScroll, el, elementAt } from "../shared/dom.js";
import { fill } from "../shared/fmt.js";
import { moveBy } from "../shared/panel.js";
import { cellWords, panelColours, printedNumber } from "./cells.js";

/** @import { PanelColours, PanelEvents, PanelPart, PanelView } from "./cells.js" */
/** @import { BoardPanel, Strings } from "./types.js" */

const MAX_COLUMNS = 12;
const MAX_IN_ROW = 16; // of a matrix of one row
const MAX_CELLS = 144;
const MAX_NARROW = 4;
const MIN_SUM_DECIMALS = 2;

/** True if a matrix fits the page, or a column of it, with its numbers. */
export function isSmall(/** @type {BoardPanel} */ { rows, columns }, /** @type {boolean} */ narrow) {
  const most = narrow ? MAX_NARROW : rows.length > 1 ? MAX_COLUMNS : MAX_IN_ROW;
  return columns.length <= most && rows.length * columns.length <= MAX_CELLS;
}

/** @returns {PanelPart} */
export function makeTable(/** @type {PanelView} */ view, /** @type {PanelEvents} */ events) {
  const { header, panel } = view;
  const { strings, chosen, right, answers } = header;
  const colours = panelColours(panel, view.theme);
  const cells = panel.rows.map((_, row) => panel.columns.map((_, col) => makeCell(view, colours, row, col)));
  const size = fill(strings.size, { rows: panel.rows.length, columns: panel.columns.length });
  const table = el(
    "table",
    {
      role: "grid",
      "aria-label": `${panel.caption}, ${size}`,
      class: panel.asks && header.is_open ? "av-board-asks" : null,
    },
    el("thead", {}, headRow(view)),
    el("tbody", {}, ...cells.map((line, row) => bodyRow(view, line, row))),
    panel.sums === "columns" || panel.sums === "both" ? footRow(view) : null,
  );
  cells[0][0].tabIndex = 0;
  if (panel.asks) showAnswers(cells, answers, chosen, strings);
  if (panel.asks && chosen) showChosen(cells[chosen[0]]?.[chosen[1]], right, strings);
  listen(view, table, cells, events);
  return {
    node: cueScroll(el("div", { class: "av-board-scroll" }, table)),
    mark: (row, column) => markCells(cells, row, column),
  };
}

function hasRowSums(/** @type {BoardPanel} */ { sums }) {
  return sums === "rows" || sums === "both";
}

function headRow(/** @type {PanelView} */ { header, panel }) {
  const names = panel.columns.map((name) => el("th", { scope: "col" }, el("bdi", {}, name)));
  const props = { scope: "col", class: "av-board-sum", title: header.strings.sum };
  return el("tr", {}, el("td", {}), ...names, hasRowSums(panel) ? el("th", props, "Σ") : null);
}

function bodyRow(
  /** @type {PanelView} */ view,
  /** @type {HTMLElement[]} */ cells,
  /** @type {number} */ row,
) {
  const name = el("th", { scope: "row" }, el("bdi", {}, view.panel.rows[row]));
  const sum = hasRowSums(view.panel) ? sumCell(view.panel, view.data.rowSums[row]) : null;
  return el("tr", {}, name, ...cells, sum);
}

function footRow(/** @type {PanelView} */ { header, panel, data }) {
  const name = el("th", { scope: "row", class: "av-board-sum", title: header.strings.sum }, "Σ");
  const sums = Array.from(data.columnSums, (sum) => sumCell(panel, sum));
  return el("tfoot", {}, el("tr", {}, name, ...sums));
}

function sumCell(/** @type {BoardPanel} */ { hidden, decimals }, /** @type {number} */ sum) {
  const text = hidden ? "?" : printedNumber(sum, Math.max(MIN_SUM_DECIMALS, decimals));
  return el("td", { class: "av-board-sum" }, text);
}

/**
 * @param {PanelView} view
 * @param {PanelColours} colours
 * @param {number} row
 * @param {number} column
 */
function makeCell({ panel, data }, colours, row, column) {
  const i = row * panel.columns.length + column;
  const isBlocked = data.blocked[i] === 1;
  const isMarked = panel.marked.some(([r, c]) => r === row && c === column);
  const kinds = [
    panel.hidden ? "av-board-hidden" : isBlocked ? "av-board-blocked" : "",
    isMarked ? "av-board-marked" : "",
  ];
  const cell = el(
    "td",
    { class: kinds.join(" ").trim() || null, role: "gridcell", tabIndex: -1, dataset: { row, column } },
    panel.hidden ? "?" : printedNumber(data.values[i], panel.decimals),
  );
  const level = panel.hidden || isBlocked ? -1 : colours.level(data.values[i]);
  if (level >= 0) {
    cell.style.backgroundColor = colourAt(colours.lut, level);
    cell.style.color = inkOn(colours.lut, level);
  }
  return cell;
}

/**
 * Marks the cell that was chosen: as the answer, as another one, or as given where that is not said yet.
 * @param {HTMLElement | undefined} cell
 * @param {boolean | null} right
 * @param {Strings} strings
 */
function showChosen(cell, right, strings) {
  const verdict = right === null ? "given" : right ? "right" : "wrong";
  cell?.classList.add(`av-board-${verdict}`);
  cell?.append(el("span", { class: "av-visually-hidden" }, ` (${strings[verdict]})`));
}

/**
 * Frames the cells that are the answer and says so; the first one has the sign, unless the learner's own has it.
 * @param {HTMLElement[][]} cells
 * @param {[row: number, column: number][]} answers
 * @param {[row: number, column: number] | null} chosen
 * @param {Strings} strings
 */
function showAnswers(cells, answers, chosen, strings) {
  answers.forEach(([row, column], place) => {
    if (chosen && chosen[0] === row && chosen[1] === column) return;
    const cell = cells[row]?.[column];
    cell?.classList.add(place === 0 && !chosen ? "av-board-right" : "av-board-answer");
    cell?.append(el("span", { class: "av-visually-hidden" }, ` (${strings.answer})`));
  });
}

/**
 * Marks a row and a column; null for none.
 * @param {HTMLElement[][]} cells
 * @param {number | null} row
 * @param {number | null} column
 */
function markCells(cells, row, column) {
  cells.forEach((line, r) =>
    line.forEach((cell, c) => cell.classList.toggle("av-board-pointed", r === row || c === column)),
  );
}

/** The row and column of the cell that an event happened at. */
function placeAt(/** @type {Event} */ event) {
  const cell = elementAt(event)?.closest("td[data-row]");
  if (!(cell instanceof HTMLElement)) return null;
  return { row: Number(cell.dataset.row), col: Number(cell.dataset.column) };
}

/**
 * @param {PanelView} view
 * @param {HTMLElement} table
 * @param {HTMLElement[][]} cells
 * @param {PanelEvents} events
 */
function listen(view, table, cells, events) {
  const pointAt = (/** @type {Event} */ event) => {
    const at = placeAt(event);
    if (!at) return;
    events.point(at.row, at.col);
    events.say(cellWords(view, at.row, at.col));
  };
  table.addEventListener("pointerover", pointAt);
  table.addEventListener("focusin", pointAt);
  table.addEventListener("pointerleave", events.leave);
  table.addEventListener("click", (event) => {
    const at = placeAt(event);
    if (at) events.choose(at.row, at.col);
  });
  table.addEventListener("keydown", (event) => {
    const at = placeAt(event);
    if (!at) return;
    const next = moveBy(event, at, { rows: view.panel.rows.length, cols: view.panel.columns.length });
    if (event.key === "Enter" || event.key === " ") events.choose(at.row, at.col);
    else if (next) moveFocus(cells[at.row][at.col], cells[next.row][next.col]);
    else return;
    event.preventDefault();
  });
}

function moveFocus(/** @type {HTMLElement} */ from, /** @type {HTMLElement} */ to) {
  from.tabIndex = -1;
  to.tabIndex = 0;
  to.focus();
}
