// @ts-check
// The answer as bars, the largest first. A bar moves, its track keeps its width, and a black line stays where it was; the
// number follows the bar's own movement, and a bar that is larger now moves up. A line stands where words that are not
// listed would follow. Of an encoder the bars are yardsticks on a logarithmic scale, below the look that is forbidden.

import { wantsLessMotion } from "../shared/clock.js";
import { el, foreign, setData, setText } from "../shared/dom.js";
import { fmtFixed } from "../shared/fmt.js";
import { percent } from "./words.js";

/** @import { Arrays, Header } from "./types.js" */

/** @typedef {ReturnType<typeof makeBars>} Bars */
/** @typedef {{node: HTMLElement, fill: HTMLElement, mark: HTMLElement, value: HTMLElement, to: number}} Bar */

const LEAST = 1e-6; // of a meaning: below it is rounding
const GLIDE = { duration: 450, easing: "cubic-bezier(0.2, 0.7, 0.2, 1)" };
const SLIGHT = 0.002; // so that a bar of next to nothing is seen

export function makeBars(/** @type {HTMLElement} */ place) {
  /** @type {Bar[]} */
  let bars = [];
  const further = el("li", { class: "stage-further" });
  /** @type {Header | null} */
  let header = null;
  /** @type {Arrays | null} */
  let arrays = null;
  let frame = 0;
  const isNext = () => header?.kind === "next";
  const length = (/** @type {number} */ value) => (isNext() ? value : onAxis(value));
  const print = (/** @type {number} */ value) => (isNext() ? percent(value) : printedMeaning(value));
  const values = (/** @type {number | null} */ forbidden) => {
    if (!arrays) return [];
    const before = Array.from(arrays.before.data);
    if (!isNext()) return [forbidden === null ? 0 : arrays.moved.data[forbidden], ...before];
    return forbidden === null
      ? before
      : Array.from(arrays.after.data.subarray(forbidden * before.length, (forbidden + 1) * before.length));
  };
  /** The numbers as long as the bars move: what is printed is what is seen. */
  const follow = () => {
    const stillMoving = bars.filter(({ fill }) => fill.getAnimations().length);
    for (const bar of bars) {
      const seen = new DOMMatrix(getComputedStyle(bar.fill).transform).a;
      setText(bar.value, print(stillMoving.includes(bar) && isNext() ? seen : bar.to));
    }
    frame = stillMoving.length ? requestAnimationFrame(follow) : 0;
  };
  /** Puts the largest bar first; those that change places glide there. */
  const sort = (/** @type {number[]} */ now, /** @type {boolean} */ isMoving) => {
    const before = bars.map(({ node }) => node.offsetTop);
    const order = [...bars.keys()].sort((a, b) => now[b] - now[a]);
    order.forEach((at, rank) => (bars[at].node.style.order = String(2 * rank)));
    if (!isMoving) return;
    bars.forEach(({ node }, at) => {
      const by = before[at] - node.offsetTop;
      if (by) node.animate([{ transform: `translateY(${by}px)` }, { transform: "none" }], GLIDE);
    });
  };
  /** A line below the likeliest words, where others of the list are further down. */
  const divide = (/** @type {number | null} */ forbidden) => {
    if (!header) return;
    const { strings, leading, leading_after: leadingAfter } = header;
    const above = forbidden === null ? leading : leadingAfter[forbidden];
    further.hidden = !isNext() || above >= bars.length;
    further.style.order = String(2 * above - 1);
    setText(further, forbidden === null ? strings.risen : strings.further);
  };
  return {
    write(/** @type {Header} */ nextHeader, /** @type {Arrays} */ nextArrays) {
      header = nextHeader;
      arrays = nextArrays;
      const { strings, choices } = nextHeader;
      const names = isNext()
        ? choices
        : [strings.this_look, ...choices.map((name) => name || strings.another)];
      bars = names.map(makeBar);
      place.replaceChildren(...bars.map(({ node }) => node), isNext() ? further : makeAxis());
      values(null).forEach((value, at) => (bars[at].mark.style.left = `calc(${100 * length(value)}% - 1px)`));
      setData(place, { kind: nextHeader.kind });
    },
    /** The answer without a look; null is the answer as it is. */
    show(/** @type {number | null} */ forbidden, /** @type {boolean} */ isMoving) {
      cancelAnimationFrame(frame);
      const now = values(forbidden);
      const most = Math.max(...now);
      divide(forbidden);
      if (isNext()) sort(now, isMoving && !wantsLessMotion());
      bars.forEach((bar, at) => {
        bar.to = now[at];
        bar.fill.style.transform = `scaleX(${Math.max(SLIGHT, length(now[at]))})`;
        bar.mark.hidden = forbidden === null || !isNext();
        setData(bar.node, { most: isNext() && now[at] === most ? "1" : null });
        setData(bar.node, { cut: !isNext() && at === 0 ? "1" : null, value: now[at] });
        if (!isMoving) setText(bar.value, print(now[at]));
      });
      if (isMoving && !wantsLessMotion()) frame = requestAnimationFrame(follow);
    },
    stop: () => cancelAnimationFrame(frame),
  };
}

/** @returns {Bar} */
function makeBar(/** @type {string} */ name) {
  const fill = el("span", { class: "stage-fill" });
  const mark = el("span", { class: "stage-mark" });
  const value = el("span", { class: "stage-value av-number" });
  const track = el("span", { class: "stage-track" }, fill, mark);
  const node = el("li", {}, foreign(name, { class: "stage-name", title: name }), track, value);
  return { node, fill, mark, value, to: 0 };
}

/** The ends and the middle of the axis of distances, below its bars. */
function makeAxis() {
  const numbers = [fmtFixed(LEAST, 6), fmtFixed(Math.sqrt(LEAST), 3), "1"];
  const track = el("span", { class: "stage-axis-numbers" }, ...numbers.map((text) => el("span", {}, text)));
  return el("li", { class: "stage-axis", "aria-hidden": "true" }, el("span", {}), track);
}

/** Where a distance lies between a millionth and 1, each step ten times the one before. */
export function onAxis(/** @type {number} */ value) {
  return value <= LEAST ? 0 : 1 - Math.log10(value) / Math.log10(LEAST);
}

function printedMeaning(/** @type {number} */ value) {
  if (value === 0) return "0";
  return fmtFixed(value, value < 0.001 ? 5 : 3);
}
