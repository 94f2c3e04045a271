// @ts-check
// Model map: one row of small boxes from the tokens to the softmax. The boxes of a layer stand in a frame with the number
// of layers. A box is a button that leads to the card of its part; it is lit, off (a line through), or neither. A part
// that the model does not have is left out.

import { parse } from "../shared/buffer.js";
import { el } from "../shared/dom.js";

/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Arrays, Header, PartName } from "./types.js" */

/** @type {readonly PartName[]} */
const START = ["tokens", "embedding", "place"];
/** @type {readonly PartName[]} */
const ATTENTION = ["norm", "attention", "add"];
/** @type {readonly PartName[]} */
const MLP = ["norm", "mlp", "add"];
/** @type {readonly PartName[]} */
const END = ["norm", "logits", "softmax"];

/** @returns {Mounted} */
export default function modelMap(/** @type {Host} */ host) {
  const top = el("nav", { class: "av model-map" });
  host.root.append(top);
  return {
    refresh(data) {
      /** @type {{header: Header, arrays: Arrays}} */
      const { header } = parse(data);
      const boxes = (/** @type {readonly PartName[]} */ names) =>
        names.filter((name) => !header.missing.includes(name)).map((name) => box(host, header, name));
      const layer = el(
        "li",
        { class: "model-map-layer" },
        el("ol", {}, ...boxes(header.missing.includes("mlp") ? ATTENTION : [...ATTENTION, ...MLP])),
        `× ${header.layers}`,
      );
      top.setAttribute("aria-label", header.strings.label);
      const row = el("ol", {}, ...boxes(START), layer, ...boxes(END));
      top.replaceChildren(row);
      const lit = row.querySelector("[aria-current]"); // a narrow page scrolls the row to it
      if (lit instanceof HTMLElement) row.scrollLeft = lit.offsetLeft - row.offsetLeft - row.clientWidth / 3;
    },
    destroy: () => top.remove(),
  };
}

/**
 * @param {Host} host
 * @param {Header} header
 * @param {PartName} name
 */
function box(host, header, name) {
  const label = header.strings[name];
  const isOff = header.off.includes(name);
  const button = el(
    "button",
    {
      type: "button",
      title: header.titles[name],
      "aria-label": `${label}: ${isOff ? header.strings.off : header.titles[name]}`,
      "aria-current": header.lit.includes(name) ? "step" : null,
      dataset: { part: name, off: isOff ? "1" : "" },
    },
    label,
  );
  button.addEventListener("click", () => host.trigger("part", name));
  return el("li", {}, button);
}
