// @ts-check
// Play: one row of a head as a film, in the place of its picture. In: the state (header, numbers, chosen query). Out: the film with
// its sentence and formula, the mark on the panel that it speaks of. Visitors who asked for less motion step by hand: the
// button then leads to the next still and no clock runs.

import { makeClock, wantsLessMotion } from "../shared/clock.js";
import { el, fitCanvas, markDrawn, setData, setText } from "../shared/dom.js";
import { makeFilmBar } from "../shared/film_bar.js";
import { fill, headName } from "../shared/fmt.js";
import { subscripted, typeset } from "../shared/panel.js";
import { lengthOf, momentOf, startOf } from "../shared/scenes.js";
import { paintFilm } from "./film_paint.js";
import { filmRow, filmScenes, filmSentence, filmStart } from "./film_scenes.js";
import { makeFilmShow } from "./film_show.js";

/** @import { FilmStage } from "./film_scenes.js" */
/** @import { State } from "./state.js" */

/** @typedef {ReturnType<typeof makePlayer>} Player */

// keys that belong to the element they are pressed on
const OWN_KEYS = "button, input, select, textarea, a, [role=radio]";
const SPEEDS = [0.5, 1, 2];
const ABOVE_PX = 120; // what stays at the top of the page, as in canvas.css
const FILM_FRAME_PX = 26; // around the film, as in canvas.css
const STILL = 0.97; // how far a scene has come that is shown as a still

/** The bar that opens the film, and the film below it. */
export function makePlayer(/** @type {() => State} */ now) {
  const button = el("button", {
    type: "button",
    class: "av-button play",
    on: { click: () => pressPlay(now()) },
  });
  const end = () => {
    endPlay(now());
    button.focus();
  };
  const stop = el("button", { type: "button", class: "av-button play-stop", on: { click: end } });
  const next = el("button", {
    type: "button",
    class: "av-button play-step",
    on: { click: () => goOn(now()) },
  });
  const speed = el(
    "select",
    { class: "play-speed" },
    ...SPEEDS.map((factor) => el("option", { value: factor }, `${factor}×`)),
  );
  speed.value = "1";
  speed.addEventListener("change", () => clock.setSpeed(Number(speed.value)));
  const where = el("p", { class: "play-where" });
  const node = el("div", { class: "play-bar", role: "group" }, button, stop);
  const canvas = el("canvas", { class: "play-film", role: "img" });
  const formula = el("p", { class: "play-formula" });
  const clock = makeClock({
    length: 0,
    onTime: () => showMoment(now()),
    onState: () => showPlay(now()),
  });
  const bar = makeFilmBar({
    toggle: () => pressPlay(now()),
    seek(time) {
      clock.pause();
      clock.seek(time);
    },
  });
  bar.node.append(next, speed);
  const film = el("div", { class: "play-room", hidden: true }, where, formula, canvas, bar.node);
  return { node, film, button, stop, next, speed, where, canvas, formula, bar, clock };
}

/** Space anywhere in the strip, where nothing else wants the key. Returns true if it was taken. */
export function playKey(/** @type {State} */ state, /** @type {KeyboardEvent} */ event) {
  const target = event.composedPath()[0];
  const hasOwnKeys = target instanceof Element && target.closest(OWN_KEYS) !== null;
  const isPlain = !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey;
  if (event.key !== " " || !isPlain || hasOwnKeys) return false;
  event.preventDefault();
  pressPlay(state);
  return true;
}

/** Takes the clock away; nothing runs after. */
export function haltPlay(/** @type {State} */ { parts }) {
  parts.play.clock.pause();
}

/** Back to where no film is shown. */
export function endPlay(/** @type {State} */ state) {
  state.film = null;
  haltPlay(state);
  showPlay(state);
  state.parts.picture.paint();
}

/** The button: opens, pauses and goes on; one still further where motion is not wanted. */
function pressPlay(/** @type {State} */ state) {
  const { clock } = state.parts.play;
  const isNew = state.film === null;
  if (isNew) openFilm(state);
  if (!state.film) return;
  if (wantsLessMotion()) {
    if (isNew) showStill(state, 0);
    else goOn(state);
  } else clock.toggle();
  showPlay(state);
  if (isNew) showFilm(state.parts.play.film);
}

/** The film of the chosen row, or of the first word's. */
function openFilm(/** @type {State} */ state) {
  state.film = { scenes: filmScenes(state.header), show: null };
  const { clock } = state.parts.play;
  clock.setLength(lengthOf(state.film.scenes));
  renewFilm(state);
  clock.seek(0);
}

/** Brings the film into sight: all of it, or its beginning where it is higher than the page. */
function showFilm(/** @type {HTMLElement} */ film) {
  const isHigh = film.offsetHeight > window.innerHeight - ABOVE_PX;
  film.scrollIntoView({ block: isHigh ? "start" : "nearest" });
}

/** Another row, other numbers, another width: what the film shows is made anew, and the moment stays. */
function renewFilm(/** @type {State} */ state) {
  const { film, header, arrays, edited, mode, selection, theme, parts } = state;
  if (!film) return;
  const numbers = mode === "difference" ? edited : arrays;
  const row = filmRow(numbers, selection.query ?? filmStart(header));
  const width = parts.left.clientWidth - FILM_FRAME_PX;
  film.show = row && makeFilmShow({ header, arrays: numbers, row, scenes: film.scenes, theme, width });
}

/** The next scene, as a still; after the last one the first. */
function goOn(/** @type {State} */ state) {
  const { clock } = state.parts.play;
  if (!state.film) return;
  clock.pause();
  showStill(state, (momentOf(state.film.scenes, clock.time()).at + 1) % state.film.scenes.length);
}

/** Stops at a scene, with all that happens in it done. */
export function seekScene(/** @type {State} */ state, /** @type {FilmStage} */ name) {
  const at = state.film?.scenes.findIndex((scene) => scene.name === name) ?? -1;
  haltPlay(state);
  if (at >= 0) showStill(state, at);
}

function showStill(/** @type {State} */ { film, parts }, /** @type {number} */ at) {
  if (film) parts.play.clock.seek(startOf(film.scenes, at) + STILL * film.scenes[at].ms);
}

/** Paints the moment; sentence, formula and marks when another scene has begun. */
function showMoment(/** @type {State} */ state) {
  const { film, parts, top } = state;
  const { play } = parts;
  if (!film?.show) return;
  const time = play.clock.time();
  const { name } = film.scenes[momentOf(film.scenes, time).at];
  paintFilm(fitCanvas(play.canvas, film.show.width, film.show.height), film.show, time);
  markDrawn(play.canvas);
  play.bar.show(time, play.clock.isRunning());
  if (top.dataset.playing !== name) showScene(state);
}

/** The sentence and formula of the scene, and the marks on its panel and sum. */
function showScene(/** @type {State} */ state) {
  const { film, parts, top, panels, header } = state;
  const { play, box } = parts;
  const scene = film?.show ? film.scenes[momentOf(film.scenes, play.clock.time()).at].name : null;
  const current = panels.find(({ info }) => info.stage === scene) ?? null;
  for (const panel of panels) panel.section.classList.toggle("playing", panel === current);
  for (const card of box.querySelectorAll("[data-sum]"))
    card.classList.toggle("playing", card.getAttribute("data-sum") === scene);
  setData(top, { playing: scene });
  parts.rail.mark(scene ?? state.stop);
  if (!scene || !film?.show) return;
  const formula = current?.info.formula ?? "";
  play.where.replaceChildren(...typeset(filmSentence(header, film.show.arrays, film.show.row, scene)));
  play.formula.replaceChildren(...subscripted(formula));
  play.bar.say(play.where.textContent ?? "");
  const title = current ? header.strings[`title_${current.info.stage}`] : "";
  const values = {
    at: film.scenes.findIndex(({ name }) => name === scene) + 1,
    count: film.scenes.length,
    title,
    formula,
  };
  setText(parts.status, fill(header.strings.play_at, values));
}

/** Writes everything anew: after a press, another choice, or new data. */
export function showPlay(/** @type {State} */ state) {
  const { header, parts, top, film } = state;
  const { strings, layer, head } = header;
  const { play } = parts;
  const isRunning = play.clock.isRunning();
  const isOpen = film !== null;
  play.film.hidden = !isOpen;
  parts.picture.node.hidden = isOpen;
  renewFilm(state);
  const words = {
    play: strings.play,
    pause: strings.pause,
    again: strings.again,
    position: strings.play_position,
  };
  play.bar.write(words, film ? lengthOf(film.scenes) : 0);
  setText(
    play.button,
    isRunning ? strings.pause : isOpen && wantsLessMotion() ? strings.play_next : strings.play,
  );
  setText(play.next, strings.play_next);
  setText(play.stop, strings.play_stop);
  play.stop.hidden = !isOpen;
  play.bar.button.hidden = wantsLessMotion();
  play.speed.setAttribute("aria-label", strings.play_speed);
  play.node.setAttribute("aria-label", strings.play_label);
  play.canvas.setAttribute("aria-label", fill(strings.film_canvas, { head: headName(layer, head) }));
  showScene(state);
  showMoment(state);
  setData(top, { clock: isRunning ? "1" : null });
}
