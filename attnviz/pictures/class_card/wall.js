// @ts-check
// The wall: one screen with title, picture, question and counts. Letters are as large as fit and never below 28 pixels;
// where that is too large, pictures shrink first. The way into the class is large until it has begun, then in a corner.

import { el } from "../shared/dom.js";
import { svg } from "../shared/svg.js";

/** @import { Header, StagedCard } from "./types.js" */

const [LEAST_PX, STEP_PX] = [28, 2];
const MOST_OF_HEIGHT = 0.062; // of the screen's, for a letter
const [LEAST_ZOOM, MOST_ZOOM] = [0.5, 3];
const ROOM = 0.96; // a little is left around the pictures

/** The title, and how to join. */
export function wallHead(
  /** @type {Header} */ view,
  /** @type {StagedCard} */ card,
  /** @type {HTMLElement} */ title,
) {
  const code = el("strong", {}, view.code);
  const invitation = el(
    "div",
    { class: "cc-join", dataset: { large: card.begun ? "" : "1" } },
    el(
      "p",
      {},
      ...(card.begun ? [code] : [view.strings.invite, el("br"), code, el("br"), el("small", {}, view.link)]),
    ),
    qrNode(view),
  );
  const where = el("p", { class: "cc-where" }, `${card.lesson_title} · ${card.where}`);
  return el("header", {}, el("div", {}, where, title), invitation);
}

/** The QR code of the link, dark on white in either theme, with the quiet zone of the standard. */
function qrNode(/** @type {Header} */ { qr, strings }) {
  const dark = qr.flatMap((row, y) =>
    [...row].flatMap((cell, x) => (cell === "1" ? `M${x} ${y}h1v1h-1z` : [])),
  );
  return svg(
    "svg",
    { viewBox: `0 0 ${qr.length} ${qr.length}`, role: "img", "aria-label": strings.qr, class: "cc-qr" },
    svg("rect", { width: qr.length, height: qr.length, fill: "#fff" }),
    svg("path", { d: dark.join(""), fill: "#000" }),
  );
}

/** The largest letters with which the question fits the screen, then the largest pictures beside it. */
export function fitWall(/** @type {HTMLElement} */ card) {
  const pictures = /** @type {HTMLElement | null} */ (card.querySelector(".cc-pictures"));
  const parts = [card, ...card.querySelectorAll(".cc-ask, .cc-sentences")];
  pictures?.style.setProperty("zoom", String(LEAST_ZOOM));
  for (let px = Math.max(LEAST_PX, Math.floor(MOST_OF_HEIGHT * innerHeight)); px >= LEAST_PX; px -= STEP_PX) {
    card.style.fontSize = `${px}px`;
    if (!parts.some(overflows)) break;
  }
  if (pictures) requestAnimationFrame(() => enlarge(pictures)); // once boards have their places
}

function overflows(/** @type {Element} */ { scrollHeight, clientHeight, scrollWidth, clientWidth }) {
  return scrollHeight > clientHeight + 1 || scrollWidth > clientWidth + 1;
}

/** Fills the place of the pictures with them. */
function enlarge(/** @type {HTMLElement} */ pictures) {
  const drawn = [...pictures.querySelectorAll("table, canvas, svg, pre, figcaption, .motion-caption")];
  const rects = drawn.map((node) => node.getBoundingClientRect()).filter(({ width }) => width > 0);
  if (!rects.length) return;
  const place = pictures.getBoundingClientRect();
  const width = Math.max(...rects.map(({ right }) => right)) - Math.min(...rects.map(({ left }) => left));
  const height = Math.max(...rects.map(({ bottom }) => bottom)) - Math.min(...rects.map(({ top }) => top));
  const fits = Math.min(place.width / width, place.height / height) * ROOM;
  pictures.style.setProperty("zoom", String(Math.min(MOST_ZOOM, Math.max(LEAST_ZOOM, fits * LEAST_ZOOM))));
}
