// @ts-check
// What feeds a chosen cell (query, key) and what it feeds, panel by panel.
// In: the selection and the header. Out: rows and cells to mark; who draws them is strip.js.

/**
 * @typedef {{row: number, role: "query" | "key"}} RowMark
 * @typedef {{rows: RowMark[], cell: [number, number] | null, cols: [number, number] | null}} Marks
 */

/** Which position chooses the rows of a panel: its own row axis, and for X both. */
export const ROW_ROLES = {
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

/** Stages whose rows are keys. */
export const KEY_STAGES = ["unrotated_k", "k", "v"];

export const SQUARE_STAGES = ["scores", "scaled", "capped", "biased", "masked", "weights"];

/**
 * @param {string} stage
 * @param {number | null} query
 * @param {number | null} key
 * @param {{head_slice: [number, number], cross: 0 | 1}} header the head's columns [start, stop) of concat; in
 *   cross-attention the keys come from another text than X
 * @returns {Marks}
 */
export function marksOf(stage, query, key, header) {
  const position = { query, key };
  const rows = ROW_ROLES[stage]
    .filter((role) => position[role] !== null && !(header.cross && stage === "x" && role === "key"))
    .map((role) => ({ row: position[role], role }));
  const square = SQUARE_STAGES.includes(stage) && query !== null && key !== null;
  return {
    rows,
    cell: square ? [query, key] : null,
    cols: stage === "concat" ? header.head_slice : null,
  };
}
