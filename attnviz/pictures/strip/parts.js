// @ts-check
// The elements of the strip: a piece with its chips and the field behind them, the list of examples, the answer.

import { axisMarks } from "../shared/axes.js";
import { lightChips, makeChips } from "../shared/chips.js";
import { cueScroll, el, foreign } from "../shared/dom.js";
import { fill, fmtPercent } from "../shared/fmt.js";
import { patchPicture } from "../shared/picture.js";

/** @import { SaidAnswer, Turned } from "../shared/host.js" */
/** @import { Header, StripPiece } from "./types.js" */

/** @typedef {Header["strings"]} Strings */
/** A piece on the page; `chips` are those of its tokens. @typedef {ReturnType<typeof buildPiece>} PieceNodes */

const PATCH_PX = 30;
const FEW_PX = 300; // of a line with room for a few tokens

/**
 * The elements of a piece. The field lies behind the chips until it has the focus.
 * @param {StripPiece} piece
 * @param {Strings} strings
 */
export function buildPiece(piece, strings) {
  const chips = cueScroll(el("div", { class: "av-chips strip-chips", role: "group" }));
  const field = el("textarea", { class: "strip-field", rows: 1, spellcheck: "false", dir: "auto" });
  const word = el("span", { class: "strip-button-word" }, strings.edit_word);
  const pencil = el("button", { class: "strip-button", type: "button", tabIndex: -1 }, "✎", word);
  pencil.title = fill(strings.edit, { what: piece.label });
  pencil.setAttribute("aria-label", pencil.title);
  const node = el("div", { class: "strip-piece", dataset: { name: piece.name } }, field, pencil, chips);
  return { node, chips, field, pencil, tokens: /** @type {HTMLElement[]} */ ([]), piece };
}

/**
 * Shows a piece as it is now; what is being typed stays.
 * @param {PieceNodes} nodes
 * @param {StripPiece} piece
 * @param {Strings} strings
 * @param {HTMLCanvasElement | null} whole the picture that the model saw
 */
export function showPiece(nodes, piece, strings, whole) {
  const { field, chips, pencil, node } = nodes;
  const isTyping = node.getRootNode() instanceof ShadowRoot && node.matches(":has(textarea:focus)");
  nodes.piece = piece;
  field.hidden = pencil.hidden = piece.field === null;
  field.setAttribute("aria-label", piece.label);
  field.placeholder = piece.field?.placeholder ?? "";
  field.title = piece.field?.help ?? "";
  if (piece.field?.limit) field.maxLength = piece.field.limit;
  if (!isTyping) field.value = piece.text;
  chips.setAttribute("aria-label", piece.label);
  if (!piece.tokens) {
    nodes.tokens = [];
    showWords(nodes, piece.text || field.placeholder, !piece.text);
    return;
  }
  const { labels, special, written, asks, answers, patches } = piece.tokens;
  const tag = asks || answers ? "button" : "span";
  if (tag === "span")
    chips.tabIndex = 0; // it scrolls, and holds nothing to move to
  else chips.removeAttribute("tabindex");
  nodes.tokens = makeChips(chips, labels, axisMarks(special, written), strings.written, tag);
  nodes.tokens.forEach((chip, i) => {
    if (tag === "button") chip.tabIndex = i ? -1 : 0;
    const picture = whole && patches && patchPicture(whole, patches, "query", i, PATCH_PX);
    if (!picture) return;
    chip.title = labels[i];
    chip.replaceChildren(picture, el("span", { class: "av-visually-hidden" }, labels[i]));
  });
}

/** Shows a text without tokens: none are known yet, or there are too many of them. */
export function showWords(/** @type {PieceNodes} */ { chips }, /** @type {string} */ text, isFaint = false) {
  chips.replaceChildren(
    el("span", { class: `strip-words${isFaint ? " strip-faint" : ""}`, dir: "auto" }, text),
  );
}

/**
 * Marks the token that asks and the one that answers; `isNew` scrolls there. A line that opens shows the first token
 * that differs, and on a phone, where three or four have room, the one that asks; else it stays at its beginning.
 * @param {PieceNodes} nodes
 * @param {number | null} query
 * @param {number | null} key
 * @param {boolean} isNew
 */
export function markTokens({ piece, tokens, chips }, query, key, isNew) {
  const asking = piece.tokens?.asks ? query : null;
  const answering = piece.tokens?.answers ? key : null;
  lightChips(tokens, new Set(asking === null ? [] : [asking]), new Map(), new Uint32Array());
  tokens.forEach((chip, i) => {
    chip.classList.toggle("strip-key", i === answering);
    if (chip instanceof HTMLButtonElement)
      chip.setAttribute("aria-pressed", String(i === asking || i === answering));
  });
  const chosen = asking ?? answering;
  const first = piece.tokens?.differs ?? (chips.clientWidth < FEW_PX ? chosen : null);
  const chip = tokens[(isNew ? chosen : first) ?? -1];
  if (!chip || chips.scrollWidth <= chips.clientWidth) return;
  const start = chip.offsetLeft - chips.offsetLeft;
  const spare = chips.clientWidth - chip.offsetWidth;
  if (start < chips.scrollLeft || start - spare > chips.scrollLeft)
    chips.scrollLeft = start - Math.max(0, spare / 2);
}

/**
 * The button of the examples, and their list: each text with what there is to see in it.
 * @param {Header} header
 * @param {(text: string) => void} onChoose
 */
export function buildExamples({ examples, strings }, onChoose) {
  const list = el("div", {
    class: "strip-menu",
    role: "menu",
    popover: "auto",
    "aria-label": strings.examples,
  });
  const word = el("span", { class: "strip-button-word" }, strings.examples);
  const button = el("button", { class: "strip-button", type: "button", "aria-haspopup": "menu" }, "▾", word);
  button.title = strings.examples;
  button.setAttribute("aria-label", strings.examples);
  const items = examples.map(({ text, hint }, i) =>
    el(
      "button",
      { class: "strip-example", type: "button", role: "menuitem", tabIndex: i ? -1 : 0 },
      foreign(text, { dir: "auto" }, "span"),
      hint ? el("small", {}, hint) : null,
    ),
  );
  items.forEach((item, i) =>
    item.addEventListener("click", () => {
      list.hidePopover();
      onChoose(examples[i].text);
    }),
  );
  list.append(...items);
  button.addEventListener("click", () => list.togglePopover());
  list.addEventListener("toggle", () => {
    const isOpen = list.matches(":popover-open");
    button.setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) return;
    const { right, bottom } = button.getBoundingClientRect();
    list.style.top = `${bottom + 4}px`;
    list.style.left = `${Math.max(8, Math.min(right - list.offsetWidth, innerWidth - list.offsetWidth - 8))}px`;
    items[0]?.focus();
  });
  list.addEventListener("keydown", (event) => {
    const at = items.findIndex((item) => item.matches(":focus"));
    /** @type {Readonly<Record<string, number | undefined>>} */
    const places = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 };
    const place = places[event.key];
    if (place === undefined) return;
    event.preventDefault();
    items[(place + items.length) % items.length].focus();
  });
  return examples.length ? [button, list] : [];
}

/** The model's answer with its probability. @returns {HTMLElement[]} */
export function buildAnswer(/** @type {Header} */ { answer, strings }, /** @type {Turned | null} */ turned) {
  if (!answer) return [];
  const said = (/** @type {SaidAnswer} */ { word, probability }) => [
    foreign(word),
    ` ${fill(strings.percent, { percent: fmtPercent(probability) })}`,
  ];
  const spoken = el("span", { class: "av-visually-hidden" }, `${answer.title}: `);
  const isOurs = turned && fmtPercent(turned.before.probability) === fmtPercent(answer.probability);
  const now = isOurs ? [" → ", el("b", {}, ...said(turned.after))] : [];
  const before = el("span", { class: isOurs ? "strip-before" : "" }, ...said(answer));
  return [el("p", { class: "strip-answer", title: answer.title }, spoken, before, ...now)];
}
