// @ts-check
// The shelf of the lessons: cards by level, each with a picture of one of its own cards, its progress, and a button that
// covers it. A film shows its end; it plays under the pointer and the focus.

import { FILMS, paintFilm } from "../motion/films.js";
import { parse } from "../shared/buffer.js";
import { makeClock, wantsLessMotion } from "../shared/clock.js";
import { colourAt, diverging, levelFor, sequential, signedLevel } from "../shared/colors.js";
import { el, fitCanvas, markDrawn, setData, watchSize } from "../shared/dom.js";
import { lengthOf } from "../shared/scenes.js";
import { withSubscripts } from "../shared/symbols.js";

/** @import { Clock } from "../shared/clock.js" */
/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Header as FilmHeader } from "../motion/types.js" */
/** @import { Arrays, Header, ShelfLesson } from "./types.js" */

/** @typedef {{lesson: ShelfLesson, arrays: Arrays, canvas: HTMLCanvasElement, clock: Clock}} Card */
/** @typedef {{host: Host, top: HTMLElement, header: Header | null, arrays: Arrays, cards: Card[]}} State */

const SIGNS = { right: "✓", later: "↻", wrong: "✗", shown: "•", open: "○" };
const HEIGHT = 150; // of a picture
const FILM_WIDTH = 340; // at which a film is painted before it is made smaller
const AT_REST = 0.985; // of a film: its last scene, before it ends
const GAP = 22; // between matrices, for the sign

/** @returns {Mounted} */
export default function shelf(/** @type {Host} */ host) {
  const top = el("section", { class: "av shelf" });
  host.root.append(top);
  /** @type {State} */
  const state = { host, top, header: null, arrays: {}, cards: [] };
  const stop = watchSize(top, () => state.cards.forEach((card) => paint(state, card)));
  return {
    refresh(data) {
      Object.assign(state, parse(data));
      write(state);
    },
    destroy() {
      stop();
      for (const { clock } of state.cards) clock.pause();
      top.remove();
    },
  };
}

function write(/** @type {State} */ state) {
  const { header, top } = state;
  if (!header) return;
  for (const { clock } of state.cards) clock.pause();
  state.cards = [];
  const levels = header.levels.map(({ name, body, lessons }) =>
    el(
      "section",
      { class: "shelf-level" },
      el("h2", {}, name, el("small", {}, body)),
      el("div", { class: "shelf-cards" }, ...lessons.map((lesson) => cardNode(state, lesson))),
    ),
  );
  top.replaceChildren(...levels);
  for (const card of state.cards) paint(state, card);
}

function cardNode(/** @type {State} */ state, /** @type {ShelfLesson} */ lesson) {
  const { host } = state;
  const { strings } = /** @type {Header} */ (state.header);
  const card = makeCard(state, lesson);
  state.cards.push(card);
  const open = (/** @type {boolean} */ from_start) =>
    // with the time: a lesson that is opened a second time must be a change
    host.trigger("lesson", { slug: lesson.slug, from_start, at: Date.now() });
  const label = lesson.is_begun ? strings.go_on : strings.start;
  const button = el(
    "button",
    {
      type: "button",
      class: "shelf-open",
      dataset: { lesson: lesson.slug },
      on: { click: () => open(false) },
    },
    el("span", { class: "shelf-title" }, `${lesson.number}. `, ...withSubscripts(lesson.title)),
    el("span", { class: "av-visually-hidden" }, ` · ${label}`),
  );
  const again = lesson.is_left
    ? el(
        "button",
        {
          type: "button",
          class: "shelf-again",
          dataset: { again: lesson.slug },
          on: { click: () => open(true) },
        },
        strings.from_start,
      )
    : null;
  const marks = lesson.marks.map((mark) => el("i", { dataset: { mark } }, SIGNS[mark]));
  const node = el(
    "article",
    {
      class: "shelf-card",
      dataset: { lesson: lesson.slug, next: lesson.is_next ? "1" : "" },
      on: { pointerenter: () => play(card), focusin: () => play(card) },
    },
    el("div", { class: "shelf-picture" }, card.canvas),
    button,
    el("p", { class: "shelf-goal" }, ...withSubscripts(lesson.goal)),
    el("p", { class: "av-caption" }, lesson.about),
    el(
      "p",
      { class: "shelf-marks", role: "img", "aria-label": lesson.progress, title: lesson.progress },
      ...marks,
    ),
    el(
      "p",
      { class: "shelf-foot" },
      el("b", { "aria-hidden": "true" }, lesson.is_next && !lesson.is_begun ? strings.here : label, " →"),
      again,
    ),
  );
  return node;
}

/** @returns {Card} */
function makeCard(/** @type {State} */ state, /** @type {ShelfLesson} */ lesson) {
  const canvas = el("canvas", { "aria-hidden": "true" });
  const clock = makeClock({
    length: lengthOf(lesson.still.scenes),
    onTime: () => paint(state, card),
    onState: (isRunning) => setData(canvas, { running: isRunning ? "1" : null }),
  });
  const own = `${lesson.slug}.`;
  const entries = Object.entries(state.arrays).filter(([name]) => name.startsWith(own));
  const arrays = Object.fromEntries(entries.map(([name, array]) => [name.slice(own.length), array]));
  /** @type {Card} */
  const card = { lesson, arrays, canvas, clock };
  return card;
}

function play(/** @type {Card} */ { lesson, clock }) {
  if (lesson.still.kind === "film" && !wantsLessMotion() && !clock.isRunning()) clock.play();
}

function paint(/** @type {State} */ { host }, /** @type {Card} */ card) {
  const { canvas, lesson, clock } = card;
  const { kind, scenes } = lesson.still;
  const width = Math.floor(canvas.parentElement?.clientWidth ?? 0);
  if (width <= 0) return;
  if (kind !== "film") {
    const ctx = fitCanvas(canvas, width, HEIGHT);
    (kind === "lines" ? lines : matrices)(ctx, card, host.theme(), width);
    markDrawn(canvas);
    return;
  }
  const length = lengthOf(scenes);
  const time =
    clock.isRunning() || (clock.time() > 0 && clock.time() < length) ? clock.time() : AT_REST * length;
  const frame = paintFilm(canvas, shownFilm(card, host), time);
  const zoom = Math.min(1, width / frame.width, HEIGHT / frame.height);
  canvas.style.width = `${frame.width * zoom}px`;
  canvas.style.height = `${frame.height * zoom}px`;
}

function shownFilm(/** @type {Card} */ { lesson, arrays }, /** @type {Host} */ host) {
  const { film, scenes, labels } = lesson.still;
  const header = /** @type {FilmHeader} */ (
    /** @type {unknown} */ ({ film, scenes, labels, handles: {}, values: {} })
  );
  if (!film || !(film in FILMS)) throw new Error(`no film ${film}`);
  return { header, arrays, theme: host.theme(), set: {}, width: FILM_WIDTH };
}

/** Lines from left to right, between 0 and 1, each in a colour and with dashes of its own. */
function lines(
  /** @type {CanvasRenderingContext2D} */ ctx,
  /** @type {Card} */ { arrays },
  /** @type {ReturnType<Host["theme"]>} */ theme,
  /** @type {number} */ width,
) {
  const { data, shape } = arrays.lines;
  const colours = [theme.roles.query, theme.roles.key, theme.roles.answer, theme.muted];
  const pad = 10;
  ctx.strokeStyle = theme.border;
  ctx.lineWidth = 1;
  ctx.strokeRect(pad + 0.5, pad + 0.5, width - 2 * pad, HEIGHT - 2 * pad);
  ctx.lineWidth = 2.5;
  for (let line = 0; line < shape[0]; line++) {
    ctx.strokeStyle = colours[line % colours.length];
    ctx.setLineDash(line % 2 ? [7, 4] : []);
    ctx.beginPath();
    for (let at = 0; at < shape[1]; at++) {
      const value = data[line * shape[1] + at];
      if (!Number.isFinite(value)) continue;
      const x = pad + arrays.x.data[at] * (width - 2 * pad);
      ctx.lineTo(x, HEIGHT - pad - 6 - value * (HEIGHT - 2 * pad - 12));
    }
    ctx.stroke();
  }
  ctx.setLineDash([]);
}

/** Matrices side by side with the signs between them; cells without a number stay empty. */
function matrices(
  /** @type {CanvasRenderingContext2D} */ ctx,
  /** @type {Card} */ { lesson, arrays },
  /** @type {ReturnType<Host["theme"]>} */ theme,
  /** @type {number} */ width,
) {
  const panels = lesson.still.before.map((sign, place) => ({ sign, ...arrays[String(place)] }));
  const isStacked = panels.every(({ shape }) => shape[0] === 1); // single rows stand below each other
  const widest = isStacked
    ? Math.max(...panels.map(({ shape }) => shape[1]))
    : panels.reduce((sum, { shape }) => sum + shape[1], 0);
  const tallest = Math.max(...panels.map(({ shape }) => shape[0]));
  const gaps = isStacked ? 0 : GAP * (panels.length - 1);
  const side = Math.min(34, Math.floor(Math.min((width - gaps) / widest, HEIGHT / tallest)));
  let left = (width - side * widest - gaps) / 2;
  let top = isStacked ? (HEIGHT - panels.length * (side + GAP) + GAP) / 2 : 0;
  ctx.font = `600 16px ${theme.font}`;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  panels.forEach(({ sign, data, shape }, place) => {
    if (place && !isStacked) {
      ctx.fillStyle = theme.text;
      ctx.fillText(sign, left + GAP / 2, HEIGHT / 2);
      left += GAP;
    }
    const finite = [...data].filter(Number.isFinite);
    const limit = Math.max(...finite.map(Math.abs), 1e-9);
    const isSigned = finite.some((value) => value < 0);
    const lut = isSigned ? diverging(theme.dark) : sequential(theme.dark);
    if (!isStacked) top = (HEIGHT - side * shape[0]) / 2;
    data.forEach((value, at) => {
      const [row, column] = [Math.floor(at / shape[1]), at % shape[1]];
      const level = isSigned ? signedLevel(value, limit) : levelFor(value / limit, "sqrt");
      ctx.fillStyle = Number.isFinite(value) ? colourAt(lut, level) : theme.faint;
      ctx.fillRect(left + column * side, top + row * side, side - 1, side - 1);
    });
    if (isStacked) top += side + GAP;
    else left += side * shape[1];
  });
}
