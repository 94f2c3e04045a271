// @ts-check
// Pointer and keys of one panel: they choose a query and a key, or a row and the component that is spoken of.

import { localPoint, oncePerFrame, setText } from "../shared/dom.js";
import { cellAt } from "../shared/matrix.js";
import { moveBy } from "../shared/panel.js";
import { showEditBar } from "./edit_bar.js";
import { chosenIn, spoken } from "./panel_text.js";
import { endPlay } from "./play.js";
import { hasKeyRows, isEditable, isSquare, rowAxis } from "./stages.js";
import { markPanel } from "./strip.js";

/** @import { Actions, Cell, Picture, State } from "./state.js" */

/**
 * @param {Picture} picture
 * @param {State} state
 * @param {Actions} actions
 */
export function listenPanel(picture, state, actions) {
  const { base } = picture;
  const remark = oncePerFrame(() => markPanel(picture, state));
  const point = (/** @type {Cell | null} */ cell) => {
    picture.hover = cell;
    remark();
  };
  base.addEventListener("pointermove", (event) => point(cellUnder(picture, event)));
  base.addEventListener("pointerleave", () => point(null));
  base.addEventListener("click", (event) => {
    const cell = cellUnder(picture, event);
    if (cell) take(picture, state, actions, cell);
  });
  base.addEventListener("dblclick", () => state.target && state.parts.edit.input.select());
  base.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      endPlay(state);
      actions.choose(null, null);
      return;
    }
    const { stage, shape } = picture.info;
    const { query, key } = state.selection;
    const place = { row: state.selection[rowAxis(stage)], col: picture.col ?? 0 };
    const from = isSquare(stage) ? { row: query, col: key } : place;
    const cell = moveBy(event, from, { rows: shape[0], cols: shape[1] });
    if (!cell) return;
    event.preventDefault();
    take(picture, state, actions, cell);
  });
}

/** The cell of the whole matrix under the pointer. @returns {Cell | null} */
function cellUnder(/** @type {Picture} */ { base, drawn }, /** @type {MouseEvent} */ event) {
  const { x, y } = localPoint(event, base);
  const cell = drawn && cellAt(x, y, drawn.layout.geom);
  return cell && { row: cell.row + drawn.from.row, col: cell.col + drawn.from.col };
}

/**
 * A cell of a panel was chosen: in square panels query and key, else the position of the panel's rows.
 * @param {Picture} picture
 * @param {State} state
 * @param {Actions} actions
 * @param {Cell} cell
 */
function take(picture, state, actions, { row, col }) {
  const { stage } = picture.info;
  const { query, key } = state.selection;
  state.target = isEditable(stage) ? { stage, row, column: col } : null;
  if (isSquare(stage)) actions.choose(row, col);
  else {
    picture.col = col;
    if (hasKeyRows(stage)) actions.choose(query, row);
    else actions.choose(row, key);
    markPanel(picture, state);
  }
  showEditBar(state, actions);
  if (!chosenIn(picture, state)) return;
  state.told = picture;
  setText(state.parts.status, spoken(picture, state));
}
