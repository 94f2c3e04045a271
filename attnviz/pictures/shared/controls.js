// @ts-check
// The small set of controls that components share: segmented choice, check box, button. All are plain elements with
// roles, arrow keys and a visible focus ring; style.css gives them their look.

import { el, elementAt } from "./dom.js";

/**
 * `label` may be a drawing; `tip` then says it in words.
 * @template {string} Value
 * @typedef {{value: Value, label: string | Node, tip?: string}} Option
 */

/**
 * A row of options of which one is on: a radio group with one element in the tab order.
 * @template {string} Value
 * @param {{label: string, options: readonly Option<Value>[], value: Value, onChange: (value: Value) => void}} opts
 */
export function segmented(opts) {
  const values = opts.options.map(({ value }) => value);
  const buttons = opts.options.map(({ value, label, tip }) =>
    el("button", { class: "av-seg", type: "button", role: "radio", title: tip, dataset: { value } }, label),
  );
  const node = el("div", { class: "av-segs", role: "radiogroup", "aria-label": opts.label }, ...buttons);
  const set = (/** @type {Value} */ value) => {
    buttons.forEach((button, i) => {
      const on = values[i] === value;
      button.setAttribute("aria-checked", String(on));
      button.tabIndex = on ? 0 : -1;
    });
  };
  const choose = (/** @type {number} */ i) => {
    set(values[i]);
    opts.onChange(values[i]);
  };
  node.addEventListener("click", (event) => {
    const i = buttons.findIndex((button) => button === elementAt(event)?.closest("[role=radio]"));
    if (i >= 0) choose(i);
  });
  node.addEventListener("keydown", (event) => {
    const step = arrowStep(event.key);
    const at = buttons.findIndex((button) => button === event.target);
    if (!step || at < 0) return;
    const next = (at + step + buttons.length) % buttons.length;
    swallow(event);
    buttons[next].focus();
    choose(next);
  });
  set(opts.value);
  return { node, set };
}

function arrowStep(/** @type {string} */ key) {
  if (key === "ArrowRight" || key === "ArrowDown") return 1;
  return key === "ArrowLeft" || key === "ArrowUp" ? -1 : 0;
}

/** Stops an event here: neither the browser nor the page's own shortcuts act on it. */
export function swallow(/** @type {Event} */ event) {
  event.preventDefault();
  event.stopPropagation();
}

/** A check box in its label. */
export function checkbox(
  /** @type {{label: string, checked: boolean, onChange: (checked: boolean) => void}} */ opts,
) {
  const input = el("input", {
    type: "checkbox",
    checked: opts.checked,
    on: { change: () => opts.onChange(input.checked) },
  });
  const node = el("label", { class: "av-check" }, input, el("span", {}, opts.label));
  return {
    node,
    set: (/** @type {boolean} */ checked) => void (input.checked = checked),
    disable: (/** @type {boolean} */ off) => void (input.disabled = off),
  };
}

/**
 * A button; where its text is a sign, the label is its name and its tip.
 * @param {{label: string, text?: string, kind?: "plain" | "primary", onClick: () => void}} opts
 */
export function button(opts) {
  const name = opts.text === undefined ? null : opts.label;
  const props = {
    class: `av-button ${opts.kind === "primary" ? "av-primary" : ""}`,
    type: "button",
    "aria-label": name,
    title: name,
    on: { click: opts.onClick },
  };
  return el("button", props, opts.text ?? opts.label);
}
