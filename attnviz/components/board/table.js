// @ts-check
// A small matrix as a table: numbers in coloured cells, blocked cells hatched, sums beside, one cell in the tab order.

import { colourAt, diverging, inkOn, levelFor, sequential, signedLevel } from "../shared/colors.js";
import { el } from "../shared/dom.js";
import { fill, fmtFixed } from "../shared/fmt.js";
import { moveBy } from "../shared/panel.js";

const MOST_COLUMNS = 12;
const MOST_CELLS = 144;
const MOST_NARROW = 4;
const MINUS_INFINITY = "−∞";

/** Whether a matrix fits the page, or a column of it, with its numbers. */
export function isSmall(/** @type {import("./component.js").Panel} */ panel, /** @type {boolean} */ narrow) {
  return (
    panel.columns.length <= (narrow ? MOST_NARROW : MOST_COLUMNS) &&
    panel.rows.length * panel.columns.length <= MOST_CELLS
  );
}

/** The place of a value in the colours of its panel, and the colours: two-sided and symmetric for signed values. */
export function panelColours(/** @type {any} */ view, /** @type {any} */ panel) {
  const most = Math.max(panel.most, 1e-12);
  const { dark } = view.theme;
  if (panel.signed)
    return { lut: diverging(dark), level: (/** @type {number} */ value) => signedLevel(value, most) };
  return {
    lut: sequential(dark),
    level: (/** @type {number} */ value) =>
      Number.isFinite(value) ? levelFor(value / Math.max(1, most), "linear") : -1,
  };
}

/** A number as its panel prints it. */
export function shownNumber(/** @type {number} */ value, /** @type {number} */ decimals) {
  return value === -Infinity ? MINUS_INFINITY : fmtFixed(value, decimals);
}

/**
 * What a cell is, in words.
 * @param {any} view
 * @param {any} panel
 * @param {any} data
 * @param {number} row
 * @param {number} column
 */
export function cellWords(view, panel, data, row, column) {
  const { strings } = view.header;
  const i = row * panel.columns.length + column;
  const value = panel.hidden
    ? strings.hidden
    : data.blocked[i]
      ? strings.blocked
      : shownNumber(data.values[i], Math.max(4, panel.decimals));
  return fill(strings.cell, {
    panel: panel.caption,
    row: panel.rows[row],
    column: panel.columns[column],
    value,
  });
}

/**
 * @param {any} view
 * @param {any} panel
 * @param {any} data
 * @param {any} on
 * @returns {any}
 */
export function makeTable(view, panel, data, on) {
  const { strings, chosen, right, answers } = view.header;
  const { rows, columns, sums } = panel;
  const colours = panelColours(view, panel);
  const withRowSums = sums === "rows" || sums === "both";
  const withColumnSums = sums === "columns" || sums === "both";
  const cells = rows.map((/** @type {string} */ _, /** @type {number} */ row) =>
    columns.map((/** @type {string} */ _, /** @type {number} */ column) =>
      makeCell(view, panel, data, colours, row, column),
    ),
  );
  const sumCell = (/** @type {number} */ value) =>
    el("td", { class: "av-board-sum" }, panel.hidden ? "?" : shownNumber(value, Math.max(2, panel.decimals)));
  const body = rows.map((/** @type {string} */ name, /** @type {number} */ row) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, el("bdi", {}, name)),
      ...cells[row],
      withRowSums ? sumCell(data.rowSums[row]) : null,
    ),
  );
  const head = el(
    "tr",
    {},
    el("td", {}),
    ...columns.map((/** @type {string} */ name) => el("th", { scope: "col" }, el("bdi", {}, name))),
    withRowSums ? el("th", { scope: "col", class: "av-board-sum", title: strings.sum }, "Σ") : null,
  );
  const foot = withColumnSums
    ? el(
        "tfoot",
        {},
        el(
          "tr",
          {},
          el("th", { scope: "row", class: "av-board-sum", title: strings.sum }, "Σ"),
          ...Array.from(data.columnSums, sumCell),
        ),
      )
    : null;
  const size = fill(strings.size, { rows: rows.length, columns: columns.length });
  const table = el(
    "table",
    {
      role: "grid",
      "aria-label": `${panel.caption}, ${size}`,
      class: panel.asks && view.header.open ? "av-board-asks" : null,
    },
    el("thead", {}, head),
    el("tbody", {}, ...body),
    foot,
  );
  cells[0][0].tabIndex = 0;
  if (panel.asks) showAnswers(cells, answers, chosen, strings);
  if (panel.asks && chosen) showAnswer(cells[chosen[0]]?.[chosen[1]], right, strings);
  wireTable(view, panel, data, table, cells, on);
  return { node: el("div", { class: "av-board-scroll" }, table), table, cells };
}

/**
 * @param {any} view
 * @param {any} panel
 * @param {any} data
 * @param {any} colours
 * @param {number} row
 * @param {number} column
 */
function makeCell(view, panel, data, colours, row, column) {
  const i = row * panel.columns.length + column;
  const value = data.values[i];
  const blocked = data.blocked[i] === 1;
  const marked = panel.marked.some((/** @type {number[]} */ cell) => cell[0] === row && cell[1] === column);
  const kind = [
    panel.hidden ? "av-board-hidden" : blocked ? "av-board-blocked" : "",
    marked ? "av-board-marked" : "",
  ]
    .join(" ")
    .trim();
  const cell = el(
    "td",
    { class: kind || null, role: "gridcell", tabIndex: -1, dataset: { row, column } },
    panel.hidden ? "?" : shownNumber(value, panel.decimals),
  );
  const level = panel.hidden || blocked ? -1 : colours.level(value);
  if (level >= 0) {
    cell.style.backgroundColor = colourAt(colours.lut, level);
    cell.style.color = inkOn(colours.lut, level);
  }
  return cell;
}

/**
 * @param {HTMLElement | undefined} cell
 * @param {boolean | null} right
 * @param {Record<string, string>} strings
 */
function showAnswer(cell, right, strings) {
  cell?.classList.add(right === null ? "av-board-given" : right ? "av-board-right" : "av-board-wrong");
  cell?.append(
    el(
      "span",
      { class: "av-visually-hidden" },
      ` (${right === null ? strings.given : right ? strings.right : strings.wrong})`,
    ),
  );
}

/**
 * Frames the cells that are the answer and says so; the first one has the sign, unless the learner's own has it.
 * @param {HTMLElement[][]} cells
 * @param {number[][]} answers
 * @param {number[] | null} chosen
 * @param {Record<string, string>} strings
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
 * Marks a row and a column of a table; null for none.
 * @param {any} part
 * @param {number | null} row
 * @param {number | null} column
 */
export function markTable(part, row, column) {
  part.cells.forEach((/** @type {HTMLElement[]} */ line, /** @type {number} */ r) =>
    line.forEach((cell, c) => cell.classList.toggle("av-board-pointed", r === row || c === column)),
  );
}

/**
 * @param {any} view
 * @param {any} panel
 * @param {any} data
 * @param {HTMLElement} table
 * @param {HTMLElement[][]} cells
 * @param {any} on
 */
function wireTable(view, panel, data, table, cells, on) {
  const placeOf = (/** @type {Event} */ event) => {
    const cell = event.target instanceof Element ? event.target.closest("td[data-row]") : null;
    return cell instanceof HTMLElement
      ? { row: Number(cell.dataset.row), col: Number(cell.dataset.column) }
      : null;
  };
  const show = (/** @type {{row: number, col: number}} */ at) => {
    on.point(at.row, at.col);
    on.say(cellWords(view, panel, data, at.row, at.col));
  };
  table.addEventListener("pointerover", (event) => {
    const at = placeOf(event);
    if (at) show(at);
  });
  table.addEventListener("pointerleave", () => on.point(null, null));
  table.addEventListener("focusin", (event) => {
    const at = placeOf(event);
    if (at) show(at);
  });
  table.addEventListener("click", (event) => {
    const at = placeOf(event);
    if (at) on.choose(at.row, at.col);
  });
  table.addEventListener("keydown", (event) => {
    const at = placeOf(event);
    if (!at) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      on.choose(at.row, at.col);
      return;
    }
    const next = moveBy(event, at, { rows: panel.rows.length, cols: panel.columns.length });
    if (!next) return;
    event.preventDefault();
    cells[at.row][at.col].tabIndex = -1;
    cells[next.row][next.col].tabIndex = 0;
    cells[next.row][next.col].focus();
  });
}
