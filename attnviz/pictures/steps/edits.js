// @ts-check
// Numbers changed by hand: edits as they travel and stand in the address, and what the panels are to show: edited numbers,
// the original ones, or the difference. The server computes what follows; here nothing is derived.

/** @import { FloatArray } from "../shared/buffer.js" */
/** @import { HeadData, Target } from "./state.js" */
/** @import { Arrays, EditableStage, SentEdit, Stage } from "./types.js" */

/** @typedef {"edited" | "original" | "difference"} Mode */
/**
 * One changed entry; value is −∞ where a cell of the mask was closed. A column of null stands for all keys of the row,
 * closed, or with ∞ as they are before the mask.
 * @typedef {{stage: EditableStage, row: number, column: number | null, value: number}} Edit
 */

/** @type {readonly Mode[]} */
export const MODES = ["edited", "original", "difference"];
const DIGITS = 9;

/** An edit as the server writes it: JSON has no infinite numbers. @returns {Edit} */
export function readEdit(/** @type {SentEdit} */ edit) {
  const { value } = edit;
  return { ...edit, value: value === "closed" ? -Infinity : value === "opened" ? Infinity : value };
}

/** Edits in their text form, that of attnviz.attention.edits. */
export function writtenEdits(/** @type {readonly Edit[]} */ edits) {
  const number = (/** @type {number} */ value) =>
    Number.isFinite(value) ? String(Number(value.toPrecision(DIGITS))) : value < 0 ? "-inf" : "inf";
  return edits
    .map(({ stage, row, column, value }) => `${stage}.${row}.${column ?? "*"}=${number(value)}`)
    .join(",");
}

/** The edits with one more; what was there of the same entry is gone. */
export function withEdit(/** @type {Edit[]} */ edits, /** @type {Edit} */ edit) {
  const isOther = (/** @type {Edit} */ { stage, row, column }) =>
    stage !== edit.stage || row !== edit.row || (edit.column !== null && column !== edit.column);
  return [...edits.filter(isOther), edit];
}

/** A stage before the edits; undefined where nothing changed. @returns {FloatArray | undefined} */
export function before(/** @type {Arrays} */ arrays, /** @type {Stage} */ stage) {
  return arrays[`was_${stage}`];
}

/** The numbers that a mode shows: of the edited stages, of the original ones, or edited − original. @returns {Arrays} */
export function arraysOf(
  /** @type {Pick<HeadData, "header" | "edited">} */ { header, edited },
  /** @type {Mode} */ mode,
) {
  const shown = { ...edited };
  if (mode === "edited") return shown;
  for (const { stage } of header.panels) {
    const [was, now] = [before(edited, stage), edited[stage]];
    if (was && now) shown[stage] = mode === "original" ? was : difference(now, was);
  }
  return shown;
}

/** now − was; 0 also where both are infinite. @returns {FloatArray} */
function difference(/** @type {FloatArray} */ now, /** @type {FloatArray} */ was) {
  return { ...now, data: now.data.map((value, at) => (value === was.data[at] ? 0 : value - was.data[at])) };
}

/** The largest change of a stage; null where nothing changed. Opened and closed cells count as changes of any size. */
export function largestChange(/** @type {Arrays} */ edited, /** @type {Stage} */ stage) {
  const [was, now] = [before(edited, stage), edited[stage]];
  if (!was || !now) return null;
  return difference(now, was).data.reduce((most, change) => Math.max(most, Math.abs(change)), 0);
}

/** The entry that can be edited, as it is now; null where the stage does not have it. */
export function valueOf(/** @type {Arrays} */ edited, /** @type {Target} */ { stage, row, column }) {
  const matrix = edited[stage];
  if (!matrix || row >= matrix.shape[0] || column >= matrix.shape[1]) return null;
  return matrix.data[row * matrix.shape[1] + column];
}
