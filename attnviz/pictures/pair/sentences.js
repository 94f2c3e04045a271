// @ts-check
// Compare in words: the names of the heads, how much of their attention differs, and the cell under the cursor.

import { setText } from "../shared/dom.js";
import { fill, fmtFixed, fmtPercent, fmtReal, fmtWeight, headName } from "../shared/fmt.js";
import { placedName } from "./labels.js";
import { meanMoved, weightIn } from "./numbers.js";

/** @import { SlotCell } from "./choice.js" */
/** @import { AxisLabels } from "./labels.js" */
/** @import { Difference, Head, HeadWeights, largestOf } from "./numbers.js" */
/** @import { Parts } from "./parts.js" */
/** @import { Header } from "./types.js" */

/**
 * The heads of both sides and what differs between them. `moved` has the share of each row, `isStored` is true where the
 * library computed it; `axes` are the labels of the common axes.
 * @typedef {{places: {a: Head, b: Head}, weights: {a: HeadWeights, b: HeadWeights}, difference: Difference,
 *   moved: Float64Array, isStored: boolean, axes: AxisLabels, approximate: boolean}} Compared
 */

/** A share in percent; one that came through 8 bits is marked. */
export function sharePercent(/** @type {Compared} */ { approximate, isStored }, /** @type {number} */ share) {
  return `${approximate && !isStored ? "≈\u2009" : ""}${fmtPercent(share)}`;
}

/** Writes names and the summary. */
export function showNames(
  /** @type {Parts} */ parts,
  /** @type {Header} */ header,
  /** @type {Compared} */ compared,
) {
  const { strings, rows, cols } = header;
  const { places, difference } = compared;
  const names = { a: headName(places.a.layer, places.a.head), b: headName(places.b.layer, places.b.head) };
  for (const side of /** @type {const} */ (["a", "b"])) {
    const { heading, canvas } = parts.plots[side];
    const { model, tokens, key_tokens: keys } = header[side];
    const letter = side.toUpperCase();
    const values = { side: letter, head: names[side], rows: tokens.length, cols: keys.length };
    setText(heading, `${letter} · ${model} · ${names[side]}`);
    canvas.setAttribute("aria-label", fill(strings.canvas, values));
  }
  const label = fill(strings.canvas_difference, { ...names, rows: rows.length, cols: cols.length });
  const limit = fmtReal(difference.limit);
  setText(parts.plots.d.heading, strings.difference);
  parts.plots.d.canvas.setAttribute("aria-label", label);
  setText(parts.summary, summary(header, compared));
  setText(parts.limit, difference.limit > 0 ? fill(strings.limit, { limit }) : strings.no_difference);
}

function summary(/** @type {Header} */ { strings }, /** @type {Compared} */ compared) {
  const mean = meanMoved(compared.moved);
  if (!mean) return strings.no_rows;
  return fill(strings.summary, { percent: sharePercent(compared, mean.share), rows: mean.rows });
}

/** A row of the common axes with the positions of its tokens. */
export function queryName(
  /** @type {Header} */ { rows, a, b },
  /** @type {Compared} */ { axes },
  /** @type {number} */ row,
) {
  return placedName(axes.rows[row], rows[row], a.at_query, b.at_query);
}

/** The cell that differs most of all heads, beside the median head's largest difference. */
export function largestText(
  /** @type {Header} */ header,
  /** @type {Compared} */ compared,
  /** @type {NonNullable<ReturnType<typeof largestOf>>} */ { layer, head, row, col, value, median },
) {
  const { strings, cols, a, b } = header;
  return fill(strings.largest, {
    head: headName(layer, head),
    query: queryName(header, compared, row),
    key: placedName(compared.axes.cols[col], cols[col], a.at_key, b.at_key),
    difference: signed(compared, value),
    median: fmtFixed(median, 4),
  });
}

function signed(/** @type {Compared} */ { approximate }, /** @type {number} */ value) {
  return `${approximate ? "≈\u2009" : ""}${value > 0 ? "+" : ""}${fmtFixed(value, 4)}`;
}

/** The numbers of a cell, or of a row, in words. */
export function readout(
  /** @type {Header} */ header,
  /** @type {Compared} */ compared,
  /** @type {SlotCell} */ { row, col },
) {
  const { strings, rows, cols, a, b } = header;
  const { moved, axes, weights, approximate } = compared;
  if (row === null) return strings.readout_idle;
  const query = queryName(header, compared, row);
  if (col === null) {
    if (Number.isNaN(moved[row])) return fill(strings.readout_lone, { query });
    return fill(strings.readout_row, { query, percent: sharePercent(compared, moved[row]) });
  }
  const key = placedName(axes.cols[col], cols[col], a.at_key, b.at_key);
  const left = weightIn(weights.a, 0, rows[row], cols[col]);
  const right = weightIn(weights.b, 1, rows[row], cols[col]);
  if (left === null && right === null) return fill(strings.readout_none, { query, key });
  if (right === null) return fill(strings.readout_a, { query, key, a: fmtWeight(left ?? 0, approximate) });
  if (left === null) return fill(strings.readout_b, { query, key, b: fmtWeight(right, approximate) });
  const difference = signed(compared, right - left);
  const numbers = { a: fmtWeight(left, approximate), b: fmtWeight(right, approximate), difference };
  return fill(strings.readout, { query, key, ...numbers });
}
