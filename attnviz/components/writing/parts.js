// @ts-check
// The elements of the writing page, built once for a capture; component.js fills them.

import { levelTable } from "../shared/colors.js";
import { button, checkbox, headPicker, segmented } from "../shared/controls.js";
import { cueScroll, el, fillNodes, fitCanvas, keycaps, markDrawn } from "../shared/dom.js";
import { fill, headName } from "../shared/fmt.js";
import { drawAtlas, makeAtlas } from "../shared/thumbs.js";

const THUMB = { size: 26, gap: 4 };

/**
 * @param {any} header
 * @param {any} act what the controls do, and what they show first: {player, mean, mode, head, setMean, setMode, token, open}
 */
export function buildWriting(header, act) {
  const { strings, draws, sentences } = header;
  const parts = /** @type {Record<string, any>} */ ({
    title: el("h3", { class: "av-title" }),
    sentence: el("p", { class: "av-sentence" }),
    strongest: el("div", { class: "av-strongest" }),
    drawTitle: el("h3", { class: "av-heading" }),
    drawn: el("p", { class: "av-number av-drawn" }),
    bars: el("div", { class: "av-draw-bars" }),
    keys: cueScroll(
      el("div", {
        class: "av-chips av-keys-read",
        role: "group",
        tabIndex: 0,
        "aria-label": strings.key_axis,
      }),
    ),
    spoken: el("p", { class: "av-visually-hidden", role: "status", "aria-live": "polite" }),
  });
  parts.text = cueScroll(
    el("div", {
      class: "av-chips av-text",
      role: "group",
      tabIndex: 0,
      "aria-label": act.player ? strings.text_written : strings.text_given,
    }),
  );
  parts.text.addEventListener("click", (/** @type {any} */ event) => {
    const token = event.target.closest?.(".av-chip")?.dataset.token;
    if (token !== undefined) act.token(Number(token));
  });
  parts.thumbs = el("canvas", { "aria-hidden": "true" });
  parts.picker = headPicker({
    label: strings.heads,
    nLayers: header.n_layers,
    nHeads: header.n_heads,
    under: parts.thumbs,
    onMove: act.head,
    labelOf: (layer, head) =>
      fill(strings.status, { head: headName(layer, head), sentence: sentences[layer][head] }),
  });
  parts.picker.resize(THUMB.size, THUMB.gap);
  const mean = checkbox({ label: strings.mean, checked: act.mean, onChange: act.setMean });
  const mode = segmented({
    label: strings.mode,
    value: act.mode,
    options: [
      { value: "from", label: strings.mode_from },
      { value: "next", label: strings.mode_next },
    ],
    onChange: act.setMode,
  });
  const hint = el(
    "p",
    { class: "av-hint" },
    ...fillNodes(act.player ? strings.hint : strings.hint_given, {
      space: keycaps("␣"),
      arrows: keycaps("←", "→"),
      shift: keycaps("⇧ ←", "⇧ →"),
    }),
  );
  const keys = header.cross
    ? [
        el("p", { class: "av-note" }, strings.key_axis),
        parts.keys,
        el("p", { class: "av-note" }, strings.query_axis),
      ]
    : [];
  const heads = el(
    "div",
    { class: "av-writing-heads" },
    parts.picker.node,
    el(
      "div",
      { class: "av-writing-head" },
      el("div", { class: "av-row" }, parts.title, mean.node),
      parts.sentence,
      button({ label: strings.open_head, onClick: act.open }),
    ),
  );
  parts.nodes = [
    ...(act.player ? [act.player] : []),
    el(
      "div",
      { class: "av-writing-body" },
      el("div", { class: "av-writing-left" }, ...keys, parts.text, parts.strongest, hint, heads),
      el(
        "div",
        { class: "av-writing-right" },
        mode.node,
        parts.drawTitle,
        el("p", { class: "av-note" }, draws.sampling),
        parts.bars,
        parts.drawn,
      ),
    ),
    parts.spoken,
  ];
  return parts;
}

/**
 * The heads as small pictures below the cells of the picker.
 * @param {HTMLCanvasElement} canvas
 * @param {any} header
 * @param {any} weights
 * @param {Uint32Array} lut
 */
export function drawWritingThumbs(canvas, header, weights, lut) {
  const geom = { x: 0, y: 0, ...THUMB, layers: header.n_layers, heads: header.n_heads };
  const step = THUMB.size + THUMB.gap;
  const atlas = makeAtlas({ array: weights, lut, levels: levelTable(weights.dtype, "sqrt") }, THUMB.size);
  drawAtlas(fitCanvas(canvas, geom.heads * step - THUMB.gap, geom.layers * step - THUMB.gap), atlas, geom);
  markDrawn(canvas);
}
