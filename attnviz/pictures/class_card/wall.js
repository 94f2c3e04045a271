// @ts-check
// The wall: one screen with title, picture, question and counts. Letters are as large as fit and never below 28 pixels;
// where that is too large, pictures shrink first. The way into the class is large until it has begun, then in a corner.

import { el } from "../shared/dom.js";
import { svg } from "../shared/svg.js";

/** @import { Header, StagedCard } from "./types.js" */

const [LEAST_PX, STEP_PX] = [28, 2];
const [MOST_OF_HEIGHT, MOST_BESIDE_PICTURES] = [0.062, 0.042]; // of the screen's, for a letter
const [LEAST_ZOOM, MOST_ZOOM] = [0.5, 3];
const [SMALLEST_OPTION, ZOOM_STEP] = [0.25, 0.125]; // of the pictures of options

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
  const drawn = /** @type {HTMLElement[]} */ ([
    ...card.querySelectorAll(".cc-option-pictured > .cc-picture"),
  ]);
  const part = drawn.length ? MOST_BESIDE_PICTURES : MOST_OF_HEIGHT;
  const most = Math.max(LEAST_PX, Math.floor(part * innerHeight));
  for (const picture of drawn) picture.style.zoom = String(SMALLEST_OPTION);
  for (let px = most; px >= LEAST_PX; px -= STEP_PX) {
    card.style.fontSize = `${px}px`;
    if (!parts.some(overflows)) break;
  }
  // pictures of options share what the letters leave
  for (let zoom = MOST_ZOOM; drawn.length && zoom >= SMALLEST_OPTION; zoom -= ZOOM_STEP) {
    for (const picture of drawn) picture.style.zoom = String(zoom);
    if (![...parts, ...drawn].some(overflows)) break;
  }
  if (pictures) requestAnimationFrame(() => enlarge(pictures)); // once boards have their places
}

function overflows(/** @type {Element} */ { scrollHeight, clientHeight, scrollWidth, clientWidth }) {
  return scrollHeight > clientHeight + 1 || scrollWidth > clientWidth + 1;
}

/** Fills the place of the pictures with them: boards that stood side by side may stand below each other, and larger. */
function enlarge(/** @type {HTMLElement} */ pictures) {
  const drawn = [...pictures.querySelectorAll("table, canvas, svg, pre, figcaption, .motion-caption")];
  for (let zoom = MOST_ZOOM; zoom > LEAST_ZOOM; zoom -= ZOOM_STEP) {
    pictures.style.setProperty("zoom", String(zoom));
    if (fits(pictures, drawn)) return;
  }
  pictures.style.setProperty("zoom", String(LEAST_ZOOM));
}

/** True if all that is drawn stands within its place. */
function fits(/** @type {HTMLElement} */ pictures, /** @type {Element[]} */ drawn) {
  const rects = drawn.map((node) => node.getBoundingClientRect()).filter(({ width }) => width > 0);
  if (!rects.length) return true;
  const place = pictures.getBoundingClientRect();
  const width = Math.max(...rects.map(({ right }) => right)) - Math.min(...rects.map(({ left }) => left));
  const height = Math.max(...rects.map(({ bottom }) => bottom)) - Math.min(...rects.map(({ top }) => top));
  return width <= place.width + 1 && height <= place.height + 1; // some fill the width at any size
}
