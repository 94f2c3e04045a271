// @ts-check
// The elements of Steps that stay as long as the component; their texts come with the data.

import { el, setData, setText } from "../shared/dom.js";
import { fill } from "../shared/fmt.js";
import { makePicker } from "../shared/picker.js";
import { makePicturePanel } from "../shared/picture_panel.js";
import { makeEditBar } from "./edit_bar.js";
import { makePlayer } from "./play.js";
import { makeRail } from "./rail.js";

/** @import { Actions, State } from "./state.js" */
/** @import { Header } from "./types.js" */

/** @typedef {ReturnType<typeof buildParts>} Parts */

/**
 * @param {() => State} now
 * @param {Actions} actions
 */
export function buildParts(now, actions) {
  const picker = makePicker(actions.head);
  const asks = el("p", { class: "asks" });
  const status = el("p", { class: "av-visually-hidden", role: "status", "aria-live": "polite" });
  const letGo = () => actions.choose(null, null);
  const clear = el("button", { type: "button", class: "av-button clear", on: { click: letGo } });
  const play = makePlayer(now);
  const edit = makeEditBar(now, actions);
  const bar = el("div", { class: "bar" }, picker.node, asks, clear, edit.tools);
  const strip = el("div", { class: "strip", role: "group" });
  const rail = makeRail((stage) => strip.querySelector(`.panel[data-stage="${stage}"]`));
  const legend = el("p", { class: "legend" });
  const picture = makePicturePanel();
  const box = el("section", { class: "arithmetic" });
  const dock = el("div", { class: "av-dock" }, rail.node, bar, play.node, edit.node);
  const nodes = [play.film, strip, dock, status, legend, picture.node, box];
  return { picker, asks, status, clear, play, edit, rail, strip, legend, picture, box, nodes };
}

/** Writes the texts that do not depend on the chosen cell. */
export function writeParts(
  /** @type {Parts} */ parts,
  /** @type {Header} */ header,
  /** @type {HTMLElement} */ top,
) {
  const { strings, layer, head } = header;
  parts.picker.update(strings, header, layer, head);
  setText(parts.clear, strings.clear_cell);
  parts.strip.setAttribute("aria-label", fill(strings.strip_label, { layer, head }));
  setData(top, { layer, head });
  const texts = { query: strings.query_row, key: strings.key_row, cell: strings.chosen_cell };
  const swatches = Object.entries(texts).map(([name, text]) => el("span", { class: `swatch ${name}` }, text));
  parts.legend.replaceChildren(...swatches);
}
