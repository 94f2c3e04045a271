// @ts-check
// A real head in its best plane: the chosen query and every word's key as arrows, whose inner products are nearest to the
// scores; the query's weights in the model beside those that the plane gives.

import { barList } from "../shared/bars.js";
import { el, setBusy, setData, setText } from "../shared/dom.js";
import { fill, fmtPercent, fmtWeight, headName } from "../shared/fmt.js";
import { makePicker } from "../shared/picker.js";
import { dot, elsewhere, softmax } from "./maths.js";
import { drawPlane, makePlane, makeTab } from "./plane.js";

/** @import { Theme } from "../shared/theme.js" */
/** @import { Arrays, Header, HeadPlane } from "./types.js" */
/** @import { Vector } from "./maths.js" */

/** @typedef {ReturnType<typeof makeHead>} HeadTab */
/** A query's row: places and weights. @typedef {{query: Vector, keys: Vector[], weights: number[], own: number[], may: number[]}} Row */

const MAX_BARS = 10;
const MAX_LABELS = 6;
const ROOM = 1.2; // beyond the longest arrow

/** @param {{choose: (layer: number, head: number, query: number) => void, redraw: () => void}} actions */
export function makeHead({ choose, redraw }) {
  const state = { query: 0, known: "" };
  /** @type {{header: Header, head: HeadPlane, arrays: Arrays} | null} */
  let data = null;
  const plane = makePlane();
  const picker = makePicker((layer, head) => {
    setBusy(node, true);
    choose(layer, head, data?.head.query_at[state.query] ?? 0);
  });
  const parts = buildParts(picker.node, plane.node);
  const { node, planes, pick, bars, distance } = parts;
  pick.addEventListener("change", () => {
    state.query = Number(pick.value);
    redraw();
    if (data) choose(data.head.layer, data.head.head, data.head.query_at[state.query]);
  });
  return {
    node,
    planes,
    update(/** @type {Header} */ header, /** @type {Arrays} */ arrays) {
      const { strings, plane: head } = header;
      setBusy(node, false);
      write(parts, header);
      data = head && { header, head, arrays };
      if (!head) return;
      picker.update(strings, head, head.layer, head.head);
      state.query = head.query;
    },
    draw(/** @type {Theme} */ theme, /** @type {number} */ room) {
      if (!data) return;
      const { header, head, arrays } = data;
      const { strings } = header;
      pick.value = String(state.query);
      const row = rowOf(arrays, state.query, head.key_tokens.length);
      const reach = ROOM * Math.max(1e-6, ...[row.query, ...row.keys].map((at) => Math.hypot(...at)));
      setText(plane.title, `${headName(head.layer, head.head)} · ${head.tokens[state.query]}`);
      plane.canvas.setAttribute("aria-label", shareSentence(header, head));
      drawPlane(plane, theme, { side: room, reach }, arrowsOf(row, head, state.query, theme));
      bars.replaceChildren(weightBars(row, header, head));
      const off = elsewhere(row.own, row.weights);
      setText(distance, fill(strings.distance, { share: fmtPercent(off) }));
      setData(plane.canvas, { query: head.query_at[state.query], weights: row.weights.join(), off });
    },
  };
}

/** The elements of the tab, around the picker of heads and the plane. */
function buildParts(/** @type {HTMLElement} */ picker, /** @type {HTMLElement} */ plane) {
  const caption = el("span", { class: "av-caption" });
  const pick = el("select", { class: "av-geometry-words" });
  const note = el("p", { class: "av-sentence" });
  const reason = el("p", { class: "av-sentence" });
  const share = el("p", { class: "av-geometry-sum" });
  const distance = el("p", { class: "av-note", role: "status" });
  const remarks = el("p", { class: "av-note" });
  const bars = el("div");
  const controls = el(
    "div",
    { class: "av-row" },
    picker,
    el("div", { class: "av-pick" }, el("label", {}, caption, pick)),
  );
  const { node, planes, two } = makeTab({
    below: [controls, note, reason],
    drawings: [plane],
    side: [share, bars, distance, remarks],
  });
  return { node, planes, two, controls, caption, pick, note, reason, share, distance, remarks, bars };
}

/** Writes the sentences and the words to choose from; without a head, only the note and the reason. */
function write(/** @type {ReturnType<typeof buildParts>} */ parts, /** @type {Header} */ header) {
  const { strings, plane: head } = header;
  setText(parts.note, strings.head_note);
  setText(parts.reason, header.reason);
  parts.reason.hidden = !header.reason;
  parts.controls.hidden = parts.two.hidden = !head;
  if (!head) return;
  setText(parts.caption, strings.head_query);
  parts.pick.replaceChildren(
    ...head.tokens.map((token, i) => el("option", { value: String(i) }, `${token} (${head.query_at[i]})`)),
  );
  setText(parts.share, shareSentence(header, head));
  setText(
    parts.remarks,
    [head.turned ? strings.rotated : "", head.cut ? strings.first_words : ""].join(" ").trim(),
  );
}

/** The largest weights of the row, each beside that of the plane. */
function weightBars(
  /** @type {Row} */ row,
  /** @type {Header} */ { strings },
  /** @type {HeadPlane} */ head,
) {
  const list = barList({
    label: strings.weight,
    values: strings.true,
    seconds: strings.plane,
    full: Math.max(...row.weights, ...row.own),
    number: fmtWeight,
  });
  list.set(
    strongest(row, MAX_BARS).map((key) => ({
      label: head.key_tokens[key],
      value: row.own[key],
      second: row.weights[key],
    })),
  );
  return list.node;
}

/** The share that the plane keeps, beside that of the median head. */
function shareSentence(/** @type {Header} */ { strings }, /** @type {HeadPlane} */ head) {
  const percent = (/** @type {number | null} */ share) => (share === null ? "–" : fmtPercent(share));
  return fill(strings.share, {
    head: headName(head.layer, head.head),
    share: percent(head.share),
    median: percent(head.median),
    n: head.n_measured,
  });
}

/**
 * One query's places and weights. Queries are drawn longer and keys shorter by one factor, so that both fill the plane:
 * their inner products stay.
 * @param {Arrays} arrays
 * @param {number} query
 * @param {number} nKeys
 * @returns {Row}
 */
function rowOf(arrays, query, nKeys) {
  const at = (/** @type {ArrayLike<number>} */ places, /** @type {number} */ i) =>
    /** @type {Vector} */ ([places[2 * i], places[2 * i + 1]]);
  const keys = Array.from({ length: nKeys }, (_, key) => at(arrays["plane.keys"].data, key));
  const asking = at(arrays["plane.queries"].data, query);
  const part = (/** @type {ArrayLike<number>} */ data) =>
    Array.from({ length: nKeys }, (_, key) => data[query * nKeys + key]);
  const may = part(arrays["plane.may"].data);
  const weights = softmax(
    keys.map((key) => dot(asking, key)),
    may,
  );
  const [length, longest] = [Math.hypot(...asking), Math.max(...keys.map((key) => Math.hypot(...key)))];
  const factor = length > 0 && longest > 0 ? Math.sqrt(longest / length) : 1;
  return {
    query: [asking[0] * factor, asking[1] * factor],
    keys: keys.map(([x, y]) => [x / factor, y / factor]),
    weights,
    own: part(arrays["plane.weights"].data),
    may,
  };
}

/** The keys with the largest weights of the model, the largest first. */
function strongest(/** @type {Row} */ { own, may }, /** @type {number} */ count) {
  const keys = [...own.keys()].filter((key) => may[key]);
  return keys.sort((a, b) => own[b] - own[a]).slice(0, count);
}

/**
 * Every key that may be attended to, the strongest with their words, and the query.
 * @param {Row} row
 * @param {HeadPlane} head
 * @param {number} query
 * @param {Theme} theme
 */
function arrowsOf(row, head, query, theme) {
  const named = new Set(strongest(row, MAX_LABELS));
  const most = Math.max(...row.own);
  const keys = [...row.keys.keys()]
    .filter((key) => row.may[key])
    .map((key) => ({
      to: row.keys[key],
      colour: theme.roles.key,
      label: named.has(key) ? head.key_tokens[key] : "",
      share: most > 0 ? row.own[key] / most : 0,
      thick: 2,
    }));
  return [...keys, { to: row.query, colour: theme.roles.query, label: head.tokens[query], thick: 3.5 }];
}
