// @ts-check
// Save image: saves what another component of the page shows as an SVG file. Where there are several, it asks which one, and
// frames each while its number is pointed at.

import { parse } from "../shared/buffer.js";
import { button } from "../shared/controls.js";
import { el, setText } from "../shared/dom.js";
import { download, hasPicture, snapshot } from "../shared/snapshot.js";

/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Origin, ShownPicture } from "../shared/snapshot.js" */
/** @import { Arrays, Header } from "./types.js" */

/** @returns {Mounted} */
export default function saveImage(/** @type {Host} */ host) {
  const box = el("section", { class: "av av-save-image" });
  host.root.append(box);
  return {
    refresh(data) {
      /** @type {{header: Header, arrays: Arrays}} */
      const { header } = parse(data);
      box.replaceChildren(...parts(host, header));
    },
    destroy: () => box.remove(),
  };
}

/** The button, and below it the choice among several pictures. */
function parts(/** @type {Host} */ host, /** @type {Header} */ { strings, origin }) {
  const note = el("span", { class: "av-note", role: "status" });
  const choice = el("div", { class: "av-row" });
  const press = () => {
    const pictures = host.pictures().filter(({ root }) => root !== host.root && hasPicture(root));
    choice.replaceChildren();
    setText(note, pictures.length ? "" : strings.none);
    if (pictures.length === 1) save(pictures[0], origin);
    if (pictures.length < 2) return;
    setText(note, strings.which);
    choice.append(...pictures.map((picture, i) => numberButton(picture, i + 1, origin)));
  };
  const shutter = button({ label: strings.save, onClick: press });
  return [el("div", { class: "av-row" }, shutter, note), choice];
}

async function save(/** @type {ShownPicture} */ picture, /** @type {Origin} */ origin) {
  download(await snapshot(picture, origin), picture.name);
}

/** A button for one of several pictures, which is framed while the button is pointed at or in focus. */
function numberButton(
  /** @type {ShownPicture} */ picture,
  /** @type {number} */ number,
  /** @type {Origin} */ origin,
) {
  const { root } = picture;
  const place = root instanceof ShadowRoot ? root.host : root;
  const frame = (/** @type {string} */ outline) => {
    if (place instanceof HTMLElement) place.style.outline = outline;
  };
  const node = button({
    label: String(number),
    onClick() {
      frame("");
      save(picture, origin);
    },
  });
  for (const type of ["pointerenter", "focus"])
    node.addEventListener(type, () => frame("3px solid currentColor"));
  for (const type of ["pointerleave", "blur"]) node.addEventListener(type, () => frame(""));
  return node;
}
