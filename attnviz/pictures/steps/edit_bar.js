// @ts-check
// What edits the chosen entry and says which of the three pictures is shown, for the bar that stays in sight, and the
// list of what was changed.

import { isolate } from "../shared/axes.js";
import { el, quotingNodes, setData, setText } from "../shared/dom.js";
import { fill, fmtReal } from "../shared/fmt.js";
import { beforeMask, valueAt } from "./arithmetic.js";
import { before, MODES, valueOf, withEdit } from "./edits.js";
import { isSquare, rowAxis } from "./stages.js";

/** @import { Edit, Mode } from "./edits.js" */
/** @import { Actions, State } from "./state.js" */

/** @typedef {ReturnType<typeof makeEditBar>} EditBar */

const TYPED_DIGITS = 6;

/**
 * The elements, empty until there is something to edit.
 * @param {() => State} now
 * @param {Actions} actions
 */
export function makeEditBar(now, actions) {
  const textButton = (/** @type {string} */ name, /** @type {() => void} */ click) =>
    el("button", { type: "button", class: `av-button ${name}`, on: { click } });
  const setTyped = () => {
    const value = input.valueAsNumber;
    if (Number.isFinite(value)) put(now(), actions, value);
  };
  const where = el("label", { class: "edit-where" });
  const keydown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter") setTyped();
  };
  const input = el("input", { type: "number", step: "any", class: "edit-value", on: { keydown } });
  const set = textButton("edit-set", setTyped);
  const block = textButton("edit-block", () => toggleBlock(now(), actions));
  const blockRow = textButton("edit-block-row", () => putRow(now(), actions, -Infinity));
  const openRow = textButton("edit-open-row", () => putRow(now(), actions, Infinity));
  const hint = el("p", { class: "hint" });
  const entry = el("div", { class: "edit-entry" }, where, set, block, blockRow, openRow);
  const chips = el("ul", { class: "edit-chips" });
  const answer = el("p", { class: "edit-answer" });
  const reset = textButton("edit-reset", () => actions.edit([]));
  const modes = el("div", { class: "edit-modes", role: "radiogroup" });
  const tools = el("div", { class: "edit-tools" }, entry, modes, reset);
  return { tools, where, input, set, block, blockRow, openRow, hint, entry, chips, answer, reset, modes };
}

/** Writes the bar anew: after data, choice or mode changed. */
export function showEditBar(/** @type {State} */ state, /** @type {Actions} */ actions) {
  const { header, edits, parts, top, mode } = state;
  const { strings } = header;
  const bar = parts.edit;
  showEntry(state);
  bar.hint.hidden = !header.editable;
  parts.edits.hidden = !header.editable || (bar.entry.hidden && !edits.length);
  bar.chips.replaceChildren(...edits.map((edit) => chipOf(state, edit, actions)));
  bar.reset.hidden = bar.modes.hidden = !edits.length;
  setText(bar.reset, strings.edit_reset);
  bar.modes.setAttribute("aria-label", strings.edit_modes);
  bar.modes.replaceChildren(...MODES.map((other) => modeButton(state, other, actions)));
  setData(top, { mode, edits: edits.length });
}

/** What the edits make of the model's answer; the page says it aloud where it stands in full. */
export function showEditedAnswer(/** @type {EditBar} */ { answer }, /** @type {string} */ said) {
  answer.hidden = !said;
  answer.replaceChildren(...quotingNodes(said));
}

/** The field of the chosen entry. */
function showEntry(/** @type {State} */ { header, edited, target, parts: { edit: bar } }) {
  const { strings } = header;
  const value = target && valueOf(edited, target);
  const hasEntry = target !== null && value !== null;
  setText(bar.hint, strings.edit_hint);
  bar.entry.hidden = !hasEntry;
  if (target === null || value === null) return;
  bar.where.replaceChildren(fill(strings.edit_value, { place: placeName(header, target) }), bar.input);
  bar.input.value = Number.isFinite(value) ? String(Number(value.toPrecision(TYPED_DIGITS))) : "";
  setText(bar.set, strings.edit_set);
  for (const button of [bar.block, bar.blockRow, bar.openRow]) button.hidden = target.stage !== "masked";
  setText(bar.blockRow, strings.edit_block_row);
  setText(bar.openRow, strings.edit_open_row);
  setText(bar.block, value === -Infinity ? strings.edit_open : strings.edit_block);
}

/** "Q · cat · 5" or "Scores · it → animal". */
function placeName(
  /** @type {State["header"]} */ header,
  /** @type {Pick<Edit, "stage" | "row" | "column">} */ { stage, row, column },
) {
  const { rows: tokens, key_tokens: keys, strings } = header;
  const title = strings[`title_${stage}`];
  if (column === null) return fill(strings.edit_row, { title, query: isolate(tokens[row]) });
  if (isSquare(stage)) return `${title} · ${isolate(tokens[row])} → ${isolate(keys[column])}`;
  return `${title} · ${isolate((rowAxis(stage) === "key" ? keys : tokens)[row])} · ${column}`;
}

/** One edit with what it changed, and a button that undoes it. */
function chipOf(/** @type {State} */ state, /** @type {Edit} */ edit, /** @type {Actions} */ actions) {
  const { header, edited, edits } = state;
  const { strings } = header;
  const place = placeName(header, edit);
  const others = edits.filter((other) => other !== edit);
  const drop = el(
    "button",
    {
      type: "button",
      class: "edit-drop",
      "aria-label": fill(strings.edit_undo, { place }),
      on: { click: () => actions.edit(others) },
    },
    "×",
  );
  const [name, value] = changeTexts(place, strings, edited, edit);
  return el("li", {}, el("span", {}, name), el("b", {}, value), drop);
}

/**
 * "place: old → " and the new value, or what was done to a row.
 * @param {string} place
 * @param {State["header"]["strings"]} strings
 * @param {State["edited"]} edited
 * @param {Edit} edit
 */
function changeTexts(place, strings, edited, { stage, row, column, value }) {
  if (column === null) return [`${place}: `, value < 0 ? strings.edit_row_blocked : strings.edit_row_open];
  const old = valueAt(before(edited, stage), row, column) ?? value;
  return [`${place}: ${fmtReal(old)} → `, fmtReal(value)];
}

function modeButton(/** @type {State} */ state, /** @type {Mode} */ mode, /** @type {Actions} */ actions) {
  const props = {
    type: "button",
    class: "av-button",
    role: "radio",
    "aria-checked": String(state.mode === mode),
    "data-mode": mode,
    on: { click: () => actions.mode(mode) },
  };
  return el("button", props, state.header.strings[`edit_${mode}`]);
}

/** Closes a cell of the mask, or opens it again with the score that stands before the mask. */
function toggleBlock(/** @type {State} */ state, /** @type {Actions} */ actions) {
  const { target, edited } = state;
  if (!target) return;
  const isClosed = valueOf(edited, target) === -Infinity;
  const open = valueAt(beforeMask(edited), target.row, target.column);
  if (!isClosed) put(state, actions, -Infinity);
  else if (open !== null) put(state, actions, open);
}

function put(
  /** @type {State} */ { target, edits },
  /** @type {Actions} */ actions,
  /** @type {number} */ value,
) {
  if (target) actions.edit(withEdit(edits, { ...target, value }));
}

/** Closes or opens all keys of the chosen query; what was edited in that row of the mask before is gone. */
function putRow(
  /** @type {State} */ { target, edits },
  /** @type {Actions} */ actions,
  /** @type {number} */ value,
) {
  if (target) actions.edit(withEdit(edits, { stage: "masked", row: target.row, column: null, value }));
}
