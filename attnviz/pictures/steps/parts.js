// @ts-check
// The elements of Steps that stay as long as the component; their texts come with the data.

import { el, setData, setText } from "../shared/dom.js";
import { fill } from "../shared/fmt.js";
import { makePicker } from "../shared/picker.js";
import { makePicturePanel } from "../shared/picture_panel.js";
import { makeEditBar } from "./edit_bar.js";
import { makeFaces } from "./faces.js";
import { makePlayer } from "./play.js";
import { makeRail } from "./rail.js";
import { makeRowPicture } from "./row_picture.js";

/** @import { Actions, State } from "./state.js" */
/** @import { Header } from "./types.js" */

/** @typedef {ReturnType<typeof buildParts>} Parts */

/**
 * @param {() => State} now
 * @param {Actions} actions
 */
export function buildParts(now, actions) {
  const picker = makePicker(actions.head);
  const status = el("p", { class: "av-visually-hidden", role: "status", "aria-live": "polite" });
  const textButton = (/** @type {string} */ name, /** @type {() => void} */ click) =>
    el("button", { type: "button", class: `av-button ${name}`, on: { click } });
  const clear = textButton("clear", () => actions.choose(null, null));
  const play = makePlayer(now);
  const edit = makeEditBar(now, actions);
  const picture = makeRowPicture(now, actions);
  const strip = el("div", { class: "strip", role: "group" });
  const rail = makeRail(actions.stop);
  const legend = el("p", { class: "legend" });
  const places = makePicturePanel();
  const box = el("section", { class: "arithmetic" });
  const precision = el("p", { class: "precision" });
  const faces = makeFaces(actions.face);
  const rows = textButton("all-rows", () => title.scrollIntoView({ block: "start" }));
  const back = textButton("back", () => actions.face(null));
  const left = el("div", { class: "row-left" }, picture.node, play.film);
  const does = el("div", { class: "row-actions" }, play.node, faces.node, rows);
  const card = el("div", { class: "row-card" }, box, does, picker.node, places.node);
  const dock = el("div", { class: "av-dock rail-dock" }, rail.node, back);
  const room = el("div", { class: "row-room" }, left, card, dock);
  const title = el("h2", { class: "rows-title" });
  const head = el("header", { class: "rows-head" }, title, edit.hint, clear);
  const edits = el("div", { class: "av-dock edit-dock" }, edit.tools, edit.chips, edit.answer);
  const nodes = [room, head, strip, legend, precision, edits, status];
  return {
    ...{
      picker,
      status,
      clear,
      play,
      edit,
      rail,
      strip,
      legend,
      places,
      box,
      picture,
      faces,
      rows,
      back,
      left,
      precision,
    },
    ...{ title, edits, nodes },
  };
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
  setText(parts.precision, header.by_kernel ? strings.precision_typed : strings.precision);
  setText(parts.rows, strings.all_rows);
  setText(parts.title, strings.rows_title);
  parts.faces.write(header);
  setText(parts.back, strings.face_close);
  parts.back.hidden = header.face === null;
  parts.strip.setAttribute("aria-label", fill(strings.strip_label, { layer, head }));
  setData(top, { layer, head });
  const texts = { query: strings.query_row, key: strings.key_row, cell: strings.chosen_cell };
  const swatches = Object.entries(texts).map(([name, text]) => el("span", { class: `swatch ${name}` }, text));
  parts.legend.replaceChildren(...swatches);
}
