// @ts-check
// The stages: their order on the page, and what their rows and columns are.

/** @import { EditableStage, Stage } from "./types.js" */
/** @import { KeyStage, SquareStage } from "./state.js" */

/** The three lines of the strip. @type {readonly (readonly Stage[])[]} */
export const LINES = [
  ["x", "unrotated_q", "unrotated_k", "q", "k", "v"],
  ["scores", "scaled", "capped", "biased", "masked"],
  ["weights", "mixed", "concat", "projected"],
];
/** @type {readonly SquareStage[]} */
const SQUARE_STAGES = ["scores", "scaled", "capped", "biased", "masked", "weights"];
/** @type {readonly KeyStage[]} */
const KEY_STAGES = ["unrotated_k", "k", "v"];
/** @type {readonly EditableStage[]} */
const EDITABLE = ["q", "k", "v", "scores", "masked"];

/** True if both axes of a stage are tokens. @returns {stage is SquareStage} */
export function isSquare(/** @type {Stage} */ stage) {
  return SQUARE_STAGES.some((square) => square === stage);
}

/** True if the rows of a stage are keys. @returns {stage is KeyStage} */
export function hasKeyRows(/** @type {Stage} */ stage) {
  return KEY_STAGES.some((other) => other === stage);
}

/** @returns {stage is EditableStage} */
export function isEditable(/** @type {Stage} */ stage) {
  return EDITABLE.some((editable) => editable === stage);
}

/** The axis that a stage's rows are on. @returns {"query" | "key"} */
export function rowAxis(/** @type {Stage} */ stage) {
  return hasKeyRows(stage) ? "key" : "query";
}
