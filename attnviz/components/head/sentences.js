// @ts-check
// What the head page says in words: the cell pointed at, the caption of the lines, the attention that hides.

import { isolate, WRITTEN } from "../shared/axes.js";
import { fill, fmtPercent, fmtWeight } from "../shared/fmt.js";
import { hiddenInRow, hiddenMean, rankAt, weightAt } from "../shared/numbers.js";

/** A cell: its tokens, weight and rank. */
export function readout(/** @type {any} */ view, /** @type {{query: number, key: number}} */ cell) {
  const { strings, labels, keyLabels, marks, keyMarks, data } = view;
  const named = (/** @type {string[]} */ names, /** @type {number[]} */ of, /** @type {number} */ i) =>
    fill(of[i] & WRITTEN ? strings.token_written : strings.token_at, {
      token: isolate(names[i]),
      position: i,
    });
  return fill(strings.readout, {
    query: named(labels, marks, cell.query),
    key: named(keyLabels, keyMarks, cell.key),
    weight: fmtWeight(weightAt(data, cell.query, cell.key), view.approx),
    rank: rankAt(data, cell.query, cell.key),
    count: data.nKey,
  });
}

/** What the lines show. */
export function caption(/** @type {any} */ view) {
  const { strings, labels, keyLabels, focus } = view;
  if (focus && focus.query !== null)
    return fill(strings.lines_query, { token: isolate(labels[focus.query]) });
  if (focus && focus.key !== null) return fill(strings.lines_key, { token: isolate(keyLabels[focus.key]) });
  const count = view.data.cols.length;
  return view.top === 0 || view.top >= count
    ? strings.lines_every
    : fill(strings.lines_all, { count: view.top });
}

/** How much attention hides with the special tokens. */
export function hiddenText(/** @type {any} */ view, /** @type {number | null} */ query) {
  const { strings, labels, data } = view;
  const mean = fill(strings.hidden_mean, { percent: fmtPercent(hiddenMean(data)) });
  if (query === null) return mean;
  return `${mean} · ${fill(strings.hidden_row, { percent: fmtPercent(hiddenInRow(data, query)), token: isolate(labels[query]) })}`;
}
