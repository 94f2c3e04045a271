// @ts-check
// The picture view in words: the head, the patch that asks, the weight that is pointed at, and what other tokens get.

import { isolate } from "../shared/axes.js";
import { colourAt, inkOn, levelFor } from "../shared/colors.js";
import { setText } from "../shared/dom.js";
import { fill, fmtWeight, headName } from "../shared/fmt.js";

/** @import { Scale } from "../shared/selection.js" */
/** @import { HeadOrMean } from "./numbers.js" */
/** @import { ExtraChip, Parts } from "./parts.js" */
/** @import { Header } from "./state.js" */

/**
 * `row` has the weights of the query, null where none asks; `top` is the weight that has the last colour.
 * @typedef {{at: HeadOrMean, query: number | null, key: number | null, row: Float32Array | null, top: number,
 *   scale: Scale, stretch: boolean, approximate: boolean, lut: Uint32Array}} Shown
 */

/** Writes everything that is shown, in words. */
export function showWords(
  /** @type {Parts} */ parts,
  /** @type {Header} */ header,
  /** @type {Shown} */ shown,
) {
  const { strings, tokens, patches } = header;
  const { at, query, row } = shown;
  const size = { rows: patches.rows, columns: patches.columns };
  const idle = fill(strings.idle, size);
  const token = query === null ? "" : isolate(tokens[query]);
  const head = headTitle(header, at);
  setText(parts.title, head);
  setText(parts.sentence, at.head === null ? strings.mean_sentence : header.sentences[at.layer][at.head]);
  const label = query === null ? idle : fill(strings.picture, { ...size, token, head });
  parts.picture.setAttribute("aria-label", label);
  const scale = strings[`scale_${shown.scale}`];
  parts.bar.setAttribute("aria-label", fill(strings.colour_bar, { scale }));
  setText(parts.allHeads, query === null ? strings.heads : fill(strings.all_heads, { token }));
  const weight = fmtWeight(shown.top, shown.approximate);
  setText(parts.stretched, shown.stretch ? fill(strings.stretched, { weight }) : "");
  const isRead = row && query !== null;
  setText(parts.readout, isRead ? readout(header, shown, row, query) : idle, !isRead);
  parts.chips.forEach((chip, place) => showExtra(chip, place, shown));
}

function headTitle(
  /** @type {Header} */ { strings, n_heads: count },
  /** @type {HeadOrMean} */ { layer, head },
) {
  return head === null ? fill(strings.mean_title, { layer, count }) : headName(layer, head);
}

/** Shows on a chip what its token is given, and whether it is the one that asks. */
function showExtra(
  /** @type {ExtraChip} */ chip,
  /** @type {number} */ token,
  /** @type {Shown} */ { query, row, top, scale, lut, approximate },
) {
  const level = row ? levelFor(Math.min(1, top > 0 ? row[token] / top : 0), scale) : 0;
  chip.node.setAttribute("aria-pressed", String(query === token));
  chip.weight.style.backgroundColor = colourAt(lut, level);
  chip.weight.style.color = inkOn(lut, level);
  setText(chip.weight, row ? fmtWeight(row[token], approximate) : "");
}

/**
 * The weight of the patch pointed at, or of the one that the query attends to most.
 * @param {Header} header
 * @param {Shown} shown
 * @param {Float32Array} row
 * @param {number} query
 */
function readout({ strings, tokens, key_tokens: keys }, shown, row, query) {
  const key = shown.key ?? row.indexOf(Math.max(...row));
  const named = (/** @type {string[]} */ labels, /** @type {number} */ position) =>
    fill(strings.token_at, { token: isolate(labels[position]), position });
  const weight = fmtWeight(row[key], shown.approximate);
  const values = { query: named(tokens, query), key: named(keys, key), weight };
  if (shown.key === null) return fill(strings.strongest, values);
  const rank = 1 + row.filter((other) => other > row[key]).length;
  return fill(strings.readout, { ...values, rank, count: row.length });
}
