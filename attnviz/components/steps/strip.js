// @ts-check
// The strip of panels: builds the DOM of every panel once per shape of data, writes titles, shapes, badges and
// readouts, and decides how many panels stand side by side. Painting is paint.js, what is marked is highlight.js.

import { el, pixelRatio, setData, setText } from "../shared/dom.js";
import { fill, fmtError, fmtReal } from "../shared/fmt.js";
import { isolate } from "../shared/axes.js";
import { gradientOf, printed, subscripted } from "../shared/panel.js";
import { largestChange } from "./edit.js";
import { KEY_STAGES, SQUARE_STAGES } from "./highlight.js";
import { paintBase, paintMarks, squareCell } from "./paint.js";
import { scaledBefore, scalingText } from "./scaled.js";
import { makeMini, paintMini, paintMiniFrame, shownOf } from "./window.js";

/** The three lines of the strip, and the operator that leads into each panel. */
const LINES = [
  ["x", "unrotated_q", "unrotated_k", "q", "k", "v"],
  ["scores", "scaled", "capped", "biased", "masked"],
  ["weights", "mixed", "concat", "projected"],
];
const OPERATORS = {
  unrotated_q: "X·W_Q",
  unrotated_k: "X·W_K",
  q: "X·W_Q",
  k: "X·W_K",
  v: "X·W_V",
  scores: "Q·Kᵀ",
  scaled: "÷ √d_k",
  capped: "softcap",
  biased: "+ B",
  masked: "+ mask",
  weights: "softmax",
  mixed: "· V",
  concat: "concat",
  projected: "· W_O",
};
const ARROWLESS = ["x", "unrotated_k", "k", "v"];
const GAP_PX = 20;
const FRAME_PX = 22;

/** @returns {string} changes when the panels have to be built anew */
function shapeOf(/** @type {any} */ header) {
  return JSON.stringify([
    header.source,
    header.cross,
    header.scaling,
    header.turned,
    header.factors,
    header.panels.map((info) => [info.stage, info.absent === null, info.error === null]),
  ]);
}

/**
 * Builds the panels when the data has another set of them; keeps them (and the focus) otherwise.
 * @param {any} view
 * @param {(panel: any) => void} wire adds the listeners of a new panel
 */
export function buildPanels(view, wire) {
  const { header } = view;
  const shape = shapeOf(header);
  if (view.shape === shape) {
    for (const panel of view.panels)
      panel.info = header.panels.find((info) => info.stage === panel.info.stage);
    return;
  }
  view.shape = shape;
  view.panels = header.panels.map((info) => makePanel(info, view));
  const lines = LINES.map((stages) =>
    el(
      "div",
      { class: "line" },
      ...view.panels.filter((panel) => stages.includes(panel.info.stage)).map((panel) => panel.step),
    ),
  );
  view.nodes.strip.replaceChildren(...lines);
  for (const panel of view.panels) if (panel.base) wire(panel);
}

/** What leads into a panel, as this model computes it. */
function operatorOf(/** @type {any} */ info, /** @type {any} */ header) {
  const { stage } = info;
  if (header.turned.includes(stage)) return "RoPE";
  if (["unrotated_q", "unrotated_k", "q", "k", "v"].includes(stage)) {
    if (header.given) return "";
    const product = KEY_STAGES.includes(stage)
      ? OPERATORS[stage].replace("X", header.source)
      : OPERATORS[stage];
    const byHand = header.edits.some((edit) => edit.stage === stage);
    if (info.error === null && !byHand) return `f(${product})`;
    return stage in header.factors ? `s_${stage.toUpperCase()}·${product}` : product;
  }
  const usual = Math.abs(header.scaling * Math.sqrt(header.d_head) - 1) < 1e-5;
  return stage === "scaled" && !usual ? `× ${scalingText(header.scaling, 3)}` : OPERATORS[stage];
}

function makePanel(/** @type {any} */ info, /** @type {any} */ view) {
  const { header } = view;
  const title = el("h2", {});
  const formula = el("span", { class: "formula" });
  const shape = el("span", { class: "shape" });
  const badge = el("p", { class: "badge" });
  const note = el("p", { class: "note" });
  const panel = /** @type {any} */ ({ info, title, formula, shape, badge, note, hover: null, col: 0 });
  const leads = operatorOf(info, header);
  const operator = leads ? el("span", { class: "operator" }, ...subscripted(leads)) : null;
  const body = info.absent === null ? makeCanvas(panel) : el("p", { class: "absent" });
  panel.absent = info.absent === null ? null : body;
  const mapped = info.absent === null && SQUARE_STAGES.includes(info.stage);
  const minis = mapped ? makeMini(panel, (cell) => view.choose(cell.row, cell.col)) : [];
  const section = el(
    "section",
    { class: "panel", dataset: { stage: info.stage } },
    operator,
    el("header", {}, title, formula, shape, note, ...minis),
    body,
    panel.scaleLine ?? null,
    panel.readout ?? null,
    badge,
  );
  panel.step = el(
    "div",
    { class: "step" },
    el(
      "span",
      { class: "arrow", "aria-hidden": "true" },
      ARROWLESS.includes(info.stage) || header.turned.includes(info.stage) ? "" : "→",
    ),
    section,
  );
  panel.section = section;
  return panel;
}

function makeCanvas(/** @type {any} */ panel) {
  panel.base = el("canvas", { role: "img", tabIndex: 0 });
  panel.over = el("canvas", { class: "over", "aria-hidden": "true" });
  panel.low = el("span", {});
  panel.high = el("span", {});
  panel.bar = el("span", { class: "ramp" });
  panel.scaleLine = el("p", { class: "scale" }, panel.low, panel.bar, panel.high);
  panel.readout = el("p", { class: "readout" });
  return el("div", { class: "plot" }, panel.base, panel.over);
}

/** Room for a canvas in the square panels, in the first line's and in the last line's others. */
export function measure(/** @type {any} */ view) {
  const width = Math.max(260, view.nodes.strip.clientWidth);
  const n = Math.max(view.shown.query.count, view.shown.key.count);
  const need = n <= 12 ? Math.max(190, n * 22 + 50) : 230;
  const perLine = Math.max(1, Math.min(3, Math.floor(width / (need + FRAME_PX + GAP_PX))));
  const square = Math.floor(
    Math.min(n <= 12 ? Math.max(need, 340) : 326, width / perLine - FRAME_PX - GAP_PX),
  );
  const four = width >= 860;
  const share = (room, count) => Math.floor(Math.max(130, Math.min(300, room / count - FRAME_PX - GAP_PX)));
  const first = view.panels.filter((panel) => LINES[0].includes(panel.info.stage)).length;
  const early = four ? share(width, first > 4 ? 3 : 4) : share(width, width >= 480 ? 2 : 1);
  const late = four ? share(width - square - FRAME_PX - GAP_PX, 3) : early;
  view.widths = { square, early, late, cell: 0 };
  view.widths.cell = squareCell(view);
}

/** What a drawing of the strip depends on besides the data: its width and the screen's resolution. */
export function roomKey(/** @type {any} */ view) {
  return `${view.nodes.strip.clientWidth}@${pixelRatio()}`;
}

/** The room of one panel's canvas. */
export function roomOf(/** @type {string} */ stage, /** @type {any} */ widths) {
  if (SQUARE_STAGES.includes(stage)) return widths.square;
  return LINES[2].includes(stage) ? widths.late : widths.early;
}

/** Texts and pictures of all panels. */
export function drawStrip(/** @type {any} */ view) {
  view.drawnFor = roomKey(view);
  moveShown(view);
  measure(view);
  for (const panel of view.panels) {
    writePanel(panel, view);
    panel.section.style.width = `${roomOf(panel.info.stage, view.widths) + FRAME_PX}px`;
    if (!panel.base) continue;
    paintBase(panel, view);
    writeScale(panel, view);
    if (panel.mini) paintMini(panel, view);
  }
  levelLines(view);
  markStrip(view);
}

/** Gives headers and badges of one line equal heights, so that the rows of neighbouring matrices line up. */
function levelLines(/** @type {any} */ view) {
  const rows = [...view.nodes.strip.children].flatMap((line) =>
    ["header", ".badge"].map((part) => [...line.querySelectorAll(`.panel > ${part}`)]),
  );
  for (const node of rows.flat()) node.style.minHeight = "";
  const heights = rows.map((nodes) => Math.max(...nodes.map((node) => node.offsetHeight))); // all read at once: one layout of the page
  rows.forEach((nodes, i) => {
    for (const node of nodes) node.style.minHeight = `${heights[i]}px`;
  });
}

/** Brings the chosen cell into sight. Returns whether another part is on show now. */
function moveShown(/** @type {any} */ view) {
  const { header, query, key } = view;
  const before = JSON.stringify(view.shown ?? null);
  view.shown = shownOf(header.tokens.length, header.key_tokens.length, query, key, view.shown ?? null);
  return JSON.stringify(view.shown) !== before;
}

/** Marks and readouts of all panels, after another cell was chosen; of long texts other cells may come into sight. */
export function markStrip(/** @type {any} */ view) {
  const moved = moveShown(view);
  for (const panel of view.panels) {
    if (!panel.base) continue;
    if (moved) paintBase(panel, view);
    markPanel(panel, view);
    if (panel.mini) paintMiniFrame(panel, view);
  }
}

/** Marks and readout of one panel. */
export function markPanel(/** @type {any} */ panel, /** @type {any} */ view) {
  paintMarks(panel, view);
  writeReadout(panel, view);
}

function writePanel(/** @type {any} */ panel, /** @type {any} */ view) {
  const { info } = panel;
  const { strings, head_slice: slice } = view.header;
  const [rows, cols] = info.shape ?? [];
  const shape = info.shape
    ? fill(strings.shape, { rows: info.rows, n_rows: rows, cols: info.cols, n_cols: cols })
    : "";
  setText(panel.title, info.title);
  if (panel.wrote !== info.formula) panel.formula.replaceChildren(...subscripted(info.formula));
  panel.wrote = info.formula;
  setText(panel.shape, shape);
  if (panel.absent) {
    panel.absent.replaceChildren(el("b", {}, strings.absent), el("span", {}, info.absent));
    panel.badge.hidden = true;
    return;
  }
  const notes = [];
  if (info.rows_sum_to !== null) notes.push(fill(strings.rows_sum_to, { sum: info.rows_sum_to }));
  if (info.stage === "concat")
    notes.push(fill(strings.head_columns, { first: slice[0], last: slice[1] - 1 }));
  if (info.stage in view.header.factors) notes.push(view.header.factors[info.stage]);
  const before = info.stage === "scaled" ? scaledBefore(view.header) : null;
  if (before) notes.push(before);
  panel.note.replaceChildren(...subscripted(notes.join(" · ")));
  panel.base.setAttribute("aria-label", fill(strings.canvas_label, { title: info.title, shape }));
  writeBadge(panel, view);
}

/** How far our numbers are from the model's own, and whether that is within the tolerance. */
function writeBadge(/** @type {any} */ panel, /** @type {any} */ view) {
  const { error, ok, tolerance, stage } = panel.info;
  const none = ok && error === null;
  const { strings } = view.header;
  const change = largestChange(view, stage);
  panel.section.classList.toggle("edited", change !== null);
  if (change !== null) {
    setData(panel.badge, { ok: "none", change: String(change) });
    panel.badge.title = "";
    return void panel.badge.replaceChildren(fill(strings.changed, { size: fmtReal(change) }));
  }
  const text = none
    ? strings.no_reference
    : fill(strings.badge, { error: fmtError(error ?? NaN) }).replace(/ = /, " =\u00a0");
  const verdict = fill(ok ? strings.badge_ok : strings.badge_bad, { tolerance: fmtError(tolerance) });
  setData(panel.badge, { ok: none ? "none" : String(ok) });
  panel.badge.title = none ? "" : verdict;
  panel.section.classList.toggle("bad", !ok);
  panel.badge.replaceChildren(
    text,
    none ? "" : el("span", { class: "sign", "aria-hidden": "true" }, ok ? "\u00a0✓" : "\u00a0✗"),
    none ? "" : el("span", { class: ok ? "hidden" : "verdict" }, ` ${verdict}`),
  );
}

/** The ends of the colour scale, in numbers, with the ramp between. */
function writeScale(/** @type {any} */ panel, /** @type {any} */ view) {
  const { scale, digits } = panel;
  const { strings } = view.header;
  setText(panel.low, scale.low);
  setText(panel.high, scale.name ? `${scale.high} (${scale.name})` : scale.high);
  panel.bar.style.background = gradientOf(scale.lut);
  panel.scaleLine.title = digits === null ? "" : fill(strings.cell_digits, { digits });
}

/** What the panel holds under the pointer, else at the chosen cell. */
function writeReadout(/** @type {any} */ panel, /** @type {any} */ view) {
  const at = panel.hover ?? chosenIn(panel, view);
  const { tokens, key_tokens: keys } = view.header;
  const matrix = view.arrays[panel.info.stage];
  if (!at) return void panel.readout.replaceChildren(" ");
  const value = matrix.data[at.row * matrix.shape[1] + at.col];
  const square = SQUARE_STAGES.includes(panel.info.stage);
  const role = KEY_STAGES.includes(panel.info.stage) ? "key" : "query";
  const where = square
    ? [
        el("span", { class: "query" }, isolate(tokens[at.row])),
        " → ",
        el("span", { class: "key" }, isolate(keys[at.col])),
      ]
    : [
        el("span", { class: role }, isolate((role === "key" ? keys : tokens)[at.row])),
        ` · ${panel.info.cols} ${at.col}`,
      ];
  panel.readout.replaceChildren(el("span", { class: "where" }, ...where), el("b", {}, printed(value)));
  setData(panel.readout, { value: String(value) });
}

/** The cell a panel speaks of when nothing is pointed at. */
export function chosenIn(/** @type {any} */ panel, /** @type {any} */ view) {
  const { query, key } = view;
  const { stage } = panel.info;
  if (SQUARE_STAGES.includes(stage)) return query !== null && key !== null ? { row: query, col: key } : null;
  const row = KEY_STAGES.includes(stage) ? key : query;
  const col = Math.min(panel.col, view.arrays[stage].shape[1] - 1);
  return row === null ? null : { row, col };
}

/** One panel's value at its chosen cell in a sentence, for the live region. */
export function spoken(/** @type {any} */ panel, /** @type {any} */ view) {
  const at = chosenIn(panel, view);
  const { tokens, key_tokens: keys, strings } = view.header;
  const { info } = panel;
  if (!at) return "";
  const value = printed(view.arrays[info.stage].data[at.row * view.arrays[info.stage].shape[1] + at.col]);
  if (SQUARE_STAGES.includes(info.stage)) {
    return fill(strings.readout_pair, {
      title: info.title,
      query: isolate(tokens[at.row]),
      key: isolate(keys[at.col]),
      value,
    });
  }
  return fill(strings.readout_row, {
    title: info.title,
    axis: info.rows,
    token: isolate((KEY_STAGES.includes(info.stage) ? keys : tokens)[at.row]),
    col_axis: info.cols,
    col: at.col,
    value,
  });
}
