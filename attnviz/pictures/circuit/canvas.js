// @ts-check
// Circuit: the paths between heads, the strongest ones as a list, and what the cut of the chosen path does. They are drawn
// over the switches of the page; where these are not shown, in a graph of their own. Threshold and sides act at once in the
// browser; the server is asked for the cut of one path.

import { parse } from "../shared/buffer.js";
import { checkbox, swallow } from "../shared/controls.js";
import { cueScroll, el, quotingNodes, setBusy, setText, watchSize } from "../shared/dom.js";
import { fill, fmtPercent, withPercent } from "../shared/fmt.js";
import { lineWidth } from "../shared/head_paths.js";
import { svg } from "../shared/svg.js";
import { detailNodes } from "./detail.js";
import { focusOn, makeGraph } from "./graph.js";
import { MAX_DRAWN, SIDES, readPaths, readablePaths, shownPaths, strongestPaths } from "./paths.js";

/** @import { DrawnPaths, Host, Mounted } from "../shared/host.js" */
/** @import { Graph } from "./graph.js" */
/** @import { Side } from "../shared/head_paths.js" */
/** @import { Path } from "./paths.js" */
/** @import { Arrays, CircuitHead, PathDetail, Header } from "./types.js" */

const NARROW_PX = 860;
const LISTED = 12;
const STEPS = 200; // of the slider, from nothing to the strongest path

/**
 * `least` is null while nobody has moved the threshold; `chosen` is a head or a path, `pointed` what is under the pointer.
 * `graph` is null where the paths lie over the switches, which are told what is `drawn`.
 * @typedef {{host: Host, data: Uint8Array | null, header: Header | null, arrays: Arrays | null, paths: Path[], sides: string, readable: boolean, chance: boolean, least: number | null,
 *   chosen: string, pointed: string | null, heads: Map<string, CircuitHead>, graph: Graph | null, drawn: DrawnPaths | null}} State
 */
/** @typedef {ReturnType<typeof buildParts>} Parts */

/** @returns {Mounted} */
export default function circuit(/** @type {Host} */ host) {
  /** @type {State} */
  const state = {
    host,
    data: null,
    header: null,
    arrays: null,
    paths: [],
    sides: "qk",
    readable: false,
    chance: false,
    least: null,
    chosen: "",
    pointed: null,
    heads: new Map(),
    graph: null,
    drawn: null,
  };
  const parts = buildParts((name) => choose(state, parts, name));
  host.root.append(parts.box);
  listen(state, parts);
  const stop = host.channel.listen((message) => {
    if ("wants" in message && message.wants === "paths") tell(state);
    else if (!("path" in message)) return;
    else if ("pointed" in message.path) point(state, parts, message.path.pointed);
    else toggle(state, parts, message.path.chose);
  });
  const unwatch = watchSize(parts.box, () => {
    parts.box.classList.toggle("av-circuit-narrow", parts.box.clientWidth < NARROW_PX);
    if (state.header) layGraph(state, parts);
  });
  return {
    refresh(data) {
      if (state.data !== data) takeData(state, parts, data);
    },
    destroy() {
      stop();
      unwatch();
      if (state.header?.over) host.channel.post({ paths: null });
      parts.box.remove();
    },
  };
}

function buildParts(/** @type {(head: string) => void} */ chooseHead) {
  const slider = el("input", { type: "range", class: "av-circuit-slider", min: 0, max: STEPS, step: 1 });
  const above = el("span", { class: "av-number" });
  const sides = el("div", { class: "av-row", role: "group" });
  const clear = el("button", { class: "av-button", type: "button" });
  const readable = el("div", { class: "av-row" });
  const byChance = el("div", { class: "av-row" });
  const ofHead = el("select", { class: "av-select" });
  ofHead.addEventListener("change", () => chooseHead(ofHead.value));
  const ofHeadName = el("span");
  const ofHeadLabel = el("label", { class: "av-note" }, ofHeadName, " ", ofHead);
  const threshold = el("label", { class: "av-circuit-threshold" }, above, slider);
  const controls = el("div", { class: "av-row" }, sides, threshold, ofHeadLabel, clear, byChance, readable);
  const drawing = el("div", { class: "av-circuit-drawing" });
  const status = el("p", { class: "av-status av-note", "aria-live": "polite" });
  const width = el("p", { class: "av-note av-circuit-widths" });
  const said = el("p", { class: "av-note" });
  const hint = el("p", { class: "av-hint" });
  const left = el(
    "div",
    { class: "av-circuit-left" },
    cueScroll(drawing),
    width,
    said,
    status,
    controls,
    hint,
  );
  const summary = el("div", { class: "av-facts" });
  const heading = el("h3", { class: "av-heading" });
  const list = el("ol", { class: "av-circuit-list" });
  const signs = el("p", { class: "av-note av-row" });
  const detail = el("div", { class: "av-circuit-detail", "aria-live": "polite" });
  const says = el("div", { class: "av-circuit-says" }, summary, detail);
  const right = el("div", { class: "av-circuit-right av-panel" }, says, el("div", {}, heading, list, signs));
  const box = el("section", { class: "av av-circuit" }, left, right);
  return {
    box,
    slider,
    above,
    sides,
    ofHead,
    ofHeadName,
    ofHeadLabel,
    clear,
    readable,
    byChance,
    drawing,
    width,
    said,
    status,
    hint,
    summary,
    heading,
    list,
    signs,
    detail,
    right,
  };
}

function listen(/** @type {State} */ state, /** @type {Parts} */ parts) {
  parts.slider.addEventListener("input", () => {
    // rounded down: at its end the strongest path stays
    state.least = Math.floor((1000 * mostOf(state) * Number(parts.slider.value)) / STEPS) / 1000;
    showPaths(state, parts);
  });
  parts.slider.addEventListener("change", () => commit(state));
  parts.clear.addEventListener("click", () => choose(state, parts, ""));
  parts.list.addEventListener("keydown", (event) => {
    const rows = [...parts.list.querySelectorAll("button")];
    const at = rows.findIndex((row) => row === event.target);
    const next = rows[at + (event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : NaN)];
    if (at < 0 || !next) return;
    swallow(event);
    next.focus();
  });
}

function takeData(/** @type {State} */ state, /** @type {Parts} */ parts, /** @type {Uint8Array} */ data) {
  /** @type {{header: Header, arrays: Arrays}} */
  const { header, arrays } = parse(data);
  const { strings, chosen, sides, least } = header;
  const paths = readPaths(header, arrays.moved, arrays.by_chance, arrays.chance_reach);
  const heads = new Map(header.columns.flatMap((column) => column.heads.map((head) => [head.name, head])));
  Object.assign(state, { data, header, arrays, chosen, sides, least, paths, heads });
  parts.box.classList.toggle("av-circuit-over", header.over);
  parts.ofHeadLabel.hidden = !header.over;
  setText(parts.ofHeadName, strings.of_head);
  const options = ["", ...heads.keys()].map((name) => el("option", { value: name }, name || strings.of_all));
  parts.ofHead.replaceChildren(...options);
  parts.byChance.replaceChildren(makeCheck(state, parts, "chance", strings.by_chance));
  parts.readable.replaceChildren(
    ...(arrays.composed ? [makeCheck(state, parts, "readable", strings.weights)] : []),
  );
  parts.sides.replaceChildren(...SIDES.map((side) => makeSide(state, parts, header, side)));
  parts.sides.setAttribute("aria-label", strings.sides);
  setText(parts.hint, header.over ? strings.hint_over : strings.hint);
  parts.summary.replaceChildren(
    el("p", { class: "av-sentence" }, header.summary),
    ...header.notes.map((text) => el("p", { class: "av-note" }, ...quotingNodes(text))),
  );
  parts.signs.replaceChildren(
    el("span", { class: "av-circuit-sign av-circuit-sign-bar" }, strings.bar),
    el("span", { class: "av-circuit-sign av-circuit-sign-mark" }, strings.mark),
  );
  setText(parts.heading, strings.list);
  setText(parts.clear, strings.clear);
  layGraph(state, parts);
  showDetail(state, parts, header.detail);
  setBusy(parts.right, false);
}

function makeSide(
  /** @type {State} */ state,
  /** @type {Parts} */ parts,
  /** @type {Header} */ { strings },
  /** @type {Side} */ side,
) {
  const box = checkbox({
    label: `${side}: ${strings[`side_${side}`]}`,
    checked: state.sides.includes(side),
    onChange: (on) => {
      const left = SIDES.filter((other) => (other === side ? on : state.sides.includes(other))).join("");
      if (!left) return box.set(true); // at least one input has to be drawn
      state.sides = left;
      state.least = null;
      showPaths(state, parts);
      commit(state);
    },
  });
  box.node.classList.add(`av-path-${side}`, "av-circuit-key");
  return box.node;
}

/** Draws the graph anew, as wide as there is room. */
function layGraph(/** @type {State} */ state, /** @type {Parts} */ parts) {
  const { header } = state;
  if (!header) return;
  if (header.over) {
    parts.drawing.replaceChildren();
    return showPaths(state, parts);
  }
  const focused = focusedHead(parts.drawing);
  state.graph = makeGraph(header.columns, parts.drawing.clientWidth, header.strings.graph, {
    chose: (id) => toggle(state, parts, id),
    pointed: (id) => point(state, parts, id),
  });
  parts.drawing.replaceChildren(state.graph.node);
  showPaths(state, parts);
  if (focused) focusOn(state.graph.node, state.graph.spots.get(focused));
}

function focusedHead(/** @type {HTMLElement} */ drawing) {
  const root = drawing.getRootNode();
  const active = root instanceof ShadowRoot ? root.activeElement : document.activeElement;
  return active instanceof SVGElement && drawing.contains(active) ? active.dataset.head : undefined;
}

/** The strongest path into the sides that are drawn. */
function mostOf(/** @type {State} */ { paths, sides }) {
  return paths.find(({ side }) => sides.includes(side))?.moved ?? 0;
}

function showPaths(/** @type {State} */ state, /** @type {Parts} */ parts) {
  const { header, graph } = state;
  if (!header) return;
  const { strings } = header;
  const head = state.heads.has(state.chosen) ? state.chosen : null;
  const { sides, chance } = state;
  const { drawn, total, least } = shownPaths(state.paths, { sides, least: state.least, head, chance });
  const chosen = state.paths.find(({ id }) => id === state.chosen);
  const readable = state.readable ? readablePaths(header, state.arrays?.composed, state.sides) : [];
  const most = mostOf(state);
  const paths = chosen && !drawn.includes(chosen) ? [chosen, ...drawn] : drawn;
  const strongest = strongestPaths(state.paths, sides.replace("v", "")); // chance is of q and k
  state.drawn = { paths, readable, most, strongest, chosen: state.chosen, pointed: state.pointed };
  graph?.draw(paths, most, readable);
  showWidths(parts.width, strings.width, drawn, most);
  parts.ofHead.value = head ?? "";
  setText(parts.said, state.readable ? readableSentence(state, header, drawn, readable) : "");
  parts.slider.value = String(most > 0 ? Math.round((STEPS * least) / most) : 0);
  parts.slider.setAttribute("aria-valuetext", withPercent(fmtPercent(least)));
  const count = fill(strings.count, { n: total });
  setText(parts.above, `${fill(strings.above, { value: fmtPercent(least) })} (${count})`);
  const rows = drawn.slice(0, LISTED).map((path) => listRow(state, parts, header, path));
  parts.list.replaceChildren(...(rows.length ? rows : [el("li", { class: "av-note" }, strings.none)]));
  parts.clear.hidden = state.chosen === "";
  const note = total > MAX_DRAWN ? fill(strings.capped, { n: MAX_DRAWN, total }) : "";
  parts.status.dataset.note = note; // stands there again when nothing is under the pointer
  setText(parts.status, note);
  mark(state, parts);
}

/** The legend of the lines' widths: the thinnest and the thickest that are drawn. */
function showWidths(
  /** @type {HTMLElement} */ node,
  /** @type {string} */ template,
  /** @type {readonly Path[]} */ drawn,
  /** @type {number} */ most,
) {
  node.hidden = !drawn.length;
  if (!drawn.length) return;
  const [thick, thin] = [drawn[0], drawn[drawn.length - 1]].map(({ moved }) => moved);
  const lines = [thin, thick].map((moved) =>
    svg(
      "svg",
      { width: 26, height: 8, "aria-hidden": "true" },
      svg("line", { x1: 0, x2: 26, y1: 4, y2: 4, "stroke-width": lineWidth(moved, most).toFixed(2) }),
    ),
  );
  const text = fill(template, { least: fmtPercent(thin), most: fmtPercent(thick) });
  node.replaceChildren(...lines, text);
}

/** How many of the drawn arrows run where something could be read, beside all paths. */
function readableSentence(
  /** @type {State} */ { paths, sides },
  /** @type {Header} */ { strings },
  /** @type {readonly Path[]} */ drawn,
  /** @type {readonly Path[]} */ readable,
) {
  const ids = new Set(readable.map(({ id }) => id));
  const all = paths.filter(({ side }) => sides.includes(side));
  const count = (/** @type {readonly Path[]} */ some) => some.filter(({ id }) => ids.has(id)).length;
  return fill(strings.readable, { n: count(drawn), drawn: drawn.length, all: count(all), total: all.length });
}

/** The check box of paths that stand out by their lines: dashed ones near chance, faint ones that weights let read. */
function makeCheck(
  /** @type {State} */ state,
  /** @type {Parts} */ parts,
  /** @type {"chance" | "readable"} */ name,
  /** @type {string} */ label,
) {
  const box = checkbox({
    label,
    checked: state[name],
    onChange: (on) => {
      state[name] = on;
      showPaths(state, parts);
    },
  });
  box.node.classList.add(`av-circuit-key-${name}`);
  return box.node;
}

function listRow(
  /** @type {State} */ state,
  /** @type {Parts} */ parts,
  /** @type {Header} */ { strings },
  /** @type {Path} */ path,
) {
  const { id, sender, receiver, side, moved, chance } = path;
  const fillBar = el("span", { class: "av-circuit-bar", "aria-hidden": "true" });
  fillBar.style.width = `${100 * Math.min(1, moved)}%`;
  const mark = el("span", { class: "av-circuit-mark", "aria-hidden": "true" });
  mark.style.left = `${100 * chance}%`;
  const row = el(
    "button",
    {
      class: `av-circuit-row av-path-${side}${path.isChance ? " av-circuit-chance" : ""}`,
      type: "button",
      dataset: { path: id },
      "aria-pressed": String(id === state.chosen),
      on: {
        click: () => toggle(state, parts, id),
        pointerenter: () => point(state, parts, id),
        pointerleave: () => point(state, parts, null),
      },
    },
    el("span", { class: "av-circuit-ends" }, `${sender} → ${receiver}`),
    el("span", { class: "av-circuit-track" }, fillBar, Number.isFinite(chance) ? mark : null),
    el("span", { class: "av-circuit-side" }, strings[`side_${side}`]),
    el("span", { class: "av-number" }, withPercent(fmtPercent(moved))),
  );
  return el("li", {}, row);
}

function point(/** @type {State} */ state, /** @type {Parts} */ parts, /** @type {string | null} */ id) {
  state.pointed = id;
  mark(state, parts);
  if (state.header)
    setText(parts.status, id ? statusOf(state, state.header, id) : (parts.status.dataset.note ?? ""));
}

/** A head or a path in words. */
function statusOf(
  /** @type {State} */ { paths, sides, heads },
  /** @type {Header} */ { strings },
  /** @type {string} */ id,
) {
  if (heads.has(id)) {
    const mine = paths.filter(({ side }) => sides.includes(side));
    const strongest = (/** @type {"sender" | "receiver"} */ end) =>
      fmtPercent(mine.find((path) => path[end] === id)?.moved ?? 0);
    return fill(strings.head, { head: id, into: strongest("receiver"), out: strongest("sender") });
  }
  const path = paths.find((other) => other.id === id);
  if (!path) return "";
  const { sender, receiver, side, moved, chance } = path;
  const [value, byChance] = [fmtPercent(moved), fmtPercent(chance)];
  const values = { sender, receiver, side: strings[`side_${side}`], value, chance: byChance };
  return fill(side === "v" ? strings.path_v : strings.path, values);
}

function mark(/** @type {State} */ state, /** @type {Parts} */ parts) {
  const { header, graph, chosen, pointed } = state;
  if (!header) return;
  graph?.mark({ chosen, pointed, labelOf: (name) => statusOf(state, header, name) });
  if (state.drawn) state.drawn = { ...state.drawn, chosen, pointed };
  tell(state);
  for (const row of parts.list.querySelectorAll("button"))
    row.setAttribute("aria-pressed", String(row.dataset.path === chosen));
}

/** Tells the switches what lies over them. */
function tell(/** @type {State} */ { host, header, drawn }) {
  if (header?.over) host.channel.post({ paths: drawn });
}

function toggle(/** @type {State} */ state, /** @type {Parts} */ parts, /** @type {string} */ id) {
  choose(state, parts, id === state.chosen ? "" : id);
}

function choose(/** @type {State} */ state, /** @type {Parts} */ parts, /** @type {string} */ id) {
  const isPath = id.includes("-");
  state.chosen = id;
  showPaths(state, parts);
  if (isPath) setBusy(parts.right, true);
  else showDetail(state, parts, null);
  commit(state);
}

/** Tells the address and the server. */
function commit(/** @type {State} */ { host, chosen, least, sides }) {
  const value = { arrow: chosen, least: least === null ? "" : String(least), sides };
  host.address.set({
    arrow: value.arrow || null,
    least: value.least || null,
    sides: sides === "qk" ? null : sides,
  });
  host.trigger("circuit", value);
}

function showDetail(
  /** @type {State} */ { host, header, heads, chosen },
  /** @type {Parts} */ { detail, summary },
  /** @type {PathDetail | null} */ shown,
) {
  detail.hidden = !shown;
  summary.hidden = Boolean(shown);
  if (!shown || !header) return detail.replaceChildren();
  const [sender = "", rest = ""] = chosen.split("-");
  const ends = [rest.replace(/\.[qkv]$/, ""), sender].map((name) => heads.get(name));
  detail.replaceChildren(...detailNodes(host, header.strings, shown, ends));
}
