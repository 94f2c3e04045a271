// @ts-check
// What feeds a chosen cell (query, key) and what it feeds, panel by panel.
// In: the selection and the header. Out: rows and cells to mark; who draws them is strip.js.

/**
 * @typedef {{row: number, role: "query" | "key"}} RowMark
 * @typedef {{rows: RowMark[], cell: [number, number] | null, cols: [number, number] | null}} Marks
 */

/** Which position chooses the rows of a panel: its own row axis, and for X both. */
export const ROW_ROLES = {
  x: ["query", "key"], q: ["query"], k: ["key"], v: ["key"],
  scores: [], scaled: [], capped: [], biased: [], masked: [], weights: ["query"],
  mixed: ["query"], concat: ["query"], projected: ["query"],
};

export const SQUARE_STAGES = ["scores", "scaled", "capped", "biased", "masked", "weights"];

/**
 * @param {string} stage
 * @param {number | null} query
 * @param {number | null} key
 * @param {[number, number]} headSlice columns [start, stop) of concat that belong to the head
 * @returns {Marks}
 */
export function marksOf(stage, query, key, headSlice) {
  const position = { query, key };
  const rows = ROW_ROLES[stage]
    .filter((role) => position[role] !== null)
    .map((role) => ({ row: position[role], role }));
  const square = SQUARE_STAGES.includes(stage) && query !== null && key !== null;
  return {
    rows,
    cell: square ? [query, key] : null,
    cols: stage === "concat" ? headSlice : null,
  };
}
