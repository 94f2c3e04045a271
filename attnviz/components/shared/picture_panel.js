// @ts-check
// A small picture beside a matrix: where the query and the key of a cell are in what the model saw, and what the query
// gives to every patch. In a layer whose keys are blocks of patches, each block is outlined.

import { isolate } from "./axes.js";
import { el, setText } from "./dom.js";
import { fill } from "./fmt.js";
import { drawPicture, layoutPicture, patchLevels, restingQuery, windowSource } from "./picture.js";

/** What a layer sees of a picture, with a sentence on what its tokens stand for.
 * @typedef {import("./picture.js").PatchGrid & {said?: string}} PlacedPatches */

const LARGEST_PLACED = 220;

/** The elements, empty until they are drawn. */
export function makePlaced() {
  const canvas = el("canvas", { role: "img", class: "av-placed-picture" });
  const said = el("p", { class: "av-note" });
  const blocks = el("p", { class: "av-note" });
  return {
    node: el("div", { class: "av-placed", hidden: true }, canvas, el("div", {}, said, blocks)),
    canvas,
    said,
    blocks,
  };
}

/**
 * Draws the picture, or hides it where the tokens are no patches. `row` has the weights of the query.
 * @param {any} placed of makePlaced
 * @param {{whole: HTMLCanvasElement | null, patches: PlacedPatches | null, labels: string[], query: number | null,
 *   key: number | null, rowOf: (query: number) => ArrayLike<number>, scale: import("./colors.js").Scale, lut: Uint32Array,
 *   theme: import("./theme.js").Theme, width: number, texts: {picture: string, idle: string}}} view
 */
export function drawPlaced(placed, view) {
  const { whole, patches, labels, key, texts } = view;
  placed.node.hidden = !whole || !patches;
  if (!whole || !patches) return;
  const query = view.query ?? restingQuery(patches, labels.length);
  const source = windowSource(whole, patches);
  const size = { rows: patches.rows, columns: patches.columns };
  const levels = query === null ? null : patchLevels(view.rowOf(query), patches, view.scale);
  drawPicture(placed.canvas, source, layoutPicture(source, patches, Math.min(LARGEST_PLACED, view.width)), {
    levels,
    lut: view.lut,
    theme: view.theme,
    patches,
    query,
    key,
  });
  const said =
    query === null
      ? fill(texts.idle, size)
      : fill(texts.picture, { ...size, token: isolate(labels[query]), position: query });
  placed.canvas.setAttribute("aria-label", [said, patches.said].filter(Boolean).join(" · "));
  setText(placed.said, said);
  setText(placed.blocks, patches.said ?? "");
}
