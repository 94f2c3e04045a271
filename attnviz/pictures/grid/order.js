// @ts-check
// The order in which the overview shows its heads: the model's own, layer by layer, or from the head that measures most of
// something to the one that measures least. The numbers come with the buffer; sorting them is all that happens here.

import { headCounts } from "../shared/buffer.js";
import { el } from "../shared/dom.js";
import { fmtFixed, fmtPercent, withPercent } from "../shared/fmt.js";
import { arrangement } from "../shared/head_picker.js";

/** @import { FloatArray } from "../shared/buffer.js" */
/** @import { Arrangement } from "../shared/head_picker.js" */
/** @import { HeadMeasure } from "../shared/heads.js" */
/** @import { Header } from "./types.js" */

/** A measure with its number for each head, NaN where a head has none. @typedef {HeadMeasure & {values: ArrayLike<number>}} Sorting */

export const BY_LAYER = "layer";

/** The measures that the heads can be sorted by. @returns {Sorting[]} */
export function sortings(/** @type {Header} */ header, /** @type {FloatArray | undefined} */ measures) {
  if (!measures) return [];
  const count = header.n_layers * header.n_heads;
  return header.measures.map((measure, i) => ({
    ...measure,
    values: measures.data.subarray(i * count, (i + 1) * count),
  }));
}

/**
 * All heads, the largest number first and those without one last; equal ones in the model's order; of `among` if given.
 * @param {ArrayLike<number>} values
 * @param {readonly (number | null)[]} [among]
 * @returns {number[]}
 */
export function sortedHeads(values, among) {
  const size = (/** @type {number} */ i) => (Number.isNaN(values[i]) ? -Infinity : values[i]);
  return Array.from(values, (_, i) => i)
    .filter((i) => !among || among.includes(i))
    .sort((a, b) => (size(b) === size(a) ? a - b : size(b) - size(a)));
}

/**
 * Rows of sorted heads, as many in a row as there are columns; the last row is filled up with empty places.
 * @param {ArrayLike<number>} values
 * @param {number} columns
 * @param {readonly (number | null)[]} [among]
 * @returns {Arrangement}
 */
export function sortedRows(values, columns, among) {
  const order = sortedHeads(values, among);
  const nRows = Math.ceil(order.length / columns);
  return Array.from({ length: nRows }, (_, row) =>
    Array.from({ length: columns }, (_, i) => order[row * columns + i] ?? null),
  );
}

/**
 * The heads as they are arranged for an order; `columns` for one that is not the model's.
 * @param {Header} header
 * @param {Sorting | null} sorting
 * @param {number} columns
 * @returns {Arrangement}
 */
export function arranged(header, sorting, columns) {
  const rows = arrangement(header.n_layers, header.n_heads, headCounts(header), header.kept);
  return sorting ? sortedRows(sorting.values, columns, rows.flat()) : rows;
}

/** A number as it is printed below a small heatmap; "–" where a head has none. */
export function measureText(/** @type {Sorting} */ sorting, /** @type {number} */ index) {
  const value = sorting.values[index];
  if (Number.isNaN(value)) return "–";
  return sorting.unit === "share" ? withPercent(fmtPercent(value)) : fmtFixed(value, 2);
}

/**
 * The select box, with the model's own order first.
 * @param {Pick<Header, "strings">} header
 * @param {Sorting[]} all
 * @param {(name: string) => void} onChange
 */
export function orderSelect({ strings }, all, onChange) {
  const option = (/** @type {string} */ value, /** @type {string} */ label) => el("option", { value }, label);
  const select = el("select", { on: { change: () => onChange(select.value) } });
  const fill = (/** @type {Sorting[]} */ known) => {
    const chosen = select.value;
    const options = known.map(({ name, label }) => option(name, label));
    select.replaceChildren(option(BY_LAYER, strings.by_layer), ...options);
    if (chosen) select.value = chosen;
  };
  fill(all);
  const caption = el("span", { class: "av-caption" }, strings.order);
  const node = el("div", { class: "av-pick" }, el("label", {}, caption, select));
  return { node, fill, set: (/** @type {string} */ name) => void (select.value = name) };
}
