// @ts-check
// What the chosen head does over all texts: its measures beside what chance gives, texts for each tenth of a measure,
// its frequent pairs and keys, its weight by distance, its mean map.

import { button } from "../shared/controls.js";
import { weightOf } from "../shared/buffer.js";
import { levelFor, sequential } from "../shared/colors.js";
import { context2d, cueScroll, el, foreign } from "../shared/dom.js";
import { fill, fmtPercent, withPercent } from "../shared/fmt.js";
import { svg, svgText } from "../shared/svg.js";

/** @import { Arrays, CountedRow, Header } from "./types.js" */

/** @typedef {{open: () => void, use: (text: string) => void, dark: boolean}} Actions */

const MAP_PX = 144;
const PROFILE = { width: 330, height: 120, bottom: 18 };

/** @param {Header} header @param {Arrays} arrays @param {number} number of the head @param {Actions} actions @returns {HTMLElement[]} */
export function detailNodes(header, arrays, number, actions) {
  const { strings, detail } = header;
  const open = button({
    label: fill(strings.open_head, { head: detail.title }),
    kind: "primary",
    onClick: actions.open,
  });
  return [
    el(
      "div",
      { class: "av-row" },
      el("h3", { class: "av-title" }, detail.title),
      el("span", { class: "av-spring" }),
      open,
    ),
    ...detail.sentences.map((sentence) => el("p", { class: "av-sentence" }, sentence)),
    el(
      "div",
      { class: "av-row av-atlas-pictures" },
      section(fill(strings.map, { n: arrays.maps.shape[1] }), meanMap(arrays, number, actions.dark)),
      section(strings.profile, profile(header, arrays)),
    ),
    section(strings.pairs, countedTable(strings, strings.pair, strings.weight, detail.pairs)),
    section(strings.keys, countedTable(strings, strings.token, strings.received, detail.keys)),
  ];
}

/** The measures of the head, and texts for each tenth of one, the smallest values first. */
export function wideNodes(/** @type {Header} */ header, /** @type {Actions} */ actions) {
  return [section(header.strings.numbers, measureTable(header)), decileTable(header, actions)];
}

function decileTable(/** @type {Header} */ { strings, detail }, /** @type {Actions} */ { use }) {
  const rows = detail.deciles.map(({ number, low, high, texts }) => {
    const shown = texts.map((text) => {
      const open = el(
        "button",
        { class: "av-atlas-text", type: "button", title: strings.use_text },
        foreign(text),
      );
      open.addEventListener("click", () => use(text));
      return open;
    });
    const range = fill(strings.range, { low, high });
    return el(
      "tr",
      {},
      el("th", { scope: "row", class: "av-number" }, number),
      el("td", { class: "av-number" }, range),
      el("td", {}, ...shown),
    );
  });
  const columns = [strings.number, detail.by, strings.tenth];
  const head = el("tr", {}, ...columns.map((label) => el("th", { scope: "col" }, label)));
  const title = fill(strings.deciles, { measure: detail.by, head: detail.title });
  return section(
    title,
    scrolled(
      el("table", { class: "av-atlas-table" }, el("thead", {}, head), el("tbody", {}, ...rows)),
      title,
    ),
  );
}

function section(/** @type {string} */ title, /** @type {Element} */ content) {
  return el("div", { class: "av-atlas-section" }, el("h3", { class: "av-heading" }, title), content);
}

function scrolled(/** @type {HTMLElement} */ table, /** @type {string} */ label) {
  const box = { class: "av-atlas-scroll", tabIndex: 0, role: "region", "aria-label": label };
  return cueScroll(el("div", box, table));
}

function measureTable(/** @type {Header} */ { strings, detail }) {
  const hasOwn = detail.rows.some(({ own }) => own);
  const names = [strings.measure, strings.mean, strings.interval, strings.even, strings.other, strings.above];
  const columns = hasOwn ? [...names, strings.own] : names;
  const rows = detail.rows.map(({ label, mean, interval, even, other, above, own, holds }) => {
    const cells = [mean, interval, even, other, above, ...(hasOwn ? [own] : [])];
    const name = el("th", { scope: "row" }, holds ? el("b", {}, label) : label);
    return el("tr", {}, name, ...cells.map((cell) => el("td", { class: "av-number" }, cell)));
  });
  const head = el("tr", {}, ...columns.map((name) => el("th", { scope: "col" }, name)));
  const table = el("table", { class: "av-atlas-table" }, el("thead", {}, head), el("tbody", {}, ...rows));
  return scrolled(table, strings.numbers);
}

function countedTable(
  /** @type {Header["strings"]} */ strings,
  /** @type {string} */ name,
  /** @type {string} */ amount,
  /** @type {readonly CountedRow[]} */ counted,
) {
  const rows = counted.map(({ tokens, n, weight }) => {
    const words = tokens.flatMap((token, at) => [at ? " → " : "", foreign(token)]);
    const times = fill(strings.times, { n });
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, ...words),
      el("td", { class: "av-number" }, times),
      el("td", { class: "av-number" }, weight),
    );
  });
  const columns = [name, "", amount].map((label) => el("th", { scope: "col" }, label));
  return el(
    "table",
    { class: "av-atlas-table" },
    el("thead", {}, el("tr", {}, ...columns)),
    el("tbody", {}, ...rows),
  );
}

/** The mean weights between the first tokens, on the square-root scale of Overview. */
function meanMap(/** @type {Arrays} */ { maps }, /** @type {number} */ number, /** @type {boolean} */ dark) {
  const [, rows, columns] = maps.shape;
  const canvas = el("canvas", { class: "av-atlas-map", "aria-hidden": "true" });
  canvas.width = columns;
  canvas.height = rows;
  canvas.style.width = canvas.style.height = `${MAP_PX}px`;
  const image = new ImageData(columns, rows);
  const out = new Uint32Array(image.data.buffer);
  const lut = sequential(dark);
  const start = number * rows * columns;
  for (let cell = 0; cell < out.length; cell++)
    out[cell] = lut[levelFor(weightOf(maps.data[start + cell], maps.dtype), "sqrt")];
  context2d(canvas).putImageData(image, 0, 0);
  return canvas;
}

/** Bars for the mean weight at each distance, keys before the query on the left. */
function profile(/** @type {Header} */ { strings }, /** @type {Arrays} */ { "detail.profile": { data } }) {
  const { width, height, bottom } = PROFILE;
  const furthest = (data.length - 1) / 2;
  const known = [...data].map((weight) => (Number.isFinite(weight) ? weight : 0));
  const most = Math.max(...known, 1e-6);
  const step = width / data.length;
  const bars = known.map((weight, at) => {
    const size = (weight / most) * (height - bottom - 14);
    const box = { x: at * step + 0.5, y: height - bottom - size, width: step - 1, height: size };
    return svg("rect", { class: at === furthest ? "av-atlas-own" : "av-atlas-bar", ...box });
  });
  const best = known.indexOf(Math.max(...known));
  const distance = best - furthest;
  const sign = distance < 0 ? `\u2212${-distance}` : `+${distance}`;
  const anchor = best > data.length / 2 ? "av-atlas-tick av-atlas-end" : "av-atlas-tick";
  return svg(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": strings.profile },
    ...bars,
    svgText(anchor, `${sign}: ${withPercent(fmtPercent(most))}`, best * step, 11),
    svgText("av-atlas-tick", fill(strings.before, { n: furthest }), 0, height - 4),
    svgText("av-atlas-tick av-atlas-middle", "0", width / 2, height - 4),
    svgText("av-atlas-tick av-atlas-end", fill(strings.after, { n: furthest }), width, height - 4),
  );
}
