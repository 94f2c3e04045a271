// @ts-check
// A page on which models run: a text field, the app's own canvases, and for each model a worker that computes. What is
// typed goes out at once; while an answer is under way the latest text waits, so nothing is delayed and nothing piles up.

import { calm, makeChannel, ownAddress } from "../pictures/shared/address.js";
import { parse } from "../pictures/shared/buffer.js";
import { el, setText } from "../pictures/shared/dom.js";
import { fill } from "../pictures/shared/fmt.js";
import { byId, mountIn, moveAmong, parsedSheets, watchTheme } from "../pictures/shared/page.js";
import { readSelection, selectionParameters } from "../pictures/shared/selection.js";
import { keepForOffline, textOfAddress, withRoot, writeText } from "./addresses.js";
import { keptPlace } from "./follow.js";
import { fetchLater, withAll } from "./later.js";
import { say, sayLoading, savesData, spoken } from "./lines.js";
import { bytesOf, pictureOf, pixelsOf } from "./picture.js";
import { stagedOf } from "./staged.js";
import { startWorker, unpackInside } from "./start_worker.js";

/** @import { Arrays as PadArrays } from "../pictures/drawing_pad/types.js" */
/** @import { Component, Events, Host } from "../pictures/shared/host.js" */
/** @import { Wanted } from "./line.js" */
/** @import { Answer, Input, Loaded, Measured, Off, Refined, Sampling, Shown, View, Written } from "./index.js" */
/** @import { Page, PageIndex, Session, Tab } from "./state.js" */

/** @type {Record<Tab, readonly View[]>} */
const VIEWS = {
  stage: ["stage"],
  overview: ["grid"],
  picture: ["patches"],
  head: ["head"],
  switches: ["switches"],
  output: ["alignment", "bars", "writing"],
  steps: ["steps"],
  masks: ["masks"],
};
const TABS = /** @type {Tab[]} */ (Object.keys(VIEWS));
const OF_HEAD = /** @type {readonly Tab[]} */ (["steps", "masks"]);
const ADDRESS_EVERY_MS = 400; // Safari takes 100 addresses in 30 s
const REST_MS = 700; // after the last key: then the reader is told, and what takes longer is begun
const MOST_WRITTEN = 64;
const CONTROLS = 8;
const WRITTEN_OFF = 8; // tokens that the Switchboard compares
const QUICK_MS = 1000; // effects that take no longer are measured unasked
const REFINED_AT_ONCE = 1.5e6; // bytes between two keys
const PIECE_MS = 40; // of what takes many passes: a key waits no longer

/**
 * Shows the page that this script stands in.
 * @param {Record<string, Component>} components
 * @param {Record<string, string>} styles
 */
export default async function live(components, styles) {
  const index = /** @type {PageIndex} */ (JSON.parse(byId("index").textContent ?? ""));
  const address = calm(ownAddress(), ADDRESS_EVERY_MS);
  const asked = address.get("model") ?? "";
  const name = Object.hasOwn(index.models, asked) ? asked : Object.keys(index.models)[0];
  /** @type {Page} */
  const page = {
    index,
    components,
    sheets: parsedSheets(styles),
    host: {
      address,
      channel: makeChannel(),
      pictures: () => [],
      send() {},
      trigger: (event, value) => hear(page, event, value),
    },
    sessions: new Map(),
    session: newSession(index, name),
    tab: TABS.find((tab) => tab === address.get("view")) ?? firstTab(address),
    chosen: readSelection(address),
    places: new Map(),
    pad: null,
    later: null,
    writeAddress: address.flush,
    resting: 0,
    inside: await unpackInside(index),
  };
  page.host.channel.listen((message) => {
    if ("selection" in message) page.chosen = message.selection;
  });
  document.documentElement.classList.toggle("embedded", isEmbedded(address));
  buildControls(page);
  watchTheme(() => {
    for (const { mounted, data } of page.places.values()) mounted.refresh(data);
  });
  addEventListener("pagehide", address.flush);
  addEventListener("online", () => {
    const { session } = page;
    if (session.loaded) rest(page);
    else if (session.trouble) load(session, index);
  });
  const { value, defaultValue } = field();
  openModel(page, name, textOfAddress(), value === defaultValue ? null : value); // typed while this script was on its way
}

const field = () => /** @type {HTMLTextAreaElement} */ (byId("text"));
const choice = (/** @type {string} */ id) => /** @type {HTMLSelectElement} */ (byId(id));
const number = (/** @type {string} */ id) => Number(/** @type {HTMLInputElement} */ (byId(id)).value);

function isEmbedded(/** @type {Host["address"]} */ address) {
  return address.get("embed") !== null;
}

/** A page opens on the stage, one that was sent for a head in a frame with that head, others with all heads. @returns {Tab} */
function firstTab(/** @type {Host["address"]} */ address) {
  if (isEmbedded(address)) return "head";
  const isOfStage = address.get("layer") === null || address.get("forbid") !== null;
  return isOfStage && address.get("changes") === null ? "stage" : "overview";
}

/** @returns {Session} */
function newSession(/** @type {PageIndex} */ index, /** @type {string} */ name) {
  const { examples } = index.models[name];
  return {
    name,
    line: { ask() {}, isIdle: () => true, waits: () => false },
    loaded: null,
    verified: null,
    left: null,
    opened: examples[0] ?? "",
    text: examples[0] ?? "",
    picture: undefined,
    written: [],
    continuation: "",
    isWriting: false,
    seed: 0,
    effects: "",
    isSketch: false,
    isTyped: false,
    shown: null,
    trouble: "",
  };
}

// --- what is asked ---------------------------------------------------------------------------------------------------

/** Looks at a model: its worker is started once, and keeps the model from then on. */
function openModel(
  /** @type {Page} */ page,
  /** @type {string} */ name,
  text = /** @type {string | null} */ (null),
  typed = /** @type {string | null} */ (null),
) {
  const { index, host, sessions } = page;
  const model = index.models[name];
  const known = sessions.get(name);
  const isFirst = !sessions.size;
  page.session = known ?? (isFirst ? page.session : newSession(index, name));
  const session = page.session;
  if (text !== null) session.opened = session.text = text;
  if (typed !== null) session.text = typed;
  if (!known) {
    sessions.set(name, session);
    session.line = startWorker(index, page.inside, (answer, request) =>
      hearWorker(page, session, answer, request),
    );
    session.line.ask({ kind: "texts", texts: index.worker_texts });
    load(session, index);
  }
  const shows = session.shown ? session.text : session.opened;
  const isOpening = shows === (model.examples[0] ?? "") && model.opening;
  const isChosen = isFirst && host.address.get("layer") !== null;
  if (!isChosen) {
    const { group, ...place } = (isOpening && model.opening) || {
      group: null,
      layer: 0,
      head: 0,
      query: null,
      key: null,
    };
    page.chosen = { ...readSelection(host.address), ...place };
    host.address.set({ ...selectionParameters(page.chosen), group, ...(isFirst ? {} : { changes: null }) });
  }
  host.address.set({ model: name === Object.keys(index.models)[0] ? null : name });
  showControls(page);
  clearPlaces(page);
  if (session.loaded) openTab(page, page.tab);
  else say(page);
}

function load(/** @type {Session} */ { line, name }, /** @type {PageIndex} */ { models, root }) {
  line.ask({ kind: "load", model: withRoot(models[name].files, root) });
}

/** What the model reads now. @returns {Input} */
function inputOf(/** @type {Pick<Session, "picture" | "text" | "written">} */ { picture, text, written }) {
  if (picture) return { picture };
  return written.length ? { text, written } : { text };
}

/** @returns {Sampling} */
function sampling(/** @type {Session} */ { seed }) {
  return { temperature: number("temperature"), top_k: number("top_k"), top_p: number("top_p"), seed };
}

function wantedViews(/** @type {Page} */ { session, tab }) {
  const there = session.loaded?.views ?? [];
  return VIEWS[tab].filter((view) => there.includes(view) && (view !== "writing" || session.written.length));
}

/** Asks for the pictures of the tab, on what is typed now; while one types without what takes many passes. */
function ask(/** @type {Page} */ page, isTyping = false) {
  const { session, host, tab } = page;
  if (!session.loaded) return;
  const { layer, head } = readSelection(host.address);
  const cutsTakeLong = tab === "stage" && session.loaded.task === "vectors"; // every one is a whole pass
  session.isSketch = isTyping && (tab === "switches" || cutsTakeLong);
  const show = (/** @type {Input} */ input) =>
    session.line.ask({
      kind: "show",
      model: session.name,
      input,
      views: wantedViews(page),
      group: host.address.get("group") ?? undefined,
      layer: layer ?? 0,
      head: head ?? 0,
      off: tab === "stage" ? "" : (host.address.get("changes") ?? ""),
      to: /** @type {Off} */ (choice("to").value),
      staged: tab === "stage" ? stagedOf(page) : undefined,
      most_ms: session.isSketch ? 0 : PIECE_MS,
      controls: isTyping ? 0 : CONTROLS,
      writes: isTyping ? 0 : WRITTEN_OFF,
      sampling: sampling(session),
    });
  // who typed before the first picture: what is chosen is a place in the text that was opened
  if (!session.shown && session.text !== session.opened) show(inputOf({ ...session, text: session.opened }));
  show(inputOf(session));
}

/** Another text or picture: what was written behind the old one goes with it. */
function take(/** @type {Page} */ page, /** @type {Partial<Session>} */ change) {
  Object.assign(page.session, change, { written: [], continuation: "", isWriting: false, isTyped: true });
  ask(page, true);
  rest(page);
}

/** What waits until nobody types: words for those who listen, a link, effects, the comparison, the rest of the weights. */
function rest(/** @type {Page} */ page) {
  clearTimeout(page.resting);
  page.resting = setTimeout(() => {
    const { session } = page;
    const { loaded, shown } = session;
    if (!loaded || !shown) return session.trouble ? undefined : rest(page); // a slow machine
    writeText(page);
    setText(byId("said"), spoken(page, shown));
    if (session.isSketch) ask(page);
    if (page.tab === "switches" && isQuick(loaded, shown)) measure(page);
    if (!session.verified && !session.line.waits("verify"))
      session.line.ask({ kind: "verify", model: session.name });
    if (!shown.exact && !savesData()) refine(session);
  }, REST_MS);
}

function refine(/** @type {Session} */ { line, name }) {
  line.ask({ kind: "refine", model: name, most_bytes: REFINED_AT_ONCE });
}

/** True where taking every head away takes no longer than a blink. */
function isQuick(/** @type {Loaded} */ { groups }, /** @type {Shown} */ { times }) {
  return groups.reduce((sum, { layers, heads }) => sum + layers * heads, 0) * times.forward_ms < QUICK_MS;
}

/** Measures the effect of every head on what is shown, once for each input. */
function measure(/** @type {Page} */ page) {
  const { session } = page;
  const to = /** @type {Off} */ (choice("to").value);
  const key = JSON.stringify([session.text, session.written, to]);
  if (session.effects === key) return;
  session.effects = key;
  session.line.ask({ kind: "effects", model: session.name, input: inputOf(session), to, most_ms: PIECE_MS });
}

function write(/** @type {Page} */ { session, host }) {
  if (!session.isWriting) return;
  session.line.ask({
    kind: "write",
    model: session.name,
    input: inputOf(session),
    off: host.address.get("changes") ?? "",
    sampling: sampling(session),
    tokens: 1,
    seed: session.seed + session.written.length,
  });
}

// --- what is heard ---------------------------------------------------------------------------------------------------

/**
 * An answer of a model's worker; pictures of a model that is no longer looked at are not drawn.
 * @param {Page} page
 * @param {Session} session
 * @param {Answer} answer
 * @param {Wanted} request
 */
function hearWorker(page, session, answer, request) {
  const isHere = session === page.session;
  if (answer.kind === "progress") {
    if (isHere && !session.loaded) sayLoading(page, answer.share, answer.of_bytes);
    return;
  }
  const canvases = answer.kind === "shown" && isHere ? Object.keys(answer.views) : [];
  if (canvases.some((view) => !page.components[view]))
    return withAll(page, session, () => hearWorker(page, session, answer, request));
  session.trouble = "";
  if (answer.kind === "loaded") session.loaded = answer;
  else if (answer.kind === "verified") session.verified = answer;
  else if (answer.kind === "refined") hearRefined(page, session, answer);
  else if (answer.kind === "measured") hearMeasured(page, session, answer, request);
  else if (answer.kind === "written") hearWritten(page, session, answer);
  else if (answer.kind === "refused") {
    session.isWriting = false;
    session.trouble = fill(page.index.texts[`refused.${answer.reason}`], answer.values);
  }
  if (!isHere) return;
  if (answer.kind === "loaded") {
    openTab(page, page.tab);
    keepForOffline(page.index, withRoot(page.index.models[session.name].files, page.index.root), savesData());
  }
  if (answer.kind === "shown") draw(page, answer);
  if (answer.kind === "shown" && answer.uncut && !session.isSketch && !session.line.waits("show")) ask(page);
  if (answer.kind === "shown" && !savesData()) fetchLater(page).catch(() => {}); // who needs it asks again
  say(page);
}

function hearRefined(
  /** @type {Page} */ page,
  /** @type {Session} */ session,
  /** @type {Refined} */ { left, exact },
) {
  session.left = left;
  if (!exact) return refine(session);
  session.verified = null;
  const isMeasured = session.effects !== "" && page.tab === "switches";
  session.effects = ""; // those of the coarser weights
  if (session !== page.session) return;
  ask(page);
  if (isMeasured) measure(page);
  rest(page);
}

/** Some of the effects, which the others follow as long as nobody asks for another picture. */
function hearMeasured(
  /** @type {Page} */ page,
  /** @type {Session} */ session,
  /** @type {Measured} */ { left },
  /** @type {Wanted} */ request,
) {
  if (!left) return session === page.session ? ask(page) : undefined;
  if (session.line.waits("show")) session.effects = "";
  else session.line.ask(request);
}

function hearWritten(
  /** @type {Page} */ page,
  /** @type {Session} */ session,
  /** @type {Written} */ answer,
) {
  if (!session.isWriting) return;
  session.written = answer.written;
  session.continuation += answer.text;
  session.isWriting = !answer.ended && answer.written.length < MOST_WRITTEN;
  if (session !== page.session) return;
  ask(page);
  write(page);
}

/**
 * An event of a canvas: another head, a view to open, heads that are off, a drawing.
 * @template {keyof Events} Name
 * @param {Page} page
 * @param {Name} name
 * @param {Events[Name]} value
 */
function hear(page, name, value) {
  if (name === "open") {
    const { page: wanted, layer, head, query, key } = /** @type {Events["open"]} */ (value);
    page.chosen = { ...page.chosen, layer, head, query, key };
    page.host.address.set(selectionParameters(page.chosen));
    openTab(page, TABS.find((tab) => tab === wanted) ?? "head");
  }
  if (name === "selection") {
    page.chosen = /** @type {Events["selection"]} */ (value);
    page.host.address.set(selectionParameters(page.chosen));
    if (OF_HEAD.includes(page.tab)) ask(page);
  }
  if (name === "switches") {
    page.host.address.set({ changes: /** @type {string} */ (value) });
    ask(page);
    rest(page);
  }
  if (name === "ask") {
    const { layer, head, query, key } = /** @type {Events["ask"]} */ (value);
    page.chosen = { ...page.chosen, layer, head, query, key };
  }
  if (name === "scene") openScene(page, /** @type {Events["scene"]} */ (value));
  if (name === "picture")
    void pixelsOf(/** @type {string} */ (value), page.index.pad?.side ?? 1).then((picture) =>
      take(page, { picture }),
    );
}

/** A sentence of the stage, and its model. */
function openScene(/** @type {Page} */ page, /** @type {Events["scene"]} */ name) {
  const scene = page.index.scenes.find((one) => one.scene === name);
  if (!scene) return;
  if (scene.model !== page.session.name) return openModel(page, scene.model, scene.text);
  field().value = scene.text;
  Object.assign(page.session, { text: scene.text, written: [], continuation: "", isTyped: false });
  ask(page);
  rest(page);
}

// --- what is shown ---------------------------------------------------------------------------------------------------

function clearPlaces(/** @type {Page} */ { places }) {
  for (const { mounted } of places.values()) mounted.destroy();
  places.clear();
  byId("view").replaceChildren();
}

/** Opens a tab of the model; Overview where the model does not have it. */
function openTab(/** @type {Page} */ page, /** @type {Tab} */ wanted) {
  const { index, session, host } = page;
  const there = session.loaded?.views ?? [];
  const tabs = TABS.filter((tab) => VIEWS[tab].some((view) => there.includes(view)));
  clearPlaces(page);
  session.isTyped = false;
  page.tab = tabs.includes(wanted) ? wanted : "overview";
  host.address.set({ view: page.tab });
  byId("live").dataset.tab = page.tab;
  const nodes = tabs.map((tab) =>
    el(
      "button",
      {
        type: "button",
        role: "tab",
        "data-view": tab,
        "aria-selected": String(tab === page.tab),
        "aria-controls": "view",
        tabIndex: tab === page.tab ? 0 : -1,
        on: { click: () => openTab(page, tab) },
      },
      index.titles[tab],
    ),
  );
  const bar = byId("tabs");
  const hadFocus = bar.contains(document.activeElement);
  const inRoom = (/** @type {Tab[]} */ room) => nodes.filter((_, at) => room.includes(tabs[at]));
  const rooms = index.rooms.filter(([, room]) => inRoom(room).length);
  bar.replaceChildren(
    ...rooms.map(([name, room]) =>
      el("span", { class: "room", role: "presentation", "data-room": name }, ...inRoom(room)),
    ),
  );
  bar.onkeydown = (event) => moveAmong(nodes, event, (place) => openTab(page, tabs[place]));
  if (hadFocus) nodes[tabs.indexOf(page.tab)].focus();
  showGroups(page);
  byId("off").hidden = page.tab !== "switches";
  ask(page);
  rest(page);
}

function showGroups(/** @type {Page} */ { index, session, host }) {
  const groups = session.loaded?.groups ?? [];
  const select = choice("group");
  select.hidden = groups.length < 2;
  select.replaceChildren(
    ...groups.map(({ name }) => el("option", { value: name }, index.groups[name] ?? name)),
  );
  select.value = host.address.get("group") ?? groups[0]?.name ?? "";
}

/** Draws the pictures of an answer, with the token that is looked at where it is now. */
function draw(/** @type {Page} */ page, /** @type {Shown} */ shown) {
  const { session, places, components, sheets, host } = page;
  const moved = keptPlace(page, session.shown, shown);
  const write = () => moved && host.address.set(selectionParameters(moved));
  write();
  session.shown = shown;
  const wanted = wantedViews(page);
  const root = byId("view");
  for (const [view, { mounted, pane }] of places)
    if (!wanted.includes(view)) {
      mounted.destroy();
      pane.remove();
      places.delete(view);
    }
  for (const view of wanted) {
    const data = shown.views[view];
    if (!data) continue;
    let place = places.get(view);
    if (!place) {
      const pane = el("div", { class: "pane" });
      root.append(pane);
      place = { pane, mounted: mountIn(pane, view, components[view], sheets, host), data };
      places.set(view, place);
    }
    place.data = data;
    place.mounted.refresh(data);
  }
  if (moved) host.channel.post({ selection: moved, from: null }); // now that each canvas has the tokens it is about
  write(); // again: a canvas may have written an older choice that waited
  root.dataset.shown = String(shown.number);
}

// --- the controls ----------------------------------------------------------------------------------------------------

/** Fills the fields that Python wrote, and listens to them. */
function buildControls(/** @type {Page} */ page) {
  const { index } = page;
  const title = (/** @type {string} */ name) => index.models[name].files.titles[index.language] ?? name;
  const models = Object.keys(index.models).map((name) => el("option", { value: name }, title(name)));
  choice("model").replaceChildren(...models);
  byId("model").parentElement?.toggleAttribute("hidden", models.length < 2);
  const off = Object.entries(index.off).map(([to, said]) => el("option", { value: to }, said));
  choice("to").replaceChildren(...off);
  choice("to").value = saidWhileOff(page.host.address.get("changes") ?? "") ?? Object.keys(index.off)[0];
  /** @type {Record<string, () => void>} */
  const changes = {
    model: () => openModel(page, choice("model").value),
    example: () => takeExample(page),
    group: () => takeGroup(page),
    to: () => takeOff(page),
  };
  for (const [id, change] of Object.entries(changes)) byId(id).addEventListener("change", change);
  /** @type {Record<string, () => void>} */
  const clicks = {
    effects: () => measure(page),
    exact: () => refine(page.session),
    retry: () => load(page.session, index),
    write: () => writeOrStop(page),
    clear: () => take(page, {}),
  };
  for (const [id, click] of Object.entries(clicks)) byId(id).addEventListener("click", click);
  field().addEventListener("input", () => take(page, { text: field().value }));
  for (const id of ["temperature", "top_k", "top_p"]) byId(id).addEventListener("input", () => ask(page));
}

function takeExample(/** @type {Page} */ page) {
  const text = page.index.models[page.session.name].examples[Number(choice("example").value)];
  field().value = text;
  take(page, { text });
}

function takeGroup(/** @type {Page} */ page) {
  page.chosen = { ...page.chosen, layer: 0, head: 0, query: null, key: null };
  page.host.address.set({ ...selectionParameters(page.chosen), group: choice("group").value });
  openTab(page, page.tab);
}

/** All heads that are off say what is chosen now. */
function takeOff(/** @type {Page} */ page) {
  const to = choice("to").value;
  const said = to === "even" ? ".weights=even" : `.mixed=${to}`;
  const off = (page.host.address.get("changes") ?? "").replace(/\.(?:mixed|weights)=\w+/g, said);
  page.host.address.set({ changes: off || null });
  ask(page);
  rest(page);
}

/** What the first head that is off says instead. */
function saidWhileOff(/** @type {string} */ changes) {
  const [, side, said] = /\.(mixed|weights)=(\w+)/.exec(changes) ?? [];
  return side === "weights" ? "even" : said;
}

function writeOrStop(/** @type {Page} */ page) {
  const { session } = page;
  session.isWriting = !session.isWriting;
  session.seed = Math.floor(Math.random() * 2 ** 31);
  say(page);
  write(page);
}

/** The text or the picture of the model that is looked at, its examples, what it is. */
function showControls(/** @type {Page} */ page) {
  const { index, session } = page;
  const model = index.models[session.name];
  const readsPictures = model.kind === "vision";
  choice("model").value = session.name;
  setText(byId("about"), model.description);
  field().hidden = readsPictures;
  field().value = session.text;
  byId("pad").hidden = !readsPictures;
  const labels = model.examples.map((text, i) => el("option", { value: String(i) }, text));
  choice("example").replaceChildren(
    el("option", { value: "", hidden: true }, index.texts.examples),
    ...labels,
  );
  choice("example").value = "";
  choice("example").hidden = model.examples.length < 2;
  if (!readsPictures || !index.pad) return;
  const pad = bytesOf(index.pad.view);
  /** @type {{arrays: PadArrays}} */
  const { arrays } = parse(pad);
  if (arrays.first) session.picture ??= pictureOf(arrays.first);
  if (page.pad) return;
  if (!page.components.drawing_pad) return withAll(page, session, () => showControls(page));
  page.pad = mountIn(byId("pad"), "drawing_pad", page.components.drawing_pad, page.sheets, page.host);
  page.pad.refresh(pad);
}
