// @ts-check
// The text of the chosen point: its tokens, shaded by what the point gives them or gets from them, and where to go on.

import { button } from "../shared/controls.js";
import { colourFor, inkOn, levelFor, sequential } from "../shared/colors.js";
import { el, foreign } from "../shared/dom.js";
import { fill, fmtFixed, withPercent } from "../shared/fmt.js";
import { QUERY, labelOf, textAt, weightsOf } from "./points.js";
import { orderInWords, pointInWords } from "./words.js";

/** @import { Point, Points } from "./points.js" */

const SCALE = "sqrt";
const MAX_TOKENS = 160; // of a long text, those around the point

/**
 * @param {Points} points
 * @param {number} head
 * @param {Point} point
 * @param {boolean} dark
 * @param {{choose: (point: Point) => void, open: (page: "head" | "steps", key: number) => void}} on
 * @returns {HTMLElement[]}
 */
export function detailNodes(points, head, point, dark, on) {
  const { strings, texts } = points.header;
  const { text, span, position } = textAt(points, point.token);
  const weights = weightsOf(points, head, point);
  const lut = sequential(dark);
  const from = Math.max(0, Math.min(position - MAX_TOKENS / 2, weights.length - MAX_TOKENS));
  const chips = [...weights.keys()].slice(from, from + MAX_TOKENS).map((place) => {
    const weight = weights[place];
    const props = {
      class: "av-chip av-map-token",
      type: "button",
      "aria-pressed": String(place === position),
      title: withPercent(fmtFixed(100 * weight, 1)),
      style: {
        backgroundColor: colourFor(lut, weight, SCALE),
        color: inkOn(lut, levelFor(weight, SCALE)),
      },
      on: { click: () => on.choose({ token: span[0] + place, side: point.side }) },
    };
    return el("button", props, foreign(labelOf(points, span[0] + place)));
  });
  const strongest = weights.indexOf(Math.max(...weights));
  const name = span[2] ? strings.yours : fill(strings.text, { n: text + 1, total: texts.length });
  const order = orderInWords(points, head, point);
  const gives = point.side === QUERY ? strings.gives : strings.gets;
  return [
    el("h3", { class: "av-heading" }, `${name}. ${gives}`),
    el("div", { class: "av-chips" }, ...chips),
    el("p", { class: "av-sentence" }, pointInWords(points, head, point)),
    ...(order === null ? [] : [el("p", { class: "av-sentence av-map-order" }, order)]),
    ...(span[3] ? [el("div", { class: "av-row" }, ...openButtons(strings, strongest, on))] : []),
  ];
}

function openButtons(
  /** @type {Points["header"]["strings"]} */ strings,
  /** @type {number} */ strongest,
  /** @type {{open: (page: "head" | "steps", other: number) => void}} */ { open },
) {
  return [
    button({ label: strings.open_steps, kind: "primary", onClick: () => open("steps", strongest) }),
    button({ label: strings.open_head, onClick: () => open("head", strongest) }),
  ];
}
