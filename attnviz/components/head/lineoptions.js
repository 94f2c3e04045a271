// @ts-check
// The controls of the lines: how many for each query, side by side or one above the other, and which heads are kept beside
// the chosen one, each in a colour of its own.

import { headsOf } from "../shared/buffer.js";
import { button, segmented } from "../shared/controls.js";
import { el, setText } from "../shared/dom.js";
import { fill, headName } from "../shared/fmt.js";

export const DEFAULT_TOP = 8;
const MOST_TOP = 10;
const MOST_KEPT = 3;
const COLOURS = { light: ["#a21caf", "#b45309", "#1d4ed8"], dark: ["#f0abfc", "#fdba74", "#93c5fd"] };

/** How many lines each query has: 1 to 10, 0 for all. */
export function topOf(/** @type {string | null} */ text) {
  const found = text !== null && /^\d{1,2}$/.test(text) ? Number(text) : DEFAULT_TOP;
  return found <= MOST_TOP ? found : DEFAULT_TOP;
}

/**
 * Heads from their names, "L0.H2,L5.H11"; those that the data does not have are left out.
 * @param {string | null} text
 * @param {{n_layers: number, n_heads: number}} size
 * @returns {{layer: number, head: number}[]}
 */
export function keptHeads(text, size) {
  const found = [...(text ?? "").matchAll(/L(\d{1,3})\.H(\d{1,3})/g)].map((part) => ({
    layer: Number(part[1]),
    head: Number(part[2]),
  }));
  return found
    .filter(({ layer, head }) => layer < size.n_layers && head < headsOf(size, layer))
    .slice(0, MOST_KEPT);
}

/**
 * The chosen head and the kept ones, each once, with their colours; the first is the chosen one.
 * @param {{layer: number, head: number}} chosen
 * @param {{layer: number, head: number}[]} kept
 * @param {import("../shared/theme.js").Theme} theme
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
  return [
    { layer: chosen.layer, head: chosen.head, name: own, colour: theme.primary },
    ...others.filter(({ name }) => name !== own),
  ];
}

/**
 * The controls; `set` shows what is chosen.
 * @param {Record<string, string>} strings
 * @param {(change: Record<string, string | null>) => void} change
 */
export function lineOptions(strings, change) {
  const said = el("span", { class: "av-number" });
  const now = /** @type {any} */ ({ kept: [], own: "" });
  const range = el("input", {
    type: "range",
    min: 1,
    max: MOST_TOP + 1,
    step: 1,
    on: {
      input: () => {
        const top = Number(range.value) > MOST_TOP ? 0 : Number(range.value);
        change({ top: top === DEFAULT_TOP ? null : String(top) });
      },
    },
  });
  const layout = segmented({
    label: strings.layout,
    value: "down",
    options: [
      { value: "down", label: strings.layout_down },
      { value: "across", label: strings.layout_across },
    ],
    onChange: (value) => change({ across: value === "across" ? "1" : null }),
  });
  const write = (/** @type {string[]} */ names) => change({ beside: names.join(",") || null });
  const keep = button({ label: strings.keep, onClick: () => write([...now.kept, now.own]) });
  const legend = el("div", { class: "av-row av-line-heads" });
  const node = el(
    "div",
    { class: "av-line-options" },
    el("label", { class: "av-line-top" }, said, range),
    layout.node,
    legend,
  );
  const set = (/** @type {any} */ view) => {
    const text = fill(strings.top, { count: view.top || strings.all });
    setText(said, text);
    range.value = String(view.top || MOST_TOP + 1);
    range.setAttribute("aria-valuetext", text);
    layout.set(view.across ? "across" : "down");
    Object.assign(now, {
      kept: view.kept.map((/** @type {any} */ head) => headName(head.layer, head.head)),
      own: view.heads[0].name,
    });
    setText(keep, fill(strings.keep, { head: now.own }));
    keep.hidden = now.kept.includes(now.own) || now.kept.length >= MOST_KEPT;
    const name = (/** @type {any} */ head) =>
      el(
        "span",
        { class: "av-line-head" },
        el("span", {
          class: "av-line-colour",
          "aria-hidden": "true",
          style: { backgroundColor: head.colour },
        }),
        head.name,
        now.kept.includes(head.name)
          ? button({
              label: fill(strings.let_go, { head: head.name }),
              text: "×",
              onClick: () => write(now.kept.filter((/** @type {string} */ one) => one !== head.name)),
            })
          : null,
      );
    const shown =
      view.heads.map((/** @type {any} */ head) => `${head.name} ${head.colour}`).join() + now.kept.join();
    if (now.shown === shown) return;
    now.shown = shown;
    legend.replaceChildren(...(view.heads.length > 1 || now.kept.length ? view.heads.map(name) : []), keep);
  };
  return { node, set };
}
