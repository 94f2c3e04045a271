// @ts-check
// Theme switch: three buttons, for a light page, a dark one, and one that follows the system.

import { parse } from "../shared/buffer.js";
import { segmented } from "../shared/controls.js";
import { el } from "../shared/dom.js";
import { svg } from "../shared/svg.js";

/** @import { Host, Mounted, Scheme } from "../shared/host.js" */
/** @import { Arrays, Header } from "./types.js" */

/** The outline of each sign in a square of 16: a sun, a moon, a disc half filled. @type {Record<Scheme, string>} */
const SIGNS = {
  light:
    "M8 4.5a3.5 3.5 0 100 7 3.5 3.5 0 000-7zM7.3 0h1.4v3H7.3zm0 13h1.4v3H7.3zM0 7.3h3v1.4H0zm13 0h3v1.4h-3zM2 3l1-1 2.1 2.1-1 1zm8.9 8.9l1-1L14 13l-1 1zM2 13l2.1-2.1 1 1L3 14zm8.9-8.9L13 2l1 1-2.1 2.1z",
  dark: "M6.5 1.2a7 7 0 108.3 8.3A5.6 5.6 0 016.5 1.2z",
  system: "M8 1a7 7 0 100 14A7 7 0 008 1zm0 1.5v11a5.5 5.5 0 010-11z",
};
/** @type {readonly Scheme[]} */
const ORDER = ["light", "dark", "system"];

/** @returns {Mounted} */
export default function themeSwitch(/** @type {Host} */ host) {
  const box = el("section", { class: "av av-theme-switch" });
  host.root.append(box);
  return {
    refresh(data) {
      /** @type {{header: Header, arrays: Arrays}} */
      const { header } = parse(data);
      const page = host.scheme;
      if (!page) return;
      const wanted = page.wanted();
      if (box.dataset.wanted === wanted && box.dataset.label === header.strings.label) return;
      Object.assign(box.dataset, { wanted, label: header.strings.label });
      const options = ORDER.map((value) => ({
        value,
        label: sign(value, header.strings[value]),
        tip: header.strings[value],
      }));
      const onChange = (/** @type {Scheme} */ value) => {
        box.dataset.wanted = value;
        page.choose(value);
      };
      box.replaceChildren(segmented({ label: header.strings.label, options, value: wanted, onChange }).node);
    },
    destroy: () => box.remove(),
  };
}

function sign(/** @type {Scheme} */ value, /** @type {string} */ label) {
  const outline = svg("path", { d: SIGNS[value] });
  return svg("svg", { viewBox: "0 0 16 16", role: "img", "aria-label": label }, outline);
}
