// @ts-check
// A moving picture of a lesson's card. It starts when it comes into sight, can be stopped and set to any moment; space
// plays and stops it. Visitors who asked for less motion get a still for each scene in place of it.

import { parse } from "../shared/buffer.js";
import { makeClock, wantsLessMotion } from "../shared/clock.js";
import { diverging, sequential } from "../shared/colors.js";
import { el, fitCanvas, markDrawn, setData, watchSize } from "../shared/dom.js";
import { makeFilmBar } from "../shared/film_bar.js";
import { clamp, lengthOf, momentOf, progressAt, startOf } from "../shared/scenes.js";
import { withSubscripts } from "../shared/symbols.js";
import { FILMS } from "./films.js";

/** @import { Clock } from "../shared/clock.js" */
/** @import { FilmBar } from "../shared/film_bar.js" */
/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Frame } from "./draw.js" */
/** @import { Arrays, Header } from "./types.js" */

/**
 * @typedef {{host: Host, top: HTMLElement, caption: HTMLElement, canvas: HTMLCanvasElement, stills: HTMLElement,
 *   bar: FilmBar, clock: Clock, header: Header | null, arrays: Arrays, scene: string, seen: boolean}} State
 */

const [LEAST, WIDEST] = [200, 620]; // a page that is being laid out may be a few pixels wide
const IN_SIGHT = 0.6; // of the picture, before it starts by itself

/** @returns {Mounted} */
export default function motion(/** @type {Host} */ host) {
  const state = makeState(host);
  host.root.append(state.top);
  const stopSize = watchSize(state.top, () => layOut(state));
  const sight = new IntersectionObserver(
    ([entry]) => {
      state.seen ||= entry.isIntersecting;
      start(state, sight);
    },
    { threshold: IN_SIGHT },
  );
  sight.observe(state.canvas);
  return {
    refresh(data) {
      Object.assign(state, parse(data), { scene: "" });
      writeTexts(state);
      layOut(state);
      start(state, sight);
    },
    destroy() {
      stopSize();
      sight.disconnect();
      state.clock.pause();
      state.top.remove();
    },
  };
}

/** @returns {State} */
function makeState(/** @type {Host} */ host) {
  const caption = el("p", { class: "motion-caption", role: "status" });
  const canvas = el("canvas", { role: "img" });
  const stills = el("ol", { class: "motion-stills", hidden: true });
  const clock = makeClock({
    length: 0,
    onTime: (time) => showMoment(state, time),
    onState: (isRunning) => {
      setData(top, { running: isRunning ? "1" : null });
      bar.show(clock.time(), isRunning);
    },
  });
  const bar = makeFilmBar({
    toggle: clock.toggle,
    seek(time) {
      clock.pause();
      clock.seek(time);
    },
  });
  const top = el("div", { class: "av motion", role: "group" }, canvas, caption, bar.node, stills);
  top.addEventListener("keydown", (event) => bar.key(event));
  /** @type {State} */
  const state = {
    ...{ host, top, caption, canvas, stills, bar, clock },
    ...{ header: null, arrays: {}, scene: "", seen: false },
  };
  return state;
}

/** Starts the film once, when it is there and in sight. */
function start(/** @type {State} */ state, /** @type {IntersectionObserver} */ sight) {
  if (!state.seen || !state.header) return;
  sight.disconnect();
  if (!wantsLessMotion() && state.clock.time() === 0) state.clock.play();
}

function writeTexts(/** @type {State} */ { header, top, canvas, bar, clock }) {
  if (!header) return;
  const length = lengthOf(header.scenes);
  top.setAttribute("aria-label", header.label);
  canvas.setAttribute("aria-label", header.label);
  bar.write(header.strings, length);
  clock.setLength(length);
}

/** Everything that depends on the width or the theme. */
function layOut(/** @type {State} */ state) {
  const { header, top, canvas, stills, bar, caption, clock } = state;
  if (!header || top.clientWidth <= 0) return;
  const isStill = wantsLessMotion();
  stills.hidden = !isStill;
  canvas.hidden = bar.node.hidden = caption.hidden = isStill;
  if (isStill) showStills(state, header);
  else showMoment(state, clock.time());
}

function showMoment(/** @type {State} */ state, /** @type {number} */ time) {
  const { header, canvas, caption, top, bar, clock } = state;
  if (!header) return;
  paint(state, header, canvas, time);
  bar.show(time, clock.isRunning());
  const scene = header.scenes[momentOf(header.scenes, time).at];
  if (scene.name === state.scene) return;
  state.scene = scene.name;
  caption.replaceChildren(...withSubscripts(scene.caption));
  bar.say(scene.caption);
  setData(top, { scene: scene.name });
}

/** One still for each scene, painted at its end. */
function showStills(/** @type {State} */ state, /** @type {Header} */ header) {
  const figures = header.scenes.map(({ name, ms, caption }, at) => {
    const canvas = el("canvas", { role: "img", "aria-label": caption });
    paint(state, header, canvas, startOf(header.scenes, at) + 0.99 * ms);
    return el(
      "li",
      { dataset: { scene: name } },
      canvas,
      el("p", { class: "motion-caption" }, ...withSubscripts(caption)),
    );
  });
  state.stills.replaceChildren(...figures);
  setData(state.top, { scene: "stills" });
}

/**
 * @param {State} state
 * @param {Header} header
 * @param {HTMLCanvasElement} canvas
 * @param {number} time
 */
function paint({ host, top, arrays }, header, canvas, time) {
  const film = FILMS[header.film];
  const theme = host.theme();
  const width = Math.max(LEAST, Math.min(WIDEST, Math.floor(top.clientWidth)));
  const height = film.height(header, arrays, width);
  const { at, part } = momentOf(header.scenes, time);
  const places = header.scenes.map(({ name }) => name);
  const so = progressAt(header.scenes, time);
  /** @type {Frame} */
  const frame = {
    ...{ ctx: fitCanvas(canvas, width, height), width, height, theme, header, arrays },
    ...{ lut: sequential(theme.dark), signed: diverging(theme.dark), roles: theme.roles },
    // a scene that is not played never begins
    so: (name, from, to) => (places.includes(name) ? so(name, from, to) : 0),
    linear: (name) => {
      const place = places.indexOf(name);
      return place === at ? clamp(part) : Number(place >= 0 && place < at);
    },
  };
  frame.ctx.save();
  film.paint(frame);
  frame.ctx.restore();
  markDrawn(canvas);
}
