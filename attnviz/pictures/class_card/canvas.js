// @ts-check
// Class card: the card on a class's stage. Each further card comes by the class's line and is drawn at once; a run of
// the page brings the same card with the page's own answer. Boards and films are mounted inside. On the wall the card
// fills one screen, whose letters shrink until it does.

import board from "../board/canvas.js";
import { keepSeat } from "../class_messages/kept.js";
import { DEAF_AFTER, makeLine } from "../class_messages/line.js";
import motion from "../motion/canvas.js";
import { parse } from "../shared/buffer.js";
import { announcePlace } from "../shared/committer.js";
import { el, setData, setText } from "../shared/dom.js";
import { fill } from "../shared/fmt.js";
import { base64Bytes, unpacked } from "../shared/unpack.js";
import { answerNode } from "./answer.js";
import { chartNode } from "./chart.js";
import { passageNodes, spanNodes } from "./passages.js";
import { fitWall, wallHead } from "./wall.js";

/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Place } from "../shared/selection.js" */
/** @import { Arrays, CardPicture, Header, StagedCard } from "./types.js" */

/** A board as this canvas uses it. @typedef {Mounted & {give?: (given: {chosen: [number, number] | null, right: boolean | null}) => void}} Inner */
/**
 * `card` is the one that is drawn; `own` the answer of this page to it, `judged` the label of its verdict.
 * @typedef {{host: Host, view: Header | null, card: StagedCard | null, own: string, judged: string, isLive: boolean,
 *   inner: Inner[], top: HTMLElement, body: HTMLElement, status: HTMLElement, here: HTMLElement, askTimer: number,
 *   chosen: string, verdicts: Map<number, string>}} State
 */

const MOUNTS = { board, motion };
const WIDE_PX = 900; // as in the style sheet: question and picture stand side by side
const ANY_COUNT = -1; // no count is ever this one: the page runs in any case
const CALM_MS = 1500; // within which pages ask for what only a run draws: two hundred at once would queue
const AGAIN_MS = 4000; // a run that was asked for and never came is asked for again

/** @returns {Mounted} */
export default function classCard(/** @type {Host} */ host) {
  const state = makeState(host);
  // also where the line of counts below the card comes late
  const size = new ResizeObserver(() => state.view?.place === "wall" && fitWall(state.body));
  size.observe(state.body);
  const line = makeLine({
    onOpen: () => showLive(state, true),
    onCount: (count) => {
      if (count !== state.card?.version) ask(state, count, 0);
    },
    onText: (text) => takeNote(state, text),
    onBytes: (bytes) => void takeBytes(state, bytes),
    onEnded: () => {
      showLive(state, false);
      ask(state, ANY_COUNT, 0);
    },
    onUnseated: () => ask(state, ANY_COUNT, 0),
    onLost: (tries) => {
      showLive(state, false);
      if (tries > DEAF_AFTER) ask(state, ANY_COUNT, 0);
    },
  });
  return {
    refresh(data) {
      /** @type {{header: Header, arrays: Arrays}} */
      const { header } = parse(data);
      takeView(state, header);
      const isWall = header.place === "wall";
      const heed = header.place;
      line.move({ ...header, heed, query: { lang: header.lang, drawn: String(header.card.version) } });
      const kept = isWall ? null : keepSeat({ code: header.code, heed: "stage", seat: header.seat });
      // with the time: another session of the server, which was sent the last value too, must see a change
      if (kept) host.send("kept", { ...kept, at: Date.now() });
    },
    destroy() {
      line.close();
      size.disconnect();
      clearTimeout(state.askTimer);
      letGo(state);
      state.top.remove();
    },
  };
}

/** @returns {State} */
function makeState(/** @type {Host} */ host) {
  const body = el("article", { class: "cc-card" });
  const here = el("p", { class: "cc-here", "aria-live": "polite" });
  const status = el("p", { class: "cc-live", role: "status" });
  const top = el("section", { class: "av class-card" }, body, here, status);
  host.root.append(top);
  const nodes = { top, body, status, here };
  const answer = { own: "", judged: "", verdicts: new Map() };
  return {
    host,
    view: null,
    card: null,
    ...answer,
    isLive: false,
    inner: [],
    ...nodes,
    askTimer: 0,
    chosen: "null",
  };
}

/** What a run of the page brings: who we are, our answer, and the card unless a later one is drawn already. */
function takeView(/** @type {State} */ state, /** @type {Header} */ view) {
  const isNew = !state.card || view.card.version >= state.card.version;
  state.view = view;
  clearTimeout(state.askTimer);
  state.askTimer = 0;
  if (isNew) {
    state.own = view.own || (isSameVote(state.card, view.card) ? state.own : "");
    state.judged = view.judged;
    show(state, view.card);
  }
  announceChosen(state, view);
  showHere(state, view);
  showLive(state, state.isLive);
}

async function takeBytes(/** @type {State} */ state, /** @type {ArrayBuffer} */ bytes) {
  const text = new TextDecoder().decode(await unpacked(new Uint8Array(bytes)));
  /** @type {StagedCard} */
  const card = JSON.parse(text);
  if (state.card && card.version <= state.card.version) return;
  const before = state.card;
  if (!isSameVote(before, card)) state.own = "";
  state.judged = state.verdicts.get(card.version) ?? "";
  state.verdicts.clear();
  show(state, card);
  // the page itself follows in its own time: to another lesson, or where a picture is drawn by a run alone
  const isDue =
    card.vote !== (before?.vote ?? 1) ||
    card.needs_page ||
    before?.needs_page ||
    before?.lesson !== card.lesson;
  if (isDue) ask(state, card.version, Math.random() * CALM_MS);
}

/** A note beside the cards: how our answer is judged, or who is here. */
function takeNote(/** @type {State} */ state, /** @type {string} */ text) {
  const note = JSON.parse(text);
  if ("judged" in note) state.verdicts.set(note.version, note.judged);
  else showHere(state, note);
}

function isSameCard(/** @type {StagedCard | null} */ before, /** @type {StagedCard} */ now) {
  return before !== null && before.lesson === now.lesson && before.card === now.card;
}

function isSameVote(/** @type {StagedCard | null} */ before, /** @type {StagedCard} */ now) {
  return isSameCard(before, now) && before?.vote === now.vote;
}

function show(/** @type {State} */ state, /** @type {StagedCard} */ card) {
  const before = state.card;
  letGo(state);
  state.card = card;
  const isWall = state.view?.place === "wall";
  setData(state.top, {
    place: state.view?.place,
    version: card.version,
    card: card.card,
    revealed: card.revealed ? "1" : null,
    options: card.options.some(({ picture }) => picture) ? "pictured" : null,
  });
  const pictures = el(
    "div",
    { class: "cc-pictures" },
    ...card.pictures.map((picture) => pictureNode(state, picture)),
  );
  const title = el("h2", { tabIndex: -1 }, ...spanNodes(card.title));
  const parts = isWall ? wallParts(state, card, title, pictures) : seatParts(state, card, title, pictures);
  state.body.replaceChildren(...parts);
  giveOwn(state);
  if (isWall) fitWall(state.body);
  else if (before && !isSameCard(before, card)) state.top.scrollIntoView({ block: "start" });
}

function seatParts(
  /** @type {State} */ state,
  /** @type {StagedCard} */ card,
  /** @type {HTMLElement} */ title,
  /** @type {HTMLElement} */ pictures,
) {
  const { strings } = /** @type {Header} */ (state.view);
  const isWide = state.top.clientWidth >= WIDE_PX;
  const head = el("p", { class: "cc-where" }, `${card.lesson_title} · ${card.where}`);
  const text = el("div", { class: "cc-sentences" }, ...passageNodes(card.text));
  const terms = card.words.map(({ term, meaning }) =>
    el(
      "details",
      {},
      el("summary", {}, ...spanNodes([{ text: term, style: "", lang: "" }])),
      ...passageNodes(meaning),
    ),
  );
  const glossary = terms.length
    ? el("div", { class: "cc-words" }, el("span", {}, strings.words), ...terms)
    : null;
  const settings = card.settings.length ? el("p", { class: "cc-settings" }, card.settings.join(" · ")) : null;
  return [
    el("header", {}, head, title),
    askNode(state, card),
    el("div", { class: "cc-shown" }, settings, pictures, ...afterwards(state, card)),
    // a phone shows the question and its picture; without a question the text is what the card has to say
    el(
      "details",
      { class: "cc-text", open: isWide || !card.question.length ? "" : null },
      el("summary", {}, strings.text),
      text,
      glossary,
    ),
  ];
}

function wallParts(
  /** @type {State} */ state,
  /** @type {StagedCard} */ card,
  /** @type {HTMLElement} */ title,
  /** @type {HTMLElement} */ pictures,
) {
  const view = /** @type {Header} */ (state.view);
  const shown =
    card.pictures.length || card.question.length
      ? pictures
      : el("div", { class: "cc-sentences" }, ...passageNodes(card.text));
  return [wallHead(view, card, title), shown, askNode(state, card)];
}

/** The question with what answers it, and how it was answered. */
function askNode(/** @type {State} */ state, /** @type {StagedCard} */ card) {
  const view = /** @type {Header} */ (state.view);
  if (!card.question.length) return el("section", { class: "cc-ask", hidden: true });
  return el(
    "section",
    { class: "cc-ask", "aria-label": view.strings.question },
    el("div", { class: "cc-question" }, ...passageNodes(card.question)),
    answerNode({
      view,
      card,
      own: state.own,
      judged: state.judged,
      picture: (picture) => pictureNode(state, picture),
      give: (text) => give(state, text),
    }),
  );
}

/** What stands below the pictures once the answer is known. */
function afterwards(/** @type {State} */ state, /** @type {StagedCard} */ card) {
  const { strings } = /** @type {Header} */ (state.view);
  const reveal = card.reveal.length ? el("div", { class: "cc-reveal" }, ...passageNodes(card.reveal)) : null;
  const keep = card.takeaway.length
    ? el("div", { class: "cc-keep" }, el("strong", {}, strings.takeaway), ...passageNodes(card.takeaway))
    : null;
  return [reveal, keep];
}

/** A picture of the card, with the canvas that draws it. */
function pictureNode(/** @type {State} */ state, /** @type {CardPicture} */ picture) {
  if (picture.chart) return chartNode(picture.chart);
  if (picture.kind !== "board" && picture.kind !== "motion")
    return el("pre", {}, el("code", {}, picture.data));
  const { host } = state;
  const root = el("div", { class: "cc-picture" });
  /** @type {Inner} */
  const inner = MOUNTS[picture.kind]({
    ...host,
    root,
    send: (name, value) => {
      if (name === "cell") takeCell(state, /** @type {{row: number, column: number}} */ (value));
    },
    trigger: () => undefined, // who leads sets the numbers of a film
  });
  inner.refresh(base64Bytes(picture.data));
  state.inner.push(inner);
  return root;
}

/** A cell of a board that asks was chosen. */
function takeCell(/** @type {State} */ state, /** @type {{row: number, column: number}} */ { row, column }) {
  if (state.card?.takes === "cell" && !state.card.revealed && state.view?.place === "card")
    give(state, `${row}.${column}`);
}

/** Takes the answer of this page, and has the class count it. */
function give(/** @type {State} */ state, /** @type {string} */ text) {
  const { card, host } = state;
  if (!card || card.revealed || state.view?.place === "wall") return;
  state.own = text;
  host.send("answer", { lesson: card.lesson, card: card.card, text, at: Date.now() });
  state.body.querySelector(".cc-ask")?.replaceWith(askNode(state, card));
  giveOwn(state);
}

/** Marks the own cell on the boards that ask. */
function giveOwn(/** @type {State} */ { card, own, judged, inner }) {
  if (!card || card.takes !== "cell") return;
  const [row, column] = own.split(".").map(Number);
  const right = card.revealed && own ? judged === "right" : null;
  const chosen = /** @type {[number, number] | null} */ (own ? [row, column] : null);
  for (const one of inner) one.give?.({ chosen, right });
}

function letGo(/** @type {State} */ state) {
  for (const one of state.inner.splice(0)) one.destroy();
}

/** Asks for a run of the page, in a while. */
function ask(/** @type {State} */ state, /** @type {number} */ count, /** @type {number} */ wait) {
  clearTimeout(state.askTimer);
  state.askTimer = setTimeout(() => {
    state.host.send("heard", { count, at: Date.now() });
    state.askTimer = setTimeout(() => ask(state, count, 0), AGAIN_MS);
  }, wait);
}

/** What the presenter has chosen in a real head, where that is not what was announced last. */
function announceChosen(/** @type {State} */ state, /** @type {Header} */ { chosen }) {
  const text = JSON.stringify(chosen);
  if (chosen && text !== state.chosen)
    announcePlace(state.host, /** @type {Place} */ (/** @type {unknown} */ (chosen)));
  state.chosen = text;
}

function showHere(
  /** @type {State} */ state,
  /** @type {{present: number, answered: number}} */ { present, answered },
) {
  if (state.view?.place !== "wall") return;
  const { here, whole } = state.view.strings;
  const isWhole = present > 0 && answered >= present;
  setText(state.here, fill(here, { present, answered }) + (isWhole ? ` · ✓ ${whole}` : ""));
}

function showLive(/** @type {State} */ state, /** @type {boolean} */ isLive) {
  state.isLive = isLive;
  if (!state.view) return;
  const { live, lost } = state.view.strings;
  setData(state.top, { heard: isLive ? "live" : "lost" });
  setText(state.status, isLive ? `● ${live}` : `○ ${lost}`);
}
