// @ts-check
// Found heads: each is a small heatmap with the asked cell framed, below it a bar of its share with a tick for the
// control. A grid of all heads on the same page fades the others, and the head that is clicked grows there.

import { parse } from "../shared/buffer.js";
import { levelTable, sequential } from "../shared/colors.js";
import { el, fitCanvas, markDrawn, setData } from "../shared/dom.js";
import { headName } from "../shared/fmt.js";
import { boxOf } from "../shared/grow.js";
import { frameCell } from "../shared/matrix.js";
import { makeAtlas, stampHead } from "../shared/thumbs.js";

/** @import { PackedArray } from "../shared/buffer.js" */
/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Arrays, FoundHead, Header } from "./types.js" */

const SIZE_PX = 96;

/** @returns {Mounted} */
export default function found(/** @type {Host} */ host) {
  const list = el("ul", { class: "found-list" });
  const box = el("section", { class: "av found" }, list);
  host.root.append(box);
  let capture = "";
  return {
    refresh(data) {
      /** @type {{header: Header, arrays: Arrays}} */
      const { header, arrays } = parse(data);
      const { heads } = header;
      capture = header.capture;
      const canvases = heads.map(() => el("canvas", { "aria-hidden": "true" }));
      draw(host, header, arrays.weights, canvases);
      list.replaceChildren(
        ...heads.map((at, i) =>
          el(
            "li",
            {},
            headButton(at, canvases[i], () => open(host, header, at, canvases[i])),
          ),
        ),
      );
      host.channel.post({ hits: { capture, heads } });
    },
    destroy() {
      host.channel.post({ hits: { capture, heads: null } });
      box.remove();
    },
  };
}

/**
 * @param {Host} host
 * @param {Header} header
 * @param {PackedArray} weights
 * @param {HTMLCanvasElement[]} canvases
 */
function draw(host, { heads, query, key }, weights, canvases) {
  const theme = host.theme();
  const atlas = makeAtlas(
    { array: weights, lut: sequential(theme.dark), levels: levelTable(weights.dtype, "sqrt") },
    SIZE_PX,
  );
  const [, , rows, cols] = weights.shape;
  canvases.forEach((canvas, i) => {
    const ctx = fitCanvas(canvas, SIZE_PX, SIZE_PX);
    ctx.imageSmoothingEnabled = false;
    stampHead(ctx, atlas, 0, i, { x: 0, y: 0, w: SIZE_PX, h: SIZE_PX });
    const geom = { x: 0, y: 0, w: SIZE_PX, h: SIZE_PX, rows, cols };
    if (query !== null) frameCell(ctx, geom, query, key, theme);
    setData(canvas, { layer: heads[i].layer, head: heads[i].head });
    markDrawn(canvas);
  });
}

/**
 * @param {FoundHead} at
 * @param {HTMLCanvasElement} canvas
 * @param {() => void} click
 */
function headButton({ layer, head, share, control, words }, canvas, click) {
  const widthOf = (/** @type {number} */ part) => `${100 * Math.min(1, Math.max(0, part))}%`;
  const bar = el(
    "span",
    { class: "found-bar", "aria-hidden": "true" },
    el("i", { style: { width: widthOf(share) } }),
    el("b", { style: { left: widthOf(control) } }),
  );
  const props = { type: "button", class: "found-head", title: words, "aria-label": words };
  return el("button", { ...props, on: { click } }, canvas, bar, headName(layer, head));
}

/**
 * @param {Host} host
 * @param {Header} header
 * @param {FoundHead} at
 * @param {HTMLCanvasElement} canvas
 */
function open(host, { grows, query, key }, { layer, head }, canvas) {
  const from = boxOf(canvas, { x: 0, y: 0, w: SIZE_PX, h: SIZE_PX });
  if (grows) host.channel.post({ opens: { layer, head, from } });
  else host.trigger("open", { page: "head", layer, head, query, key });
}
