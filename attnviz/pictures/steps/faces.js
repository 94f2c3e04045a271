// @ts-check
// The other faces of a stop, where the host has them: other numbers in place of X, arrows in place of q · k, other masks.
// In: which there are. Out: a button for each, which asks the host to open it.

import { el } from "../shared/dom.js";

/** @import { FilmStage } from "./film_scenes.js" */
/** @import { Face, Header } from "./types.js" */

/** The stop that a face belongs to. @type {Record<Face, FilmStage>} */
export const STOP_OF = { numbers: "q", arrows: "scores", masks: "masked" };

/** @returns {{node: HTMLElement, write: (header: Header) => void}} */
export function makeFaces(/** @type {(face: Face) => void} */ open) {
  const node = el("div", { class: "faces" });
  const button = (/** @type {Header} */ { strings }, /** @type {Face} */ one) =>
    el(
      "button",
      { type: "button", class: "av-button", "data-face": one, on: { click: () => open(one) } },
      strings[`face_${one}`],
    );
  return {
    node,
    write(header) {
      node.hidden = !header.faces.length;
      node.replaceChildren(...header.faces.map((one) => button(header, one)));
    },
  };
}
