// @ts-check
// Pointer and keys of one sentence's map. With the drawn mask on, a drag blocks cells, or opens them where it began on a
// blocked one; "b" does so for the chosen cell.

import { localPoint, oncePerFrame } from "../shared/dom.js";
import { cellAt } from "../shared/matrix.js";
import { moveBy } from "../shared/panel.js";
import { withStroke } from "./layers.js";

/** @import { Stroke } from "./layers.js" */
/** @import { Actions, Cell, Laid, SentenceMap, State } from "./state.js" */

/**
 * @param {SentenceMap} map
 * @param {State} state
 * @param {Actions} actions
 * @param {() => void} point shows what depends on the pointer
 */
export function listenMap(map, state, actions, point) {
  const { base, sentence } = map;
  const remark = oncePerFrame(point);
  const cellUnder = (/** @type {MouseEvent} */ event) => {
    const { x, y } = localPoint(event, base);
    return map.layout && cellAt(x, y, map.layout.geom);
  };
  listenDrag(map, state, actions, { cellUnder, remark });
  base.addEventListener("pointerleave", () => {
    map.hover = null;
    remark();
  });
  base.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return actions.choose(sentence, null, null);
    const chosen = chosenIn(state, sentence);
    if (event.key.toLowerCase() === "b" && chosen && canDraw(state))
      return actions.masks(withStroke(state.masks, strokeBetween(state, sentence, chosen, chosen)));
    const isHere = state.sentence === sentence;
    const { query, key } = state.selection;
    const from = { row: isHere ? query : null, col: isHere ? key : null };
    const cell = map.layout && moveBy(event, from, map.layout.geom);
    if (!cell) return undefined;
    event.preventDefault();
    return actions.choose(sentence, cell.row, cell.col);
  });
}

/**
 * A click chooses a cell; a drag draws.
 * @param {SentenceMap} map
 * @param {State} state
 * @param {Actions} actions
 * @param {{cellUnder: (event: MouseEvent) => Cell | null, remark: () => void}} pointer
 */
function listenDrag(map, state, actions, { cellUnder, remark }) {
  const { base, sentence } = map;
  /** @type {Cell | null} */
  let began = null;
  let hasDrawn = false; // the click that ends a drag chooses nothing
  base.addEventListener("pointerdown", (event) => {
    if (!canDraw(state) || event.button !== 0) return;
    began = cellUnder(event);
    if (began) base.setPointerCapture(event.pointerId);
  });
  base.addEventListener("pointermove", (event) => {
    map.hover = cellUnder(event);
    if (began && map.hover) map.stroke = strokeBetween(state, sentence, began, map.hover);
    remark();
  });
  base.addEventListener("pointerup", () => {
    const { stroke } = map;
    began = map.stroke = null;
    if (stroke && (stroke.top !== stroke.bottom || stroke.left !== stroke.right)) {
      hasDrawn = true;
      actions.masks(withStroke(state.masks, stroke));
    }
    remark();
  });
  base.addEventListener("pointercancel", () => {
    began = map.stroke = null;
    remark();
  });
  base.addEventListener("click", (event) => {
    const cell = hasDrawn ? null : cellUnder(event);
    hasDrawn = false;
    if (cell) actions.choose(sentence, cell.row, cell.col);
  });
}

/** The chosen cell, null where it is in another sentence or there is none. @returns {Cell | null} */
function chosenIn(/** @type {State} */ { sentence: chosen, selection }, /** @type {number} */ sentence) {
  const { query, key } = selection;
  return chosen === sentence && query !== null && key !== null ? { row: query, col: key } : null;
}

/** True if cells can be drawn: the mask for that is on. */
function canDraw(/** @type {Laid} */ { masks, header }) {
  const bit = header.mask_names.indexOf("custom");
  return bit >= 0 && Boolean(masks.variant & (1 << bit));
}

/**
 * The rectangle between two cells; it opens cells when it begins on one that was drawn.
 * @param {Laid} laid
 * @param {number} sentence
 * @param {Cell} from
 * @param {Cell} to
 * @returns {Stroke}
 */
function strokeBetween({ header, numbers }, sentence, from, to) {
  const n = header.key_tokens[sentence].length;
  const bit = 1 << header.mask_names.indexOf("custom");
  return {
    blocks: !(numbers[sentence].bits[from.row * n + from.col] & bit),
    top: Math.min(from.row, to.row),
    bottom: Math.max(from.row, to.row),
    left: Math.min(from.col, to.col),
    right: Math.max(from.col, to.col),
  };
}
