// @ts-check
// A small picture beside a matrix: where the query and the key of a cell are in what the model saw, and what the query
// gives to every patch. In a layer whose keys are blocks of patches, each block is outlined.

import { isolate } from "./axes.js";
import { el, setText } from "./dom.js";
import { fill } from "./fmt.js";
import { drawPicture, layoutPicture, patchLevels, restingQuery, windowSource } from "./picture.js";

/** @import { PatchGrid } from "./layers.js" */
/** @import { Scale } from "./selection.js" */
/** @import { Theme } from "./theme.js" */

/**
 * @typedef {{node: HTMLElement, canvas: HTMLCanvasElement, sentence: HTMLElement, blocks: HTMLElement}} PicturePanel
 */
/**
 * What a panel shows. `rowOf` gives the weights of a query; `texts` are templates for a query and for none.
 * @typedef {{whole: HTMLCanvasElement | null, patches: PatchGrid | null, labels: readonly string[],
 *   query: number | null, key: number | null, rowOf: (query: number) => ArrayLike<number>, scale: Scale,
 *   lut: Uint32Array, theme: Theme, width: number, texts: {picture: string, idle: string}}} PictureView
 */

const WIDEST_PX = 220;

/** The elements, hidden until there is a picture. @returns {PicturePanel} */
export function makePicturePanel() {
  const canvas = el("canvas", { role: "img", class: "av-placed-picture" });
  const sentence = el("p", { class: "av-note" });
  const blocks = el("p", { class: "av-note" });
  const node = el("div", { class: "av-placed", hidden: true }, canvas, el("div", {}, sentence, blocks));
  return { node, canvas, sentence, blocks };
}

/** Draws the picture, or hides the panel where the tokens are not patches. */
export function drawPicturePanel(/** @type {PicturePanel} */ panel, /** @type {PictureView} */ view) {
  const { whole, patches, labels, lut, theme, key, texts } = view;
  panel.node.hidden = !whole || !patches;
  if (!whole || !patches) return;
  const query = view.query ?? restingQuery(patches, labels.length);
  const source = windowSource(whole, patches);
  const geom = layoutPicture(source, patches, Math.min(WIDEST_PX, view.width));
  const levels = query === null ? null : patchLevels(view.rowOf(query), patches, view.scale);
  drawPicture(panel.canvas, source, geom, { levels, lut, theme, patches, query, key });
  const sentence = pictureSentence(texts, patches, labels, query);
  panel.canvas.setAttribute("aria-label", [sentence, patches.said].filter(Boolean).join(" · "));
  setText(panel.sentence, sentence, query === null);
  setText(panel.blocks, patches.said ?? "");
}

/**
 * What a picture shows, in words: the attention of a query, or none.
 * @param {{picture: string, idle: string}} texts
 * @param {PatchGrid} patches
 * @param {readonly string[]} labels
 * @param {number | null} query
 */
export function pictureSentence(texts, { rows, columns }, labels, query) {
  if (query === null) return fill(texts.idle, { rows, columns });
  return fill(texts.picture, { rows, columns, token: isolate(labels[query]), position: query });
}
