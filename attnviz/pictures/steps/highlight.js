// @ts-check
// What feeds a chosen cell (query, key) and what it feeds, panel by panel.
// In: the selection and the header. Out: rows and cells to mark; who draws them is marks.js.

import { isSquare } from "./stages.js";

/** @import { Stage } from "./types.js" */

/**
 * @typedef {{row: number, role: "query" | "key"}} RowMark
 * @typedef {{rows: RowMark[], cell: [query: number, key: number] | null, cols: [start: number, stop: number] | null}} Marks
 */

/** Which position chooses the rows of a panel: its own row axis, and for X both. @type {Record<Stage, readonly ("query" | "key")[]>} */
const ROW_ROLES = {
  x: ["query", "key"],
  unrotated_q: ["query"],
  unrotated_k: ["key"],
  q: ["query"],
  k: ["key"],
  v: ["key"],
  scores: [],
  scaled: [],
  capped: [],
  biased: [],
  masked: [],
  weights: ["query"],
  mixed: ["query"],
  concat: ["query"],
  projected: ["query"],
};

/**
 * @param {Stage} stage
 * @param {number | null} query
 * @param {number | null} key
 * @param {{head_slice: [number, number], cross: boolean}} header the head's columns [start, stop) of concat; in
 *   cross-attention the keys come from another text than X
 * @returns {Marks}
 */
export function marksOf(stage, query, key, header) {
  const position = { query, key };
  const rows = ROW_ROLES[stage].flatMap((role) => {
    const row = position[role];
    const isElsewhere = header.cross && stage === "x" && role === "key";
    return row === null || isElsewhere ? [] : [{ row, role }];
  });
  return {
    rows,
    cell: isSquare(stage) && query !== null && key !== null ? [query, key] : null,
    cols: stage === "concat" ? header.head_slice : null,
  };
}
