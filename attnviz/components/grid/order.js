// @ts-check
// In which order the overview shows its heads: the model's own, layer by layer, or from the head that measures most of
// something to the one that measures least. The numbers come with the buffer; sorting them is all that happens here.

import { arrangement } from "../shared/controls.js";
import { el } from "../shared/dom.js";
import { fmtFixed, fmtPercent } from "../shared/fmt.js";

export const BY_LAYER = "layer";

/** A measure with its number for each head, NaN where a head has none.
 * @typedef {{name: string, label: string, unit: string, values: ArrayLike<number>}} Sorting */

/**
 * What the heads can be sorted by, the numbers of each from the buffer.
 * @param {import("../shared/buffer.js").HeadsHeader} header
 * @param {import("../shared/buffer.js").PackedArray | undefined} array
 * @returns {Sorting[]}
 */
export function sortings(header, array) {
  const count = header.n_layers * header.n_heads;
  return header.measures.map((measure, i) => ({
    ...measure,
    values: /** @type {any} */ (array).data.subarray(i * count, (i + 1) * count),
  }));
}

/** How many heads each layer has, where layers differ. @returns {number[] | undefined} */
export function headCounts(/** @type {any} */ header) {
  return header.shapes?.map((/** @type {number[]} */ of) => of[0]);
}

/** All heads, the largest number first and those without one last; equal ones in the model's order; of `among` where given.
 * @param {ArrayLike<number>} values
 * @param {readonly (number | null)[]} [among]
 * @returns {number[]} */
export function sortedHeads(values, among) {
  const size = (/** @type {number} */ i) => (Number.isNaN(values[i]) ? -Infinity : values[i]);
  return Array.from(values, (_, i) => i)
    .filter((i) => !among || among.includes(i))
    .sort((a, b) => (size(b) === size(a) ? a - b : size(b) - size(a)));
}

/** Rows of heads, as many in a row as there are columns; the last row is filled up with empty places.
 * @param {ArrayLike<number>} values
 * @param {number} columns
 * @param {readonly (number | null)[]} [among]
 * @returns {import("../shared/controls.js").Arrangement} */
export function sortedRows(values, columns, among) {
  const order = sortedHeads(values, among);
  const rows = [];
  for (let at = 0; at < order.length; at += columns)
    rows.push(Array.from({ length: columns }, (_, i) => order[at + i] ?? null));
  return rows;
}

/**
 * The heads as they are arranged for an order; `columns` for one that is not the model's.
 * @param {any} header
 * @param {Sorting | null} sorting
 * @param {number} columns
 */
export function arranged(header, sorting, columns) {
  const heads = headCounts(header);
  const rows = arrangement(header.n_layers, header.n_heads, heads);
  return sorting ? sortedRows(sorting.values, columns, rows.flat()) : rows;
}

/** A number as it is printed below a small heatmap; "–" where a head has none. */
export function measureText(/** @type {Sorting} */ sorting, /** @type {number} */ index) {
  const value = sorting.values[index];
  if (Number.isNaN(value)) return "–";
  return sorting.unit === "share" ? `${fmtPercent(value)}\u2009%` : fmtFixed(value, 2);
}

/**
 * The select box, with the model's own order first.
 * @param {{strings: Record<string, string>}} header
 * @param {Sorting[]} all
 * @param {(name: string) => void} onChange
 */
export function orderSelect(header, all, onChange) {
  const { strings } = header;
  const option = (/** @type {string} */ value, /** @type {string} */ label) => el("option", { value }, label);
  const select = el(
    "select",
    { on: { change: () => onChange(select.value) } },
    option(BY_LAYER, strings.by_layer),
    ...all.map(({ name, label }) => option(name, label)),
  );
  const node = el(
    "div",
    { class: "av-pick" },
    el("label", {}, el("span", { class: "av-caption" }, strings.order), select),
  );
  return {
    node,
    set: (/** @type {string} */ name) => {
      select.value = name;
    },
  };
}
