// @ts-check
// Tiles: one head of a long text. Zoom, pan, hover and search happen here; tiles that are missing, another head and
// another list of cells are asked of the server by the value "want", a few at a time.

import { axisMarks } from "../shared/axes.js";
import { parse } from "../shared/buffer.js";
import { drawColourBar } from "../shared/colour_bar.js";
import { sequential } from "../shared/colors.js";
import { makeCommitter } from "../shared/committer.js";
import { el, oncePerFrame, setBusy, setText, watchSize } from "../shared/dom.js";
import { fill, headName } from "../shared/fmt.js";
import { askForHead, makePicker } from "../shared/picker.js";
import { clampSelection } from "../shared/selection.js";
import { heardOf } from "../shared/spectrum.js";
import { cameraAt, clampCamera, wholeCamera, zoomCamera } from "./camera.js";
import { placesOf } from "./find.js";
import { cellOnMap, drawMap } from "./map.js";
import { listenMoves } from "./moves.js";
import { buildParts } from "./parts.js";
import { drawPlot, layoutPlot } from "./plot.js";
import { makeRequests } from "./requests.js";
import { detailText, pinnedText, readout, weightAtCell } from "./sentences.js";
import { makeStore, TILE_FLOOR, tileColours } from "./store.js";

/** @import { Committer } from "../shared/committer.js" */
/** @import { Request } from "../shared/dom.js" */
/** @import { Axes } from "../shared/heads.js" */
/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Picker } from "../shared/picker.js" */
/** @import { Scale, Selection } from "../shared/selection.js" */
/** @import { Spectrum } from "../shared/spectrum.js" */
/** @import { Theme } from "../shared/theme.js" */
/** @import { Camera, Cell, Frame as MatrixFrame } from "./camera.js" */
/** @import { FoundPlace } from "./find.js" */
/** @import { Parts } from "./parts.js" */
/** @import { Missing } from "./requests.js" */
/** @import { Marks, PlotBox, Scene, Text } from "./scene.js" */
/** @import { Store, TileColours } from "./store.js" */
/** @import { Arrays, Header } from "./types.js" */

/** As long as the component. */
/**
 * @typedef {{host: Host, box: HTMLElement, committer: Committer, picker: Picker, show: Request, store: Store,
 *   requests: ReturnType<typeof makeRequests>}} Frame
 */
/** What width and theme decide. */
/** @typedef {{plot: PlotBox, frame: MatrixFrame, camera: Camera, theme: Theme, colours: TileColours}} Layout */
/**
 * A text and one of its heads. `distance` is how far apart the strongest cells are to be; `layout` is null until there
 * is a width.
 * @typedef {Marks & {frame: Frame, header: Header, text: Text, committer: Committer, selection: Selection,
 *   scale: Scale, parts: Parts, distance: number, layout: Layout | null}} State
 */

const MAX_ASKED = 16;
const SIDE_PX = 640;
const NARROW_PX = 960;
const ASIDE_PX = 270;
const BETWEEN_PX = 28;
const NO_MARKS = { pinned: null, hover: null, pointed: null, found: null, places: [] };

/** @returns {Mounted} */
export default function tiles(/** @type {Host} */ host) {
  const box = el("section", { class: "av av-tiles" });
  host.root.append(box);
  /** @type {State | null} */
  let state = null;
  /** @type {Header | null} */
  let header = null;
  /** @type {Frame} */
  const frame = {
    host,
    box,
    committer: makeCommitter(host, box),
    picker: makePicker((layer, head) => state && askForHead(state, box, { layer, head })),
    show: oncePerFrame(() => state && showAll(state)),
    store: makeStore(),
    requests: makeRequests(
      (want) => host.send("want", want),
      () => header && whatIsMissing(header, state),
    ),
  };
  const unwatch = watchSize(box, () => state && layout(state));
  return {
    refresh(data) {
      /** @type {{header: Header, arrays: Arrays}} */
      const parsed = parse(data);
      ({ header } = parsed);
      state = takeAnswer(frame, state, header, parsed.arrays);
    },
    destroy() {
      unwatch();
      frame.show.cancel();
      frame.requests.cancel();
      state?.parts.finder.destroy();
      frame.committer.destroy();
      box.remove();
    },
  };
}

/**
 * New tiles, another head, another text, or another theme. The state stays where the names of the text are not here.
 * @param {Frame} frame
 * @param {State | null} state
 * @param {Header} header
 * @param {Arrays} arrays
 * @returns {State | null}
 */
function takeAnswer(frame, state, header, arrays) {
  frame.requests.answered(header.number);
  const isSameText = state?.text.stamp === header.axes_stamp;
  if (!header.axes && !isSameText) {
    frame.requests.soon(); // this browser forgot the names
    return state;
  }
  keepTiles(frame.store, header, arrays);
  const now = header.axes && !isSameText ? takeText(frame, state, header, header.axes, arrays) : state;
  if (!now) return state;
  now.header = header;
  now.distance = header.distance;
  takeSelection(now, state === null);
  setBusy(frame.box, false);
  showHead(now);
  layout(now);
  return now;
}

function keepTiles(/** @type {Store} */ store, /** @type {Header} */ header, /** @type {Arrays} */ arrays) {
  store.keepOnly(header.stamp);
  for (const [name, array] of Object.entries(arrays)) if (name.includes("/")) store.put(name, array.data);
  for (const name of header.empty) store.put(name.join("/"), null);
  store.forget(header.top);
}

/**
 * Another text: other names, and parts that are built for it.
 * @param {Frame} frame
 * @param {State | null} before
 * @param {Header} header
 * @param {Axes} axes
 * @param {Arrays} arrays
 * @returns {State}
 */
function takeText(frame, before, header, axes, arrays) {
  before?.parts.finder.destroy();
  const { layer, head } = header;
  const from = { ...(before?.selection ?? frame.committer.read()), layer, head };
  const selection = clampSelection(from, header);
  // nearly all weights of a long text are small: where no scale was chosen it is the logarithmic one
  const scale = before?.scale ?? (selection.scale === "sqrt" ? "log" : selection.scale);
  const parts = buildParts(header, frame.picker, scale, {
    scale(chosen) {
      state.scale = chosen;
      choose(state, { scale: chosen });
    },
    zoom: (factor) => look(state, ({ camera, frame }) => zoomCamera(camera, frame, factor)),
    whole: () => look(state, ({ frame }) => wholeCamera(frame)),
    look: (wanted) => (state.places = placesOf(wanted, state.text.axes, state.header.cross)),
    go: (place) => goTo(state, place),
    point: (cell) => mark(state, { pointed: cell }),
    pin(cell) {
      pin(state, cell);
      look(state, ({ camera, frame }) => cameraAt(camera, frame, cell));
    },
    distance(distance) {
      state.distance = distance;
      frame.requests.soon();
    },
  });
  const text = readText(header, axes, heardOf(header, arrays));
  const chosen = { selection, scale, distance: header.distance };
  /** @type {State} */
  const state = {
    frame,
    committer: frame.committer,
    header,
    text,
    parts,
    ...chosen,
    ...NO_MARKS,
    layout: null,
  };
  frame.box.replaceChildren(...parts.nodes);
  listenMoves(parts.plot, () => sceneOf(state), {
    look: (camera) => look(state, () => camera),
    hover: (cell) => mark(state, { hover: cell }),
    pin: (cell) => pin(state, cell),
  });
  listenMap(state);
  return state;
}

/**
 * @param {Header} header
 * @param {Axes} axes
 * @param {Spectrum | null} heard
 * @returns {Text}
 */
function readText(header, axes, heard) {
  const rows = { labels: axes.rows, marks: axisMarks(axes.special, axes.written) };
  const keys = { labels: axes.key_tokens, marks: axisMarks(axes.key_special, axes.key_written) };
  return { stamp: header.axes_stamp, axes: { rows, columns: keys }, heard };
}

/** Layer and head are the server's; the pinned cell is the address's at first, then this browser's. */
function takeSelection(/** @type {State} */ state, /** @type {boolean} */ isFirst) {
  const { header, committer } = state;
  const { layer, head } = header;
  state.selection = clampSelection({ ...state.selection, layer, head }, header);
  const { query, key } = state.selection;
  state.pinned = query !== null && key !== null ? { query, key } : null;
  if (isFirst) committer.start(state.selection);
  else committer.update(state.selection);
  committer.write(state.selection);
}

function listenMap(/** @type {State} */ state) {
  const { map } = state.parts;
  const jump = (/** @type {PointerEvent} */ event) =>
    look(state, ({ camera, frame }) => cameraAt(camera, frame, cellOnMap(event, map), camera.scale));
  map.addEventListener("pointerdown", (event) => {
    map.setPointerCapture(event.pointerId);
    jump(event);
  });
  map.addEventListener("pointermove", (event) => {
    if (event.buttons) jump(event);
  });
}

/** Shows the words that change with the head. */
function showHead(/** @type {State} */ { frame, header, parts, text }) {
  const { strings, layer, head } = header;
  frame.picker.update(strings, header, layer, head);
  setText(parts.title, headName(layer, head));
  parts.map.setAttribute("aria-label", fill(strings.overview, { head: headName(layer, head) }));
  if (header.ready) parts.cells.set(header, text);
}

/** Sizes everything for the width there is. */
function layout(/** @type {State} */ state) {
  const { frame, header, parts, text, pinned } = state;
  const width = frame.box.clientWidth;
  if (!width) return;
  const isNarrow = width < NARROW_PX;
  frame.box.classList.toggle("av-narrow", isNarrow);
  parts.right.style.width = isNarrow ? "" : `${ASIDE_PX}px`;
  const room = isNarrow ? width : width - ASIDE_PX - BETWEEN_PX;
  const plot = layoutPlot(room, SIDE_PX, header, text.heard !== null);
  const matrix = { nQuery: header.n_query, nKey: header.n_key, w: plot.w, h: plot.h };
  const whole = wholeCamera(matrix);
  const camera = state.layout?.camera ?? (pinned ? cameraAt(whole, matrix, pinned) : whole);
  const theme = frame.host.theme();
  state.layout = {
    plot,
    frame: matrix,
    camera: clampCamera(camera, matrix),
    theme,
    colours: coloursFor(state, theme),
  };
  showAll(state);
}

/** The colours of scale and theme, kept while neither changes: tiles are painted for them. */
function coloursFor(/** @type {State} */ { scale, layout }, /** @type {Theme} */ { dark }) {
  const isSame = layout?.colours.scale === scale && layout.colours.dark === dark;
  return isSame ? layout.colours : tileColours(sequential(dark), scale, dark);
}

/** What is drawn; null until there is a width. @returns {Scene | null} */
function sceneOf(/** @type {State} */ state) {
  const { header, text, frame, pinned, hover, pointed, found, places } = state;
  if (!state.layout) return null;
  const marks = { pinned, hover, pointed, found, places };
  return { header, text, store: frame.store, ...marks, ...state.layout };
}

/** Shows another part of the matrix. */
function look(/** @type {State} */ state, /** @type {(layout: Layout) => Camera} */ cameraFor) {
  if (!state.layout) return;
  state.layout.camera = cameraFor(state.layout);
  state.frame.show();
}

function mark(
  /** @type {State} */ state,
  /** @type {{hover?: Cell | null, pointed?: Cell | null}} */ change,
) {
  if (change.hover !== undefined) state.hover = change.hover;
  if (change.pointed !== undefined) state.pointed = change.pointed;
  state.frame.show();
}

/** Goes to a place that the search found: its row and its column in the middle; null takes the marks away. */
function goTo(/** @type {State} */ state, /** @type {FoundPlace | null} */ place) {
  state.found = place;
  state.frame.show();
  if (!place) return;
  look(state, ({ camera, frame }) => {
    const query = place.query ?? Math.floor(camera.y + frame.h / camera.scale / 2);
    const key = place.key ?? Math.floor(camera.x + frame.w / camera.scale / 2);
    return cameraAt(camera, frame, { query, key });
  });
}

function pin(/** @type {State} */ state, /** @type {Cell | null} */ cell) {
  state.pinned = cell;
  choose(state, { query: cell?.query ?? null, key: cell?.key ?? null });
  if (cell && state.header.ready) state.frame.requests.soon();
}

/** One change of the choice: remembered, mirrored into the address, drawn in the next frame. */
function choose(/** @type {State} */ state, /** @type {Partial<Selection>} */ change) {
  state.selection = { ...state.selection, ...change };
  state.committer.update(state.selection);
  state.committer.write(state.selection);
  state.frame.show();
}

/** Draws plot, map, bar and words, and asks for what is missing. */
function showAll(/** @type {State} */ state) {
  const { parts, header, scale, hover, frame } = state;
  if (!state.layout) return;
  state.layout.colours = coloursFor(state, state.layout.theme);
  const scene = sceneOf(state);
  if (!scene) return;
  const { strings } = header;
  const { theme } = scene;
  const missing = drawPlot(parts.plot, scene);
  drawMap(parts.map, scene);
  parts.scale.set(scale);
  const mark = hover ? weightAtCell(scene, hover)?.weight : undefined;
  const lut = sequential(theme.dark);
  drawColourBar(parts.bar, { lut, theme, scale, width: 236, floor: TILE_FLOOR, mark });
  parts.bar.setAttribute("aria-label", fill(strings.colour_bar, { scale: strings[`scale_${scale}`] }));
  const size = { rows: header.n_query, cols: header.n_key };
  const head = headName(header.layer, header.head);
  const label = fill(strings.canvas, { head, ...size, detail: detailText(scene) });
  parts.plot.setAttribute("aria-label", label);
  setText(parts.readout, readout(scene), !scene.hover);
  setText(parts.pinned, pinnedText(scene));
  if (missing.length) frame.requests.soon();
}

/** What this browser lacks: tiles, the names of the tokens, the weight of the pinned cell, a list of cells. */
function whatIsMissing(/** @type {Header} */ header, /** @type {State | null} */ state) {
  const isNameless = state?.text.stamp !== header.axes_stamp;
  const scene = isNameless ? null : state && sceneOf(state);
  const tiles = state && scene && header.ready ? drawPlot(state.parts.plot, scene).slice(0, MAX_ASKED) : [];
  const pinned = state?.pinned ?? null;
  const isTold = pinned && header.pinned?.[0] === pinned.query && header.pinned[1] === pinned.key;
  const isUnknown = state && pinned && !isTold && !state.frame.store.weight(0, pinned.query, pinned.key);
  const isOtherList = state && state.distance !== header.distance;
  if (!tiles.length && !isNameless && !(header.ready && (isUnknown || isOtherList))) return null;
  /** @type {Missing} */
  const missing = {
    stamp: header.stamp,
    axes: state?.text.stamp ?? "",
    distance: state?.distance || header.distance,
    tiles: tiles.map(({ level, row, column }) => [level, row, column]),
    cell: pinned ? [pinned.query, pinned.key] : null,
  };
  return missing;
}
