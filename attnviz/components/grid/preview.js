// @ts-check
// The enlarged head of the overview: name, sentence, heatmap with token axes, colour bar, and where it can be opened.

import { drawAxes, layoutAxes } from "../shared/axes.js";
import { button } from "../shared/controls.js";
import { drawColourBar } from "../shared/colors.js";
import { context2d, el, fitCanvas, markDrawn, setData, setText } from "../shared/dom.js";
import { fill } from "../shared/fmt.js";
import { drawMatrix, frameCell } from "../shared/matrix.js";
import { rowWeights } from "../shared/numbers.js";
import { drawPlaced, makePlaced } from "../shared/picture_panel.js";

const TALLEST = 400;
const PICTURE_SIDE = 160;

/**
 * @param {Record<string, string>} strings
 * @param {() => void} openHead
 * @param {() => void} openSteps
 * @param {{side: number} | null} pooled
 */
export function makePreview(strings, openHead, openSteps, pooled) {
  const title = el("h2", { class: "av-title" });
  const sentence = el("p", { class: "av-sentence" });
  const canvas = el("canvas", { role: "img" });
  const bar = el("canvas", {
    role: "img",
    "aria-label": fill(strings.colour_bar, { scale: strings.scale_sqrt }),
  });
  const openers = [
    button({ label: strings.open_head, kind: "primary", onClick: openHead }),
    button({ label: strings.open_steps, onClick: openSteps }),
  ];
  const spoken = el("div", { class: "av-visually-hidden", role: "status", "aria-live": "polite" });
  const placed = makePlaced();
  const node = el(
    "div",
    { style: { display: "contents" } },
    el("div", {}, title, sentence),
    canvas,
    el(
      "div",
      {},
      bar,
      el("p", { class: "av-note" }, strings.weights_note),
      pooled ? el("p", { class: "av-note" }, fill(strings.pooled_note, { side: pooled.side })) : null,
    ),
    el("div", { class: "av-row" }, ...openers),
    placed.node,
    spoken,
  );
  return { node, placed, title, sentence, canvas, bar, openers, spoken };
}

/** Draws one head, or a summary of several, into the panel; only a head can be opened. */
export function drawPreview(/** @type {any} */ panel, /** @type {any} */ view) {
  const { header, at, name, theme, lut, width } = view;
  const { strings } = header;
  for (const opener of panel.openers) opener.disabled = at.extra !== undefined;
  setText(panel.title, name);
  setText(panel.sentence, view.sentence);
  setText(panel.spoken, fill(strings.status, { head: name, sentence: view.sentence }));
  panel.canvas.setAttribute(
    "aria-label",
    fill(strings.preview, { head: name, rows: header.n_query, cols: header.n_key }),
  );
  drawHead(panel.canvas, view);
  const { n_query: nQuery, n_key: nKey } = header;
  const data = { values: view.values, dtype: view.dtype, nQuery, nKey, rows: [], cols: [] };
  drawPlaced(panel.placed, {
    whole: view.whole,
    patches: header.patches,
    labels: header.tokens,
    query: view.chip,
    key: null,
    rowOf: (query) => rowWeights(data, query),
    scale: view.scale,
    lut,
    theme,
    width: Math.min(width, PICTURE_SIDE),
    texts: { picture: strings.picture, idle: strings.picture_idle },
  });
  drawColourBar(panel.bar, { lut, theme, scale: view.scale, width: Math.min(260, width) });
}

function drawHead(/** @type {HTMLCanvasElement} */ canvas, /** @type {any} */ view) {
  const { header, at, theme, lut, levels, values, width, chip } = view;
  const { strings, tokens, key_tokens: keys } = header;
  const titles = { rowTitle: strings.query_axis, colTitle: strings.key_axis };
  const probe = context2d(canvas);
  const layout = layoutAxes(probe, {
    rowLabels: tokens,
    colLabels: keys,
    width,
    theme,
    font: 11,
    maxLabel: 78,
    maxCell: 44,
    tallest: TALLEST,
    ...titles,
  });
  const ctx = fitCanvas(canvas, Math.max(layout.width, 60), layout.height);
  const { geom } = layout;
  drawMatrix(ctx, { values, lut, levels, theme, grid: true, ...geom });
  if (chip !== null) frameCell(ctx, geom, chip, null, theme);
  drawAxes(ctx, layout, tokens, keys, {
    theme,
    rowHi: chip,
    rowMarks: view.marks,
    colMarks: view.keyMarks,
    ...titles,
  });
  setData(canvas, {
    layer: at.layer,
    head: at.head,
    extra: at.extra,
    query: chip,
    x: geom.x,
    y: geom.y,
    w: geom.w,
    h: geom.h,
  });
  markDrawn(canvas);
}
