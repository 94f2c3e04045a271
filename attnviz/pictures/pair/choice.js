// @ts-check
// The choice on Compare as the address has it: the head of the left side and its cell, and, where it is another one, the
// head of the right side; a cell whose tokens the left side has not is named by those of the right.

import { neighbour } from "../shared/headkeys.js";
import { clampSelection } from "../shared/selection.js";
import { mostMovedHead, partOf, slotOf } from "./numbers.js";

/** @import { Address } from "../shared/host.js" */
/** @import { AddressSelection, Selection } from "../shared/selection.js" */
/** @import { Head } from "./numbers.js" */
/** @import { Arrays, Header, SideView } from "./types.js" */

/** A cell of the common axes, or a row. @typedef {{row: number | null, col: number | null}} SlotCell */
/**
 * `selection` has the head of the left side, `other` that of the right: null where it moves with the left.
 * @typedef {{selection: Selection, other: Head | null, pinned: SlotCell}} Choice
 */

const INDEX = /^\d{1,5}$/;

/**
 * The choice that the address names; without a head, the one that differs most.
 * @param {Header} header
 * @param {Arrays} arrays
 * @param {AddressSelection} asked
 * @param {Address} address
 * @returns {Choice}
 */
export function readChoice(header, { moved }, asked, address) {
  const nearest = clampSelection(asked, header.a);
  const selection = asked.layer === null && moved ? { ...nearest, ...mostMovedHead(moved) } : nearest;
  const row = readSlot(header, "query", selection.query, address);
  const col = row === null ? null : readSlot(header, "key", asked.key, address);
  return { selection, other: readOther(header, selection, address), pinned: { row, col } };
}

/**
 * The place of a token on the common axes; the address names one of the right side where the left has none.
 * @param {Header} header
 * @param {"query" | "key"} axis
 * @param {number | null} token
 * @param {Address} address
 */
function readSlot({ rows, cols, a, b }, axis, token, address) {
  const slots = axis === "query" ? rows : cols;
  if (token !== null) return token < a[`n_${axis}`] ? slotOf(slots, a[`at_${axis}`], token, 0) : null;
  const text = address.get(`${axis}_b`) ?? "";
  const isToken = INDEX.test(text) && Number(text) < b[`n_${axis}`];
  return isToken ? slotOf(slots, b[`at_${axis}`], Number(text), 1) : null;
}

/** The head of the right side: the one of the address; none, moving with the left, where both sides are alike. */
function readOther(
  /** @type {Header} */ { b, alike, only_heads_differ: onlyHeads },
  /** @type {Selection} */ { layer, head },
  /** @type {Address} */ address,
) {
  const clamp = (/** @type {Head} */ { layer, head }) => ({
    layer: Math.min(layer, b.n_layers - 1),
    head: Math.min(head, b.n_heads - 1),
  });
  const [layerText, headText] = [address.get("layer_b") ?? "", address.get("head_b") ?? ""];
  if (INDEX.test(layerText) && INDEX.test(headText))
    return clamp({ layer: Number(layerText), head: Number(headText) });
  if (!alike) return clamp({ layer, head });
  return onlyHeads && b.n_layers * b.n_heads > 1 ? anotherHead(b, { layer, head }) : null;
}

/** The next head, or the one before the last. */
function anotherHead(/** @type {SideView} */ size, /** @type {Head} */ head) {
  const next = neighbour(size, head, 1);
  return next.layer === head.layer && next.head === head.head ? neighbour(size, head, -1) : next;
}

/** The selection as address and server know it. @returns {Selection} */
export function selectionOf(
  /** @type {Choice} */ { selection, other, pinned },
  /** @type {Header} */ header,
) {
  const { rows, cols, a, b } = header;
  const tokenOf = (/** @type {number[]} */ at, /** @type {number | null} */ part) =>
    part === null ? null : at[part];
  const query = tokenOf(a.at_query, partOf(rows, pinned.row, 0));
  const key = query === null ? null : tokenOf(a.at_key, partOf(cols, pinned.col, 0));
  const text = (/** @type {number | null | undefined} */ index) =>
    index === null || index === undefined ? null : String(index);
  const more = {
    layer_b: text(other?.layer),
    head_b: text(other?.head),
    query_b: query === null ? text(tokenOf(b.at_query, partOf(rows, pinned.row, 1))) : null,
    key_b: key === null ? text(tokenOf(b.at_key, partOf(cols, pinned.col, 1))) : null,
  };
  return { ...selection, query, key, more };
}

/** The head of a side. @returns {Head} */
export function headOfSide(/** @type {Choice} */ { selection, other }, /** @type {"a" | "b"} */ side) {
  return side === "b" && other ? other : { layer: selection.layer, head: selection.head };
}
