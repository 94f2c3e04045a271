// @ts-check
// Strip: what the model reads, as its tokens in one line; a click on one chooses its row in every picture of the page. The
// line is the text: the field behind the chips shows when it is entered, by the pencil, a click beside the chips, or Tab.
// Enter and leaving it apply what was typed, Escape takes it back. A word that an input method composes is left to it.

import { parse } from "../shared/buffer.js";
import { moveAlongChips } from "../shared/chips.js";
import { makeCommitter } from "../shared/committer.js";
import { button, swallow } from "../shared/controls.js";
import { dataAt, el } from "../shared/dom.js";
import { pictureSource } from "../shared/picture.js";
import { buildAnswer, buildExamples, buildPiece, markTokens, showPiece, showWords } from "./parts.js";

/** @import { Values } from "../shared/buffer.js" */
/** @import { Committer } from "../shared/committer.js" */
/** @import { Host, Mounted, Turned } from "../shared/host.js" */
/** @import { AddressSelection } from "../shared/selection.js" */
/** @import { PieceNodes } from "./parts.js" */
/** @import { Arrays, Header } from "./types.js" */

/**
 * `turned` is what the answer has become where heads are off.
 * @typedef {{host: Host, box: HTMLElement, committer: Committer, data: Uint8Array | null, header: Header | null,
 *   turned: Turned | null, selection: AddressSelection,
 *   pieces: Map<string, PieceNodes>, controls: Map<string, {data: string, nodes: HTMLElement[]}>, stopSound: () => void}} State
 */

const THUMB_PX = 40;

/** @returns {Mounted} */
export default function strip(/** @type {Host} */ host) {
  const box = el("section", { class: "av av-strip av-line-of-text" });
  host.root.append(box);
  const committer = makeCommitter(host, box, (selection) => {
    const { query, key } = state.selection;
    state.selection = selection;
    mark(state, query !== selection.query || key !== selection.key);
  });
  /** @type {State} */
  const state = {
    host,
    box,
    committer,
    data: null,
    header: null,
    turned: null,
    selection: committer.read(),
    pieces: new Map(),
    controls: new Map(),
    stopSound: () => undefined,
  };
  const stop = host.channel.listen((message) => {
    if (!("turned" in message)) return;
    state.turned = message.turned;
    for (const node of box.querySelectorAll(".strip-answer")) node.remove();
    if (!state.header) return;
    box.append(...buildAnswer(state.header, state.turned));
    mark(state, false); // the answer takes room from the words
  });
  host.channel.post({ wants: "turned" });
  return {
    refresh(data) {
      if (state.data !== data) show(state, data);
    },
    destroy() {
      stop();
      state.stopSound();
      committer.destroy();
      box.remove();
    },
  };
}

/** Shows new data; pieces that were there stay the same elements, so that nobody is interrupted in typing. */
function show(/** @type {State} */ state, /** @type {Uint8Array} */ data) {
  /** @type {{header: Header, arrays: Arrays}} */
  const { header, arrays } = parse(data);
  // what was chosen in the same text a moment ago still counts: the address may have the place before
  const chosen = isSameText(state.header, header) ? state.committer.untold() : null;
  Object.assign(state, { data, header });
  state.selection = chosen ?? state.committer.read();
  state.committer.start(state.selection);
  state.stopSound();
  const whole = arrays.picture ? pictureSource(arrays.picture) : null;
  const before = state.pieces;
  state.pieces = new Map(
    header.pieces.map((piece) => [piece.name, before.get(piece.name) ?? newPiece(state, header, piece)]),
  );
  for (const piece of header.pieces) {
    const nodes = state.pieces.get(piece.name);
    if (nodes) showPiece(nodes, piece, header.strings, whole);
  }
  const nodes = [...state.pieces.values()].flatMap(({ node, piece }, i) =>
    i
      ? [el("span", { class: "strip-join", "aria-hidden": "true" }, piece.name === "text2" ? "+" : "→"), node]
      : [node],
  );
  const { examples, source, action, strings } = header;
  const first = [
    ...buildMedia(state, header, arrays, whole),
    ...keep(state, "source", [source, strings.close], () => buildSource(state, header)),
  ];
  const last = [
    ...keep(state, "examples", [examples, strings.examples], () =>
      buildExamples(header, (text) => choose(state, text)),
    ),
    ...keep(state, "action", action, () => buildAction(state, header)),
  ];
  arrange(state.box, [...first, ...nodes, ...last, ...buildAnswer(header, state.turned)]);
  mark(state, false);
}

/** True if the tokens are those that were there before. */
function isSameText(/** @type {Header | null} */ before, /** @type {Header} */ now) {
  const tokensOf = (/** @type {Header} */ { pieces }) => JSON.stringify(pieces.map(({ tokens }) => tokens));
  return before !== null && tokensOf(before) === tokensOf(now);
}

/**
 * The controls of a name as they were while their data are the same: a list of examples stays open, and a button stays
 * under the pointer, when the answer comes.
 * @param {State} state
 * @param {string} name
 * @param {unknown} data
 * @param {() => HTMLElement[]} build
 */
function keep({ controls }, name, data, build) {
  const text = JSON.stringify(data);
  const before = controls.get(name);
  if (before?.data === text) return before.nodes;
  const nodes = build();
  controls.set(name, { data: text, nodes });
  return nodes;
}

/** Puts nodes into a box without moving those that stay: a field that is moved loses the focus. */
function arrange(/** @type {HTMLElement} */ box, /** @type {readonly HTMLElement[]} */ nodes) {
  const kept = new Set(nodes);
  for (const child of [...box.children]) if (!kept.has(/** @type {HTMLElement} */ (child))) child.remove();
  let before = box.firstElementChild;
  for (const node of nodes) {
    if (node === before) before = before.nextElementSibling;
    else box.insertBefore(node, before);
  }
}

/** @returns {PieceNodes} */
function newPiece(
  /** @type {State} */ state,
  /** @type {Header} */ { strings },
  /** @type {Header["pieces"][number]} */ piece,
) {
  const nodes = buildPiece(piece, strings);
  const { field, chips, pencil } = nodes;
  const edit = () => {
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  };
  pencil.addEventListener("click", edit);
  chips.addEventListener("click", (event) => {
    const token = dataAt(event, "token");
    if (token !== undefined) choosePlace(state, nodes, Number(token), event.shiftKey);
    else if (nodes.piece.field) edit();
  });
  chips.addEventListener("dblclick", () => nodes.piece.field && edit());
  chips.addEventListener("keydown", (event) => {
    if (event.key === "Escape") choosePlace(state, nodes, null);
    else moveAlongChips(event, nodes.tokens);
  });
  field.addEventListener("keydown", (event) => {
    const isOther = event.shiftKey || event.altKey;
    if (event.isComposing || !(event.key === "Escape" || (event.key === "Enter" && !isOther))) return;
    swallow(event);
    if (event.key === "Escape") field.value = nodes.piece.text;
    pencil.focus({ preventScroll: true });
  });
  field.addEventListener("blur", () => send(state, nodes));
  return nodes;
}

/** Tells what was typed, if it is another text than before. */
function send(/** @type {State} */ { host }, /** @type {PieceNodes} */ nodes) {
  const text = nodes.field.value;
  const { name } = nodes.piece;
  if (text === nodes.piece.text || name === "picture" || name === "sound" || name === "tokens") return;
  nodes.piece = { ...nodes.piece, text, tokens: null };
  nodes.tokens = [];
  showWords(nodes, text);
  host.trigger("typed", { name, text });
}

/** An example takes the place of the text. */
function choose(/** @type {State} */ state, /** @type {string} */ text) {
  const nodes = state.pieces.get("text") ?? state.pieces.get("text_b");
  if (!nodes) return;
  nodes.field.value = text;
  send(state, nodes);
}

/**
 * A token asks, or answers where it is of the keys alone or Shift is held; the same one again lets it go. Two words, the
 * second with Shift, ask which head links them.
 * @param {State} state
 * @param {PieceNodes} nodes
 * @param {number | null} token
 * @param {boolean} [wantsKey]
 */
function choosePlace(state, { piece }, token, wantsKey = false) {
  const { layer, head, query, key } = state.selection;
  const isKey = token !== null && piece.tokens?.answers && (!piece.tokens.asks || wantsKey);
  if (isKey && query === null) return;
  const place = isKey
    ? { query, key: key === token ? null : token }
    : { query: query === token ? null : token, key: null };
  state.selection = { ...state.selection, layer: layer ?? 0, head: head ?? 0, ...place };
  state.committer.update(state.selection);
  state.committer.write(state.selection);
  mark(state);
  if (!isKey || !wantsKey || place.key === null) return;
  state.committer.commit();
  state.host.trigger("ask", { ask: "links", on: true, layer: layer ?? 0, head: head ?? 0, ...place });
}

/** Marks the chosen tokens, which are `isNew` where they were chosen on the page that is open. */
function mark(/** @type {State} */ { pieces, selection }, isNew = true) {
  for (const nodes of pieces.values()) markTokens(nodes, selection.query, selection.key, isNew);
}

/**
 * The picture or the spectrogram, small, and a button that plays the sound.
 * @param {State} state
 * @param {Header} header
 * @param {Arrays} arrays
 * @param {HTMLCanvasElement | null} whole
 * @returns {HTMLElement[]}
 */
function buildMedia(state, { strings }, arrays, whole) {
  const nodes = [];
  if (arrays.sound) nodes.push(buildPlayer(state, strings, arrays.sound.data));
  if (whole) {
    whole.className = "strip-thumb";
    whole.style.height = `${THUMB_PX}px`;
    whole.setAttribute("role", "img");
    whole.setAttribute("aria-label", arrays.sound ? strings.heard : strings.picture);
    nodes.push(whole);
  }
  return nodes;
}

function buildPlayer(
  /** @type {State} */ state,
  /** @type {Header["strings"]} */ strings,
  /** @type {Values} */ wave,
) {
  const address = URL.createObjectURL(new Blob([wave], { type: "audio/wav" }));
  const sound = new Audio(address);
  const node = button({
    label: strings.play,
    text: "▶",
    onClick: () => void (sound.paused ? sound.play() : sound.pause()),
  });
  const tell = () => {
    node.textContent = sound.paused ? "▶" : "❚❚";
    node.title = sound.paused ? strings.play : strings.pause;
    node.setAttribute("aria-label", node.title);
  };
  for (const name of ["play", "pause", "ended"]) sound.addEventListener(name, tell);
  state.stopSound = () => {
    sound.pause();
    URL.revokeObjectURL(address);
  };
  return node;
}

/** What is read in place of a typed text, and the way back to typing. @returns {HTMLElement[]} */
function buildSource(/** @type {State} */ { host }, /** @type {Header} */ { source, strings }) {
  if (!source) return [];
  const close = button({ label: strings.close, text: "✕", onClick: () => host.trigger("close", true) });
  close.classList.add("strip-button");
  return [el("p", { class: "strip-source", title: source }, el("bdi", {}, source)), close];
}

/** A button that has the model write the target. @returns {HTMLElement[]} */
function buildAction(/** @type {State} */ { host }, /** @type {Header} */ { action }) {
  return action ? [button({ label: action, onClick: () => host.trigger("write", true) })] : [];
}
