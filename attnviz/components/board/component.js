// @ts-check
// Board: matrices from left to right with the operators between them. Pointing at a cell marks its row and column, and
// in the factors of a product the row and the column that make it. The cells of panels that ask are answers.
// Data: {strings, panels: [Panel], chosen: [row, column] | null, right, answers: [[row, column]], reports,
// pointed: [panel, row, column] | null}; for the i-th panel values, row_sums and column_sums f32 and blocked u8.

import { parse } from "../shared/buffer.js";
import { el } from "../shared/dom.js";
import { fill } from "../shared/fmt.js";
import { mounted } from "../shared/mounted.js";
import { theme } from "../shared/theme.js";
import { drawHeatmap } from "./heatmap.js";
import { isSmall, makeTable, markTable } from "./table.js";

/**
 * @typedef {{name: string, caption: string, before: string, rows: string[], columns: string[], decimals: number,
 *   signed: boolean, most: number, sums: string, hidden: boolean, marked: number[][], asks: boolean}} Panel
 */
/** @typedef {{strings: Record<string, string>, panels: Panel[], chosen: number[] | null, right: boolean | null, answers: number[][],
 *   open: boolean, narrow: boolean, reports: boolean, pointed: number[] | null}} BoardHeader */

/** Streamlit calls this with new data or a new theme. */
export default function board(/** @type {any} */ component) {
  return mounted(component, mountBoard, showBoard);
}

function mountBoard(/** @type {any} */ root) {
  const box = el("div", { class: "av-board-flow" });
  const status = el("p", { class: "av-status av-note", "aria-live": "polite" });
  const top = el("section", { class: "av av-board" }, box, status);
  root.append(top);
  const view = /** @type {any} */ ({ root, top, box, status, parts: [] });
  view.destroy = () => {
    for (const part of view.parts) part.stop?.();
    top.remove();
  };
  return view;
}

function showBoard(/** @type {any} */ view, /** @type {Uint8Array} */ data) {
  const { header, arrays } = parse(data);
  for (const part of view.parts) part.stop?.();
  Object.assign(view, { header, arrays, theme: theme(view.root) });
  view.parts = header.panels.map((/** @type {Panel} */ panel, /** @type {number} */ place) =>
    makePart(view, panel, place),
  );
  view.box.replaceChildren(...view.parts.map((/** @type {any} */ part) => part.node));
  for (const part of view.parts) part.draw?.();
  pointBack(view);
  view.status.textContent =
    header.open && header.panels.some((/** @type {Panel} */ panel) => panel.asks) ? header.strings.hint : "";
}

/** One panel: what stands before it, its caption, and its matrix as a table or a heatmap. */
function makePart(/** @type {any} */ view, /** @type {Panel} */ panel, /** @type {number} */ place) {
  const data = panelData(view, place);
  const on = {
    point: (/** @type {number | null} */ row, /** @type {number | null} */ column) =>
      row === null ? pointBack(view) : point(view, place, row, column),
    choose: (/** @type {number} */ row, /** @type {number} */ column) => choose(view, place, row, column),
    say: (/** @type {string} */ text) => {
      view.status.textContent = text;
    },
  };
  const made = isSmall(panel, view.header.narrow)
    ? makeTable(view, panel, data, on)
    : drawHeatmap(view, panel, data, on);
  const before = panel.before ? el("span", { class: "av-board-before" }, panel.before) : null;
  const figure = el(
    "figure",
    { class: "av-board-panel", dataset: { panel: panel.name } },
    el("figcaption", {}, panel.caption),
    made.node,
  );
  return { ...made, panel, node: el("div", { class: "av-board-part" }, before, figure) };
}

/** The arrays of a panel. */
function panelData(/** @type {any} */ view, /** @type {number} */ place) {
  const of = (/** @type {string} */ name) => view.arrays[`${name}${place}`].data;
  return {
    values: of("values"),
    blocked: of("blocked"),
    rowSums: of("row_sums"),
    columnSums: of("column_sums"),
  };
}

/** Marks what someone else points at, where nothing is pointed at here. */
function pointBack(/** @type {any} */ view) {
  const [place, row, column] = view.header.pointed ?? [0, null, null];
  if (view.parts[place]) point(view, place, row, column);
}

/**
 * Marks a cell's row and column; where the panel is a product, its row in the first factor and its column in the second.
 * @param {any} view
 * @param {number} place
 * @param {number | null} row
 * @param {number | null} column
 */
function point(view, place, row, column) {
  const { parts } = view;
  const product =
    parts[place].panel.before === "=" && parts[place - 1]?.panel.before === "·" && parts[place - 2];
  parts.forEach((/** @type {any} */ part, /** @type {number} */ other) => {
    const own = other === place;
    const left = product && other === place - 2;
    const right = product && other === place - 1;
    if (part.table) markTable(part, own || left ? row : null, own || right ? column : null);
  });
}

/**
 * @param {any} view
 * @param {number} place
 * @param {number} row
 * @param {number} column
 */
function choose(view, place, row, column) {
  const { panel } = view.parts[place];
  if ((panel.asks && view.header.open) || view.header.reports)
    return view.send("cell", { panel: panel.name, row, column, at: Date.now() });
  const asking = view.header.panels.find((/** @type {Panel} */ each) => each.asks);
  if (asking && view.header.open)
    view.status.textContent = fill(view.header.strings.elsewhere, { panel: asking.caption });
}
