// @ts-check
// Layer and head picker for pages where the server has to compute another head: two native selects with
// buttons for the neighbours. It only says what was asked for; the caller tells the server.

import { el, setBusy, setText } from "./dom.js";
import { fill } from "./fmt.js";

/**
 * @typedef {{node: HTMLElement, update: (strings: Record<string, string>, size: {n_layers: number, n_heads: number},
 *   layer: number, head: number) => void}} Picker
 */

/**
 * @param {(layer: number, head: number) => void} choose
 * @returns {Picker}
 */
export function makePicker(choose) {
  const now = { layer: 0, head: 0, n_layers: 1, n_heads: 1 };
  const layer = pickerGroup("layer", (step) => choose(step, now.head), now);
  const head = pickerGroup("head", (step) => choose(now.layer, step), now);
  const node = el("div", { class: "av-pickbar", role: "group" }, layer.node, head.node);
  const update = (strings, size, layerNow, headNow) => {
    node.hidden = size.n_layers * size.n_heads < 2;
    Object.assign(now, size, { layer: layerNow, head: headNow });
    node.setAttribute("aria-label", `${strings.layer}, ${strings.head}`);
    layer.update(strings, size.n_layers, layerNow);
    head.update(strings, size.n_heads, headNow);
  };
  return { node, update };
}

/**
 * One select with a button on either side.
 * @param {"layer" | "head"} name
 * @param {(index: number) => void} choose
 * @param {Record<string, number>} now
 */
function pickerGroup(name, choose, now) {
  const caption = el("span", { class: "av-caption" });
  const select = el("select", { "data-pick": name, on: { change: () => choose(Number(select.value)) } });
  const button = (sign, step) =>
    el(
      "button",
      {
        type: "button",
        class: "av-step",
        "data-step": `${name}${step}`,
        on: { click: () => choose(now[name] + step) },
      },
      sign,
    );
  const [back, forth] = [button("‹", -1), button("›", 1)];
  const node = el("div", { class: "av-pick" }, el("label", {}, caption, select), back, forth);
  const update = (strings, count, index) => {
    setText(caption, strings[name]);
    if (select.options.length !== count) {
      select.replaceChildren(
        ...Array.from({ length: count }, (_, i) => el("option", { value: String(i) }, String(i))),
      );
    }
    select.value = String(index);
    back.disabled = index <= 0;
    forth.disabled = index >= count - 1;
    back.setAttribute("aria-label", fill(strings[`previous_${name}`], {}));
    forth.setAttribute("aria-label", fill(strings[`next_${name}`], {}));
  };
  return { node, update };
}

/**
 * Another head is asked of the server at once; the view is faded until it comes.
 * @param {any} view
 * @param {number} layer
 * @param {number} head
 */
export function askForHead(view, layer, head) {
  view.selection = { ...view.selection, layer, head };
  setBusy(view.nodes.top, true);
  view.committer.update(view.selection);
  view.committer.commit();
}
