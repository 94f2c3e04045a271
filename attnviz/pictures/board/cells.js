// @ts-check
// The cells of a board's matrices: their numbers, their colours, and each one in words.

import { diverging, levelFor, sequential, signedLevel } from "../shared/colors.js";
import { fill, fmtFixed } from "../shared/fmt.js";

/** @import { Theme } from "../shared/theme.js" */
/** @import { Header, BoardPanel } from "./types.js" */

/** The numbers of a panel, row by row. */
/**
 * @typedef {{values: ArrayLike<number>, blocked: ArrayLike<number>, rowSums: ArrayLike<number>,
 *   columnSums: ArrayLike<number>}} PanelData
 */
/** A panel with its numbers, on a board. @typedef {{header: Header, panel: BoardPanel, data: PanelData, theme: Theme}} PanelView */
/**
 * What a panel tells the board: a cell is pointed at (or none any more), chosen, or to be said in words.
 * @typedef {{point: (row: number, column: number) => void, leave: () => void,
 *   choose: (row: number, column: number) => void, say: (text: string) => void}} PanelEvents
 */
/**
 * A panel on the page. `mark` marks a row and a column; `draw` paints once it has its place, `stop` ends its watching.
 * @typedef {{node: HTMLElement, mark?: (row: number | null, column: number | null) => void, draw?: () => void,
 *   stop?: () => void}} PanelPart
 */
/** @typedef {{lut: Uint32Array, level: (value: number) => number}} PanelColours */

const MINUS_INFINITY = "−∞";
const MIN_PEAK = 1e-12; // a panel of zeros has a scale too

/** The colours of a panel: two-sided and symmetric for signed values; level −1 for a number without a colour. */
export function panelColours(/** @type {BoardPanel} */ panel, /** @type {Theme} */ { dark }) {
  const most = Math.max(panel.most, MIN_PEAK);
  /** @type {PanelColours} */
  const colours = panel.signed
    ? { lut: diverging(dark), level: (value) => signedLevel(value, most) }
    : {
        lut: sequential(dark),
        level: (value) => (Number.isFinite(value) ? levelFor(value / Math.max(1, most), "linear") : -1),
      };
  return colours;
}

/** A number as its panel prints it. */
export function printedNumber(/** @type {number} */ value, /** @type {number} */ decimals) {
  return value === -Infinity ? MINUS_INFINITY : fmtFixed(value, decimals);
}

/**
 * A cell in words: its panel, row, column and number.
 * @param {PanelView} view
 * @param {number} row
 * @param {number} column
 */
export function cellWords({ header, panel, data }, row, column) {
  const { strings } = header;
  const i = row * panel.columns.length + column;
  const number = printedNumber(data.values[i], Math.max(4, panel.decimals));
  const value = panel.hidden ? strings.hidden : data.blocked[i] ? strings.blocked : number;
  const names = { panel: panel.caption, row: panel.rows[row], column: panel.columns[column] };
  return fill(strings.cell, { ...names, value });
}
