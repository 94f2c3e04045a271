// @ts-check
// The film of the start page. It starts by itself, and can be stopped, set to any moment and skipped; space plays and
// stops it. Visitors who asked for less motion get five stills in place of it. Below it a sentence can be typed.

import { parse } from "../shared/buffer.js";
import { makeClock, wantsLessMotion } from "../shared/clock.js";
import { levelTable, sequential } from "../shared/colors.js";
import { context2d, el, fitCanvas, markDrawn, setData, setText, watchSize } from "../shared/dom.js";
import { fill, headName } from "../shared/fmt.js";
import { makeFilmBar } from "../shared/film_bar.js";
import { lengthOf, momentOf, startOf } from "../shared/scenes.js";
import { makeAtlas } from "../shared/thumbs.js";
import { layoutFilm } from "./layout.js";
import { paintFilm } from "./paint.js";
import { captionOf, SCENES, STILLS } from "./script.js";
import { makeYours } from "./yours.js";

/** @import { Clock } from "../shared/clock.js" */
/** @import { FilmBar } from "../shared/film_bar.js" */
/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Show } from "./paint.js" */
/** @import { Arrays, Header } from "./types.js" */
/** @import { SceneName } from "./script.js" */
/** @import { Yours } from "./yours.js" */

/** A canvas, and the moment that it shows. @typedef {{canvas: HTMLCanvasElement, time: number}} Still */
/**
 * @typedef {{host: Host, top: HTMLElement, caption: HTMLElement, canvas: HTMLCanvasElement, stills: HTMLElement,
 *   bar: FilmBar, yours: Yours, clock: Clock, header: Header | null, arrays: Arrays | null, show: Show | null,
 *   scene: SceneName | null}} State
 */

const LENGTH_MS = lengthOf(SCENES);

/** @returns {Mounted} */
export default function film(/** @type {Host} */ host) {
  const top = el("div", { class: "av film" });
  const state = makeState(host, top);
  host.root.append(top);
  const stop = watchSize(top, () => layOut(state));
  return {
    refresh(data) {
      const isFirst = state.header === null;
      Object.assign(state, parse(data));
      writeTexts(state);
      layOut(state);
      if (isFirst && !wantsLessMotion()) state.clock.play();
    },
    destroy() {
      stop();
      state.clock.pause();
      top.remove();
    },
  };
}

/** @returns {State} */
function makeState(/** @type {Host} */ host, /** @type {HTMLElement} */ top) {
  const caption = el("p", { class: "film-caption", role: "status" });
  const canvas = el("canvas", { role: "img" });
  const stills = el("ol", { class: "film-stills", hidden: true });
  const clock = makeClock({
    length: LENGTH_MS,
    onTime: (time) => showMoment(state, time),
    onState: (isRunning) => showRunning(state, isRunning),
  });
  const bar = makeFilmBar({
    toggle: clock.toggle,
    seek(time) {
      clock.pause();
      clock.seek(time);
    },
    skip() {
      clock.pause();
      clock.seek(LENGTH_MS);
      state.yours.focus();
    },
  });
  const yours = makeYours((text) => host.trigger("text", text));
  top.append(caption, canvas, stills, bar.node, yours.node);
  top.addEventListener("keydown", (event) => bar.key(event));
  /** @type {State} */
  const state = {
    ...{ host, top, caption, canvas, stills, bar, yours, clock },
    ...{ header: null, arrays: null, show: null, scene: null },
  };
  return state;
}

function writeTexts(/** @type {State} */ state) {
  const { header, top, bar, yours, canvas, clock } = state;
  if (!header) return;
  const { strings, tokens, layer, head } = header;
  const names = { head: headName(layer, head), query: tokens[header.query], key: tokens[header.key] };
  canvas.setAttribute("aria-label", fill(strings.canvas, { ...names, text: tokens.join(" ") }));
  top.setAttribute("role", "group");
  top.setAttribute("aria-label", strings.label);
  const { play, pause, again, skip, position } = strings;
  bar.write({ play, pause, again, skip, position }, LENGTH_MS);
  bar.show(clock.time(), clock.isRunning());
  yours.write(header);
  state.scene = null; // the caption is written again in the language of the new texts
}

/** Everything that depends on the width or the theme. */
function layOut(/** @type {State} */ state) {
  const { host, top, header, arrays, canvas, stills, bar, clock } = state;
  const width = Math.floor(top.clientWidth);
  if (!header || !arrays || width <= 0) return;
  const theme = host.theme();
  const isStill = wantsLessMotion();
  const wide = isStill ? Math.min(width, 560) : width;
  const lut = sequential(theme.dark);
  const layout = layoutFilm(context2d(canvas), header, wide, theme);
  const levels = levelTable("u8", "sqrt");
  const atlas = makeAtlas({ array: arrays.weights, lut, levels }, layout.big.w);
  const then = makeAtlas({ array: arrays.then, lut, levels }, layout.big.w);
  state.show = { header, arrays, layout, atlas, then, theme, lut };
  stills.hidden = !isStill;
  canvas.hidden = bar.node.hidden = state.caption.hidden = isStill;
  if (isStill) showStills(state);
  else showMoment(state, clock.time());
}

/** Paints a moment, and says what happens in it. */
function showMoment(/** @type {State} */ state, /** @type {number} */ time) {
  const { show, canvas, caption, top, bar, yours, clock } = state;
  if (!show) return;
  const { name } = SCENES[momentOf(SCENES, time).at];
  paintFilm(fitCanvas(canvas, show.layout.width, show.layout.height), show, time);
  markDrawn(canvas);
  bar.show(time, clock.isRunning());
  if (name === state.scene) return;
  state.scene = name;
  caption.replaceChildren(...captionOf(show.header, name));
  bar.say(caption.textContent ?? "");
  setData(top, { scene: name });
  yours.beckon(name === "yours");
}

function showRunning(/** @type {State} */ state, /** @type {boolean} */ isRunning) {
  setData(state.top, { running: isRunning ? "1" : null });
  state.bar.show(state.clock.time(), isRunning);
}

/** One still for each scene, painted near its end. */
function showStills(/** @type {State} */ state) {
  const { stills, show, top } = state;
  if (!show) return;
  const { layout, header } = show;
  const figures = STILLS.map((name) => {
    const at = SCENES.findIndex((scene) => scene.name === name);
    const canvas = el("canvas", { role: "img" });
    const caption = el("p", { class: "film-caption" }, ...captionOf(header, name));
    paintFilm(
      fitCanvas(canvas, layout.width, layout.height),
      show,
      startOf(SCENES, at) + 0.95 * SCENES[at].ms,
    );
    markDrawn(canvas);
    setText(canvas, "");
    canvas.setAttribute("aria-label", caption.textContent ?? "");
    return el("li", {}, caption, canvas);
  });
  stills.replaceChildren(...figures);
  setData(top, { scene: "stills" });
}
