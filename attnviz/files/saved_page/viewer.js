// @ts-check
// The host of the components in a page of its own: tabs, one component at a time, the numbers that the page carries. A tab
// that is left is taken down, and comes back from the address, as pages of the app do.

import { makeChannel, ownAddress } from "../../pictures/shared/address.js";
import { parse } from "../../pictures/shared/buffer.js";
import { el, fillNodes } from "../../pictures/shared/dom.js";
import { headName, headsNamed } from "../../pictures/shared/fmt.js";
import { mountIn, moveAmong, parsedSheets, watchTheme } from "../../pictures/shared/page.js";
import { readSelection, selectionParameters } from "../../pictures/shared/selection.js";
import { download, snapshot } from "../../pictures/shared/snapshot.js";
import { theme } from "../../pictures/shared/theme.js";
import { unpackPart } from "../../pictures/shared/unpack.js";
import { connect } from "./notebook.js";
import { isThere } from "./rebuilt.js";
import { repack } from "./repack.js";

/** @import { Component, Events, Host, Mounted } from "../../pictures/shared/host.js" */
/** @import { PackedArray } from "../../pictures/shared/buffer.js" */
/** @import { ShownPicture } from "../../pictures/shared/snapshot.js" */
/** @import { AddressSelection } from "../../pictures/shared/selection.js" */
/** @import { ComponentName, Index, ViewName } from "./index.js" */
/** @import { Chosen, Notebook } from "./notebook.js" */

/** The view that is shown; `head` is the name of its head where it has one for each, `mounted` null where that is missing. */
/** @typedef {{name: ViewName, head: string, mounted: Mounted | null, data: Uint8Array | null}} Current */
/**
 * @typedef {{index: Index, bytes: Record<string, PackedArray>, components: Record<ComponentName, Component>,
 *   sheets: Record<string, CSSStyleSheet>, host: Omit<Host, "root" | "theme">, group: number, chosen: AddressSelection,
 *   current: Current | null, notebook: Notebook | null, tabs: HTMLElement,
 *   select: HTMLSelectElement | null, pane: HTMLElement}} Viewer
 */

/** @type {readonly ViewName[]} */
const VIEWS = ["overview", "head", "picture", "alignment", "steps", "masks"];
/** What one group of attentions has for all of them. @type {readonly ViewName[]} */
const WHOLE = ["picture", "alignment"];
/** What shows one head at a time. @type {readonly ViewName[]} */
const OF_HEAD = ["head", "steps", "masks"];
const ANSWER_MS = 1500; // for a notebook to answer: most heads take a tenth of that

/**
 * Shows the page that this script stands in.
 * @param {Record<ComponentName, Component>} components
 * @param {Record<string, string>} styles
 */
export default async function viewer(components, styles) {
  const root = document.getElementById("view");
  const index = /** @type {Index} */ (JSON.parse(document.getElementById("index")?.textContent ?? ""));
  if (!root) return;
  const address = ownAddress();
  if (address.get("layer") === null) address.set(textOf(index.start));
  const tabs = el("div", { class: "tabs", role: "tablist", "aria-label": index.texts.views });
  const pane = el("div", { class: "pane", role: "tabpanel" });
  /** @type {Viewer} */
  const state = {
    index,
    bytes: {},
    components,
    sheets: parsedSheets(styles),
    host: {
      address,
      channel: makeChannel(),
      pictures: () => shownNow(state),
      send() {},
      trigger: (name, value) => hear(state, name, value),
    },
    group: groupIn(address.get("group"), index),
    chosen: readSelection(address),
    current: null,
    notebook: null,
    tabs,
    select: null,
    pane,
  };
  state.select = groupSelect(state);
  state.host.channel.listen((message) => {
    if (!("selection" in message)) return;
    state.chosen = message.selection;
    tell(state);
  });
  root.replaceChildren(el("div", { class: "bar" }, tabs, state.select), pane);
  watchTheme(() => redraw(state));
  offerPicture(state);
  await takeBytes(state, "first");
  buildTabs(state);
  open(state, viewIn(address.get("view")) ?? "overview");
  await takeBytes(state, "later");
  root.dataset.complete = "1";
  if (state.current?.mounted === null) show(state, state.current.name);
  if (!index.live) return;
  state.notebook = connect({
    choose: (chosen) => follow(state, chosen),
    arrived: () => state.current?.mounted === null && show(state, state.current.name),
  });
}

function textOf(/** @type {Record<string, number | string>} */ values) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
}

function groupIn(/** @type {string | null} */ text, /** @type {Index} */ { groups }) {
  const group = Number(text ?? 0);
  return Number.isInteger(group) && groups[group] ? group : 0;
}

/** @returns {ViewName | null} */
function viewIn(/** @type {string | null} */ text) {
  return VIEWS.find((view) => view === text) ?? null;
}

/** Adds the arrays of one of the page's blocks. */
async function takeBytes(/** @type {Viewer} */ state, /** @type {string} */ block) {
  /** @type {{arrays: Record<string, PackedArray>}} */
  const { arrays } = parse(await unpackPart(block));
  Object.assign(state.bytes, arrays);
}

/** The choice among attentions; null where there is one. */
function groupSelect(/** @type {Viewer} */ state) {
  const { groups, texts } = state.index;
  if (groups.length < 2) return null;
  const options = groups.map(({ name }, i) => el("option", { value: String(i) }, name));
  const change = () => {
    const wanted = state.current?.name ?? "overview";
    takeGroup(state, Number(select.value));
    open(state, groups[state.group].views[wanted] ? wanted : "overview");
  };
  const select = el("select", { "aria-label": texts.groups, on: { change } }, ...options);
  return select;
}

/** Another group of attentions, whose tokens are others. */
function takeGroup(/** @type {Viewer} */ state, /** @type {number} */ group) {
  state.group = group;
  state.chosen = { ...state.chosen, query: null, key: null };
  state.host.address.set({ group: group ? String(group) : null });
  buildTabs(state);
}

/** The group that has a view: the one that is shown, else the first one; -1 for none. */
function groupOf(/** @type {Viewer} */ { index: { groups }, group }, /** @type {ViewName} */ name) {
  return groups[group].views[name] ? group : groups.findIndex(({ views }) => views[name]);
}

/** One tab for each view; of those that the group lacks, for what belongs to the whole capture. */
function buildTabs(/** @type {Viewer} */ state) {
  const { index, group, tabs, select } = state;
  if (select) select.value = String(group);
  const isThere = (/** @type {ViewName} */ name) => index.groups[group].views[name] || WHOLE.includes(name);
  const names = VIEWS.filter((name) => isThere(name) && groupOf(state, name) >= 0);
  const nodes = names.map((name) =>
    el(
      "button",
      { type: "button", role: "tab", "data-view": name, on: { click: () => open(state, name) } },
      index.titles[name],
    ),
  );
  tabs.replaceChildren(...nodes);
  tabs.onkeydown = (event) => moveAmong(nodes, event, (place) => open(state, names[place]));
}

/** Leaves the view that is shown and shows another one; Overview where the group does not have it. */
function open(/** @type {Viewer} */ state, /** @type {ViewName} */ wanted) {
  const { host, tabs, chosen } = state;
  const group = groupOf(state, wanted);
  const name = group < 0 ? "overview" : wanted;
  close(state);
  if (group >= 0 && group !== state.group) takeGroup(state, group);
  host.address.set({ ...selectionParameters(chosen), view: name === "overview" ? null : name });
  for (const tab of tabs.children) {
    const isOpen = tab instanceof HTMLElement && tab.dataset.view === name;
    tab.setAttribute("aria-selected", String(isOpen));
    if (tab instanceof HTMLElement) tab.tabIndex = isOpen ? 0 : -1;
  }
  show(state, name);
  tell(state);
}

function close(/** @type {Viewer} */ state) {
  state.current?.mounted?.destroy();
  state.current = null;
}

/** Mounts a view on the chosen head, or says which heads the page has. */
function show(/** @type {Viewer} */ state, /** @type {ViewName} */ name) {
  const view = state.index.groups[state.group].views[name];
  if (!view) return;
  const isWhole = "" in view.heads;
  const { layer, head } = state.chosen;
  const headNow = isWhole ? "" : headName(layer ?? 0, head ?? 0);
  const data = dataOf(state, name, headNow);
  const current = state.current;
  if (current?.mounted && data && current.name === name) {
    state.current = { ...current, head: headNow, data };
    current.mounted.refresh(data);
    return;
  }
  close(state);
  if (!data) {
    state.current = { name, head: headNow, mounted: null, data: null };
    if (headNow in view.heads) state.pane.replaceChildren("");
    else lookElsewhere(state, name, headNow);
    return;
  }
  const mounted = mountIn(
    state.pane,
    view.component,
    state.components[view.component],
    state.sheets,
    state.host,
  );
  state.current = { name, head: headNow, mounted, data };
  mounted.refresh(data);
}

/** The buffer of a view on a head; null where the page lacks it, or its numbers are not unpacked yet. */
function dataOf(
  /** @type {Viewer} */ { index, group, bytes, notebook },
  /** @type {ViewName} */ name,
  /** @type {string} */ head,
) {
  const part = index.groups[group].views[name]?.heads[head];
  if (!part && notebook) return notebook.answer(wanted(group, name, head));
  const page = { bytes, rebuilt: index.rebuilt, made: new Map() };
  if (!part || !part.arrays.every((array) => isThere(array, page))) return null;
  return repack(part, index.strings[part.strings], page);
}

/** Asks the notebook for a head that the page lacks, and says that it is missing where no answer comes. */
function lookElsewhere(
  /** @type {Viewer} */ state,
  /** @type {ViewName} */ name,
  /** @type {string} */ head,
) {
  const say = () => {
    const { current } = state;
    if (current?.mounted === null && current.name === name && current.head === head)
      state.pane.replaceChildren(missingNote(state, name, head));
  };
  if (!state.notebook) return say();
  state.pane.replaceChildren("");
  state.notebook.ask(wanted(state.group, name, head));
  setTimeout(say, ANSWER_MS);
}

/** The name of a head's buffer between page and notebook. */
function wanted(/** @type {number} */ group, /** @type {ViewName} */ name, /** @type {string} */ head) {
  return `${group} ${name} ${head}`;
}

/** Tells the notebook what is chosen. */
function tell(/** @type {Viewer} */ { notebook, chosen, current, group }) {
  if (!current) return;
  const { layer, head, query, key } = chosen;
  notebook?.tell({ layer: layer ?? 0, head: head ?? 0, query, key, view: current.name, group });
}

/** Shows what the notebook chose. */
function follow(/** @type {Viewer} */ state, /** @type {Chosen} */ { view, group, ...place }) {
  const selection = { ...state.chosen, ...place };
  if (group !== state.group && state.index.groups[group]) takeGroup(state, group);
  else if (view === state.current?.name && state.current.mounted) {
    state.host.channel.post({ selection, from: null });
    state.host.address.set(selectionParameters(selection));
    if (state.current.head) show(state, view);
    return;
  }
  state.chosen = selection;
  open(state, view);
}

/** That the page lacks a head's steps, with buttons for those that it has. */
function missingNote(/** @type {Viewer} */ state, /** @type {ViewName} */ name, /** @type {string} */ head) {
  const names = Object.keys(state.index.groups[state.group].views[name]?.heads ?? {});
  const buttons = names.map((other) => {
    const choose = () => {
      state.chosen = { ...state.chosen, ...headsNamed(other)[0] };
      state.host.address.set(selectionParameters(state.chosen));
      show(state, name);
    };
    return el("button", { type: "button", "data-head": other, on: { click: choose } }, other);
  });
  const words = fillNodes(state.index.texts.no_steps, { head });
  return el("div", { class: "missing", role: "status" }, el("p", {}, ...words), el("p", {}, ...buttons));
}

/**
 * An event of the component: another head to compute, or a view to open.
 * @template {keyof Events} Name
 * @param {Viewer} state
 * @param {Name} name
 * @param {Events[Name]} value
 */
function hear(state, name, value) {
  if (name === "selection") {
    state.chosen = /** @type {Events["selection"]} */ (value);
    const { layer, head } = state.chosen;
    if (state.current?.head && state.current.head !== headName(layer ?? 0, head ?? 0))
      show(state, state.current.name);
  }
  if (name !== "open") return;
  const { page, ...place } = /** @type {Events["open"]} */ (value);
  const view = viewIn(page);
  if (!view || !state.index.groups[state.group].views[view]) return;
  state.chosen = { ...state.chosen, ...place };
  open(state, view);
}

/** What is shown now, for a picture of it; nothing where a head is missing. @returns {ShownPicture[]} */
function shownNow(/** @type {Viewer} */ { current, pane }) {
  const root = pane.querySelector(".place")?.shadowRoot;
  if (!current?.mounted || !current.data || !root) return [];
  const { mounted, data, name, head } = current;
  const redraw = () => mounted.refresh(data);
  return [
    { root, redraw, background: theme(root).bg, name: ["attnviz", name, head].filter(Boolean).join("-") },
  ];
}

/** Where what is shown comes from: the model, the head where there is one, and the text. */
function originNow(/** @type {Viewer} */ { index, chosen, current }) {
  const { model, text } = index.origin;
  const head = current && OF_HEAD.includes(current.name) ? headName(chosen.layer ?? 0, chosen.head ?? 0) : "";
  return [[model, head, text].filter(Boolean).join(" · ")];
}

/** The button that saves what is shown as an SVG file. */
function offerPicture(/** @type {Viewer} */ state) {
  const button = document.getElementById("picture");
  if (!button) return;
  button.hidden = false;
  button.addEventListener("click", async () => {
    for (const picture of shownNow(state)) download(await snapshot(picture, originNow(state)), picture.name);
  });
}

/** Draws what is shown again, in the colours of now. */
function redraw(/** @type {Viewer} */ { current }) {
  if (current?.mounted && current.data) current.mounted.refresh(current.data);
}
