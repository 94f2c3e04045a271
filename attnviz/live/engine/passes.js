// @ts-check
// What a forward pass leaves behind: for each attention of all layers its weights, and for each call what it was made of.

import { Refusal } from "../refusal.js";
import { FLOAT_BYTES } from "./arena.js";

/** @import { Arena, HeadChanges, Linear, Tensor } from "./arena.js" */
/** @import { Table } from "./weights.js" */

/** The attention of one layer. `x` are the states that queries, `source` those that keys and values are made of;
 * `unrotated` has q and k before rotary positions, `mixed` is what the heads say. `by` are the layers that made them, `o` the
 * one that writes what the heads say.
 * @typedef {{q: Tensor, k: Tensor, v: Tensor, x: Tensor, source: Tensor, by: MadeBy, o: Linear, mixed: Tensor,
 *   unrotated: {q: Tensor, k: Tensor} | null}} Call
 */
/** For q, k and v the layer, and the first of its columns. @typedef {Record<"q" | "k" | "v", {layer: Linear, from: number}>} MadeBy */
/** All layers of one attention: `n` queries and `m` keys, `weights` is [layer, head, query, key].
 * @typedef {{name: string, prefix: string, layers: number, heads: number, kvHeads: number, n: number, m: number,
 *   causal: boolean, cross: boolean, scaling: number, weights: Tensor, calls: Call[]}} Group
 */
/** What the heads of a layer say instead, by the prefix of their attention in the names of heads.
 * @typedef {(prefix: string, layer: number) => HeadChanges | undefined} Changes
 */
/** `logits` of the rows from one on; of a classifier the only row. Null of a model that gives vectors.
 * @typedef {{groups: Group[], hidden: Tensor, logits: ((first: number) => Tensor) | null}} Pass
 */
/** A pass of the same ids with all heads as they are, and the first layer that is to be computed anew. A decoder computes its
 * last row alone, which no other row sees; a model of its own kind may leave this aside and compute everything.
 * @typedef {{pass: Pass, layer: number}} Known
 */

/** The layers of q, k and v, where each has its own. @returns {MadeBy} */
export const byLayers = (/** @type {Record<"q" | "k" | "v", Linear>} */ { q, k, v }) => ({
  q: { layer: q, from: 0 },
  k: { layer: k, from: 0 },
  v: { layer: v, from: 0 },
});

/**
 * The place for the weights of all layers of an attention.
 * @param {Arena} arena
 * @param {Pick<Group, "name" | "prefix" | "layers" | "heads" | "n" | "m" | "scaling"> & Partial<Group>} form
 * @returns {Group}
 */
export function makeGroup(arena, form) {
  const { layers, heads, n, m } = form;
  const weights = arena.tensor(layers * heads, n * m);
  return { kvHeads: heads, causal: false, cross: false, calls: [], ...form, weights };
}

/** Where the weights of a head begin, or those of a layer. */
export function placeOf(/** @type {Group} */ group, /** @type {number} */ layer, head = 0) {
  return group.weights.at + (layer * group.heads + head) * group.n * group.m * FLOAT_BYTES;
}

/**
 * Runs the attention of the next layer of a group and notes what it was made of.
 * @param {Arena} arena
 * @param {Group} group
 * @param {Omit<Call, "mixed" | "unrotated"> & Partial<Call>} made
 * @param {Changes} changes
 * @returns {Tensor} what the layer's heads say, written by W_O
 */
export function attention(arena, group, made, changes) {
  const layer = group.calls.length;
  const mixed = arena.attend(made, group, placeOf(group, layer), changes(group.prefix, layer));
  group.calls.push({ unrotated: null, ...made, mixed });
  return arena.linear(mixed, made.o);
}

/** A tensor of which the last row is another one. @returns {Tensor} */
export function withLast(
  /** @type {Arena} */ arena,
  /** @type {Tensor} */ { at, rows, cols },
  /** @type {Tensor} */ last,
) {
  const out = arena.tensor(rows, cols);
  const numbers = arena.view(out);
  numbers.set(arena.view({ at, rows: rows - 1, cols }));
  numbers.set(arena.view(last), (rows - 1) * cols);
  return out;
}

/** The embeddings of tokens, a row for each. @returns {Tensor} */
export function gathered(
  /** @type {Arena} */ arena,
  /** @type {readonly number[]} */ ids,
  /** @type {Table} */ table,
) {
  const out = arena.tensor(ids.length, table.cols);
  const beyond = ids.find((id) => !(id >= 0 && id < table.rows));
  if (beyond !== undefined) throw new Refusal("input", { found: `the token ${beyond} of ${table.rows}` });
  ids.forEach((id, row) => table.write(arena, id, out.at + row * table.cols * FLOAT_BYTES));
  return out;
}

/** Adds rows of a tensor, such as positions. */
export function addRows(
  /** @type {Arena} */ arena,
  /** @type {Tensor} */ x,
  /** @type {Tensor} */ rows,
  first = 0,
) {
  const count = first + x.rows;
  if (count > rows.rows) throw new Refusal("input", { found: `${count} tokens of at most ${rows.rows}` });
  return arena.add(x, rowsFrom(rows, first));
}

/** The rows of a tensor from one on, in the same place. @returns {Tensor} */
export const rowsFrom = (/** @type {Tensor} */ x, /** @type {number} */ first) => ({
  at: x.at + first * x.cols * FLOAT_BYTES,
  rows: x.rows - first,
  cols: x.cols,
});
