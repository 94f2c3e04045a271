// @ts-check
// The head page in words: the cell pointed at, the caption of the lines, the attention that hides.

import { isolate, WRITTEN } from "../shared/axes.js";
import { cellOf, effectsFor, factNodes, hiddenNode, isHidden, lookAt } from "../shared/effects.js";
import { fill, fmtPercent, fmtWeight } from "../shared/fmt.js";
import { hiddenInRow, hiddenMean, rankAt, weightAt } from "../shared/numbers.js";

/** @import { State } from "./state.js" */
/** @import { CellPlace, View } from "./view.js" */
/** @import { AxisPlaces } from "./words.js" */

/** A cell: its tokens, weight and rank. */
export function readout(
  /** @type {View} */ view,
  /** @type {{query: number, key: number}} */ { query, key },
) {
  const { axes, data } = view;
  const { strings } = view.header;
  const named = (/** @type {AxisPlaces} */ { labels, marks }, /** @type {number} */ place) => {
    const template = marks[place] & WRITTEN ? strings.token_written : strings.token_at;
    return fill(template, { token: isolate(labels[place]), position: place });
  };
  const { forbidden } = view;
  const isOff = query === forbidden?.query && key === forbidden.key;
  return fill(isOff ? strings.readout_forbidden : strings.readout, {
    query: named(axes.query, query),
    key: named(axes.key, key),
    weight: fmtWeight(isOff ? forbidden.weight : weightAt(data, query, key), view.approximate),
    rank: rankAt(data, query, key),
    count: data.nKey,
  });
}

/** What the lines show. */
export function caption(
  /** @type {View} */ { header, axes, data, top },
  /** @type {CellPlace | null} */ focus,
) {
  const { strings } = header;
  if (focus && focus.query !== null)
    return fill(strings.lines_query, { token: isolate(axes.query.labels[focus.query]) });
  if (focus && focus.key !== null)
    return fill(strings.lines_key, { token: isolate(axes.key.labels[focus.key]) });
  return top === 0 || top >= data.cols.length ? strings.lines_every : fill(strings.lines_all, { count: top });
}

/** How much attention hides with the special tokens. */
export function hiddenText(/** @type {View} */ { header, axes, data }, /** @type {number | null} */ query) {
  const { strings } = header;
  const mean = fill(strings.hidden_mean, { percent: fmtPercent(hiddenMean(data)) });
  if (query === null) return mean;
  const percent = fmtPercent(hiddenInRow(data, query));
  const token = isolate(axes.query.labels[query]);
  return `${mean} · ${fill(strings.hidden_row, { percent, token })}`;
}

/** What the chosen row does in this head, and what the answer does without it. */
export function factsOf(/** @type {State} */ { capture, own, selection, effects }) {
  const { weights, visible } = capture;
  const { strings, key_tokens: keys } = own.header;
  const cell = cellOf(weights, selection);
  const names = cell && { query: own.header.rows[cell.query], key: keys[cell.key] };
  const look = cell && lookAt(weights, visible, selection, cell);
  const facts = factNodes(strings, names, look, effectsFor(effects, cell), selection);
  return names && isHidden(visible, selection.layer, cell) ? [hiddenNode(strings, names), ...facts] : facts;
}
