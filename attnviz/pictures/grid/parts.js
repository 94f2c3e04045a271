// @ts-check
// The elements of the overview that are built for a capture: options, the picker of heads over its canvas, the preview.

import { isolate } from "../shared/axes.js";
import { headCounts } from "../shared/buffer.js";
import { checkbox } from "../shared/controls.js";
import { el, fillNodes, keycaps } from "../shared/dom.js";
import { barSign } from "../shared/effects.js";
import { fill, headName } from "../shared/fmt.js";
import { headPicker } from "../shared/head_picker.js";
import { sentenceOn } from "../shared/rest.js";
import { orderSelect } from "./order.js";
import { makePreview } from "./preview.js";
import { isSummed, summaryOf, summaryPlaces, summaryText } from "./summaries.js";

/** @import { HeadEffects } from "../shared/effects.js" */
/** @import { Subject } from "./board.js" */
/** @import { Sorting } from "./order.js" */
/** @import { Header } from "./types.js" */

/**
 * `keep` keeps a summary enlarged.
 * @typedef {{order: (name: string) => void, cells: (on: boolean) => void,
 *   choose: (layer: number, head: number) => void, open: (page: "head" | "steps") => void,
 *   allow: () => void,
 *   hover: (subject: Subject) => void, keep: (extra: number) => void}} Actions
 */
/** @typedef {ReturnType<typeof buildParts>} Parts */

/**
 * Builds the parts for a header.
 * @param {Header} header
 * @param {Sorting[]} sortings
 * @param {Actions} actions
 */
export function buildParts(header, sortings, actions) {
  const { strings } = header;
  const size = { model: header.model, layers: header.n_layers, heads: header.n_heads };
  const canvas = el("canvas", { role: "img", "aria-label": fill(strings.canvas, size) });
  const order = orderSelect(header, sortings, actions.order);
  const cells = checkbox({ label: strings.cells, checked: false, onChange: actions.cells });
  const options = el("div", { class: "av-row av-grid-options" }, order.node, cells.node);
  const keys = { arrows: keycaps("←", "→", "↑", "↓"), enter: keycaps("Enter") };
  const hint = el("p", { class: "av-hint" }, ...fillNodes(strings.hint, keys));
  const touch = el("p", { class: "av-hint av-hint-touch" }, strings.hint_touch);
  const picker = buildPicker(header, canvas, actions);
  const preview = makePreview(header, actions);
  const named = header.predicts ? el("p", { class: "av-note" }, strings.predicts_note) : null;
  const legend = el("p", { class: "av-note av-legend", hidden: true });
  const kept = keptNote(header);
  return {
    canvas,
    order,
    cells,
    picker,
    relabel: (/** @type {Header} */ now) => picker.relabel(labelOf(now)),
    preview,
    legend,
    left: [picker.node, options, kept, legend, named, hint, touch],
  };
}

/** How many heads were kept, where not all were. */
function keptNote(/** @type {Header} */ { kept, strings, n_layers, n_heads, shapes }) {
  if (!kept.length) return null;
  const all = shapes?.reduce((sum, [heads]) => sum + heads, 0) ?? n_layers * n_heads;
  return el("p", { class: "av-note" }, fill(strings.kept, { count: kept.flat().length, all }));
}

/**
 * What the two bars under each head are, with their scales; nothing for a bar that is not there.
 * @param {HTMLElement} node
 * @param {Header} header
 * @param {{query: string, key: string} | null} tokens of the cell
 * @param {HeadEffects | null} effects
 */
export function showLegend(node, { strings }, tokens, effects) {
  const looks =
    tokens && fill(strings.legend_looks, { query: isolate(tokens.query), key: isolate(tokens.key) });
  node.hidden = !looks && !effects;
  node.replaceChildren(
    ...(looks ? [barSign("key", looks)] : []),
    ...(effects ? [barSign("answer", effects.legend), barSign("corner", strings.legend_corner)] : []),
  );
}

/** What a head is called for those who hear the page: its name, and what it does as soon as that is known. */
function labelOf(/** @type {Header} */ header) {
  return (/** @type {number} */ layer, /** @type {number} */ head) => {
    const [name, sentence] = [headName(layer, head), sentenceOn(header, layer, head)];
    return sentence ? fill(header.strings.status, { head: name, sentence }) : name;
  };
}

/**
 * @param {Header} header
 * @param {HTMLCanvasElement} under
 * @param {Actions} actions
 */
function buildPicker(header, under, actions) {
  const { strings } = header;
  const nExtras = isSummed(header) ? 2 * summaryPlaces(header) : 0;
  return headPicker({
    label: strings.heads,
    nLayers: header.n_layers,
    nHeads: header.n_heads,
    heads: headCounts(header),
    kept: header.kept,
    under,
    labelOf: labelOf(header),
    onMove: actions.choose,
    onPick(layer, head) {
      actions.choose(layer, head);
      actions.open("head");
    },
    onHover: ({ layer, head }) => actions.hover({ layer, head, extra: null }),
    extras: Array.from({ length: nExtras }, (_, i) => summaryText(header, summaryOf(header, i)).name),
    onExtra(extra, how) {
      if (how === "hover") actions.hover({ layer: null, head: null, extra });
      else actions.keep(extra);
    },
  });
}
