// @ts-check
// Geometry: four tabs that share one look. The tab, the dragged arrows and the positions go into the address; another
// head or query is asked of the host as a selection.

import { parse } from "../shared/buffer.js";
import { segmented } from "../shared/controls.js";
import { el, oncePerFrame, watchSize } from "../shared/dom.js";
import { readSelection, selectionParameters } from "../shared/selection.js";
import { makeArrows } from "./arrows.js";
import { makeHead } from "./head.js";
import { makeClocks, makeRotary, readTurns } from "./turns.js";

/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Arrays, Header, Tab } from "./types.js" */

/** The open tab, and the vectors and turns in their text forms. @typedef {{tab: Tab, vectors: string, turns: string}} Choice */

/** @type {readonly Tab[]} */
const TABS = ["arrows", "rotary", "clocks", "head"];
const START_TURNS = "5.2.0"; // as in Python
const MIN_PX = 200;
const MAX_PX = 540;
const MAX_SCREEN_SHARE = 0.55; // of its height, so that a plane is seen whole
const EDGES_PX = 20; // of two planes, and the gap between them
const TWO_PX = 480; // of room, from which two planes stand side by side

/** @returns {Mounted} */
export default function geometry(/** @type {Host} */ host) {
  const box = el("section", { class: "av av-geometry" });
  const bar = el("div", { class: "av-geometry-tabs" });
  const body = el("div");
  box.append(bar, body);
  host.root.append(box);
  /** @type {Choice} */
  const choice = { tab: "arrows", vectors: "", turns: "" };
  const turns = readTurns(START_TURNS);
  /** @type {Header | null} */
  let header = null;
  let shown = "";
  const tell = () => {
    choice.turns = `${turns.m}.${turns.n}.${turns.pair}`;
    host.address.set(parametersOf(choice, header?.start));
    host.trigger("geometry", { ...choice });
  };
  const redraw = oncePerFrame(() => draw());
  const tabs = {
    arrows: makeArrows({ redraw, changed: (vectors) => ((choice.vectors = vectors), tell()) }),
    rotary: makeRotary({ turns, redraw, done: tell }),
    clocks: makeClocks({ turns, redraw, done: tell }),
    head: makeHead({ redraw, choose: (layer, head, query) => chooseHead(host, layer, head, query) }),
  };
  function draw() {
    if (!header || !box.clientWidth) return;
    const tab = tabs[choice.tab];
    if (body.firstChild !== tab.node) body.replaceChildren(tab.node);
    const theme = host.theme();
    const room = roomOf(tab.planes, choice.tab);
    if (choice.tab === "arrows") tabs.arrows.draw(theme, room);
    else if (choice.tab === "head") tabs.head.draw(theme, room);
    else tabs[choice.tab].draw(header, theme, room);
  }
  const unwatch = watchSize(box, draw);
  return {
    refresh(data) {
      /** @type {{header: Header, arrays: Arrays}} */
      const { header: sent, arrays } = parse(data);
      header = sent;
      // the same again, after a run of the page or with another theme, must not undo what a hand does
      const now = JSON.stringify(sent);
      if (shown !== now) {
        shown = now;
        Object.assign(choice, { tab: sent.tab, vectors: sent.vectors, turns: sent.turns });
        Object.assign(turns, readTurns(sent.turns));
        tabs.arrows.update(sent);
        bar.replaceChildren(tabBar(sent, choice.tab, (tab) => ((choice.tab = tab), draw(), tell())));
      }
      tabs.head.update(sent, arrays);
      draw();
    },
    destroy() {
      redraw.cancel();
      unwatch();
      box.remove();
    },
  };
}

/**
 * The parameters of the address; null takes one out, where the choice is the page's start.
 * @param {Choice} choice
 * @param {string | undefined} vectors those of the start
 */
function parametersOf(choice, vectors) {
  const start = { tab: "arrows", vectors, turns: START_TURNS };
  const names = /** @type {const} */ (["tab", "vectors", "turns"]);
  return Object.fromEntries(names.map((name) => [name, choice[name] === start[name] ? null : choice[name]]));
}

function tabBar(
  /** @type {Header} */ { strings },
  /** @type {Tab} */ tab,
  /** @type {(tab: Tab) => void} */ onChange,
) {
  const options = TABS.map((value) => ({ value, label: strings[`tab_${value}`] }));
  return segmented({ label: strings.tabs, options, value: tab, onChange }).node;
}

/** The side of a plane in the room that there is. */
function roomOf(/** @type {HTMLElement} */ planes, /** @type {Tab} */ tab) {
  const width = planes.clientWidth;
  const side = tab === "arrows" && width >= TWO_PX ? (width - EDGES_PX) / 2 : width - 2;
  const most = Math.min(MAX_PX, MAX_SCREEN_SHARE * innerHeight);
  return Math.floor(Math.max(MIN_PX, Math.min(most, side)));
}

/** Asks the host for a head and a query; the address has them at once. */
function chooseHead(
  /** @type {Host} */ host,
  /** @type {number} */ layer,
  /** @type {number} */ head,
  /** @type {number} */ query,
) {
  const selection = { ...readSelection(host.address), layer, head, query, key: null };
  host.address.set(selectionParameters(selection));
  host.trigger("selection", selection);
}
