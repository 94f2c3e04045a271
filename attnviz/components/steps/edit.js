// @ts-check
// Changing numbers by hand: the bar that edits the chosen entry, lists what was changed, and says which of the three
// pictures is shown: edited, original, or the difference. The server computes what follows; here nothing is derived.

import { el, setBusy, setData, setText } from "../shared/dom.js";
import { fill, fmtReal } from "../shared/fmt.js";
import { isolate } from "../shared/axes.js";
import { writeParameter } from "../shared/selection.js";
import { KEY_STAGES } from "./highlight.js";

export const EDITABLE = ["q", "k", "v", "scores", "masked"];
const MODES = /** @type {const} */ (["edited", "original", "difference"]);

/**
 * One changed entry; value is −Infinity ("closed" on the way here) where a cell of the mask was closed. A column of null
 * stands for all keys of the row, closed or with Infinity ("opened") as they are before the mask.
 * @typedef {{stage: string, row: number, column: number | null, value: number}} Edit
 */

/** An edit as the server writes it: JSON has no infinite numbers. @returns {Edit} */
export function readEdit(/** @type {any} */ edit) {
  const value = { closed: -Infinity, opened: Infinity }[/** @type {string} */ (edit.value)] ?? edit.value;
  return { ...edit, value };
}

/** The bar, empty until there is something to edit. */
export function makeEditBar(/** @type {any} */ view) {
  const bar = /** @type {any} */ ({});
  bar.where = el("label", { class: "edit-where" });
  bar.input = el("input", {
    type: "number",
    step: "any",
    class: "edit-value",
    on: {
      keydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === "Enter") setTyped(view);
      },
    },
  });
  bar.set = el("button", { type: "button", class: "av-button", on: { click: () => setTyped(view) } });
  bar.block = el("button", { type: "button", class: "av-button", on: { click: () => toggleBlock(view) } });
  bar.blockRow = el("button", {
    type: "button",
    class: "av-button edit-block-row",
    on: { click: () => putRow(view, -Infinity) },
  });
  bar.openRow = el("button", {
    type: "button",
    class: "av-button edit-open-row",
    on: { click: () => putRow(view, Infinity) },
  });
  bar.hint = el("span", { class: "hint" });
  bar.entry = el("div", { class: "edit-entry" }, bar.where, bar.set, bar.block, bar.blockRow, bar.openRow);
  bar.chips = el("ul", { class: "edit-chips" });
  bar.reset = el("button", { type: "button", class: "av-button", on: { click: () => send(view, []) } });
  bar.modes = el("div", { class: "edit-modes", role: "radiogroup" });
  bar.node = el("div", { class: "edit-bar" }, bar.hint, bar.entry, bar.chips, bar.modes, bar.reset);
  return bar;
}

/** Writes the bar anew: after data, choice or mode changed. */
export function showEditBar(/** @type {any} */ view) {
  const { editBar: bar, header, target } = view;
  const { strings, edits } = header;
  const at = target && entryAt(view);
  bar.node.hidden = !header.editable;
  setText(bar.hint, at ? "" : strings.edit_hint);
  bar.hint.hidden = Boolean(at);
  bar.entry.hidden = !at;
  if (at) {
    bar.where.replaceChildren(fill(strings.edit_value, { place: placeOf(view, target) }), bar.input);
    bar.input.value = Number.isFinite(at.value) ? String(Number(at.value.toPrecision(6))) : "";
    setText(bar.set, strings.edit_set);
    for (const button of [bar.block, bar.blockRow, bar.openRow]) button.hidden = target.stage !== "masked";
    setText(bar.blockRow, strings.edit_block_row);
    setText(bar.openRow, strings.edit_open_row);
    setText(bar.block, at.value === -Infinity ? strings.edit_open : strings.edit_block);
  }
  bar.chips.replaceChildren(...edits.map((/** @type {Edit} */ edit) => chipOf(view, edit)));
  bar.reset.hidden = bar.modes.hidden = !edits.length;
  setText(bar.reset, strings.edit_reset);
  bar.modes.setAttribute("aria-label", strings.edit_modes);
  bar.modes.replaceChildren(...MODES.map((mode) => modeButton(view, mode)));
  setData(view.nodes.top, { mode: view.mode, edits: edits.length });
}

/** What the panels are to paint: the edited stages, the original ones, or edited − original. */
export function arraysOf(/** @type {any} */ view) {
  const shown = { ...view.edited };
  if (view.mode === "edited") return shown;
  for (const stage of changedStages(view)) {
    const was = view.edited[`was_${stage}`];
    const now = view.edited[stage];
    shown[stage] =
      view.mode === "original"
        ? was
        : {
            ...now,
            limit: undefined,
            data: now.data.map((value, at) => (value === was.data[at] ? 0 : value - was.data[at])),
          };
  }
  return shown;
}

/** The stages that edits have changed. @returns {string[]} */
export function changedStages(/** @type {any} */ view) {
  return Object.keys(view.edited)
    .filter((name) => name.startsWith("was_"))
    .map((name) => name.slice(4));
}

/** The largest change of a stage; null where nothing changed. Opened and closed cells count as changes of any size. */
export function largestChange(/** @type {any} */ view, /** @type {string} */ stage) {
  const was = view.edited[`was_${stage}`];
  return was
    ? view.edited[stage].data.reduce(
        (most, value, at) => (value === was.data[at] ? most : Math.max(most, Math.abs(value - was.data[at]))),
        0,
      )
    : null;
}

/** The entry that the bar edits, with its value now. */
function entryAt(/** @type {any} */ view) {
  const { stage, row, column } = view.target;
  const matrix = view.edited[stage];
  if (!matrix || row >= matrix.shape[0] || column >= matrix.shape[1]) return null;
  return { value: matrix.data[row * matrix.shape[1] + column] };
}

/** "Q · cat · 5" or "Scores · it → animal". */
function placeOf(
  /** @type {any} */ view,
  /** @type {{stage: string, row: number, column: number | null}} */ { stage, row, column },
) {
  const { header } = view;
  const { tokens, key_tokens: keys } = header;
  const title = header.panels.find((info) => info.stage === stage)?.title ?? stage;
  if (column === null) return fill(header.strings.edit_row, { title, query: isolate(tokens[row]) });
  if (stage === "scores" || stage === "masked")
    return `${title} · ${isolate(tokens[row])} → ${isolate(keys[column])}`;
  return `${title} · ${isolate((KEY_STAGES.includes(stage) ? keys : tokens)[row])} · ${column}`;
}

function chipOf(/** @type {any} */ view, /** @type {Edit} */ edit) {
  const was = view.edited[`was_${edit.stage}`];
  const old = was && edit.column !== null ? was.data[edit.row * was.shape[1] + edit.column] : edit.value;
  const place = placeOf(view, edit);
  const { strings } = view.header;
  const row = edit.value < 0 ? strings.edit_row_blocked : strings.edit_row_open;
  const [said, value] =
    edit.column === null ? [`${place}: `, row] : [`${place}: ${fmtReal(old)} → `, fmtReal(edit.value)];
  const drop = el(
    "button",
    {
      type: "button",
      class: "edit-drop",
      "aria-label": fill(strings.edit_undo, { place }),
      on: {
        click: () =>
          send(
            view,
            view.header.edits.filter((/** @type {Edit} */ other) => other !== edit),
          ),
      },
    },
    "×",
  );
  return el("li", {}, el("span", {}, said), el("b", {}, value), drop);
}

function modeButton(/** @type {any} */ view, /** @type {"edited" | "original" | "difference"} */ mode) {
  const chosen = view.mode === mode;
  const { strings } = view.header;
  const name = {
    edited: strings.edit_edited,
    original: strings.edit_original,
    difference: strings.edit_difference,
  }[mode];
  return el(
    "button",
    {
      type: "button",
      class: "av-button",
      role: "radio",
      "aria-checked": String(chosen),
      "data-mode": mode,
      on: { click: () => view.setMode(mode) },
    },
    name,
  );
}

function setTyped(/** @type {any} */ view) {
  const value = view.editBar.input.valueAsNumber;
  if (Number.isFinite(value)) put(view, value);
}

/** Closes a cell of the mask, or opens it again with the score that stands before the mask. */
function toggleBlock(/** @type {any} */ view) {
  const { row, column } = view.target;
  const closed = entryAt(view)?.value === -Infinity;
  const { edited } = view;
  const before = edited.biased ?? edited.capped ?? edited.scaled;
  put(view, closed ? before.data[row * before.shape[1] + column] : -Infinity);
}

function put(/** @type {any} */ view, /** @type {number} */ value) {
  const { target, header } = view;
  const others = header.edits.filter(
    (/** @type {Edit} */ edit) =>
      edit.stage !== target.stage || edit.row !== target.row || edit.column !== target.column,
  );
  send(view, [...others, { ...target, value }]);
}

/** Closes or opens all keys of the chosen query; what was edited in that row of the mask before is gone. */
function putRow(/** @type {any} */ view, /** @type {number} */ value) {
  const { row } = view.target;
  const stage = "masked";
  const others = view.header.edits.filter(
    (/** @type {Edit} */ edit) => edit.stage !== stage || edit.row !== row,
  );
  send(view, [...others, { stage, row, column: null, value }]);
}

/** Asks the server for what follows, and lets the address say it. */
function send(/** @type {any} */ view, /** @type {Edit[]} */ edits) {
  const number = (/** @type {number} */ value) =>
    Number.isFinite(value) ? String(Number(value.toPrecision(9))) : value < 0 ? "-inf" : "inf";
  const text = edits
    .map(({ stage, row, column, value }) => `${stage}.${row}.${column ?? "*"}=${number(value)}`)
    .join(",");
  if (!edits.length) view.mode = "edited";
  setBusy(view.nodes.top, true);
  view.committer.commit();
  writeParameter("edits", text || null);
  view.trigger("edit", text);
}
