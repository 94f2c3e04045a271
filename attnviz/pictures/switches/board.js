// @ts-check
// The board: a button for each head with its small heatmap, below it the effect that was measured as number and bar.
// Arrow keys move between the heads, Enter and Space switch.

import { headValues } from "../shared/buffer.js";
import { levelTable, sequential } from "../shared/colors.js";
import { context2d, dataAt, el, markDrawn } from "../shared/dom.js";
import { fmtFixed, fmtPercent } from "../shared/fmt.js";
import { hiddenPoints } from "../shared/hidden.js";
import { paintLevels } from "../shared/matrix.js";

/** @import { PackedArray } from "../shared/buffer.js" */
/** @import { Theme } from "../shared/theme.js" */
/** @import { Arrays, SwitchGroup, Header } from "./types.js" */

/** A head of the board; `group` is the place of its attention. @typedef {{group: number, layer: number, head: number, name: string, effect: number | null}} At */
/** @typedef {{switched: (at: At) => void, pointed: (at: At | null) => void}} BoardEvents */
/**
 * A head's button with what it shows. @typedef {At & {node: HTMLButtonElement, canvas: HTMLCanvasElement,
 *   strip: HTMLElement, weights: PackedArray, visible: PackedArray | null, row: Cell[]}} Cell
 */
/**
 * `show` marks the heads that are off, and the one of which a look is forbidden.
 * @typedef {{node: HTMLElement, paint: (theme: Theme) => void, focus: (name: string, inSight?: boolean) => void,
 *   focused: () => string | null, at: (name: string) => At | null, lay: (width: number) => void, destroy: () => void,
 *   show: (off: ReadonlyMap<string, string>, labelOf: (name: string) => string, forbidden?: string) => void}} Board
 */

const SCALE = "sqrt";
const LABEL_PX = 29; // a layer's name
const MIN_PX = 42; // a head whose number can be read, and the gap beside it
const [SMALL_PX, USUAL_PX, LARGE_PX] = [56, 72, 120]; // the side of a head where there is room for it
const [ABOVE_PX, UNDER_PX, SAYS_PX] = [190, 120, 284]; // the page above the board, what is said below or beside it
const REST_PX = 44; // of a head, below and above its picture
const WIDE_PX = 720;

/** @param {Header} header @param {Arrays} arrays @param {BoardEvents} events @returns {Board} */
export function makeBoard(header, arrays, events) {
  /** @type {Map<string, Cell>} */
  const cells = new Map();
  /** @type {Cell[][]} */
  const rows = [];
  const groups = header.groups.map((group, place) =>
    makeGroup(
      header,
      group,
      { weights: arrays[`groups.${place}.weights`], visible: arrays[`groups.${place}.visible`] ?? null },
      arrays[`groups.${place}.effects`]?.data ?? null,
      arrays[`facts.${place}.looks`]?.data ?? null,
      cells,
      rows,
    ),
  );
  const node = el("div", { class: "av-switches-groups" }, ...groups);
  listen(node, cells, rows, events);
  const first = rows[0]?.[0];
  if (first) first.node.tabIndex = 0;
  return {
    node,
    paint: (theme) => paintAll(header, cells, theme),
    focus: (name, inSight = false) => {
      const cell = cells.get(name);
      focusOn(cells, cell);
      if (inSight) cell?.node.scrollIntoView({ block: "nearest" });
    },
    focused: () => {
      const root = node.getRootNode();
      const active = root instanceof ShadowRoot ? root.activeElement : document.activeElement;
      return active instanceof HTMLElement && node.contains(active) ? (active.dataset.head ?? null) : null;
    },
    show(off, labelOf, forbidden) {
      for (const cell of cells.values()) {
        cell.node.setAttribute("aria-checked", String(!off.has(cell.name)));
        cell.node.classList.toggle("av-switch-forbidden", cell.name === forbidden);
        cell.node.setAttribute("aria-label", labelOf(cell.name));
      }
    },
    at: (name) => cells.get(name) ?? null,
    lay(width) {
      node.style.setProperty("--av-switch-px", `${sideOf(header.groups, width)}px`);
      groups.forEach((group, place) => {
        const widest = Math.max(...header.groups[place].heads);
        const lines = Math.ceil((widest * MIN_PX) / Math.max(MIN_PX, width - LABEL_PX));
        group.style.setProperty("--av-columns", String(Math.ceil(widest / lines)));
      });
    },
    destroy: () => node.remove(),
  };
}

/** The side of a head: as large as leaves all layers in sight, with what is said of a head beside or below them. */
function sideOf(/** @type {readonly SwitchGroup[]} */ groups, /** @type {number} */ width) {
  if (width < WIDE_PX) return USUAL_PX;
  const layers = groups.reduce((sum, { heads }) => sum + heads.length, 0);
  const widest = Math.max(...groups.flatMap(({ heads }) => heads));
  const tall = (/** @type {number} */ room) => (innerHeight - ABOVE_PX - room) / layers - REST_PX;
  const beside = Math.min(tall(0), (width - LABEL_PX - SAYS_PX) / widest - 4);
  return Math.round(Math.min(LARGE_PX, Math.max(SMALL_PX, tall(UNDER_PX), beside)));
}

/**
 * @param {Header} header
 * @param {SwitchGroup} group
 * @param {Pick<Cell, "weights" | "visible">} matrices
 * @param {ArrayLike<number> | null} effects
 * @param {ArrayLike<number> | null} looks
 * @param {Map<string, Cell>} cells
 * @param {Cell[][]} rows
 */
function makeGroup(header, group, matrices, effects, looks, cells, rows) {
  const place = header.groups.indexOf(group);
  const widest = Math.max(...group.heads);
  const lines = group.heads.map((count, layer) => {
    /** @type {Cell[]} */
    const row = [];
    for (let head = 0; head < count; head++) {
      const effect = effects ? effects[layer * widest + head] : null;
      const look = looks ? looks[2 * (layer * widest + head)] : NaN;
      const cell = makeCell(group, { group: place, layer, head, effect }, matrices, row, look);
      row.push(cell);
      cells.set(cell.name, cell);
    }
    rows.push(row);
    const name = el("span", { class: "av-switches-layer", "aria-hidden": "true" }, `L${layer}`);
    const heads = el("div", { class: "av-switches-heads" }, ...row.map(({ node }) => node));
    return el("div", { class: "av-switches-row" }, name, heads);
  });
  const label = group.title || header.strings.board;
  const grid = el(
    "div",
    { class: "av-switches-grid", role: "group", "aria-label": label, title: header.strings.hint },
    ...lines,
  );
  const title = group.title ? el("h3", { class: "av-heading" }, group.title) : null;
  return el("div", { class: "av-switches-group" }, title, grid);
}

/**
 * @param {SwitchGroup} group
 * @param {Omit<At, "name">} at
 * @param {Pick<Cell, "weights" | "visible">} matrices
 * @param {Cell[]} row
 * @param {number} look how strongly the chosen row looks at the chosen key, NaN where that is not known
 * @returns {Cell}
 */
function makeCell(group, at, matrices, row, look) {
  const { layer, head, effect } = at;
  const name = `${group.prefix}L${layer}.H${head}`;
  const canvas = el("canvas", { class: "av-switches-tiny", "aria-hidden": "true" });
  const strip = el("span", { class: "av-switches-strip av-number", "aria-hidden": "true" });
  const number = el("span", { class: "av-switches-name", "aria-hidden": "true" }, `H${head}`);
  const node = el(
    "button",
    { class: "av-switch", type: "button", role: "switch", tabIndex: -1, dataset: { head: name } },
    number,
    canvas,
    Number.isNaN(look) ? null : lookBar(look),
    effect === null ? null : strip,
  );
  return { ...at, name, node, canvas, strip, ...matrices, row };
}

/** How strongly the head looks at the chosen cell, as a bar of its own. */
function lookBar(/** @type {number} */ look) {
  const bar = el("span", { class: "av-switches-look", "aria-hidden": "true" });
  bar.style.setProperty("--av-share", String(look));
  return bar;
}

/** True where effects are points of a probability. */
export function isOfProbability(/** @type {Pick<Header, "effects_unit">} */ { effects_unit: unit }) {
  return unit === "percent" || unit === "points";
}

function paintAll(
  /** @type {Header} */ header,
  /** @type {Map<string, Cell>} */ cells,
  /** @type {Theme} */ theme,
) {
  const lut = sequential(theme.dark);
  for (const cell of cells.values()) {
    paintTiny(cell, lut);
    if (cell.effect === null || Number.isNaN(cell.effect)) continue;
    const share = header.most > 0 ? Math.max(0, cell.effect) / header.most : 0;
    cell.strip.style.setProperty("--av-share", String(share));
    cell.strip.textContent = isOfProbability(header) ? fmtPercent(cell.effect) : fmtFixed(cell.effect, 3);
  }
}

/** One head's weights, each cell of the matrix a pixel; none of what is hidden: the hatching below it shows. */
function paintTiny(/** @type {Cell} */ cell, /** @type {Uint32Array} */ lut) {
  const { canvas, weights, visible, layer, head } = cell;
  const [, , rows, cols] = weights.shape;
  const image = new ImageData(cols, rows);
  const values = headValues(weights, layer, head);
  const levels = levelTable(weights.dtype, SCALE);
  const out = new Uint32Array(image.data.buffer);
  paintLevels({ values, rows, cols, lut, levels }, out, cols, rows);
  if (visible)
    hiddenPoints(visible, layer, rows, cols).forEach((isHidden, at) => {
      if (isHidden) out[at] = 0;
    });
  canvas.width = cols;
  canvas.height = rows;
  context2d(canvas).putImageData(image, 0, 0);
  markDrawn(canvas);
}

/** @param {HTMLElement} node @param {Map<string, Cell>} cells @param {Cell[][]} rows @param {BoardEvents} events */
function listen(node, cells, rows, events) {
  const cellAt = (/** @type {Event} */ event) => cells.get(dataAt(event, "head") ?? "") ?? null;
  node.addEventListener("click", (event) => {
    const cell = cellAt(event);
    if (!cell) return;
    focusOn(cells, cell);
    events.switched(cell);
  });
  for (const type of /** @type {const} */ (["pointerover", "focusin"]))
    node.addEventListener(type, (event) => events.pointed(cellAt(event)));
  node.addEventListener("pointerleave", () => events.pointed(null));
  node.addEventListener("focusout", ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && node.contains(relatedTarget))) events.pointed(null);
  });
  node.addEventListener("keydown", (event) => {
    const cell = cellAt(event);
    const next = cell && stepFrom(rows, cell, event.key);
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    focusOn(cells, next);
  });
}

/** The head that an arrow, Home or End key leads to. @returns {Cell | null} */
function stepFrom(/** @type {Cell[][]} */ rows, /** @type {Cell} */ cell, /** @type {string} */ key) {
  const row = rows.indexOf(cell.row);
  const column = cell.row.indexOf(cell);
  const within = (/** @type {Cell[] | undefined} */ line) =>
    line?.[Math.min(column, line.length - 1)] ?? null;
  if (key === "ArrowLeft") return cell.row[column - 1] ?? null;
  if (key === "ArrowRight") return cell.row[column + 1] ?? null;
  if (key === "ArrowUp") return within(rows[row - 1]);
  if (key === "ArrowDown") return within(rows[row + 1]);
  if (key === "Home") return cell.row[0];
  return key === "End" ? cell.row[cell.row.length - 1] : null;
}

function focusOn(/** @type {Map<string, Cell>} */ cells, /** @type {Cell | undefined} */ chosen) {
  if (!chosen) return;
  for (const { node } of cells.values()) node.tabIndex = node === chosen.node ? 0 : -1;
  chosen.node.focus({ preventScroll: true });
}
