// @ts-check
// The Masks page: one heatmap per sentence of the padded batch, masks to switch, size and draw, the chosen row as a table.
// All of that stays in the browser: the masks are laid over the scores here, and the server is told when the pointer leaves.

import { parse } from "../shared/buffer.js";
import {
  el,
  fitCanvas,
  localPoint,
  oncePerFrame,
  pixelRatio,
  setBusy,
  setData,
  setText,
  watchSize,
} from "../shared/dom.js";
import { fill } from "../shared/fmt.js";
import { isolate } from "../shared/axes.js";
import { sequential } from "../shared/colors.js";
import { cellAt } from "../shared/matrix.js";
import { gradientOf, moveBy, roleColours } from "../shared/panel.js";
import { mounted } from "../shared/mounted.js";
import { askForHead, makePicker } from "../shared/picker.js";
import { clampSelection, makeCommitter, readSelection, writeSelection } from "../shared/selection.js";
import { theme } from "../shared/theme.js";
import { hatchPath, maskColours } from "./hatching.js";
import {
  SIZED,
  blockedBits,
  fittingSize,
  isAsModel,
  maskedWeights,
  masksOfModel,
  readMasks,
  withStroke,
  writtenMasks,
} from "./layers.js";
import { cellSentence, deadRows, layoutMaps, paintMap, paintMapMarks, sliceOf } from "./map.js";
import { drawRowTable, maskTitle } from "./rowtable.js";

const SHOWN_ERROR_DIGITS = 1;

/**
 * The header of the buffer; beside it travel model_blocks u8, scaled f32 and weights f32 [batch, query, key], the latter
 * as the model ran, and sinks f32 [batch, query]. A variant is the bit mask of the masks applied, as_model what really ran.
 * @typedef {{strings: Record<string, string>, tokens: string[][], special: number[][], written: number[][],
 *   key_tokens: string[][], key_special: number[][], key_written: number[][], cross: 0 | 1, padding: number[][], key_padding: number[][], sizes: Record<string, number>,
 *   layer: number, head: number, n_layers: number, n_heads: number, as_model: number, mask_names: string[],
 *   mask_reasons: string[], padding_of: string}} MasksHeader
 */

/** Streamlit calls this with new data or a new theme. */
export default function masks(/** @type {any} */ component) {
  return mounted(component, mountMasks, updateMasks);
}

function mountMasks(/** @type {any} */ root) {
  const view = /** @type {any} */ ({
    root,
    nodes: {},
    maps: [],
    selection: null,
    masks: null,
    numbers: [],
    sentence: 0,
    query: null,
    key: null,
  });
  const { nodes } = view;
  view.picker = makePicker((layer, head) => askForHead(view, layer, head));
  nodes.layers = el("fieldset", { class: "layers" });
  nodes.clear = el("button", {
    type: "button",
    class: "av-button clear",
    on: { click: () => choose(view, view.sentence, null, null) },
  });
  nodes.undraw = el("button", {
    type: "button",
    class: "av-button undraw",
    on: { click: () => setMasks(view, { strokes: [] }) },
  });
  nodes.reset = el("button", {
    type: "button",
    class: "av-button reset",
    on: { click: () => setMasks(view, masksOfModel(view.header)) },
  });
  nodes.banner = el("p", { class: "banner", role: "status" });
  nodes.draw = el("p", { class: "av-hint draw" }, el("span", {}), nodes.undraw);
  nodes.legend = el("div", { class: "legend" });
  nodes.maps = el("div", { class: "maps" });
  nodes.readout = el("p", { class: "readout" });
  nodes.status = el("p", { class: "av-visually-hidden", role: "status", "aria-live": "polite" });
  nodes.box = el("section", { class: "row-table" });
  nodes.top = el(
    "div",
    { class: "av masks" },
    el("div", { class: "bar" }, view.picker.node, nodes.layers),
    el("div", { class: "status" }, nodes.banner, nodes.reset),
    nodes.draw,
    nodes.maps,
    nodes.legend,
    el("div", { class: "said" }, nodes.readout, nodes.clear),
    nodes.status,
    nodes.box,
  );
  root.append(nodes.top);
  view.committer = makeCommitter(nodes.top);
  const redraw = oncePerFrame(() => view.header && view.drawnFor !== roomKey(view) && drawMaps(view));
  const stop = watchSize(nodes.maps, redraw);
  view.destroy = () => {
    stop();
    redraw.cancel();
    view.committer.destroy();
    nodes.top.remove();
  };
  return view;
}

function updateMasks(/** @type {any} */ view, /** @type {Uint8Array} */ data) {
  const { header, arrays } = parse(data);
  const { nodes } = view;
  const first = !view.header;
  const from = { ...(view.selection ?? readSelection()), layer: header.layer, head: header.head };
  view.selection = clampSelection(from, {
    ...header,
    n_query: header.tokens[0].length,
    n_key: header.key_tokens[0].length,
  });
  Object.assign(view, {
    header,
    arrays,
    theme: theme(view.root),
    scale: view.selection.scale,
    query: view.selection.query,
    key: view.selection.key,
    sentence: Math.min(view.sentence, header.tokens.length - 1),
    masks: readMasks(header),
    checked: null,
  });
  view.selection.more = { masks: writtenMasks(view.masks, header) };
  const colours = roleColours(view.theme);
  nodes.top.style.setProperty("--query", colours.query);
  nodes.top.style.setProperty("--key", colours.key);
  setBusy(nodes.top, false);
  if (first) view.committer.start(view.selection);
  else view.committer.update(view.selection);
  writeSelection(view.selection);
  view.picker.update(header.strings, header, header.layer, header.head);
  setText(nodes.clear, header.strings.clear_cell);
  setText(nodes.undraw, header.strings.undraw);
  setText(nodes.reset, header.strings.reset);
  setText(nodes.draw.firstChild, header.strings.draw_hint);
  setData(nodes.top, { layer: header.layer, head: header.head });
  buildLayers(view);
  buildMaps(view);
  showVariant(view);
}

/** One checkbox per mask, marked by its hatch; a number beside those that have a size. */
function buildLayers(/** @type {any} */ view) {
  const { header } = view;
  const { strings, mask_names: names } = header;
  view.boxes = names.map((name, bit) => {
    const title = maskTitle(header, name);
    const tag = el("span", { class: "tag" });
    const input = el("input", {
      type: "checkbox",
      "data-mask": name,
      on: { change: () => switchMask(view, bit, input.checked) },
    });
    const size = SIZED.includes(name) ? sizeBox(view, name, title) : null;
    const label = el(
      "label",
      { class: "av-check" },
      input,
      hatchSwatch(view, 1 << bit),
      el("span", {}, title),
      tag,
    );
    return { input, tag, size, node: el("span", { class: "layer" }, label, size) };
  });
  view.nodes.layers.replaceChildren(
    el("legend", {}, strings.layers_legend),
    ...view.boxes.map((box) => box.node),
  );
}

function sizeBox(/** @type {any} */ view, /** @type {string} */ name, /** @type {string} */ title) {
  const { header } = view;
  const most = Math.max(...header.key_tokens.map((keys) => keys.length));
  const box = el("input", {
    type: "number",
    class: "size",
    min: "1",
    max: String(most),
    step: "1",
    "data-size": name,
    "aria-label": fill(header.strings.size_of, { mask: title }),
    on: {
      input: () =>
        box.value &&
        setMasks(view, { sizes: { ...view.masks.sizes, [name]: fittingSize(Number(box.value)) } }),
    },
  });
  return box;
}

function buildMaps(/** @type {any} */ view) {
  const { tokens } = view.header;
  if (view.maps.length === tokens.length) return;
  view.maps = tokens.map((_, sentence) => makeMap(view, sentence));
  view.nodes.maps.replaceChildren(...view.maps.map((map) => map.node));
}

function makeMap(/** @type {any} */ view, /** @type {number} */ sentence) {
  const base = el("canvas", { role: "img", tabIndex: 0 });
  const over = el("canvas", { class: "over", "aria-hidden": "true" });
  const title = el("h2", {});
  const count = el("span", { class: "count" });
  const dead = el("p", { class: "dead" });
  const node = el(
    "section",
    { class: "map", dataset: { sentence: String(sentence) } },
    el("header", {}, title, count),
    el("div", { class: "plot" }, base, over),
    dead,
  );
  const map = /** @type {any} */ ({ sentence, base, over, title, count, dead, node, hover: null });
  wireMap(map, view);
  return map;
}

/** The masks that are on have changed: pictures, banner, legend, table. */
function showVariant(/** @type {any} */ view) {
  const { header, nodes, masks } = view;
  const { strings } = header;
  const { variant } = masks;
  const whatIf = !isAsModel(masks, header);
  view.numbers = header.tokens.map((_, sentence) => {
    const bits = blockedBits(view, sentence);
    return {
      bits,
      weights: whatIf ? maskedWeights(view, sentence, bits, variant) : sliceOf(view, "weights", sentence),
    };
  });
  view.boxes.forEach((box, bit) => {
    const flag = 1 << bit;
    const on = Boolean(variant & flag);
    const name = header.mask_names[bit];
    const resized = on && box.size && masks.sizes[name] !== header.sizes[name];
    const same = on === Boolean(header.as_model & flag) && !resized;
    box.input.checked = on;
    setText(box.tag, same ? strings.as_ran : strings.what_if);
    box.tag.hidden = same && !on;
    box.tag.classList.toggle("what-if", !same);
    if (box.size && Number(box.size.value) !== masks.sizes[name]) box.size.value = String(masks.sizes[name]);
  });
  const custom = header.mask_names.indexOf("custom");
  nodes.draw.hidden = !(variant & (1 << custom));
  nodes.undraw.hidden = masks.strokes.length === 0;
  nodes.reset.hidden = !whatIf;
  setData(nodes.top, { variant, masks: writtenMasks(masks, header) });
  setData(nodes.banner, { whatif: String(whatIf), error: whatIf ? ownError(view) : null });
  setText(
    nodes.banner,
    whatIf
      ? fill(strings.banner_what_if, {
          error: ownError(view).toExponential(SHOWN_ERROR_DIGITS).replace("-", "−"),
        })
      : strings.banner_as_ran,
  );
  writeLegend(view);
  drawMaps(view);
  drawRowTable(view);
}

/** How far this page's own softmax is from the model's weights, under the model's own masks: padding rows aside. */
function ownError(/** @type {any} */ view) {
  if (view.checked !== null) return view.checked;
  const { header } = view;
  const before = view.masks;
  view.masks = masksOfModel(header);
  view.checked = Math.max(
    ...header.tokens.map((_, sentence) => {
      const own = maskedWeights(view, sentence, blockedBits(view, sentence), header.as_model);
      const model = sliceOf(view, "weights", sentence);
      const n = header.key_tokens[sentence].length;
      return own.reduce(
        (most, weight, i) =>
          header.padding[sentence][Math.floor(i / n)] ? most : Math.max(most, Math.abs(weight - model[i])),
        0,
      );
    }),
  );
  view.masks = before;
  return view.checked;
}

function writeLegend(/** @type {any} */ view) {
  const { header, nodes } = view;
  const { variant } = view.masks;
  const { strings, mask_names: names } = header;
  const entries = [];
  const ramp = el("span", { class: "ramp" });
  ramp.style.background = gradientOf(sequential(view.theme.dark));
  const scale = { sqrt: " (√)", log: " (log)", linear: "" }[view.scale];
  entries.push(el("span", { class: "entry" }, strings.legend_weight, " 0", ramp, `1${scale}`));
  names.forEach((name, bit) => {
    if (variant & (1 << bit))
      entries.push(
        el(
          "span",
          { class: "entry" },
          hatchSwatch(view, 1 << bit),
          fill(strings.legend_blocked, { mask: maskTitle(header, name) }),
        ),
      );
  });
  if (variant & (variant - 1))
    entries.push(el("span", { class: "entry" }, hatchSwatch(view, variant), strings.legend_both));
  nodes.legend.replaceChildren(...entries);
}

/** A small sample of the hatch of one or more masks. */
function hatchSwatch(/** @type {any} */ view, /** @type {number} */ bits) {
  const canvas = el("canvas", { class: "swatch", "aria-hidden": "true" });
  const box = { x: 0, y: 0, w: 22, h: 14 };
  const path = new Path2D();
  const ctx = fitCanvas(canvas, box.w, box.h);
  path.rect(0, 0, box.w, box.h);
  ctx.fillStyle = view.theme.bg2;
  ctx.fill(path);
  maskColours(view.theme).forEach(
    (colour, bit) => bits & (1 << bit) && hatchPath(ctx, path, box, colour, bit),
  );
  return canvas;
}

/** What a drawing of the maps depends on besides the data: their width and the screen's resolution. */
function roomKey(/** @type {any} */ view) {
  return `${view.nodes.maps.clientWidth}@${pixelRatio()}`;
}

function drawMaps(/** @type {any} */ view) {
  view.drawnFor = roomKey(view);
  const { nodes, header, maps } = view;
  const { strings, tokens, padding } = header;
  const room = Math.max(240, nodes.maps.clientWidth);
  const side = maps.length > 1 && room >= 760;
  view.width = Math.floor(Math.min(620, side ? (room - 32) / 2 : room));
  layoutMaps(view);
  for (const map of maps) {
    const { sentence } = map;
    const n = tokens[sentence].length;
    const pads = padding[sentence].reduce((sum, flag) => sum + flag, 0);
    setText(map.title, fill(strings.sentence, { sentence: sentence + 1 }));
    setText(map.count, fill(strings.sentence_counts, { tokens: n, padding: pads }));
    map.base.setAttribute(
      "aria-label",
      fill(strings.map_label, {
        sentence: sentence + 1,
        n_query: n,
        n_key: header.key_tokens[sentence].length,
      }),
    );
    map.node.style.width = `${view.width}px`;
    paintMap(map, view);
    paintMapMarks(map, view);
    const rows = deadRows(view, sentence);
    map.dead.classList.toggle("bad", rows.length > 0);
    setData(map.dead, { rows: rows.join(",") });
    setText(
      map.dead,
      rows.length
        ? fill(strings.dead_rows, { rows: listRows(rows, tokens[sentence]) })
        : strings.no_dead_rows,
    );
  }
  showReadout(view, null, null);
}

/** "3 (tired), 4 (to) …", at most eight of them. */
function listRows(/** @type {number[]} */ rows, /** @type {string[]} */ names) {
  const shown = rows
    .slice(0, 8)
    .map((row) => `${row} (${isolate(names[row])})`)
    .join(", ");
  return rows.length > 8 ? `${shown}, … ${rows.length}` : shown;
}

/** What is under the pointer, else the chosen cell, in words. */
function showReadout(/** @type {any} */ view, /** @type {any} */ map, /** @type {any} */ cell) {
  const { query, key, sentence, nodes } = view;
  const chosen = query !== null && key !== null;
  if (cell) setText(nodes.readout, cellSentence(view, map.sentence, cell.row, cell.col));
  else setText(nodes.readout, chosen ? cellSentence(view, sentence, query, key) : view.header.strings.hint);
  nodes.clear.hidden = query === null && key === null;
}

function switchMask(/** @type {any} */ view, /** @type {number} */ bit, /** @type {boolean} */ on) {
  setMasks(view, { variant: on ? view.masks.variant | (1 << bit) : view.masks.variant & ~(1 << bit) });
}

/** Other masks, sizes or strokes: everything is shown anew, and the address has them. */
function setMasks(/** @type {any} */ view, /** @type {any} */ change) {
  view.masks = { ...view.masks, ...change };
  tell(view, { more: { masks: writtenMasks(view.masks, view.header) } });
  showVariant(view);
}

function tell(/** @type {any} */ view, /** @type {any} */ change) {
  view.selection = { ...view.selection, ...change };
  view.committer.update(view.selection);
  writeSelection(view.selection);
}

/**
 * Another cell of a sentence is chosen, or none.
 * @param {any} view
 * @param {number} sentence
 * @param {number | null} query
 * @param {number | null} key
 */
function choose(view, sentence, query, key) {
  Object.assign(view, { sentence, query, key });
  tell(view, { query, key });
  for (const map of view.maps) paintMapMarks(map, view);
  showReadout(view, null, null);
  setText(view.nodes.status, query === null || key === null ? "" : cellSentence(view, sentence, query, key));
  drawRowTable(view);
}

/** Pointer and keys of one sentence's map. With the drawn mask on, a drag blocks cells, or opens them where it began on one. */
function wireMap(/** @type {any} */ map, /** @type {any} */ view) {
  const { base, sentence } = map;
  const remark = oncePerFrame(() => {
    paintMapMarks(map, view);
    showReadout(view, map, map.hover);
  });
  const hit = (event) => {
    const { x, y } = localPoint(event, base);
    return cellAt(x, y, map.layout.geom);
  };
  /** @type {{row: number, col: number} | null} */
  let began = null;
  const stop = () => {
    began = null;
    map.stroke = null;
  };
  base.addEventListener("pointerdown", (event) => {
    if (!draws(view) || event.button !== 0) return;
    began = hit(event);
    if (began) base.setPointerCapture(event.pointerId);
  });
  base.addEventListener("pointermove", (event) => {
    map.hover = hit(event);
    if (began && map.hover) map.stroke = strokeOf(view, sentence, began, map.hover);
    remark();
  });
  base.addEventListener("pointerup", () => {
    const { stroke } = map;
    const drawn = stroke && (stroke.top !== stroke.bottom || stroke.left !== stroke.right);
    stop();
    if (drawn) {
      map.drawn = true;
      setMasks(view, withStroke(view.masks, stroke));
    }
    remark();
  });
  base.addEventListener("pointercancel", () => {
    stop();
    remark();
  });
  base.addEventListener("pointerleave", () => {
    map.hover = null;
    remark();
  });
  base.addEventListener("click", (event) => {
    const cell = map.drawn ? null : hit(event);
    map.drawn = false;
    if (cell) choose(view, sentence, cell.row, cell.col);
  });
  base.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return choose(view, sentence, null, null);
    if (
      event.key.toLowerCase() === "b" &&
      draws(view) &&
      view.sentence === sentence &&
      view.query !== null &&
      view.key !== null
    ) {
      const cell = { row: view.query, col: view.key };
      return setMasks(view, withStroke(view.masks, strokeOf(view, sentence, cell, cell)));
    }
    const here = view.sentence === sentence;
    const from = { row: here ? view.query : null, col: here ? view.key : null };
    const cell = moveBy(event, from, map.layout.geom);
    if (!cell) return undefined;
    event.preventDefault();
    return choose(view, sentence, cell.row, cell.col);
  });
}

/** Whether cells can be drawn: the mask for that is on. */
function draws(/** @type {any} */ view) {
  return Boolean(view.masks.variant & (1 << view.header.mask_names.indexOf("custom")));
}

/**
 * The rectangle between two cells; it opens cells when it begins on one that was drawn.
 * @param {any} view
 * @param {number} sentence
 * @param {{row: number, col: number}} from
 * @param {{row: number, col: number}} to
 */
function strokeOf(view, sentence, from, to) {
  const { header, numbers } = view;
  const n = header.key_tokens[sentence].length;
  const bit = 1 << header.mask_names.indexOf("custom");
  return {
    blocks: !(numbers[sentence].bits[from.row * n + from.col] & bit),
    top: Math.min(from.row, to.row),
    bottom: Math.max(from.row, to.row),
    left: Math.min(from.col, to.col),
    right: Math.max(from.col, to.col),
  };
}
