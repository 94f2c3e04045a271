// @ts-check
// A moving picture of a lesson's card. It starts when it comes into sight, can be stopped and set to any moment; space
// plays and stops it. What moves can be handled where the card says so: a hand on a ring stops the film and sets its
// numbers; a control of the card that sets the same number hears of it once the hand lets go, and sets it here. Visitors
// who asked for less motion get a still for each scene in place of the film.

import { parse } from "../shared/buffer.js";
import { makeClock, wantsLessMotion } from "../shared/clock.js";
import { el, setData, setText, watchSize } from "../shared/dom.js";
import { makeFilmBar } from "../shared/film_bar.js";
import { makeHandles } from "../shared/handles.js";
import { lengthOf, momentOf, startOf } from "../shared/scenes.js";
import { withSubscripts } from "../shared/symbols.js";
import { FILMS, paintFilm } from "./films.js";

/** @import { Clock } from "../shared/clock.js" */
/** @import { FilmBar } from "../shared/film_bar.js" */
/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Frame, Grip, Numbers } from "./draw.js" */
/** @import { Arrays, Header } from "./types.js" */

/**
 * @typedef {{host: Host, top: HTMLElement, caption: HTMLElement, canvas: HTMLCanvasElement, stills: HTMLElement,
 *   bar: FilmBar, clock: Clock, header: Header | null, arrays: Arrays, scene: string, seen: boolean,
 *   handles: ReturnType<typeof makeHandles>, hint: HTMLElement, set: Numbers, grips: readonly Grip[]}} State
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
      const before = state.header?.values ?? {};
      Object.assign(state, parse(data), { scene: "" });
      takeValues(state, before);
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
      if (isRunning) state.set = {};
      setData(top, { running: isRunning ? "1" : null });
      bar.show(clock.time(), isRunning);
    },
  });
  const bar = makeFilmBar({
    toggle: clock.toggle,
    seek(time) {
      clock.pause();
      state.set = {};
      clock.seek(time);
    },
  });
  const hint = el("p", { class: "av-hint", hidden: true });
  const stage = el("div", { class: "motion-stage" }, canvas);
  const top = el("div", { class: "av motion", role: "group" }, stage, hint, caption, bar.node, stills);
  top.addEventListener("keydown", (event) => bar.key(event));
  /** @type {State} */
  const state = {
    ...{ host, top, caption, canvas, stills, bar, clock },
    ...{ header: null, arrays: {}, scene: "", seen: false },
    ...{ handles: makeHandles(canvas), hint, set: {}, grips: [] },
  };
  return state;
}

/** Starts the film once, when it is there and in sight. */
function start(/** @type {State} */ state, /** @type {IntersectionObserver} */ sight) {
  if (!state.seen || !state.header) return;
  sight.disconnect();
  const isSet = Object.keys(state.set).length > 0;
  const moves = state.header.scenes.length > 1 && !wantsLessMotion();
  if (moves && state.clock.time() === 0 && !isSet) state.clock.play();
}

/** Takes a number that a control of the card has set since. */
function takeValues(/** @type {State} */ state, /** @type {Numbers} */ before) {
  const now = state.header?.values ?? {};
  const changed = Object.entries(now).filter(([name, value]) => name in before && before[name] !== value);
  if (!changed.length) return;
  state.clock.pause();
  state.set = { ...state.set, ...Object.fromEntries(changed) };
}

function writeTexts(/** @type {State} */ { header, top, canvas, bar, clock, hint }) {
  if (!header) return;
  hint.hidden = !Object.keys(header.handles).length;
  setText(hint, header.strings.drag);
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
  const isHandled = Object.keys(header.handles).length > 0;
  stills.hidden = !isStill;
  canvas.hidden = isStill && !isHandled;
  caption.hidden = isStill;
  bar.node.hidden = isStill || header.scenes.length < 2;
  if (!isStill || isHandled) showMoment(state, clock.time());
  if (isStill) showStills(state, header);
}

function showMoment(/** @type {State} */ state, /** @type {number} */ time) {
  const { header, canvas, caption, top, bar, clock } = state;
  if (!header) return;
  const frame = paint(state, header, canvas, time);
  placeGrips(state, header, frame);
  setData(top, { handled: Object.keys(state.set).length ? "1" : null });
  bar.show(time, clock.isRunning());
  const scene = header.scenes[momentOf(header.scenes, time).at];
  if (scene.name === state.scene) return;
  state.scene = scene.name;
  caption.replaceChildren(...withSubscripts(scene.caption));
  bar.say(scene.caption);
  setData(top, { scene: scene.name });
}

/** Puts a ring on what can be dragged at this moment. */
function placeGrips(/** @type {State} */ state, /** @type {Header} */ header, /** @type {Frame} */ frame) {
  const { handles, clock, host } = state;
  const all = FILMS[header.film].grips?.(frame) ?? [];
  state.grips = all.filter(({ handle }) => handle in header.handles);
  const take = (/** @type {Numbers} */ numbers) => {
    clock.pause();
    state.set = { ...state.set, ...numbers };
    showMoment(state, clock.time());
  };
  const tips = state.grips.map(({ at, handle, text }) => ({
    at,
    label: `${header.handles[handle]}: ${text}`,
  }));
  handles.place(tips, (index) => ({
    to: (point) => take(state.grips[index].to(point)),
    by: (step, isLong) => take(state.grips[index].by(step, isLong)),
    done() {
      const values = state.header?.values ?? {};
      const sent = Object.entries(state.set).filter(([name]) => name in values);
      if (sent.length) host.trigger("set", Object.fromEntries(sent));
    },
  }));
}

/** One still for each scene, painted at its end. */
function showStills(/** @type {State} */ state, /** @type {Header} */ header) {
  const figures = header.scenes.map(({ name, ms, caption }, at) => {
    const canvas = el("canvas", { role: "img", "aria-label": caption });
    paint({ ...state, set: {} }, header, canvas, startOf(header.scenes, at) + 0.99 * ms);
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

/** Paints a moment of the film, as wide as the page lets it be. @returns {Frame} */
function paint(
  /** @type {Pick<State, "host" | "top" | "arrays" | "set">} */ { host, top, arrays, set },
  /** @type {Header} */ header,
  /** @type {HTMLCanvasElement} */ canvas,
  /** @type {number} */ time,
) {
  const width = Math.max(LEAST, Math.min(WIDEST, Math.floor(top.clientWidth)));
  return paintFilm(canvas, { header, arrays, theme: host.theme(), set, width }, time);
}
