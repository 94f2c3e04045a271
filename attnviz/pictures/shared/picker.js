// @ts-check
// Layer and head as two native selects with buttons for the neighbours, for components whose host has to compute
// another head. It only says what was asked for.

import { el, setBusy, setText } from "./dom.js";
import { nearestKept } from "./selection.js";

/** @import { Committer } from "./committer.js" */
/** @import { SharedStrings } from "./heads.js" */
/** @import { Kept, Selection } from "./selection.js" */

/** @typedef {"layer" | "head" | "previous_layer" | "next_layer" | "previous_head" | "next_head"} PickerKey */
/** @typedef {{n_layers: number, n_heads: number, kept?: Kept}} Size */
/**
 * `update` shows a head of so many; those that were not kept cannot be chosen, another layer leads to its nearest head.
 * @typedef {{node: HTMLElement,
 *   update: (strings: Pick<SharedStrings, PickerKey>, size: Size, layer: number, head: number) => void}} Picker
 */

/** @returns {Picker} */
export function makePicker(/** @type {(layer: number, head: number) => void} */ choose) {
  const shown = { layer: 0, head: 0 };
  /** @type {Kept | null} */
  let kept = null;
  const layer = makeGroup("layer", shown, (index) => {
    const at = { layer: index, head: shown.head };
    choose(index, kept ? nearestKept(kept, at).head : at.head);
  });
  const head = makeGroup("head", shown, (index) => choose(shown.layer, index));
  const node = el("div", { class: "av-pickbar", role: "group" }, layer.node, head.node);
  return {
    node,
    update(strings, size, layerNow, headNow) {
      node.hidden = size.n_layers * size.n_heads < 2;
      Object.assign(shown, { layer: layerNow, head: headNow });
      node.setAttribute("aria-label", `${strings.layer}, ${strings.head}`);
      const some = size.kept?.length ? size.kept : null;
      kept = some;
      layer.update(strings, size.n_layers, (index) => !some || some[index].length > 0);
      head.update(strings, size.n_heads, (index) => !some || some[layerNow].includes(index));
    },
  };
}

/**
 * One select with a button on either side.
 * @param {"layer" | "head"} name
 * @param {{layer: number, head: number}} shown
 * @param {(index: number) => void} choose
 */
function makeGroup(name, shown, choose) {
  const caption = el("span", { class: "av-caption" });
  const select = el("select", { "data-pick": name, on: { change: () => choose(Number(select.value)) } });
  const stepButton = (/** @type {string} */ sign, /** @type {number} */ step) =>
    el(
      "button",
      {
        type: "button",
        class: "av-step",
        "data-step": `${name}${step}`,
        on: { click: () => choose(next(step) ?? shown[name]) },
      },
      sign,
    );
  /** @type {(index: number) => boolean} */
  let isOpen = () => true;
  /** The next one in a direction that can be chosen, or null. */
  const next = (/** @type {number} */ step) => {
    for (let index = shown[name] + step; index >= 0 && index < select.options.length; index += step)
      if (isOpen(index)) return index;
    return null;
  };
  const back = stepButton("‹", -1);
  const forth = stepButton("›", 1);
  const node = el("div", { class: "av-pick" }, el("label", {}, caption, select), back, forth);
  const update = (
    /** @type {Pick<SharedStrings, PickerKey>} */ strings,
    /** @type {number} */ count,
    /** @type {(index: number) => boolean} */ opens,
  ) => {
    isOpen = opens;
    setText(caption, strings[name]);
    if (select.options.length !== count) {
      const options = Array.from({ length: count }, (_, i) => el("option", { value: String(i) }, i));
      select.replaceChildren(...options);
    }
    for (const [index, option] of [...select.options].entries()) option.disabled = !isOpen(index);
    select.value = String(shown[name]);
    back.disabled = next(-1) === null;
    forth.disabled = next(1) === null;
    back.setAttribute("aria-label", strings[`previous_${name}`]);
    forth.setAttribute("aria-label", strings[`next_${name}`]);
  };
  return { node, update };
}

/**
 * Asks the host for another head at once; `node` is marked as waiting until the head comes.
 * @template {Selection} T
 * @param {{selection: T, committer: Committer}} state
 * @param {HTMLElement} node
 * @param {{layer: number, head: number}} head
 */
export function askForHead(state, node, head) {
  state.selection = { ...state.selection, ...head };
  setBusy(node, true);
  state.committer.update(state.selection);
  state.committer.commit();
}
