// @ts-check
// The strip of panels: decides how many stand side by side, paints them and keeps their rows in line.

import { pixelRatio } from "../shared/dom.js";
import { paintMarks } from "./marks.js";
import { paintBase, squareCell } from "./paint.js";
import { writePanel, writeReadout, writeScale } from "./panel_text.js";
import { isSquare, LINES } from "./stages.js";
import { paintMini, paintMiniFrame, shownOf } from "./window.js";

/** @import { Picture, State, Widths } from "./state.js" */
/** @import { Stage } from "./types.js" */

const GAP_PX = 20;
const FRAME_PX = 22;
const SMALL = 12; // tokens whose numbers are printed however narrow the page is
const MAX_WITH_NUMBERS = 16; // the default text; only where two panels with numbers fit side by side
const CELL_WITH_NUMBER_PX = 21;
const WIDEST_CELL_PX = 26; // as high as a row gets
const LABELS_PX = 50;
const NARROWEST_PX = 260;
const FOUR_FROM_PX = 860;
const TWO_FROM_PX = 480;

/** Room for a canvas in the square panels, in the first line's and in the last line's others. @returns {Widths} */
function measure(/** @type {State} */ { parts, panels, shown }) {
  const width = Math.max(NARROWEST_PX, parts.strip.clientWidth);
  const n = Math.max(shown.query.count, shown.key.count);
  const roomy = Math.max(190, n * CELL_WITH_NUMBER_PX + LABELS_PX);
  const numbers = n <= SMALL || (n <= MAX_WITH_NUMBERS && width >= 2 * (roomy + FRAME_PX + GAP_PX));
  const need = numbers ? roomy : 230;
  const perLine = Math.max(1, Math.min(3, Math.floor(width / (need + FRAME_PX + GAP_PX))));
  const widest = numbers ? Math.max(340, n * WIDEST_CELL_PX + LABELS_PX) : 326;
  const square = Math.floor(Math.min(widest, width / perLine - FRAME_PX - GAP_PX));
  const share = (/** @type {number} */ room, /** @type {number} */ count) =>
    Math.floor(Math.max(130, Math.min(300, room / count - FRAME_PX - GAP_PX)));
  const isWide = width >= FOUR_FROM_PX;
  const nSquares = panels.filter((panel) => LINES[1].includes(panel.info.stage)).length;
  const joins = perLine === 2 && nSquares % 2 === 1;
  const nFirst = panels.filter((panel) => LINES[0].includes(panel.info.stage)).length;
  const early = isWide ? share(width, nFirst > 4 ? 3 : 4) : share(width, width >= TWO_FROM_PX ? 2 : 1);
  const late = isWide ? share(joins ? width : width - square - FRAME_PX - GAP_PX, 3) : early;
  return { square, early, late, cell: 0, numbers, joins };
}

/** The weights stand where the scores leave a place beside the last of them, else before the values that they mix. */
function placeWeights(/** @type {State} */ { parts, panels, widths }) {
  const weights = panels.find((panel) => panel.info.stage === "weights");
  const [, scores, mixed] = parts.strip.children;
  if (!weights || weights.step.parentElement === (widths.joins ? scores : mixed)) return;
  if (widths.joins) scores.append(weights.step);
  else mixed.prepend(weights.step);
}

/** What a drawing of the strip depends on besides the data: its width and the screen's resolution. */
export function roomKey(/** @type {State} */ { parts }) {
  return `${parts.strip.clientWidth}@${pixelRatio()}`;
}

/** The room of one panel's canvas. */
function roomOf(/** @type {Stage} */ stage, /** @type {Widths} */ widths) {
  if (isSquare(stage)) return widths.square;
  return LINES[2].includes(stage) ? widths.late : widths.early;
}

/** Texts and pictures of all panels. */
export function drawStrip(/** @type {State} */ state) {
  state.drawnFor = roomKey(state);
  moveShown(state);
  state.widths = measure(state);
  state.widths.cell = squareCell(state);
  placeWeights(state);
  for (const panel of state.panels) {
    writePanel(panel, state);
    panel.section.style.width = `${roomOf(panel.info.stage, state.widths) + FRAME_PX}px`;
    if (!panel.picture) continue;
    paintBase(panel.picture, state);
    writeScale(panel.picture, state.header);
    paintMini(panel, panel.picture, state);
  }
  levelLines(state);
  markStrip(state);
}

/** Gives headers and badges of one line equal heights, so that the rows of neighbouring matrices line up. */
function levelLines(/** @type {State} */ { parts }) {
  const rows = [...parts.strip.children].flatMap((line) =>
    ["header", ".badge"].map((part) => [
      .../** @type {NodeListOf<HTMLElement>} */ (line.querySelectorAll(`.panel > ${part}`)),
    ]),
  );
  for (const node of rows.flat()) node.style.minHeight = "";
  const heights = rows.map((nodes) => Math.max(...nodes.map((node) => node.offsetHeight))); // all read at once: one layout of the page
  rows.forEach((nodes, i) => {
    for (const node of nodes) node.style.minHeight = `${heights[i]}px`;
  });
}

/** Brings the chosen cell into sight. Returns true if another part is on show now. */
function moveShown(/** @type {State} */ state) {
  const { header, selection } = state;
  const before = JSON.stringify(state.shown);
  const { tokens, key_tokens: keys } = header;
  state.shown = shownOf(tokens.length, keys.length, selection.query, selection.key, state.shown);
  return JSON.stringify(state.shown) !== before;
}

/** Marks and readouts of all panels, after another cell was chosen; of long texts other cells may come into sight. */
export function markStrip(/** @type {State} */ state) {
  const isMoved = moveShown(state);
  for (const { picture } of state.panels) {
    if (!picture) continue;
    if (isMoved) paintBase(picture, state);
    markPanel(picture, state);
    paintMiniFrame(picture, state);
  }
}

/** Marks and readout of one panel. */
export function markPanel(/** @type {Picture} */ picture, /** @type {State} */ state) {
  paintMarks(picture, state);
  writeReadout(picture, state);
}
