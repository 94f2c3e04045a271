// @ts-check
// Tiles: one head of a long text. Zoom, pan, hover and search happen here; tiles that are missing, another head and
// another list of cells are asked of the server by the state "want" (see Want in __init__.py), a few at a time.

import { axisMarks, isolate } from "../shared/axes.js";
import { parse } from "../shared/buffer.js";
import { drawColourBar, sequential } from "../shared/colors.js";
import { el, oncePerFrame, setBusy, setText, watchSize } from "../shared/dom.js";
import { fill, headName } from "../shared/fmt.js";
import { mounted } from "../shared/mounted.js";
import { printed } from "../shared/panel.js";
import { askForHead, makePicker } from "../shared/picker.js";
import {
  cancelWrite,
  clampSelection,
  makeCommitter,
  readSelection,
  writeSelection,
} from "../shared/selection.js";
import { heardOf } from "../shared/spectrum.js";
import { theme } from "../shared/theme.js";
import { cameraAt, clampCamera, levelOf, wholeCamera, zoomCamera } from "./camera.js";
import { cellOnMap, drawMap } from "./map.js";
import { listenMoves } from "./moves.js";
import { buildTiles } from "./parts.js";
import { drawPlot, layoutPlot } from "./plot.js";
import { placesOf } from "./find.js";
import { makeStore, TILE_FLOOR, tileColours } from "./store.js";

const QUIET = 60;
const PATIENCE_MS = 8000;
const MOST_ASKED = 16;
const SIDE = 640;
const NARROW = 860;
const ASIDE = 270;

/**
 * The header of an answer; beside it travel the tiles by their names "level/row/column".
 * @typedef {{strings: Record<string, string>, stamp: string, axes_stamp: string, axes: any, cross: 0 | 1, layer: number, head: number,
 *   heard: any, n_layers: number, n_heads: number, n_query: number, n_key: number, top: number, ready: 0 | 1, number: number, empty: number[][],
 *   distances: number[], distance: number, cells: number[][], pinned: number[] | null}} TilesHeader
 */

/** Streamlit calls this with new data or a new theme. */
export default function tiles(/** @type {any} */ component) {
  return mounted(component, mountTiles, updateTiles);
}

function mountTiles(/** @type {any} */ root) {
  const box = el("section", { class: "av av-tiles" });
  root.append(box);
  const view = /** @type {any} */ ({
    root,
    nodes: { top: box },
    store: makeStore(),
    places: [],
    number: 0,
    asked: null,
    distance: 0,
  });
  view.picker = makePicker((layer, head) => askForHead(view, layer, head));
  view.committer = makeCommitter(box);
  view.show = oncePerFrame(() => showTiles(view));
  const stop = watchSize(box, () => {
    if (view.axes) layoutTiles(view);
  });
  view.destroy = () => {
    stop();
    view.show.cancel();
    clearTimeout(view.timer);
    view.parts?.finder.destroy();
    view.committer.destroy();
    cancelWrite();
    box.remove();
  };
  return view;
}

/** New tiles, another head, another text, or another theme. */
function updateTiles(/** @type {any} */ view, /** @type {Uint8Array} */ data) {
  const { header, arrays } = parse(data);
  view.number = Math.max(view.number, header.number);
  if (!view.asked || header.number >= view.asked.number) view.asked = null;
  view.header = header;
  if (!header.axes && view.axesStamp !== header.axes_stamp) return askSoon(view); // this browser forgot the names
  const first = !view.axes;
  const other = view.axesStamp !== header.axes_stamp;
  if (view.stamp !== header.stamp) view.store.clear();
  view.stamp = header.stamp;
  for (const [name, { data: values }] of Object.entries(arrays))
    if (name.includes("/")) view.store.put(name, values);
  for (const name of header.empty) view.store.put(name.join("/"), null);
  view.store.forget(header.top);
  if (other) takeAxes(view, header, heardOf(header, arrays));
  takeSelection(view, first);
  if (other) buildAll(view);
  setBusy(view.nodes.top, false);
  view.distance = header.distance;
  showFrame(view);
  layoutTiles(view);
  return undefined;
}

function takeAxes(/** @type {any} */ view, /** @type {any} */ header, /** @type {any} */ heard) {
  const { axes } = header;
  const same = !header.cross;
  const rows = { labels: axes.tokens, marks: axisMarks(axes.special, axes.written) };
  view.axes = {
    rows,
    columns: same ? rows : { labels: axes.key_tokens, marks: axisMarks(axes.key_special, axes.key_written) },
  };
  Object.assign(view, {
    heard,
    axesStamp: header.axes_stamp,
    camera: null,
    hover: null,
    found: null,
    pointed: null,
    places: [],
  });
}

/** Layer and head are the server's; the pinned cell and the scale are the address's at first, then this browser's. */
function takeSelection(/** @type {any} */ view, /** @type {boolean} */ first) {
  const { header } = view;
  const from = { ...(first ? readSelection() : view.selection), layer: header.layer, head: header.head };
  view.selection = clampSelection(from, header);
  const { query, key } = view.selection;
  view.pinned = query !== null && key !== null ? { query, key } : null;
  // nearly all weights of a long text are small: where no scale was chosen it is the logarithmic one
  if (first) view.scale = view.selection.scale === "sqrt" ? "log" : view.selection.scale;
  if (first) view.committer.start(view.selection);
  else view.committer.update(view.selection);
  writeSelection(view.selection);
}

function buildAll(/** @type {any} */ view) {
  view.parts?.finder.destroy();
  const parts = (view.parts = buildTiles(view.header, view.picker, view.scale, {
    scale: (/** @type {any} */ scale) => {
      view.scale = scale;
      chooseTiles(view, { scale });
    },
    zoom: (/** @type {number} */ factor) => lookAt(view, zoomCamera(view.camera, view.frame, factor)),
    whole: () => lookAt(view, wholeCamera(view.frame)),
    look: (/** @type {string} */ wanted) =>
      (view.places = placesOf(wanted, view.axes, Boolean(view.header.cross))),
    go: (/** @type {any} */ place) => goTo(view, place),
    point: (/** @type {any} */ cell) => {
      view.pointed = cell;
      view.show();
    },
    pin: (/** @type {any} */ cell) => {
      pinCell(view, cell);
      lookAt(view, cameraAt(view.camera, view.frame, cell.query, cell.key));
    },
    distance: (/** @type {number} */ distance) => {
      view.distance = distance;
      askSoon(view);
    },
  }));
  view.nodes.top.replaceChildren(...parts.nodes);
  listenMoves(parts.plot, view, {
    look: (camera) => lookAt(view, camera),
    hover: (cell) => {
      view.hover = cell;
      view.show();
    },
    pin: (cell) => pinCell(view, cell),
  });
  const jump = (/** @type {PointerEvent} */ event) => {
    const { query, key } = cellOnMap(event, parts.map);
    lookAt(view, cameraAt(view.camera, view.frame, query, key, view.camera.scale));
  };
  parts.map.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    parts.map.setPointerCapture(event.pointerId);
    jump(event);
  });
  parts.map.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    if (event.buttons) jump(event);
  });
}

/** Words that change with the head. */
function showFrame(/** @type {any} */ view) {
  const { header, parts } = view;
  const { strings, layer, head } = header;
  view.picker.update(strings, header, layer, head);
  setText(parts.title, headName(layer, head));
  parts.map.setAttribute("aria-label", fill(strings.overview, { head: headName(layer, head) }));
  if (header.ready) parts.cells.set(header.cells, view.axes, header.distance);
}

/** Sizes everything for the width there is. */
function layoutTiles(/** @type {any} */ view) {
  const width = view.nodes.top.clientWidth;
  const { header, parts } = view;
  if (!width) return;
  const narrow = width < NARROW;
  view.nodes.top.classList.toggle("av-tiles-narrow", narrow);
  view.theme = theme(view.root);
  view.plot = layoutPlot(
    narrow ? width : width - ASIDE - 28,
    SIDE,
    header.n_query,
    header.n_key,
    Boolean(view.heard),
  );
  parts.right.style.width = narrow ? "" : `${ASIDE}px`;
  const frame = { nQuery: header.n_query, nKey: header.n_key, w: view.plot.w, h: view.plot.h };
  const { pinned } = view;
  const camera =
    view.camera ??
    (pinned ? cameraAt(wholeCamera(frame), frame, pinned.query, pinned.key) : wholeCamera(frame));
  Object.assign(view, { frame, camera: clampCamera(camera, frame) });
  showTiles(view);
}

/** Another part of the matrix. */
function lookAt(/** @type {any} */ view, /** @type {any} */ camera) {
  view.camera = camera;
  view.show();
}

/** A place that the search found: its row and its column in the middle; null takes the marks away. */
function goTo(/** @type {any} */ view, /** @type {any} */ place) {
  const { camera, frame } = view;
  view.found = place;
  if (!place) return view.show();
  const middle = { query: camera.y + frame.h / camera.scale / 2, key: camera.x + frame.w / camera.scale / 2 };
  return lookAt(
    view,
    cameraAt(camera, frame, place.query ?? Math.floor(middle.query), place.key ?? Math.floor(middle.key)),
  );
}

function pinCell(/** @type {any} */ view, /** @type {{query: number, key: number} | null} */ cell) {
  view.pinned = cell;
  chooseTiles(view, { query: cell?.query ?? null, key: cell?.key ?? null });
  if (cell && view.header.ready) askSoon(view);
}

/** One change of what is chosen: remembered, mirrored into the address, drawn in the next frame. */
function chooseTiles(/** @type {any} */ view, /** @type {any} */ change) {
  view.selection = { ...view.selection, ...change };
  view.committer.update(view.selection);
  writeSelection(view.selection);
  view.show();
}

/** Draws plot, map, bar and words, and asks for what is missing. */
function showTiles(/** @type {any} */ view) {
  const { parts, header, scale, camera } = view;
  const { strings } = header;
  const lut = sequential(view.theme.dark);
  if (!view.plot) return;
  const name = `${scale} ${view.theme.dark}`;
  if (view.colours?.name !== name) view.colours = tileColours(lut, scale, view.theme.dark);
  const missing = drawPlot(parts.plot, view);
  const level = levelOf(camera, header.top);
  drawMap(parts.map, view);
  parts.scale.set(scale);
  const at = view.hover ? weightAtCell(view, view.hover) : null;
  drawColourBar(parts.bar, {
    lut,
    theme: view.theme,
    scale,
    width: 236,
    floor: TILE_FLOOR,
    mark: at?.weight,
  });
  parts.bar.setAttribute("aria-label", fill(strings.colour_bar, { scale: strings[`scale_${scale}`] }));
  const detail = level ? fill(strings.pooled, { side: 2 ** level }) : strings.exact;
  parts.plot.setAttribute(
    "aria-label",
    fill(strings.canvas, {
      head: headName(header.layer, header.head),
      rows: header.n_query,
      cols: header.n_key,
      detail,
    }),
  );
  const idle = header.ready ? fill(strings.idle, { detail: capital(detail) }) : strings.waiting;
  setText(parts.readout, view.hover && at ? said(view, view.hover, at) : idle);
  setText(parts.pinned, pinnedText(view));
  if (missing.length) askSoon(view);
}

/** The weight shown at a cell: of the finest level that is here. */
function weightAtCell(/** @type {any} */ view, /** @type {{query: number, key: number}} */ cell) {
  for (let level = levelOf(view.camera, view.header.top); level <= view.header.top; level++) {
    const found = view.store.weight(level, cell.query, cell.key);
    if (found) return { ...found, level };
  }
  return null;
}

/**
 * @param {any} view
 * @param {{query: number, key: number}} cell
 * @param {any} at
 */
function said(view, cell, at) {
  const { strings, n_query: nQuery, n_key: nKey } = view.header;
  const weight = printed(at.weight);
  if (at.exact) return fill(strings.point, { ...namesOf(view, cell), weight });
  const side = 2 ** at.level;
  const from = (/** @type {number} */ i) => Math.floor(i / side) * side;
  const to = (/** @type {number} */ i, /** @type {number} */ n) => Math.min(n, from(i) + side) - 1;
  return fill(strings.area, {
    from_query: from(cell.query),
    to_query: to(cell.query, nQuery),
    from_key: from(cell.key),
    to_key: to(cell.key, nKey),
    weight,
  });
}

function namesOf(/** @type {any} */ view, /** @type {{query: number, key: number}} */ { query, key }) {
  const { rows, columns } = view.axes;
  return {
    query: `${isolate(rows.labels[query])} (${query})`,
    key: `${isolate(columns.labels[key])} (${key})`,
  };
}

/** The pinned cell and its weight, which the server tells where the tile of level 0 is not here. */
function pinnedText(/** @type {any} */ view) {
  const { pinned, header, store } = view;
  if (!pinned) return "";
  const here = store.weight(0, pinned.query, pinned.key);
  const told = header.pinned;
  const exact = here
    ? here.weight
    : told && told[0] === pinned.query && told[1] === pinned.key
      ? told[2]
      : null;
  return fill(header.strings.pinned, {
    ...namesOf(view, pinned),
    weight: exact === null ? "…" : printed(exact),
  });
}

function capital(/** @type {string} */ text) {
  return text.charAt(0).toLocaleUpperCase() + text.slice(1);
}

/** Asks the server once things are quiet; while an answer is on its way the next question waits for it. */
function askSoon(/** @type {any} */ view) {
  clearTimeout(view.timer);
  view.timer = setTimeout(() => ask(view), QUIET);
}

function ask(/** @type {any} */ view) {
  const { header, asked, pinned } = view;
  if (asked && performance.now() - asked.at < PATIENCE_MS) return; // its answer draws, and asks again
  const missing =
    view.axes && header.ready && view.frame ? drawPlot(view.parts.plot, view).slice(0, MOST_ASKED) : [];
  const unknown =
    Boolean(pinned) &&
    !view.store.weight(0, pinned.query, pinned.key) &&
    (header.pinned?.[0] !== pinned.query || header.pinned?.[1] !== pinned.key);
  const nameless = view.axesStamp !== header.axes_stamp;
  if (!missing.length && !nameless && !(header.ready && (unknown || view.distance !== header.distance)))
    return;
  view.number += 1;
  view.asked = { number: view.number, at: performance.now() };
  view.send("want", {
    number: view.number,
    stamp: header.stamp,
    axes: view.axesStamp ?? "",
    distance: view.distance || header.distance,
    tiles: missing.map(({ level, row, column }) => [level, row, column]),
    cell: pinned ? [pinned.query, pinned.key] : null,
  });
}
