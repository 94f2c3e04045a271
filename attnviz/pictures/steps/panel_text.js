// @ts-check
// The texts of a panel: title, formula, shape, notes, how far its numbers are from the model's, the ends of its colours,
// and the number under the pointer or at the chosen cell.

import { isolate } from "../shared/axes.js";
import { el, setData, setText } from "../shared/dom.js";
import { fill, fmtError, fmtReal } from "../shared/fmt.js";
import { gradientOf, printed, subscripted } from "../shared/panel.js";
import { valueAt } from "./arithmetic.js";
import { largestChange } from "./edits.js";
import { matrixOf } from "./paint.js";
import { scaledBefore } from "./scaled.js";
import { isSquare, rowAxis } from "./stages.js";

/** @import { Cell, Panel, Picture, Show } from "./state.js" */
/** @import { Header, ShownPanel } from "./types.js" */

/** Everything but the readout. */
export function writePanel(/** @type {Panel} */ panel, /** @type {Show} */ show) {
  const { info, picture } = panel;
  const { strings } = show.header;
  setText(panel.title, strings[`title_${info.stage}`]);
  if (panel.wroteFormula !== info.formula) panel.formula.replaceChildren(...subscripted(info.formula));
  panel.wroteFormula = info.formula;
  setText(panel.shape, info.absent === null ? shapeText(show.header, info) : "");
  panel.badge.hidden = info.absent !== null;
  if (info.absent !== null) {
    panel.reason.replaceChildren(el("b", {}, strings.absent), el("span", {}, info.absent));
    return;
  }
  panel.note.replaceChildren(...subscripted(notesOf(show.header, info).join(" · ")));
  const label = fill(strings.canvas_label, {
    title: strings[`title_${info.stage}`],
    shape: shapeText(show.header, info),
  });
  picture?.base.setAttribute("aria-label", label);
  writeBadge(panel, info, show);
}

function shapeText(/** @type {Header} */ { strings }, /** @type {ShownPanel} */ { rows, cols, shape }) {
  const [named, across] = [rows, cols].map((axis) => axisName(strings, axis));
  return fill(strings.shape, { rows: named, n_rows: shape[0], cols: across, n_cols: shape[1] });
}

/** The name of an axis in words, or as the formulas have it: d_model. */
function axisName(/** @type {Header["strings"]} */ strings, /** @type {string} */ axis) {
  return axis === "query" ? strings.query : axis === "key" ? strings.key : axis;
}

function notesOf(/** @type {Header} */ header, /** @type {ShownPanel} */ { stage, rows_sum_to: sum }) {
  const { strings, head_slice: slice, factors } = header;
  const columns = fill(strings.head_columns, { first: slice[0], last: slice[1] - 1 });
  return [
    sum === null ? null : fill(strings.rows_sum_to, { sum }),
    stage === "concat" ? columns : null,
    factors[stage] ?? null,
    stage === "scaled" ? scaledBefore(header) : null,
  ].filter((note) => note !== null);
}

/** How far our numbers are from the model's own, and whether that is within the tolerance; or what edits changed. */
function writeBadge(
  /** @type {Panel} */ { badge, section },
  /** @type {ShownPanel} */ { error, ok, tolerance, stage },
  /** @type {Show} */ { header, edited },
) {
  const { strings } = header;
  const change = largestChange(edited, stage);
  section.classList.toggle("edited", change !== null);
  if (change !== null) {
    setData(badge, { ok: "none", change });
    badge.title = "";
    badge.replaceChildren(fill(strings.changed, { size: fmtReal(change) }));
    return;
  }
  const isUnchecked = ok && error === null;
  setData(badge, { ok: isUnchecked ? "none" : ok });
  section.classList.toggle("bad", !ok);
  if (isUnchecked) {
    badge.title = "";
    const isGiven = stage === "x";
    if (header.by_kernel)
      badge.replaceChildren(isGiven ? strings.kernel_no_computation : strings.kernel_no_reference);
    else badge.replaceChildren(isGiven ? strings.no_computation : strings.no_reference);
    return;
  }
  const verdict = fill(ok ? strings.badge_ok : strings.badge_bad, { tolerance: fmtError(tolerance) });
  badge.title = verdict;
  badge.replaceChildren(
    fill(header.by_kernel ? strings.kernel_badge : strings.badge, { error: fmtError(error ?? NaN) }).replace(
      / = /,
      " =\u00a0",
    ),
    el("span", { class: "sign", "aria-hidden": "true" }, ok ? "\u00a0✓" : "\u00a0✗"),
    el("span", { class: ok ? "hidden" : "verdict" }, ` ${verdict}`),
  );
}

/** The ends of the colour scale, in numbers, with the ramp between. */
export function writeScale(/** @type {Picture} */ picture, /** @type {Header} */ { strings }) {
  if (!picture.drawn) return;
  const { scale, digits } = picture.drawn;
  setText(picture.low, scale.low);
  setText(picture.high, scale.name ? `${scale.high} (${scale.name})` : scale.high);
  picture.bar.style.background = gradientOf(scale.lut);
  picture.scaleLine.title = digits === null ? "" : fill(strings.cell_digits, { digits });
}

/** The number under the pointer, else that of the chosen cell. */
export function writeReadout(/** @type {Picture} */ picture, /** @type {Show} */ show) {
  const { info, readout } = picture;
  const { rows: tokens, key_tokens: keys } = show.header;
  const at = picture.hover ?? chosenIn(picture, show);
  const value = at && valueAt(matrixOf(info, show) ?? undefined, at.row, at.col);
  const axis = rowAxis(info.stage);
  const chosenRow = show.selection[axis];
  const labels = axis === "key" ? keys : tokens;
  const row = el("span", { class: axis }, isolate(labels[at?.row ?? chosenRow ?? 0]));
  if (!at || value === null) {
    const rowText = show.header.strings[`${axis}_row`];
    readout.replaceChildren(chosenRow === null ? " " : el("span", { class: "where" }, row, ` · ${rowText}`));
    setData(readout, { value: null });
    return;
  }
  const place = isSquare(info.stage)
    ? [row, " → ", el("span", { class: "key" }, isolate(keys[at.col]))]
    : [row, ` · ${info.cols} ${at.col}`];
  readout.replaceChildren(el("span", { class: "where" }, ...place), el("b", {}, printed(value)));
  setData(readout, { value: String(value) });
}

/** The cell a panel speaks of when nothing is pointed at: never a component that nobody chose. @returns {Cell | null} */
export function chosenIn(/** @type {Picture} */ { info, col }, /** @type {Show} */ { selection }) {
  const { query, key } = selection;
  if (isSquare(info.stage)) return query !== null && key !== null ? { row: query, col: key } : null;
  const row = selection[rowAxis(info.stage)];
  return row === null || col === null ? null : { row, col: Math.min(col, info.shape[1] - 1) };
}

/** One panel's value at its chosen cell in a sentence, for the live region; "" where none is chosen. */
export function spoken(/** @type {Picture} */ picture, /** @type {Show} */ show) {
  const { info } = picture;
  const { rows: tokens, key_tokens: keys, strings } = show.header;
  const at = chosenIn(picture, show);
  const number = at && valueAt(matrixOf(info, show) ?? undefined, at.row, at.col);
  if (!at || number === null) return "";
  const value = printed(number);
  const title = strings[`title_${info.stage}`];
  if (isSquare(info.stage)) {
    const pair = { query: isolate(tokens[at.row]), key: isolate(keys[at.col]) };
    return fill(strings.readout_pair, { title, ...pair, value });
  }
  const token = isolate((rowAxis(info.stage) === "key" ? keys : tokens)[at.row]);
  const place = { axis: axisName(strings, info.rows), token, col_axis: info.cols, col: at.col };
  return fill(strings.readout_row, { title, ...place, value });
}
