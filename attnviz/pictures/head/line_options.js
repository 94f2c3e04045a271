// @ts-check
// The controls of the lines: how many for each query, side by side or one above the other, and which heads are kept beside
// the chosen one, each in a colour of its own.

import { headsOf } from "../shared/buffer.js";
import { button, segmented } from "../shared/controls.js";
import { el, setText } from "../shared/dom.js";
import { fill, headName, headsNamed } from "../shared/fmt.js";
import { isKept } from "../shared/selection.js";

/** @import { Kept } from "../shared/selection.js" */

/** @import { Theme } from "../shared/theme.js" */
/** @import { Strings } from "./types.js" */
/** @import { Options, View } from "./view.js" */

/** @typedef {{layer: number, head: number}} Head */
/** A head with its name and the colour of its lines. @typedef {Head & {name: string, colour: string}} HeadColour */
/** @typedef {{n_layers: number, n_heads: number, shapes?: readonly (readonly number[])[] | null, kept?: Kept}} Size */
/** @typedef {Partial<Pick<Options, "top" | "across" | "beside">>} LineChange */

export const DEFAULT_TOP = 2;
const MAX_TOP = 10;
const MAX_KEPT = 3;
// of heads, so none of them is a role's
const COLOURS = { light: ["#1d4ed8", "#6b5b00", "#5b21b6"], dark: ["#93c5fd", "#e5d36b", "#c4b5fd"] };

/** How many lines each query has: 1 to 10, 0 for all. */
export function topOf(/** @type {string | null} */ text) {
  const top = text !== null && /^\d{1,2}$/.test(text) ? Number(text) : DEFAULT_TOP;
  return top <= MAX_TOP ? top : DEFAULT_TOP;
}

/** Heads from their names, "L0.H2,L5.H11"; those that the data does not have are left out. @returns {Head[]} */
export function keptHeads(/** @type {string | null} */ text, /** @type {Size} */ size) {
  return headsNamed(text ?? "")
    .filter(({ layer, head }) => layer < size.n_layers && head < headsOf(size, layer))
    .filter(({ layer, head }) => isKept(size, layer, head))
    .slice(0, MAX_KEPT);
}

/**
 * The chosen head and the kept ones, each once, with their colours; the first is the chosen one.
 * @param {Head} chosen
 * @param {Head[]} kept
 * @param {Theme} theme
 * @returns {HeadColour[]}
 */
export function colouredHeads(chosen, kept, theme) {
  const colours = COLOURS[theme.dark ? "dark" : "light"];
  const own = headName(chosen.layer, chosen.head);
  const others = kept.map(({ layer, head }, i) => ({
    layer,
    head,
    name: headName(layer, head),
    colour: colours[i],
  }));
  return [{ ...chosen, name: own, colour: theme.primary }, ...others.filter(({ name }) => name !== own)];
}

/**
 * The controls; `set` shows the choice.
 * @param {Strings} strings
 * @param {(change: LineChange) => void} change
 */
export function lineOptions(strings, change) {
  const label = el("span", { class: "av-number" });
  const range = topRange(change);
  const layout = segmented({
    label: strings.layout,
    value: /** @type {"down" | "across"} */ ("down"),
    options: [
      { value: "down", label: strings.layout_down },
      { value: "across", label: strings.layout_across },
    ],
    onChange: (value) => change({ across: value === "across" ? "1" : null }),
  });
  const legend = makeLegend(strings, change);
  const top = el("label", { class: "av-line-top" }, label, range);
  const node = el("div", { class: "av-line-options" }, top, layout.node, legend.node);
  const set = (/** @type {View} */ view) => {
    const text = fill(strings.top, { count: view.top || strings.all });
    setText(label, text);
    range.value = String(view.top || MAX_TOP + 1);
    range.setAttribute("aria-valuetext", text);
    layout.set(view.isAcross ? "across" : "down");
    legend.set(view);
  };
  return { node, set };
}

/** A slider for the number of lines; its last place stands for all. */
function topRange(/** @type {(change: LineChange) => void} */ change) {
  const range = el("input", {
    type: "range",
    min: 1,
    max: MAX_TOP + 1,
    step: 1,
    on: {
      input() {
        const top = Number(range.value) > MAX_TOP ? 0 : Number(range.value);
        change({ top: top === DEFAULT_TOP ? null : String(top) });
      },
    },
  });
  return range;
}

/**
 * The heads whose lines are drawn, where there are several, and a button that keeps the chosen one.
 * @param {Strings} strings
 * @param {(change: LineChange) => void} change
 */
function makeLegend(strings, change) {
  let chosen = "";
  let shown = "";
  /** @type {string[]} */
  let kept = [];
  const write = (/** @type {string[]} */ names) => change({ beside: names.join(",") || null });
  const keep = button({ label: strings.keep, onClick: () => write([...kept, chosen]) });
  const node = el("div", { class: "av-row av-line-heads" });
  const letGo = (/** @type {string} */ name) =>
    button({
      label: fill(strings.let_go, { head: name }),
      text: "×",
      onClick: () => write(kept.filter((other) => other !== name)),
    });
  const entry = (/** @type {HeadColour} */ { name, colour }) => {
    const props = { class: "av-line-colour", "aria-hidden": "true", style: { backgroundColor: colour } };
    return el(
      "span",
      { class: "av-line-head" },
      el("span", props),
      name,
      kept.includes(name) ? letGo(name) : null,
    );
  };
  const set = (/** @type {View} */ { heads, kept: keptNow }) => {
    kept = keptNow.map(({ layer, head }) => headName(layer, head));
    chosen = heads[0].name;
    setText(keep, fill(strings.keep, { head: chosen }));
    keep.hidden = kept.includes(chosen) || kept.length >= MAX_KEPT;
    const now = [...heads.map(({ name, colour }) => `${name} ${colour}`), ...kept].join();
    if (now === shown) return; // the button that has the focus stays
    shown = now;
    node.replaceChildren(...(heads.length > 1 || kept.length ? heads.map(entry) : []), keep);
  };
  return { node, set };
}
