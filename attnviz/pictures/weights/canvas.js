// @ts-check
// From the weights: all heads with what their weights say, and one of them with its controls. Choosing another head asks
// the server, which keeps what is known of a model.

import { parse } from "../shared/buffer.js";
import { makeCommitter } from "../shared/committer.js";
import { cueScroll, dataAt, el, markDrawn, setBusy, setText, watchSize } from "../shared/dom.js";
import { fill, fmtFixed, fmtReal } from "../shared/fmt.js";
import { composedStrip, distanceBars, plane, shareStrip } from "./drawing.js";

/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Arrays, Header } from "./types.js" */

const NARROW_PX = 900;
const STRIP_PX = { wide: 120, narrow: 72 };

/** @typedef {{data: Uint8Array, header: Header, arrays: Arrays}} State */
/** @typedef {ReturnType<typeof buildParts>} Parts */

/** @returns {Mounted} */
export default function weights(/** @type {Host} */ host) {
  const parts = buildParts();
  host.root.append(parts.box);
  /** @type {State | null} */
  let state = null;
  const committer = makeCommitter(host, parts.box);
  parts.list.addEventListener("click", (event) => {
    const at = Number(dataAt(event, "head"));
    const head = state?.header.heads[at];
    if (!head) return;
    for (const row of parts.list.querySelectorAll("[data-head]"))
      row.setAttribute("aria-pressed", String(row.getAttribute("data-head") === String(at)));
    const selection = { ...committer.read(), layer: head.layer, head: head.head, query: null, key: null };
    setBusy(parts.detail, true);
    committer.update(selection);
    committer.write(selection);
    committer.commit();
  });
  const open = (/** @type {"head" | "switches"} */ page) => {
    const head = state?.header.heads[state.header.chosen];
    if (head) host.trigger("open", { page, layer: head.layer, head: head.head, query: null, key: null });
  };
  parts.open.addEventListener("click", () => open("head"));
  parts.measure.addEventListener("click", () => open("switches"));
  const unwatch = watchSize(parts.box, () => {
    parts.box.classList.toggle("av-weights-narrow", parts.box.clientWidth < NARROW_PX);
    if (state) showHeads(state, parts);
  });
  return {
    refresh(data) {
      if (state?.data === data) return;
      /** @type {{header: Header, arrays: Arrays}} */
      const { header, arrays } = parse(data);
      state = { data, header, arrays };
      committer.start(committer.read());
      show(state, parts);
    },
    destroy() {
      unwatch();
      committer.destroy();
      parts.box.remove();
    },
  };
}

function buildParts() {
  const list = el("div", { class: "av-weights-list", role: "group" });
  const more = el("p", { class: "av-note av-weights-more" });
  const legend = el("div", { class: "av-weights-legend" });
  const left = el("div", { class: "av-weights-left" }, cueScroll(list), more, legend);
  const title = el("h3", { class: "av-title" });
  const open = el("button", { class: "av-button", type: "button" });
  const measure = el("button", { class: "av-button", type: "button" });
  const facts = el("div", { class: "av-facts" });
  const shares = el("div", { class: "av-weights-part" });
  const distance = el("div", { class: "av-weights-part" });
  const composed = el("div", { class: "av-weights-part" });
  const notes = el("div", { class: "av-weights-notes" });
  const detail = el(
    "div",
    { class: "av-weights-detail av-panel", "aria-live": "polite" },
    el("div", { class: "av-row" }, title, open, measure),
    facts,
    shares,
    distance,
    composed,
    notes,
  );
  const box = el("section", { class: "av av-weights" }, left, detail);
  return { box, list, more, legend, title, open, measure, facts, shares, distance, composed, notes, detail };
}

function show(/** @type {State} */ state, /** @type {Parts} */ parts) {
  const { header, arrays } = state;
  const { strings, heads, chosen } = header;
  showHeads(state, parts);
  showChosen(parts.list);
  setText(parts.title, heads[chosen].name);
  setText(parts.open, strings.open);
  setText(parts.measure, strings.measure);
  parts.facts.replaceChildren(...header.sentences.map((text) => el("p", { class: "av-sentence" }, text)));
  parts.notes.replaceChildren(...header.notes.map((text) => el("p", { class: "av-note" }, text)));
  parts.shares.replaceChildren(...shareNodes(header));
  parts.distance.replaceChildren(...distanceNodes(header, arrays));
  parts.composed.replaceChildren(...composedNodes(header));
  setBusy(parts.detail, false);
  markDrawn(parts.box);
}

/** The rows of all heads, and what their columns say. */
function showHeads(/** @type {State} */ { header, arrays }, /** @type {Parts} */ parts) {
  const { strings, heads, chosen } = header;
  const strip = parts.box.classList.contains("av-weights-narrow") ? STRIP_PX.narrow : STRIP_PX.wide;
  const has = (/** @type {{data: ArrayLike<number>}} */ { data }) => Array.from(data).some(Number.isFinite);
  const columns = [
    ...(has(arrays.ov) || has(arrays.ov_mlp0)
      ? [
          {
            name: strings.ov,
            of: (/** @type {number} */ at) => shareStrip(strip, arrays.ov.data[at], arrays.ov_mlp0.data[at]),
          },
        ]
      : []),
    ...(has(arrays.qk) || has(arrays.qk_mlp0)
      ? [
          {
            name: strings.qk,
            of: (/** @type {number} */ at) => shareStrip(strip, arrays.qk.data[at], arrays.qk_mlp0.data[at]),
          },
        ]
      : []),
  ];
  const numbers = [
    ...(has(arrays.previous) ? [{ name: strings.previous, data: arrays.previous.data, digits: 2 }] : []),
    { name: strings.composed, data: arrays.composed.data, digits: 3 },
  ];
  const titles = el(
    "div",
    { class: "av-weights-head" },
    el("span", { class: "av-weights-name" }, strings.head),
    ...columns.map(({ name }) => el("span", { style: { width: `${strip}px` } }, name)),
    ...numbers.map(({ name }) => el("span", { class: "av-weights-number" }, name)),
  );
  parts.list.setAttribute("aria-label", strings.head);
  parts.list.replaceChildren(
    titles,
    ...heads.map((head, at) =>
      el(
        "button",
        { class: "av-weights-row", type: "button", dataset: { head: at }, "aria-pressed": at === chosen },
        el("span", { class: "av-weights-name" }, head.name),
        ...columns.map(({ of }) => of(at)),
        ...numbers.map(({ data, digits }) =>
          el(
            "span",
            { class: "av-weights-number av-number" },
            Number.isFinite(data[at]) ? fmtFixed(data[at], digits) : "–",
          ),
        ),
      ),
    ),
  );
  setText(parts.more, fill(strings.more, { n: heads.length }));
  parts.more.hidden = parts.list.scrollHeight <= parts.list.clientHeight;
  const read = [
    ...(has(arrays.ov) || has(arrays.qk) ? [sign("embedding", strings.embedding)] : []),
    ...(has(arrays.ov_mlp0) || has(arrays.qk_mlp0) ? [sign("mlp0", strings.mlp0)] : []),
  ];
  const says = [
    ...(has(arrays.ov_mlp0) || has(arrays.qk_mlp0) ? [strings.says_mlp0] : []),
    ...(has(arrays.ov) || has(arrays.ov_mlp0) ? [strings.says_ov] : []),
    ...(has(arrays.qk) || has(arrays.qk_mlp0) ? [strings.says_qk] : []),
    ...(has(arrays.previous) ? [strings.says_previous] : []),
    strings.says_composed,
  ];
  parts.legend.replaceChildren(
    ...(read.length ? [el("p", { class: "av-note av-row" }, ...read)] : []),
    ...says.map((text) => el("p", { class: "av-note" }, text)),
  );
}

/** Scrolls the list, and nothing else, until the chosen head is in its middle. */
function showChosen(/** @type {HTMLElement} */ list) {
  const row = list.querySelector("[aria-pressed=true]");
  if (!row) return;
  const [box, at] = [list.getBoundingClientRect(), row.getBoundingClientRect()];
  if (at.top < box.top + at.height || at.bottom > box.bottom - at.height)
    list.scrollTop += at.top - box.top - (box.height - at.height) / 2;
}

function sign(/** @type {string} */ name, /** @type {string} */ label) {
  return el("span", { class: `av-weights-sign av-weights-sign-${name}` }, label);
}

/** A row for each circuit: the share on −1 to 1 beside that of shuffled words, and the eigenvalues. */
function shareNodes(/** @type {Header} */ { shares, strings }) {
  if (!shares.length) return [];
  const rows = shares.map((share) =>
    el(
      "div",
      { class: "av-weights-share" },
      el("span", {}, `${share.circuit}, ${strings[share.through]}`),
      shareStrip(
        200,
        share.through === "embedding" ? share.share : NaN,
        share.through === "mlp0" ? share.share : NaN,
        [share.low, share.high],
      ),
      el("span", { class: "av-number" }, signed(share.share)),
      el(
        "span",
        { class: "av-note" },
        fill(share.circuit === "OV" ? strings.own_raised : strings.own_matched, {
          up: fmtFixed(share.positive, 0),
          low: fmtFixed(share.positive_low, 0),
          high: fmtFixed(share.positive_high, 0),
          first: share.first,
          n: share.n,
          vocab: share.vocab,
        }),
      ),
    ),
  );
  const planes = shares
    .filter(({ circuit }) => circuit === "OV")
    .map((share) => {
      const { drawing, most } = plane(share);
      const scale = fill(strings.scale, { most: most >= 100 ? fmtFixed(most, 0) : fmtReal(most) });
      const caption = el("figcaption", { class: "av-note" }, strings[share.through], el("br"), scale);
      return el("figure", {}, drawing, caption);
    });
  return [
    el("h4", { class: "av-heading" }, strings.shares),
    ...rows,
    el(
      "p",
      { class: "av-note av-row" },
      sign("shuffled", fill(strings.shuffled, { draws: shares[0].draws })),
    ),
    ...(planes.length
      ? [el("h4", { class: "av-heading" }, strings.eigenvalues), el("div", { class: "av-row" }, ...planes)]
      : []),
  ];
}

function distanceNodes(/** @type {Header} */ header, /** @type {Arrays} */ arrays) {
  if (!header.distances.length) return [];
  const { strings } = header;
  return [
    el("h4", { class: "av-heading" }, strings.distance),
    distanceBars(header, arrays),
    el("p", { class: "av-note av-row" }, sign("bar", strings.weight), sign("even", strings.even)),
  ];
}

function composedNodes(/** @type {Header} */ header) {
  const { strings, reads, read_by, baseline } = header;
  if (!reads.length && !read_by.length) return [];
  const most = Math.max(
    ...[...reads, ...read_by].flatMap(({ value, high, median }) => [value, high, median]),
  );
  const chosen = header.heads[header.chosen].name;
  const rows = (/** @type {Header["reads"]} */ pairs, /** @type {boolean} */ into) =>
    pairs.map((pair) =>
      el(
        "div",
        { class: "av-weights-composed" },
        el("span", {}, into ? `${pair.name} → ${pair.side}` : `${chosen} → ${pair.name}.${pair.side}`),
        composedStrip(pair, most),
        el("span", { class: "av-number" }, fmtFixed(pair.value, 3)),
        el("span", { class: "av-note" }, fill(strings.rank, { rank: pair.rank, n: pair.n })),
      ),
    );
  return [
    ...(reads.length
      ? [el("h4", { class: "av-heading" }, fill(strings.reads, { head: chosen })), ...rows(reads, true)]
      : []),
    ...(read_by.length
      ? [el("h4", { class: "av-heading" }, fill(strings.read_by, { head: chosen })), ...rows(read_by, false)]
      : []),
    el(
      "p",
      { class: "av-note av-row" },
      sign("random", fill(strings.random, { baseline: fmtFixed(baseline, 3) })),
      sign("median", strings.median),
    ),
    el("p", { class: "av-note" }, strings.says_score),
  ];
}

function signed(/** @type {number} */ value) {
  return `${value > 0 ? "+" : ""}${fmtFixed(value, 2)}`;
}
