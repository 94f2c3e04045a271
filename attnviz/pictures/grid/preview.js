// @ts-check
// The enlarged head of the overview: name, sentence, heatmap with token axes, colour bar, and buttons that open it.

import { axisMarks, drawAxes, layoutAxes } from "../shared/axes.js";
import { headValues } from "../shared/buffer.js";
import { drawColourBar } from "../shared/colour_bar.js";
import { levelTable } from "../shared/colors.js";
import { button } from "../shared/controls.js";
import { context2d, el, fitCanvas, markDrawn, setData, setText } from "../shared/dom.js";
import { fill, headName } from "../shared/fmt.js";
import { hiddenPoints, sameForAll, visibleCells } from "../shared/hidden.js";
import { drawMatrix, frameCell } from "../shared/matrix.js";
import { rowWeights, withoutLook } from "../shared/numbers.js";
import { drawPicturePanel, makePicturePanel } from "../shared/picture_panel.js";
import { sentenceOn } from "../shared/rest.js";
import { measureText } from "./order.js";
import { summaryOf, summaryText } from "./summaries.js";

/** @import { Dtype, PackedArray } from "../shared/buffer.js" */
/** @import { CellAt } from "../shared/effects.js" */
/** @import { LayeredHeader } from "../shared/layers.js" */
/** @import { Theme } from "../shared/theme.js" */
/** @import { Subject } from "./board.js" */
/** @import { Sorting } from "./order.js" */
/** @import { Header } from "./types.js" */
/** @import { Whole } from "./whole.js" */

/** The matrix of a head, or of a summary of several, with its name and what it does. */
/** `side`: so many weights share a point in each direction, 1 for the weights themselves. */
/** `hidden` are the cells that the mask hides, 1 each, null where it hides none. */
/** @typedef {{name: string, sentence: string, values: ArrayLike<number>, dtype: Dtype, side: number, hidden: Uint8Array | null}} Enlarged */
/**
 * `row` is the chosen query, `facts` what is said of it, `isForbidden` says that the look is which they tell of; `whole` is the picture that the tokens are patches of.
 * @typedef {Enlarged & {facts: Node[], isForbidden: boolean, header: LayeredHeader<Header>, at: Subject, row: number | null,
 *   whole: HTMLCanvasElement | null, theme: Theme, lut: Uint32Array, width: number}} PreviewView
 */
/** @typedef {ReturnType<typeof makePreview>} Preview */

const SCALE = "sqrt";
const TALLEST_PX = 400;
const WIDEST_BAR_PX = 260;
const PICTURE_PX = 160;

/** Builds the panel; `open` opens the head on another page, `allow` allows the look again that is forbidden. */
export function makePreview(
  /** @type {Header} */ { strings, pooled },
  /** @type {{open: (page: "head" | "steps") => void, allow: () => void}} */ { open, allow: onAllow },
) {
  const title = el("h2", { class: "av-title" });
  const sentence = el("p", { class: "av-sentence" });
  const facts = el("p", { class: "av-facts" });
  const canvas = el("canvas", { role: "img" });
  const barLabel = fill(strings.colour_bar, { scale: strings.scale_sqrt });
  const bar = el("canvas", { role: "img", "aria-label": barLabel });
  const openers = [
    button({ label: strings.open_head, kind: "primary", onClick: () => open("head") }),
    button({ label: strings.open_steps, onClick: () => open("steps") }),
  ];
  const allow = button({ label: strings.allow, onClick: onAllow });
  const spoken = el("div", { class: "av-visually-hidden", role: "status", "aria-live": "polite" });
  const picture = makePicturePanel();
  const note = el("p", { class: "av-note" });
  const coming = el("p", { class: "av-note", hidden: true });
  const pooledNote =
    pooled && el("p", { class: "av-note" }, fill(strings.pooled_note, { side: pooled.side }));
  const node = el(
    "div",
    { style: { display: "contents" } },
    el("div", {}, title, facts, allow, sentence),
    canvas,
    el("div", {}, bar, note, pooledNote, coming),
    el("div", { class: "av-row" }, ...openers),
    picture.node,
    spoken,
  );
  const about = ""; // the head and the row that were told of: with another text, they are not told again
  return { node, picture, title, facts, sentence, canvas, bar, note, coming, openers, allow, spoken, about };
}

/** Draws one head, or a summary of several, into the panel; only a head can be opened. */
export function drawPreview(/** @type {Preview} */ panel, /** @type {PreviewView} */ view) {
  const { header, at, name, theme, lut, width, row, values, dtype } = view;
  const { strings, n_query: nQuery, n_key: nKey } = header;
  for (const opener of panel.openers) opener.disabled = at.extra !== null;
  setText(panel.title, name);
  setText(panel.sentence, view.sentence);
  panel.facts.replaceChildren(...view.facts);
  panel.allow.hidden = !view.isForbidden;
  const isComing = view.side > 1;
  const side = header.first?.side ?? 1;
  setText(panel.coming, fill(isComing ? strings.coming_note : strings.squares_note, { side }));
  panel.coming.hidden = !header.first;
  const about = `${name} ${row} ${view.sentence !== ""}`;
  if (panel.about !== about) {
    const said = [...view.facts.map(({ textContent }) => textContent), view.sentence].join(" ");
    setText(panel.spoken, fill(strings.status, { head: name, sentence: said }));
    panel.about = about;
  }
  const label = fill(strings.preview, { head: name, rows: nQuery, cols: nKey });
  panel.canvas.setAttribute("aria-label", label);
  setText(panel.note, view.hidden?.includes(1) ? strings.weights_hatched : strings.weights_note);
  drawHead(panel.canvas, view);
  const data = { values, dtype, nQuery, nKey, rows: [], cols: [] };
  drawPicturePanel(panel.picture, {
    whole: view.whole,
    patches: header.patches,
    labels: header.tokens,
    query: row,
    key: null,
    rowOf: (query) => rowWeights(data, query),
    scale: SCALE,
    lut,
    theme,
    width: Math.min(width, PICTURE_PX),
    texts: { picture: strings.picture, idle: strings.picture_idle },
  });
  drawColourBar(panel.bar, { lut, theme, scale: SCALE, width: Math.min(WIDEST_BAR_PX, width) });
}

function drawHead(/** @type {HTMLCanvasElement} */ canvas, /** @type {PreviewView} */ view) {
  const { header, at, theme, lut, values, hidden, dtype, width, row } = view;
  const { strings, rows: tokens, key_tokens: keys } = header;
  const titles = { rowTitle: strings.query_axis, colTitle: strings.key_axis };
  const layout = layoutAxes(context2d(canvas), {
    rowLabels: tokens,
    colLabels: keys,
    width,
    theme,
    font: 11,
    maxLabel: 78,
    maxCell: 44,
    tallest: TALLEST_PX,
    ...titles,
  });
  const { geom } = layout;
  const ctx = fitCanvas(canvas, Math.max(layout.width, 60), layout.height);
  const levels = levelTable(dtype, SCALE);
  drawMatrix(ctx, { values, lut, levels, blocked: hidden ?? undefined, theme, grid: true, ...geom });
  if (row !== null) frameCell(ctx, geom, row, null, theme);
  const rowMarks = axisMarks(header.special, header.written);
  const colMarks = axisMarks(header.key_special, header.key_written);
  drawAxes(ctx, layout, tokens, keys, { theme, rowHi: row, rowMarks, colMarks, ...titles });
  const { x, y, w, h } = geom;
  setData(canvas, { layer: at.layer, head: at.head, extra: at.extra, query: row, x, y, w, h });
  markDrawn(canvas);
}

/**
 * The matrix to show large, with its name and what it does.
 * @param {{header: Header, whole: Whole, summaries: PackedArray | null, visible: PackedArray | null}} state
 * @param {Subject} at
 * @param {Sorting | null} sorting
 * @returns {Enlarged}
 */
export function enlargedOf({ header, whole, summaries, visible }, at, sorting) {
  if (at.extra !== null && summaries) {
    const { kind, place } = summaryOf(header, at.extra);
    const values = headValues(summaries, kind === "mean" ? 0 : 1, place);
    const hidden = hiddenOf(visible && sameForAll(visible), 0);
    return { ...summaryText(header, { kind, place }), values, dtype: summaries.dtype, side: 1, hidden };
  }
  const layer = at.layer ?? 0;
  const head = at.head ?? 0;
  const { weights, has } = whole;
  const values = has(layer, head) ? headValues(weights, layer, head) : whole.largestOf(layer, head);
  const side = has(layer, head) ? 1 : whole.side;
  const sentence = sentenceOf(header, layer, head, sorting);
  const hidden = hiddenOf(visible, layer);
  return { name: headName(layer, head), sentence, values, dtype: weights.dtype, side, hidden };
}

/** A head with a look forbidden: hatched as what a mask hides, the rest of its row grown. @returns {Enlarged} */
export function withoutForbidden(
  /** @type {Enlarged} */ read,
  /** @type {LayeredHeader<Header>} */ { n_query: nQuery, n_key: nKey },
  /** @type {CellAt} */ look,
) {
  const { values, dtype } = read;
  const data = withoutLook({ values, dtype, nQuery, nKey, rows: [], cols: [] }, look);
  const hidden = read.hidden?.slice() ?? new Uint8Array(nQuery * nKey);
  hidden[look.query * nKey + look.key] = 1;
  return { ...read, values: data.values, hidden };
}

/** The cells that a layer's mask hides, 1 each; null where there is no mask. */
function hiddenOf(/** @type {PackedArray | null} */ visible, /** @type {number} */ layer) {
  if (!visible) return null;
  const { rows, cols } = visibleCells(visible, layer);
  return hiddenPoints(visible, layer, rows, cols);
}

/**
 * The sentence about a head, with its number where heads are sorted.
 * @param {Header} header
 * @param {number} layer
 * @param {number} head
 * @param {Sorting | null} sorting
 */
function sentenceOf(header, layer, head, sorting) {
  const { strings, n_heads } = header;
  const sentence = sentenceOn(header, layer, head);
  if (!sorting) return sentence;
  const value = measureText(sorting, layer * n_heads + head);
  return fill(strings.measured, { sentence, measure: sorting.label, value });
}
