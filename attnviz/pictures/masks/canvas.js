// @ts-check
// The Masks page: one heatmap per sentence of the padded batch, masks to switch, size and draw, the chosen row as a table.
// All of that is shown without the server: the masks are laid over the scores here. Of a mask it is told once things are
// quiet, because the page says what the mask does to the model's answer; of a cell when the pointer leaves.

import { isolate } from "../shared/axes.js";
import { parse } from "../shared/buffer.js";
import { makeCommitter } from "../shared/committer.js";
import { el, oncePerFrame, pixelRatio, setBusy, setData, setText, watchSize } from "../shared/dom.js";
import { fill, fmtError, fmtList } from "../shared/fmt.js";
import { askForHead } from "../shared/picker.js";
import { clampSelection } from "../shared/selection.js";
import { makeBoxes, showBoxes } from "./boxes.js";
import {
  blockedBits,
  errorOfSoftmax,
  isAsModel,
  maskedWeights,
  masksOfModel,
  readMasks,
  sliceOf,
  writtenMasks,
} from "./layers.js";
import { layoutMaps, paintMap, paintMapMarks } from "./map.js";
import { buildParts, makeMap, writeLegend, writeParts } from "./parts.js";
import { listenMap } from "./pointer.js";
import { drawRowTable } from "./rowtable.js";
import { cellSentence, deadRows, maskedScore } from "./words.js";

/** @import { Committer } from "../shared/committer.js" */
/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Selection } from "../shared/selection.js" */
/** @import { Masks } from "./layers.js" */
/** @import { Actions, Cell, SentenceMap, State } from "./state.js" */
/** @import { Arrays, Header } from "./types.js" */

/** As long as the component. @typedef {{host: Host, top: HTMLElement, committer: Committer}} Frame */
/** @typedef {{header: Header, arrays: Arrays}} Data */

const MAX_ROWS_NAMED = 8;
const TWO_MAPS_FROM_PX = 760;
const BETWEEN_PX = 32;
const WIDEST_MAP_PX = 620;
const NARROWEST_PX = 240;

/** @returns {Mounted} */
export default function masks(/** @type {Host} */ host) {
  const top = el("div", { class: "av masks" });
  host.root.append(top);
  const committer = makeCommitter(host, top);
  /** @type {State | null} */
  let state = null;
  const redraw = oncePerFrame(() => state && state.drawnFor !== roomKey(state) && drawMaps(state));
  const stop = watchSize(top, redraw);
  const deafen = host.channel.listen((message) => {
    if (state && "wants" in message && message.wants === "laid") tellLaid(state);
  });
  return {
    refresh(bytes) {
      /** @type {Data} */
      const data = parse(bytes);
      if (state) renew(state, data);
      else state = begin({ host, top, committer }, data);
      showData(state);
    },
    destroy() {
      stop();
      deafen();
      host.channel.post({ laid: null });
      redraw.cancel();
      committer.destroy();
      top.remove();
    },
  };
}

/** The state with the first data. @returns {State} */
function begin(/** @type {Frame} */ frame, /** @type {Data} */ { header, arrays }) {
  const parts = buildParts({
    ...actionsOf(() => state),
    clear: () => choose(state, state.sentence, null, null),
    reset: () => setMasks(state, masksOfModel(state.header)),
  });
  const drawn = { boxes: [], maps: [], numbers: [], sentence: 0, width: 0, drawnFor: "", ownError: null };
  /** @type {State} */
  const state = { ...frame, header, arrays, parts, ...drawn, ...chosenFor(frame, header, null) };
  frame.top.replaceChildren(...parts.nodes);
  frame.committer.start(state.selection);
  return state;
}

/** Another head or batch, or another theme. */
function renew(/** @type {State} */ state, /** @type {Data} */ { header, arrays }) {
  const sentence = Math.min(state.sentence, header.tokens.length - 1);
  const chosen = chosenFor(state, header, state.selection);
  Object.assign(state, { header, arrays, sentence, ownError: null, ...chosen });
  state.committer.update(state.selection);
}

/** @returns {Actions} */
function actionsOf(/** @type {() => State} */ state) {
  return {
    head: (layer, head) => askForHead(state(), state().top, { layer, head }),
    masks: (change) => setMasks(state(), change),
    choose: (sentence, query, key) => choose(state(), sentence, query, key),
  };
}

/**
 * The theme, the masks of the address, and the selection with them: the head is the one that the server computed.
 * @param {Frame} frame
 * @param {Header} header
 * @param {Selection | null} before
 */
function chosenFor({ host, committer }, header, before) {
  const { layer, head, n_layers, n_heads, kept } = header;
  const inAddress = committer.read();
  const [n_query, n_key] = [header.tokens[0].length, header.key_tokens[0].length];
  const extent = { n_layers, n_heads, kept, n_query, n_key };
  const selection = clampSelection({ ...(before ?? inAddress), layer, head }, extent);
  const laid = readMasks(header, host.address.get("masks"));
  const more = { masks: writtenMasks(laid, header) };
  return { theme: host.theme(), masks: laid, selection: { ...selection, more } };
}

/** Shows new data. */
function showData(/** @type {State} */ state) {
  const { header, parts, top, theme, committer } = state;
  setBusy(top, false);
  committer.write(state.selection);
  writeParts(parts, header);
  setData(top, { layer: header.layer, head: header.head });
  const actions = actionsOf(() => state);
  state.boxes = makeBoxes(header, theme, () => state.masks, actions);
  const nodes = state.boxes.map((box) => box.node);
  parts.layers.replaceChildren(
    el("legend", {}, fill(header.strings.layers_legend, { head: `L${header.layer}.H${header.head}` })),
    ...nodes,
  );
  if (state.maps.length !== header.tokens.length) buildMaps(state, actions);
  showMasks(state);
}

function buildMaps(/** @type {State} */ state, /** @type {Actions} */ actions) {
  state.maps = state.header.tokens.map((_, sentence) => makeMap(sentence));
  for (const map of state.maps)
    listenMap(map, state, actions, () => {
      paintMapMarks(map, state);
      showReadout(state, map, map.hover);
    });
  state.parts.maps.replaceChildren(...state.maps.map((map) => map.node));
}

/** The masks that are on have changed: pictures, banner, legend, table. */
function showMasks(/** @type {State} */ state) {
  const { header, arrays, parts, masks: laid, top } = state;
  const { variant, strokes } = laid;
  const isWhatIf = !isAsModel(laid, header);
  state.numbers = header.tokens.map((_, sentence) => {
    const bits = blockedBits(header, arrays, laid, sentence);
    const weights = isWhatIf
      ? maskedWeights(header, arrays, sentence, bits, variant)
      : sliceOf(arrays, "weights", sentence);
    return { bits, weights };
  });
  showBoxes(state.boxes, header, laid);
  const custom = header.mask_names.indexOf("custom");
  parts.draw.hidden = !(variant & (1 << custom));
  parts.undraw.hidden = strokes.length === 0;
  parts.reset.hidden = !isWhatIf;
  setData(top, { variant, masks: writtenMasks(laid, header) });
  writeBanner(state, isWhatIf);
  writeLegend(parts.legend, header, laid, state.theme, state.selection.scale);
  drawMaps(state);
  drawRowTable(state);
  tellLaid(state);
}

/** Tells the rail what the masks make of the first sentence; null where they are the model's own. */
function tellLaid(/** @type {State} */ state) {
  const { header, masks: laid, numbers, host } = state;
  if (isAsModel(laid, header)) return host.channel.post({ laid: null });
  const masked = Float32Array.from(numbers[0].weights, (_, cell) => maskedScore(state, 0, cell));
  const weights = Float32Array.from(numbers[0].weights);
  host.channel.post({ laid: { layer: header.layer, head: header.head, masked, weights } });
}

/** Says whose masks are on; for others than the model's, how far this page's own softmax is from the model's. */
function writeBanner(/** @type {State} */ state, /** @type {boolean} */ isWhatIf) {
  const { header, arrays, parts } = state;
  const { strings } = header;
  if (isWhatIf) state.ownError ??= errorOfSoftmax(header, arrays);
  const error = isWhatIf ? state.ownError : null;
  setData(parts.banner, { whatif: isWhatIf, error });
  const digits = error === null ? "" : fmtError(error);
  setText(parts.banner, isWhatIf ? fill(strings.banner_what_if, { error: digits }) : strings.banner_as_ran);
}

/** What a drawing of the maps depends on besides the data: their width and the screen's resolution. */
function roomKey(/** @type {State} */ state) {
  return `${state.parts.maps.clientWidth}@${pixelRatio()}`;
}

function drawMaps(/** @type {State} */ state) {
  const { parts, maps } = state;
  state.drawnFor = roomKey(state);
  const room = Math.max(NARROWEST_PX, parts.maps.clientWidth);
  const isBeside = maps.length > 1 && room >= TWO_MAPS_FROM_PX;
  state.width = Math.floor(Math.min(WIDEST_MAP_PX, isBeside ? (room - BETWEEN_PX) / 2 : room));
  layoutMaps(state);
  for (const map of maps) {
    writeMap(map, state);
    paintMap(map, state);
    paintMapMarks(map, state);
  }
  showReadout(state, null, null);
}

/** The texts of one sentence. */
function writeMap(/** @type {SentenceMap} */ map, /** @type {State} */ state) {
  const { sentence } = map;
  const { header } = state;
  const { strings } = header;
  const names = header.tokens[sentence];
  const pads = header.padding[sentence].reduce((/** @type {number} */ sum, flag) => sum + flag, 0);
  const number = sentence + 1;
  const size = { n_query: names.length, n_key: header.key_tokens[sentence].length };
  setText(map.title, fill(strings.sentence, { sentence: number }));
  setText(map.count, fill(strings.sentence_counts, { tokens: names.length, padding: pads }));
  map.base.setAttribute("aria-label", fill(strings.map_label, { sentence: number, ...size }));
  map.node.style.width = `${state.width}px`;
  const rows = deadRows(state, sentence);
  map.dead.classList.toggle("bad", rows.length > 0);
  setData(map.dead, { rows: rows.join(",") });
  const text = rows.length ? fill(strings.dead_rows, { rows: listRows(rows, names) }) : strings.no_dead_rows;
  setText(map.dead, text);
}

/** "3 (tired), 4 (to) …", at most eight of them. */
function listRows(/** @type {number[]} */ rows, /** @type {string[]} */ names) {
  const shown = rows.slice(0, MAX_ROWS_NAMED).map((row) => `${row} (${isolate(names[row])})`);
  return fmtList(rows.length > MAX_ROWS_NAMED ? [...shown, `… ${rows.length}`] : shown);
}

/**
 * The cell under the pointer in words, else the chosen one.
 * @param {State} state
 * @param {SentenceMap | null} map
 * @param {Cell | null} cell
 */
function showReadout(state, map, cell) {
  const { parts, sentence, header } = state;
  const { query, key } = state.selection;
  const isChosen = query !== null && key !== null;
  const isPointed = map !== null && cell !== null;
  const chosen = isChosen ? cellSentence(state, sentence, query, key) : header.strings.hint;
  const text = isPointed ? cellSentence(state, map.sentence, cell.row, cell.col) : chosen;
  setText(parts.readout, text, !isChosen && !isPointed);
  parts.clear.hidden = query === null && key === null;
}

/** Other masks, sizes or strokes: all is shown anew, the address has them, and the server says what the answer is. */
function setMasks(/** @type {State} */ state, /** @type {Partial<Masks>} */ change) {
  state.masks = { ...state.masks, ...change };
  tell(state, { more: { masks: writtenMasks(state.masks, state.header) } });
  state.committer.commitSoon();
  showMasks(state);
}

function tell(/** @type {State} */ state, /** @type {Partial<Selection>} */ change) {
  state.selection = { ...state.selection, ...change };
  state.committer.update(state.selection);
  state.committer.write(state.selection);
}

/**
 * Another cell of a sentence is chosen, or none.
 * @param {State} state
 * @param {number} sentence
 * @param {number | null} query
 * @param {number | null} key
 */
function choose(state, sentence, query, key) {
  state.sentence = sentence;
  tell(state, { query, key });
  for (const map of state.maps) paintMapMarks(map, state);
  showReadout(state, null, null);
  const isCell = query !== null && key !== null;
  setText(state.parts.status, isCell ? cellSentence(state, sentence, query, key) : "");
  drawRowTable(state);
}
