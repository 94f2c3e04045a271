// @ts-check
// Positions as angles: the rotary tab turns a query and a key by them, the clocks show those of sinusoidal positions. In
// both, moving query and key together leaves every angle between them, and so the score, as it is.

import { el, fitCanvas, markDrawn, setData, setText } from "../shared/dom.js";
import { fill, fmtFixed, fmtReal } from "../shared/fmt.js";
import { dot, likeness, sinusoids, turned } from "./maths.js";
import { drawPlane, makePlane, makeTab } from "./plane.js";

/** @import { Theme } from "../shared/theme.js" */
/** @import { Header } from "./types.js" */
/** @import { Vector } from "./maths.js" */

/** The positions of query and key, and the pair of components that is shown. @typedef {{m: number, n: number, pair: number}} Turns */
/** @typedef {ReturnType<typeof makeRotary>} TurnsTab */

const N_CLOCKS = 8;
const CLOCK_BASE = 10000; // Vaswani et al. 2017, section 3.5
const CLOCK_ANGLES = Array.from({ length: N_CLOCKS }, (_, i) => CLOCK_BASE ** (-i / N_CLOCKS));
const SLIDER_MOST = 64;
const CURVE_PX = 170;
const REACH = 1.25;

/** @returns {Turns} */
export function readTurns(/** @type {string} */ text) {
  const [m, n, pair] = text.split(".").map(Number);
  return { m, n, pair };
}

/** A slider with its name and number. */
function slider(/** @type {(value: number) => void} */ move, /** @type {() => void} */ done) {
  const name = el("span", { class: "av-caption" });
  const range = el("input", { type: "range", min: 0, max: SLIDER_MOST, step: 1 });
  const number = el("span", { class: "av-number" });
  range.addEventListener("input", () => move(Number(range.value)));
  range.addEventListener("change", done);
  return { node: el("label", { class: "av-geometry-slider" }, name, range, number), name, range, number };
}

/** The positions of query and key, each alone and both together. */
function makePositions(
  /** @type {Turns} */ turns,
  /** @type {() => void} */ redraw,
  /** @type {() => void} */ done,
) {
  const shift = (/** @type {number} */ least) => {
    const by = least - Math.min(turns.m, turns.n);
    turns.m += by;
    turns.n += by;
    redraw();
  };
  const query = slider((value) => ((turns.m = value), redraw()), done);
  const key = slider((value) => ((turns.n = value), redraw()), done);
  const both = slider(shift, done);
  return {
    node: el("div", { class: "av-geometry-sliders" }, query.node, key.node, both.node),
    show(/** @type {Header} */ { strings }) {
      const entries = /** @type {const} */ ([
        [query, strings.position_q, turns.m],
        [key, strings.position_k, turns.n],
        [both, strings.together, Math.min(turns.m, turns.n)],
      ]);
      for (const [part, name, value] of entries) {
        setText(part.name, name);
        part.range.max = String(Math.max(SLIDER_MOST, value));
        part.range.value = String(value);
        setText(part.number, part === both ? "" : String(value));
      }
    },
  };
}

/** @param {{turns: Turns, redraw: () => void, done: () => void}} actions */
export function makeRotary({ turns, redraw, done }) {
  const plane = makePlane();
  const positions = makePositions(turns, redraw, done);
  const note = el("p", { class: "av-sentence" });
  const source = el("p", { class: "av-note" });
  const says = el("p", { class: "av-geometry-sum", role: "status" });
  const caption = el("span", { class: "av-caption" });
  const pick = el("select");
  pick.addEventListener("change", () => {
    turns.pair = Number(pick.value);
    redraw();
    done();
  });
  const choice = el("div", { class: "av-pick" }, el("label", {}, caption, pick));
  const curve = makeCurve();
  const { node, planes } = makeTab({
    below: [note],
    drawings: [plane.node],
    side: [choice, positions.node, says, curve.node, source],
  });
  return {
    node,
    planes,
    draw(/** @type {Header} */ header, /** @type {Theme} */ theme, /** @type {number} */ room) {
      const { strings, frequencies } = header;
      const { angles, own } = frequencies;
      const pair = Math.min(turns.pair, angles.length - 1);
      setText(note, strings.rotary_note);
      setText(source, own ? strings.rotary_own : strings.rotary_usual);
      setText(caption, strings.pair);
      if (pick.options.length !== angles.length) {
        const name = (/** @type {number} */ i) =>
          fill(strings.pair_of, { pair: i, angle: fmtReal(angles[i]) });
        pick.replaceChildren(...angles.map((_, i) => el("option", { value: String(i) }, name(i))));
      }
      pick.value = String(pair);
      positions.show(header);
      const [q, k] = [turns.m, turns.n].map((at) => turned([1, 0], at * angles[pair]));
      setText(plane.title, strings.turned);
      plane.canvas.setAttribute("aria-label", strings.turned);
      drawPlane(plane, theme, { side: room, reach: REACH, rings: [1] }, [
        { to: k, colour: theme.roles.key, dash: [7, 3], label: `k ${turns.n}` },
        { to: q, colour: theme.roles.query, label: `q ${turns.m}`, thick: 3.5 },
      ]);
      const distance = turns.m - turns.n;
      const score = dot(q, k);
      setText(says, sentence(strings.this_pair, distance, distance * angles[pair], score));
      setData(plane.canvas, { score, likeness: likeness(distance, angles) });
      curve.draw(theme, strings.score_by_distance, Math.abs(distance), [
        {
          angles: [angles[pair]],
          colour: theme.roles.chosen,
          name: fill(strings.pair_of, { pair, angle: fmtReal(angles[pair]) }),
        },
        { angles, colour: theme.primary, name: strings.all_pairs },
      ]);
    },
  };
}

/** @param {{turns: Turns, redraw: () => void, done: () => void}} actions */
export function makeClocks({ turns, redraw, done }) {
  const canvas = el("canvas", { role: "img" });
  const positions = makePositions(turns, redraw, done);
  const note = el("p", { class: "av-sentence" });
  const says = el("p", { class: "av-geometry-sum", role: "status" });
  const curve = makeCurve();
  const { node, planes } = makeTab({
    below: [note],
    drawings: [canvas],
    side: [positions.node, says, curve.node],
  });
  return {
    node,
    planes,
    draw(/** @type {Header} */ header, /** @type {Theme} */ theme, /** @type {number} */ room) {
      const { strings } = header;
      setText(note, strings.clocks_note);
      positions.show(header);
      canvas.setAttribute("aria-label", strings.clocks);
      drawClocks(canvas, theme, room, turns, strings.clock);
      const distance = turns.m - turns.n;
      const product = dot(sinusoids(turns.m, CLOCK_ANGLES), sinusoids(turns.n, CLOCK_ANGLES));
      const values = { distance: fmtFixed(distance, 0), product: fmtFixed(product, 3), most: N_CLOCKS };
      setText(says, fill(strings.clocks_product, values));
      setData(canvas, { product });
      curve.draw(theme, strings.score_by_distance, Math.abs(distance), [
        { angles: CLOCK_ANGLES, colour: theme.primary, name: strings.all_pairs },
      ]);
    },
  };
}

function sentence(
  /** @type {string} */ template,
  /** @type {number} */ distance,
  /** @type {number} */ radians,
  /** @type {number} */ score,
) {
  const degrees = (radians * 180) / Math.PI;
  return fill(template, {
    distance: fmtFixed(distance, 0),
    angle: fmtFixed(degrees, 1),
    score: fmtFixed(score, 3),
  });
}

/**
 * Clocks four in a row, each with the hand of the query and the dashed hand of the key.
 * @param {HTMLCanvasElement} canvas
 * @param {Theme} theme
 * @param {number} room
 * @param {Turns} turns
 * @param {string} label
 */
function drawClocks(canvas, theme, room, { m, n }, label) {
  const across = 4;
  const size = room / across;
  const high = size + 18;
  const ctx = fitCanvas(canvas, room, high * Math.ceil(N_CLOCKS / across));
  ctx.font = `12.5px ${theme.font}`;
  ctx.textAlign = "center";
  CLOCK_ANGLES.forEach((angle, clock) => {
    const x = size * ((clock % across) + 0.5);
    const y = high * Math.floor(clock / across) + size / 2;
    const radius = size / 2 - 6;
    ctx.setLineDash([]);
    ctx.lineWidth = 1.5;
    ctx.strokeStyle = theme.border;
    ctx.beginPath();
    ctx.arc(x, y, radius, 0, 2 * Math.PI);
    ctx.stroke();
    hand(ctx, [x, y], radius - 3, n * angle, { colour: theme.roles.key, dash: [5, 3] });
    hand(ctx, [x, y], radius - 3, m * angle, { colour: theme.roles.query, dash: [] });
    ctx.fillStyle = theme.muted;
    ctx.fillText(fill(label, { angle: fmtReal(angle, 2) }), x, y + size / 2 + 10, size - 4);
  });
  markDrawn(canvas);
}

/**
 * A hand that shows 0 at the top and goes clockwise, so that its height is the cosine and its width the sine.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Vector} middle
 * @param {number} length
 * @param {number} radians
 * @param {{colour: string, dash: number[]}} look
 */
function hand(ctx, [x, y], length, radians, { colour, dash }) {
  ctx.strokeStyle = colour;
  ctx.lineWidth = 2.5;
  ctx.setLineDash(dash);
  ctx.beginPath();
  ctx.moveTo(x, y);
  ctx.lineTo(x + length * Math.sin(radians), y - length * Math.cos(radians));
  ctx.stroke();
}

/** The score of alike arrows by their distance, as lines, with the distance that is shown marked. */
function makeCurve() {
  const canvas = el("canvas", { role: "img" });
  const legend = el("div", { class: "av-row av-geometry-legend" });
  const title = el("h3", { class: "av-heading" });
  const node = el("div", { class: "av-geometry-curve" }, title, canvas, legend);
  /**
   * @param {Theme} theme
   * @param {string} label
   * @param {number} at
   * @param {readonly {angles: readonly number[], colour: string, name: string}[]} lines
   */
  const draw = (theme, label, at, lines) => {
    setText(title, label);
    canvas.setAttribute("aria-label", label);
    const wide = node.clientWidth || 280;
    const most = Math.max(SLIDER_MOST, at);
    const ctx = fitCanvas(canvas, wide, CURVE_PX);
    const [left, top, bottom] = [26, 8, CURVE_PX - 20];
    const x = (/** @type {number} */ distance) => left + (distance / most) * (wide - left - 6);
    const y = (/** @type {number} */ score) => top + ((1 - score) / 2) * (bottom - top);
    drawAxes(ctx, theme, { x, y, most, left, wide });
    for (const { angles, colour } of lines) {
      ctx.strokeStyle = ctx.fillStyle = colour;
      ctx.lineWidth = 1.5;
      ctx.beginPath();
      for (let distance = 0; distance <= most; distance += 0.25)
        ctx.lineTo(x(distance), y(likeness(distance, angles)));
      ctx.stroke();
      ctx.beginPath();
      ctx.arc(x(at), y(likeness(at, angles)), 4.5, 0, 2 * Math.PI);
      ctx.fill();
    }
    markDrawn(canvas);
    legend.replaceChildren(
      ...lines.map(({ colour, name }) => {
        const sign = el("span", { class: "av-geometry-sign", "aria-hidden": "true" });
        sign.style.background = colour;
        return el("span", { class: "av-note" }, sign, name);
      }),
    );
  };
  return { node, draw };
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {Theme} theme
 * @param {{x: (distance: number) => number, y: (score: number) => number, most: number, left: number, wide: number}} scale
 */
function drawAxes(ctx, theme, { x, y, most, left, wide }) {
  ctx.strokeStyle = theme.border;
  ctx.fillStyle = theme.muted;
  ctx.lineWidth = 1;
  ctx.font = `12px ${theme.font}`;
  ctx.textBaseline = "middle";
  ctx.textAlign = "right";
  for (const score of [-1, 0, 1]) {
    ctx.beginPath();
    ctx.moveTo(left, y(score));
    ctx.lineTo(wide, y(score));
    ctx.stroke();
    ctx.fillText(fmtFixed(score, 0), left - 6, y(score));
  }
  ctx.textAlign = "center";
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    const distance = Math.round(share * most);
    ctx.fillText(String(distance), Math.min(x(distance), wide - 8), y(-1) + 12);
  }
}
