// @ts-check
// The selection: layer, head, query, key, scale, and whether special tokens are shown. Pure functions that read it from
// an address, write it there, and make it fit the data. Who tells the server about it is committer.js.

/** @import { Address } from "./host.js" */

/** @typedef {"linear" | "sqrt" | "log"} Scale */
/** @typedef {"show" | "hide"} Special */
/**
 * A head, and positions of tokens in it; null where nothing is pinned.
 * @typedef {{layer: number, head: number, query: number | null, key: number | null}} Place
 */
/**
 * A selection that fits some data. `more` has other parameters of a component, null for one that is not set.
 * @typedef {Place & {scale: Scale, special: Special, more?: Record<string, string | null>}} Selection
 */
/**
 * A selection as it stands in an address, which may name no head.
 * @typedef {Omit<Selection, "layer" | "head"> & {layer: number | null, head: number | null}} AddressSelection
 */
/** The heads of each layer that were kept; empty where all were. @typedef {readonly (readonly number[])[]} Kept */
/**
 * How much there is to choose from. `shapes` has [heads, queries, keys] of each layer where layers differ.
 * @typedef {{n_layers: number, n_heads: number, n_query: number, n_key: number,
 *   shapes?: readonly (readonly number[])[] | null, kept?: Kept}} Extent
 */

const INDICES = /** @type {const} */ (["layer", "head", "query", "key"]);

/** The selection in an address; null or the default for what is missing or malformed. @returns {AddressSelection} */
export function readSelection(/** @type {Address} */ address) {
  const index = (/** @type {string} */ name) => {
    const text = address.get(name) ?? "";
    return /^\d{1,5}$/.test(text) ? Number(text) : null;
  };
  const scale = address.get("scale");
  return {
    layer: index("layer"),
    head: index("head"),
    query: index("query"),
    key: index("key"),
    scale: scale === "linear" || scale === "log" ? scale : "sqrt",
    special: address.get("special") === "hide" ? "hide" : "show",
  };
}

/** The parameters of a head and of a cell in it; null for what is not chosen. @returns {Record<string, string | null>} */
export function placeParameters(/** @type {AddressSelection} */ selection) {
  return Object.fromEntries(
    INDICES.map((name) => [name, selection[name] === null ? null : String(selection[name])]),
  );
}

/** The parameters of a selection; null for what is the default. @returns {Record<string, string | null>} */
export function selectionParameters(/** @type {AddressSelection} */ selection) {
  return {
    ...placeParameters(selection),
    scale: selection.scale === "sqrt" ? null : selection.scale,
    special: selection.special === "show" ? null : selection.special,
    ...selection.more,
  };
}

/**
 * The nearest selection that fits the data: layer and head are clamped to one that was kept, query and key dropped where
 * out of range.
 * @param {AddressSelection} selection
 * @param {Extent} extent
 * @returns {Selection}
 */
export function clampSelection(selection, extent) {
  const asked = { layer: selection.layer ?? 0, head: selection.head ?? 0 };
  const near = extent.kept?.length ? nearestKept(extent.kept, asked) : asked;
  const layer = clampIndex(near.layer, extent.n_layers);
  const [heads, rows, cols] = extent.shapes?.[layer] ?? [extent.n_heads, extent.n_query, extent.n_key];
  const head = clampIndex(near.head, heads);
  const query = dropIndex(selection.query, rows);
  return { ...selection, layer, head, query, key: query === null ? null : dropIndex(selection.key, cols) };
}

/**
 * The selection after a change, where layers differ: it fits its layer, and a cell is dropped whose tokens the layer
 * does not have.
 * @template {Selection} T
 * @param {T} before
 * @param {T} after
 * @param {readonly (Extent & {tokens: readonly string[], key_tokens: readonly string[]})[]} headers of each layer
 * @returns {T}
 */
export function fitLayer(before, after, headers) {
  const [old, now] = [headers[before.layer], headers[after.layer]];
  const fitting = { ...after, ...clampSelection(after, headers[0]) };
  if (old === now || (sameTokens(old.tokens, now.tokens) && sameTokens(old.key_tokens, now.key_tokens)))
    return fitting;
  return { ...fitting, query: null, key: null };
}

/** True if a head was kept. */
export function isKept(
  /** @type {{kept?: Kept}} */ { kept },
  /** @type {number} */ layer,
  /** @type {number} */ head,
) {
  return !kept?.length || kept[layer].includes(head);
}

/** The head that was kept in the nearest layer that has one, the nearest to another there. */
export function nearestKept(
  /** @type {Kept} */ kept,
  /** @type {{layer: number, head: number}} */ { layer, head },
) {
  const near = (/** @type {readonly number[]} */ from, /** @type {number} */ to) =>
    [...from].sort((a, b) => Math.abs(a - to) - Math.abs(b - to))[0];
  const layers = kept.flatMap((heads, at) => (heads.length ? [at] : []));
  const at = near(layers, layer);
  return { layer: at, head: near(kept[at], head) };
}

function clampIndex(/** @type {number} */ index, /** @type {number} */ count) {
  return Math.max(0, Math.min(count - 1, index));
}

function dropIndex(/** @type {number | null} */ index, /** @type {number} */ count) {
  return index !== null && index < count ? index : null;
}

function sameTokens(/** @type {readonly string[]} */ one, /** @type {readonly string[]} */ other) {
  return one.join() === other.join();
}
