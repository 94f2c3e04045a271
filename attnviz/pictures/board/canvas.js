// @ts-check
// Board: matrices from left to right with the operators between them. Pointing at a cell marks its row and column, and
// in the factors of a product the row and the column that make it. The cells of panels that ask are answers.

import { parse } from "../shared/buffer.js";
import { el, watchSize } from "../shared/dom.js";
import { fill } from "../shared/fmt.js";
import { makeHeatmap } from "./heatmap.js";
import { withSubscripts } from "../shared/symbols.js";
import { isSmall, makeTable } from "./table.js";

/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { PanelEvents, PanelPart, PanelView } from "./cells.js" */
/** @import { Arrays, Header } from "./types.js" */

/**
 * @typedef {{host: Host, top: HTMLElement, box: HTMLElement, status: HTMLElement, data: Uint8Array | null,
 *   given: Given | null, header: Header | null, parts: PanelPart[]}} State
 */

const MIN_ZOOM = 0.7; // below it the numbers of an equation could no longer be read
const MIN_ROOMY_ZOOM = 0.95; // of a board whose cells are for fingertips
const MIN_TABLE_ZOOM = 0.6; // of a wide table that stands alone; below it scrolls
const CLOSER_BELOW = 0.8; // then the cells of an equation move together, before they become smaller

/** What was chosen on the page around the board, and whether that is right. @typedef {{chosen: Header["chosen"], right: Header["right"]}} Given */

/** @returns {Mounted & {give: (given: Given) => void}} */
export default function board(/** @type {Host} */ host) {
  const box = el("div", { class: "av-board-flow" });
  const status = el("p", { class: "av-status av-note", "aria-live": "polite" });
  const top = el("section", { class: "av av-board" }, box, status);
  host.root.append(top);
  /** @type {State} */
  const state = { host, top, box, status, data: null, given: null, header: null, parts: [] };
  const stop = watchSize(top, () => fitTables(state));
  return {
    refresh(data) {
      state.data = data;
      show(state);
    },
    give(given) {
      state.given = given;
      show(state);
    },
    destroy() {
      stop();
      stopAll(state);
      top.remove();
    },
  };
}

function stopAll(/** @type {State} */ state) {
  for (const part of state.parts) part.stop?.();
}

function show(/** @type {State} */ state) {
  if (!state.data) return;
  /** @type {{header: Header, arrays: Arrays}} */
  const { header: sent, arrays } = parse(state.data);
  const header = { ...sent, ...state.given };
  const { panels, strings, is_open: open } = header;
  const theme = state.host.theme();
  stopAll(state);
  state.header = header;
  state.parts = panels.map((panel, place) => {
    const values = {
      values: arrays[`panels.${place}.values`].data,
      blocked: arrays[`panels.${place}.blocked`].data,
      rowSums: arrays[`panels.${place}.row_sums`].data,
      columnSums: arrays[`panels.${place}.column_sums`].data,
    };
    return makePart(state, { header, panel, data: values, theme }, place);
  });
  state.box.replaceChildren(...state.parts.map((part) => part.node));
  for (const part of state.parts) part.draw?.();
  fitTables(state);
  pointBack(state, header);
  state.status.textContent = open && panels.some((panel) => panel.asks) ? strings.hint : "";
}

/**
 * Fits the tables to the page. An equation stands on one line, closer together and smaller where the page is narrow;
 * one that would become too small stands in a column, each matrix below the one before it, with its operator.
 */
function fitTables(/** @type {State} */ { top, box, header }) {
  if (!header) return;
  const { panels, narrow } = header;
  const isEquation = panels.length > 1 && panels.every(({ before }, place) => place === 0 || before !== "");
  const isLine = isEquation && panels.every((panel) => isSmall(panel, narrow));
  const set = (/** @type {string} */ name, /** @type {boolean} */ on) => box.classList.toggle(name, on);
  box.style.zoom = "";
  set("av-board-tight", false);
  set("av-board-column", false);
  set("av-board-line", true);
  const zoom = () => top.clientWidth / box.scrollWidth;
  if (isLine && zoom() < CLOSER_BELOW && !header.roomy) set("av-board-tight", true);
  if (isLine && zoom() >= (header.roomy ? MIN_ROOMY_ZOOM : MIN_ZOOM)) {
    shrink(box, top, zoom());
    return;
  }
  set("av-board-line", false);
  set("av-board-tight", false);
  set("av-board-column", isLine);
  const wide = [...box.querySelectorAll("table")].filter((table) => shareShown(table) < 1);
  if (header.roomy) return; // they scroll
  set("av-board-tight", wide.length > 0);
  for (const table of wide)
    table.style.zoom = String(Math.min(1, Math.max(MIN_TABLE_ZOOM, shareShown(table))));
}

/**
 * Shrinks an equation to the width of its place. Small digits are a little wider than their share of the size, so the
 * result is measured once more.
 */
function shrink(
  /** @type {HTMLElement} */ box,
  /** @type {HTMLElement} */ place,
  /** @type {number} */ zoom,
) {
  if (zoom >= 1) return;
  box.style.zoom = String(zoom);
  const ends = [...box.children].map((part) => part.getBoundingClientRect().right);
  const taken = Math.max(...ends) - box.getBoundingClientRect().left;
  if (taken > place.clientWidth) box.style.zoom = String((zoom * place.clientWidth) / taken);
}

/** The share of a table's width that its place shows without scrolling, at its own size; over 1 where it has room. */
function shareShown(/** @type {HTMLElement} */ table) {
  table.style.zoom = "";
  const place = /** @type {HTMLElement} */ (table.parentElement);
  return place.clientWidth / place.scrollWidth;
}

/**
 * One panel: the operator before it, its caption, and its matrix as a table or a heatmap.
 * @param {State} state
 * @param {PanelView} view
 * @param {number} place
 * @returns {PanelPart}
 */
function makePart(state, view, place) {
  const { header, panel } = view;
  /** @type {PanelEvents} */
  const events = {
    point: (row, column) => point(state, header, place, row, column),
    leave: () => pointBack(state, header),
    choose: (row, column) => choose(state, header, place, row, column),
    say: (text) => void (state.status.textContent = text),
  };
  const isTable = isSmall(panel, header.narrow);
  const part = isTable ? makeTable(view, events) : makeHeatmap(view, events, state.top);
  const operator = panel.before ? el("span", { class: "av-board-before" }, panel.before) : null;
  const props = { class: "av-board-panel", dataset: { panel: panel.name } };
  const figure = el("figure", props, el("figcaption", {}, ...withSubscripts(panel.caption)), part.node);
  return { ...part, node: el("div", { class: "av-board-part" }, operator, figure) };
}

/** Marks what someone else points at, or nothing. */
function pointBack(/** @type {State} */ state, /** @type {Header} */ header) {
  const [place, row, column] = header.pointed ?? [0, null, null];
  if (state.parts[place]) point(state, header, place, row, column);
}

/**
 * Marks a cell's row and column; where the panel is a product, its row in the first factor and its column in the second.
 * @param {State} state
 * @param {Header} header
 * @param {number} place
 * @param {number | null} row
 * @param {number | null} column
 */
function point({ parts }, { panels }, place, row, column) {
  const isProduct = place >= 2 && panels[place].before === "=" && panels[place - 1].before === "·";
  parts.forEach((part, other) => {
    const isOwn = other === place;
    const isFirst = isProduct && other === place - 2;
    const isSecond = isProduct && other === place - 1;
    part.mark?.(isOwn || isFirst ? row : null, isOwn || isSecond ? column : null);
  });
}

/**
 * Sends a cell that was chosen, where the board wants to know; else says where the answer is awaited.
 * @param {State} state
 * @param {Header} header
 * @param {number} place
 * @param {number} row
 * @param {number} column
 */
function choose(state, header, place, row, column) {
  const panel = header.panels[place];
  if ((panel.asks && header.is_open) || header.reports) {
    state.host.send("cell", { panel: panel.name, row, column, at: Date.now() });
    return;
  }
  const asking = header.panels.find(({ asks }) => asks);
  if (asking && header.is_open)
    state.status.textContent = fill(header.strings.elsewhere, { panel: asking.caption });
}
