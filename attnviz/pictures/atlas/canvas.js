// @ts-check
// Atlas: all heads of a survey as points; a click shows what that head does over all texts.

import { parse } from "../shared/buffer.js";
import { makeCommitter } from "../shared/committer.js";
import { swallow } from "../shared/controls.js";
import { el, setBusy, setText, watchSize } from "../shared/dom.js";
import { fill, fmtReal } from "../shared/fmt.js";
import { headStep } from "../shared/headkeys.js";
import { detailNodes, wideNodes } from "./detail.js";
import { makeScatter } from "./scatter.js";

/** @import { Committer } from "../shared/committer.js" */
/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { AddressSelection } from "../shared/selection.js" */
/** @import { Scatter } from "./scatter.js" */
/** @import { Arrays, Header } from "./types.js" */

/** @typedef {{host: Host, committer: Committer, parts: Parts}} Frame */
/** `chosen` is the number of a head. @typedef {Frame & {data: Uint8Array, header: Header, arrays: Arrays, chosen: number, hovered: number | null, scatter: Scatter | null}} State */
/** @typedef {ReturnType<typeof buildParts>} Parts */

const NARROW_PX = 940;
const NO_FAMILY = 255;

/** @returns {Mounted} */
export default function atlas(/** @type {Host} */ host) {
  const parts = buildParts();
  host.root.append(parts.box);
  /** @type {State | null} */
  let state = null;
  const committer = makeCommitter(host, parts.box, (selection) => state && follow(state, selection));
  const unwatch = watchSize(parts.box, () => state && lay(state));
  parts.box.addEventListener("keydown", (event) => {
    if (!state) return;
    const { header, chosen } = state;
    const shapes = header.counts.map((count) => [count]);
    const next = headStep(event, { ...header, shapes }, header.heads[chosen]);
    if (!next) return;
    choose(state, numberOf(header, next.layer, next.head));
    swallow(event);
  });
  return {
    refresh(data) {
      if (state?.data !== data) state = takeData({ host, committer, parts }, data);
      lay(state);
    },
    destroy() {
      unwatch();
      committer.destroy();
      parts.box.remove();
    },
  };
}

function buildParts() {
  const drawing = el("div", { class: "av-atlas-drawing" });
  const legend = el("div", { class: "av-row av-atlas-legend" });
  const status = el("p", { class: "av-status av-note", "aria-live": "polite" });
  const hint = el("p", { class: "av-hint" });
  const left = el("div", { class: "av-atlas-left" }, drawing, legend, status, hint);
  const detail = el("div", { class: "av-atlas-detail av-panel" });
  const wide = el("div", { class: "av-atlas-wide" });
  const box = el("section", { class: "av av-atlas" }, left, detail, wide);
  return { box, drawing, legend, status, hint, detail, wide };
}

/** @returns {State} */
function takeData(/** @type {Frame} */ frame, /** @type {Uint8Array} */ data) {
  /** @type {{header: Header, arrays: Arrays}} */
  const { header, arrays } = parse(data);
  const { detail, strings } = header;
  frame.committer.start(frame.committer.read());
  setText(frame.parts.hint, strings.hint);
  const chosen = numberOf(header, detail.layer, detail.head);
  return { ...frame, data, header, arrays, chosen, hovered: null, scatter: null };
}

function numberOf(/** @type {Header} */ { heads }, /** @type {number} */ layer, /** @type {number} */ head) {
  return Math.max(
    0,
    heads.findIndex((other) => other.layer === layer && other.head === head),
  );
}

/** Draws everything at the width that there is. */
function lay(/** @type {State} */ state) {
  const { parts, header, arrays, host } = state;
  if (!parts.box.clientWidth) return;
  parts.box.classList.toggle("av-atlas-narrow", parts.box.clientWidth < NARROW_PX);
  state.scatter = makeScatter(header, arrays, parts.drawing.clientWidth, {
    chose: (head) => choose(state, head),
    pointed(head) {
      state.hovered = head;
      mark(state);
    },
  });
  state.scatter.labelAll((head) => inWords(state, head));
  parts.drawing.replaceChildren(state.scatter.node);
  parts.legend.replaceChildren(...legendNodes(header, arrays));
  const { layer, head } = header.detail;
  const actions = {
    open: () => host.trigger("open", { page: "head", layer, head, query: null, key: null }),
    use: (/** @type {string} */ text) => host.trigger("text", text),
    dark: host.theme().dark,
  };
  parts.detail.replaceChildren(...detailNodes(header, arrays, numberOf(header, layer, head), actions));
  parts.wide.replaceChildren(...wideNodes(header, actions));
  setBusy(parts.detail, false);
  mark(state);
}

function mark(/** @type {State} */ state) {
  const { parts, scatter, chosen, hovered } = state;
  scatter?.mark(chosen, hovered);
  setText(parts.status, inWords(state, hovered ?? chosen));
}

/** A head with its two measures and its roles. */
function inWords(/** @type {State} */ { header, arrays }, /** @type {number} */ number) {
  const { strings, heads, axes } = header;
  const { layer, head, roles } = heads[number];
  const [x, y] = [1, 4].map((at) => fmtReal(arrays.points.data[6 * number + at]));
  const values = { head: `L${layer}.H${head}`, across: axes[0], x, up: axes[1], y };
  return fill(strings.head, { ...values, roles: roles || strings.no_role });
}

function legendNodes(/** @type {Header} */ { families, strings }, /** @type {Arrays} */ { family }) {
  const entry = (/** @type {string} */ label, /** @type {string | number} */ place) =>
    el(
      "span",
      { class: "av-atlas-entry" },
      el("i", { class: `av-atlas-swatch av-atlas-family-${place}`, "aria-hidden": "true" }),
      label,
    );
  const hasNone = family.data.includes(NO_FAMILY);
  return [
    ...families.map((label, place) => entry(label, place % 8)),
    ...(hasNone ? [entry(strings.no_role, "none")] : []),
  ];
}

function choose(/** @type {State} */ state, /** @type {number} */ chosen) {
  const { header, committer, parts } = state;
  const { layer, head } = header.heads[chosen];
  state.chosen = chosen;
  mark(state);
  const selection = { ...committer.read(), layer, head, query: null, key: null };
  committer.update(selection);
  committer.write(selection);
  if (layer !== header.detail.layer || head !== header.detail.head) setBusy(parts.detail, true);
  committer.commit();
}

/** Shows what was chosen elsewhere on the page. */
function follow(/** @type {State} */ state, /** @type {AddressSelection} */ { layer, head }) {
  state.chosen = numberOf(state.header, layer ?? 0, head ?? 0);
  mark(state);
}
