// @ts-check
// The Steps strip: every stage of one head as a panel, and one cell followed through all of them. The chosen query and key
// live here and in the address; layer and head are asked of the host, which computes them.

import { axisMarks } from "../shared/axes.js";
import { parse } from "../shared/buffer.js";
import { sequential } from "../shared/colors.js";
import { makeCommitter } from "../shared/committer.js";
import { el, oncePerFrame, setBusy, setData, setText, watchSize } from "../shared/dom.js";
import { askForHead } from "../shared/picker.js";
import { pictureSource } from "../shared/picture.js";
import { drawPicturePanel } from "../shared/picture_panel.js";
import { clampSelection } from "../shared/selection.js";
import { rowOf } from "./arithmetic.js";
import { showEditBar, showEditedAnswer } from "./edit_bar.js";
import { arraysOf, readEdit, writtenEdits } from "./edits.js";
import { drawArithmetic } from "./explain.js";
import { STOP_OF } from "./faces.js";
import { spoken } from "./panel_text.js";
import { buildPanels } from "./panels.js";
import { paperOf } from "./paper.js";
import { buildParts, writeParts } from "./parts.js";
import { filmRow, filmStart } from "./film_scenes.js";
import { haltPlay, playKey, seekScene, showPlay } from "./play.js";
import { listenPanel } from "./pointer.js";
import { STOPS, stopNamed } from "./stops.js";
import { drawStrip, markStrip, roomKey } from "./strip.js";
import { shownOf } from "./window.js";

/** @import { Committer } from "../shared/committer.js" */
/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { AddressSelection } from "../shared/selection.js" */
/** @import { Edit, Mode } from "./edits.js" */
/** @import { FilmStage } from "./film_scenes.js" */
/** @import { Actions, HeadData, State } from "./state.js" */
/** @import { Arrays, Face, Header } from "./types.js" */

/** As long as the component. @typedef {{host: Host, top: HTMLElement, committer: Committer}} Frame */

const NO_WIDTHS = { square: 0, early: 0, late: 0, cell: 0, numbers: false, joins: false };

/** @returns {Mounted} */
export default function steps(/** @type {Host} */ host) {
  const keydown = (/** @type {KeyboardEvent} */ event) => {
    if (state) playKey(state, event);
  };
  const top = el("div", { class: "av steps", on: { keydown } });
  host.root.append(top);
  /** @type {State | null} */
  let state = null;
  const committer = makeCommitter(host, top, (selection) => state && follow(state, selection));
  const redraw = oncePerFrame(() => {
    if (!state || state.drawnFor === roomKey(state)) return;
    drawStrip(state);
    state.parts.picture.paint();
  });
  const stop = watchSize(top, redraw);
  const deafen = host.channel.listen((message) => {
    if ("edited" in message && state) showEditedAnswer(state.parts.edit, message.edited);
    if (!("laid" in message) || !state) return;
    state.laid = message.laid;
    showRail(state);
  });
  return {
    refresh(data) {
      if (state) renew(state, data);
      else {
        state = begin({ host, top, committer }, data);
        host.channel.post({ wants: "laid" });
        host.channel.post({ wants: "turned" });
      }
      showData(state);
    },
    destroy() {
      stop();
      deafen();
      if (state) haltPlay(state);
      redraw.cancel();
      committer.destroy();
      top.remove();
    },
  };
}

/** The state with the first data. @returns {State} */
function begin(/** @type {Frame} */ frame, /** @type {Uint8Array} */ data) {
  const head = readHead(frame.host, data);
  const { tokens, key_tokens: keys } = head.header;
  const selection = fitting(head.header, frame.committer.read());
  const parts = buildParts(
    () => state,
    actionsOf(() => state),
  );
  /** @type {State} */
  const state = {
    ...frame,
    ...head,
    parts,
    selection,
    mode: "edited",
    arrays: arraysOf(head, "edited"),
    shown: shownOf(tokens.length, keys.length, selection.query, selection.key, null),
    widths: NO_WIDTHS,
    panels: [],
    builtFor: "",
    drawnFor: "",
    target: null,
    told: null,
    areAllTerms: false,
    film: null,
    laid: null,
    stop: stopNamed(frame.host.address.get("stop")),
  };
  frame.top.replaceChildren(...parts.nodes);
  frame.committer.start(selection);
  return state;
}

/** Another head, other edits, or another theme. */
function renew(/** @type {State} */ state, /** @type {Uint8Array} */ data) {
  const head = readHead(state.host, data);
  Object.assign(state, head, {
    arrays: arraysOf(head, state.mode),
    selection: fitting(head.header, state.selection),
  });
  state.committer.update(state.selection);
}

/** @returns {HeadData} */
function readHead(/** @type {Host} */ host, /** @type {Uint8Array} */ data) {
  /** @type {{header: Header, arrays: Arrays}} */
  const { header, arrays } = parse(data);
  const theme = host.theme();
  return {
    header,
    edited: arrays,
    edits: header.edits.map(readEdit),
    marks: {
      query: axisMarks(header.special, header.written),
      key: axisMarks(header.key_special, header.key_written),
    },
    whole: arrays.picture && header.patches ? pictureSource(arrays.picture) : null,
    theme,
    paper: paperOf(header, theme),
  };
}

/** The selection in a head: layer and head are those that the host computed. */
function fitting(/** @type {Header} */ header, /** @type {AddressSelection} */ selection) {
  const { layer, head, n_layers, n_heads, kept, tokens, key_tokens: keys } = header;
  const extent = { n_layers, n_heads, kept, n_query: tokens.length, n_key: keys.length };
  return clampSelection({ ...selection, layer, head }, extent);
}

/** @returns {Actions} */
function actionsOf(/** @type {() => State} */ now) {
  return {
    head: (layer, head) => askForHead(now(), now().top, { layer, head }),
    choose: (query, key) => choose(now(), query, key),
    mode: (mode) => setMode(now(), mode),
    edit: (edits) => askForEdits(now(), edits),
    stop: (stop) => chooseStop(now(), stop),
    face: (face) => askForFace(now(), face),
  };
}

/** Shows new data. */
function showData(/** @type {State} */ state) {
  const { top, theme, parts, header, committer } = state;
  const actions = actionsOf(() => state);
  top.classList.toggle("dark", theme.dark);
  top.classList.toggle("rail-only", header.face === "arrows" || header.face === "masks");
  setBusy(top, false);
  committer.write(state.selection);
  writeParts(parts, header, top);
  buildPanels(state, (_, picture) => listenPanel(picture, state, actions), actions.choose);
  drawStrip(state);
  showChoice(state);
}

/** The row's picture, the live region and the arithmetic, after the choice or the data changed. */
function showChoice(/** @type {State} */ state) {
  const { top, parts, selection } = state;
  const { query, key } = selection;
  parts.clear.hidden = query === null && key === null;
  setData(top, { query, key });
  showEditBar(
    state,
    actionsOf(() => state),
  );
  showPicture(state);
  showSums(state);
  if (state.told) setText(parts.status, spoken(state.told, state));
}

/** Where in the picture the chosen cell is, with the weights of its query. */
function showPicture(/** @type {State} */ { header, edited, whole, theme, parts, selection, top }) {
  const { strings, patches, tokens: labels } = header;
  drawPicturePanel(parts.places, {
    ...selection,
    whole,
    patches,
    labels,
    lut: sequential(theme.dark),
    theme,
    rowOf: (row) => rowOf(edited.weights, row) ?? [],
    width: top.clientWidth,
    texts: { picture: strings.picture, idle: strings.picture_idle },
  });
}

/** The arithmetic is that of the numbers on show; of a difference there is none, so that the edited ones are taken. */
function showSums(/** @type {State} */ state) {
  const { header, parts, areAllTerms, stop } = state;
  const arrays = state.mode === "difference" ? state.edited : state.arrays;
  const { query, key } = seenCell(state, arrays);
  const does = {
    toggleTerms: () => toggleTerms(state),
    choose: (/** @type {FilmStage} */ next) => chooseStop(state, next),
  };
  drawArithmetic(parts.box, { header, arrays, query, key, areAllTerms, stop, ...does });
  parts.rail.write(header);
  showRail(state);
  showPlay(state);
  showStop(state);
}

/** The numbers of the rail: under other masks, where those are laid over the head in its picture. */
function showRail(/** @type {State} */ state) {
  const { parts, header, laid, mode, edited } = state;
  const own = mode === "difference" ? edited : state.arrays;
  const isLaid = header.face === "masks" && laid?.layer === header.layer && laid.head === header.head;
  const { masked, weights } = own;
  const fits = isLaid && masked && weights && laid.weights.length === weights.data.length;
  const arrays = fits
    ? {
        ...own,
        masked: { ...masked, data: laid.masked },
        weights: { ...weights, data: laid.weights },
      }
    : own;
  parts.rail.show(arrays, seenCell(state, arrays));
}

/** The cell that the row's picture shows: the chosen one; while none is, the strongest of the row. */
function seenCell(
  /** @type {State} */ { header, selection: { query, key } },
  /** @type {State["arrays"]} */ arrays,
) {
  const row = filmRow(arrays, query ?? filmStart(header), key);
  return row ? { query: row.query, key: key ?? row.top } : { query, key };
}

/** The stop that is looked at: in the picture, on the rail, on its panels. */
function showStop(/** @type {State} */ { parts, panels, stop, header }) {
  parts.rail.mark(header.face === null ? stop : STOP_OF[header.face]);
  const stages = STOPS.find(({ name }) => name === stop)?.stages ?? [];
  for (const { info, section } of panels)
    setData(section, { stop: stages.includes(info.stage) ? "1" : null });
  parts.picture.paint();
}

/** Looks at a stop, or at all again; a film goes there, and an open face closes for it. */
function chooseStop(/** @type {State} */ state, /** @type {FilmStage} */ stop) {
  if (state.film) {
    seekScene(state, stop);
    return;
  }
  const { face } = state.header;
  const isAnother = state.stop !== stop || (face !== null && face !== "numbers");
  state.stop = isAnother ? stop : null;
  state.selection = { ...state.selection, more: { stop: state.stop } };
  state.committer.update(state.selection);
  state.committer.write(state.selection);
  if (face !== null && face !== "numbers") askForFace(state, null);
  const hadFocus = state.parts.box.contains(document.activeElement ?? null);
  showSums(state);
  if (hadFocus) focusIn(state.parts.box, `[data-sum=${stop}] .step-head`);
}

/** Asks the host for another face of the room, or for the row again. */
function askForFace(/** @type {State} */ state, /** @type {Face | null} */ face) {
  setBusy(state.top, true);
  state.committer.commit();
  state.host.trigger("face", face ?? "");
}

/** Edited numbers, the original ones, or the difference. */
function setMode(/** @type {State} */ state, /** @type {Mode} */ mode) {
  state.mode = mode;
  state.arrays = arraysOf(state, mode);
  drawStrip(state);
  showChoice(state);
  focusIn(state.parts.edit.modes, `[data-mode=${mode}]`);
}

/** A row or cell was chosen elsewhere on the page; which head is shown is the host's word. */
function follow(/** @type {State} */ state, /** @type {AddressSelection} */ selection) {
  const { query, key } = fitting(state.header, selection);
  state.selection = { ...state.selection, query, key };
  markStrip(state);
  showChoice(state);
}

/**
 * Another cell, row or nothing is chosen: marks, arithmetic, address; the host hears of it later.
 * @param {State} state
 * @param {number | null} query
 * @param {number | null} key
 */
function choose(state, query, key) {
  if (query === state.selection.query && key === state.selection.key) return;
  state.selection = { ...state.selection, query, key };
  state.committer.update(state.selection);
  state.committer.write(state.selection);
  markStrip(state);
  showChoice(state);
}

function toggleTerms(/** @type {State} */ state) {
  state.areAllTerms = !state.areAllTerms;
  showSums(state);
  focusIn(state.parts.box, "button.terms");
}

/** Asks the host for what follows from edits, and lets the address say it. */
function askForEdits(/** @type {State} */ state, /** @type {Edit[]} */ edits) {
  const text = writtenEdits(edits);
  if (!edits.length) state.mode = "edited";
  setBusy(state.top, true);
  state.committer.commit();
  state.committer.writeNow("edits", text || null);
  state.host.trigger("edit", text);
}

function focusIn(/** @type {HTMLElement} */ node, /** @type {string} */ selector) {
  const target = node.querySelector(selector);
  if (target instanceof HTMLElement) target.focus();
}
