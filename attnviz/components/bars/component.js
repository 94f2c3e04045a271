// @ts-check
// Bars on a page: a heading, the list, and a line for what was left out. Nothing in it moves or answers.
// Data: {strings, title, note, values, seconds, full, bars: [{label, value, second, mark, muted}], rest: {count, value} | null}.

import { barList } from "../shared/bars.js";
import { parse } from "../shared/buffer.js";
import { el } from "../shared/dom.js";
import { fill } from "../shared/fmt.js";
import { mounted } from "../shared/mounted.js";

/** Streamlit calls this with new data or a new theme. */
export default function bars(/** @type {any} */ component) {
  return mounted(component, mountBars, showBars);
}

function mountBars(/** @type {any} */ root) {
  const box = el("section", { class: "av av-barset" });
  root.append(box);
  return { box, raw: null, destroy: () => box.remove() };
}

function showBars(/** @type {any} */ state, /** @type {Uint8Array} */ data) {
  if (state.raw === data) return;
  const { strings, title, note, values, seconds, full, bars: rows, rest } = parse(data).header;
  const list = barList({ label: title, full, values, seconds });
  const others = { ...rest, label: fill(strings.rest, rest ?? {}), muted: true };
  list.set(rest ? [...rows, others] : rows);
  state.raw = data;
  state.box.replaceChildren(
    el("h3", { class: "av-heading" }, title),
    list.node,
    ...(note ? [el("p", { class: "av-note" }, note)] : []),
  );
}
