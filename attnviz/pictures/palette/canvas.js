// @ts-check
// Palette: ⌘K or Ctrl+K shows a list of all that can be opened or done. Letters filter it, arrow keys choose, Enter takes,
// Escape leaves; the focus goes back to where it was.

import { parse } from "../shared/buffer.js";
import { swallow } from "../shared/controls.js";
import { dataAt, el } from "../shared/dom.js";
import { fill } from "../shared/fmt.js";
import { download, hasPicture, snapshot } from "../shared/snapshot.js";
import { found } from "./find.js";

/** @import { Host, Mounted, Scheme } from "../shared/host.js" */
/** @import { Arrays, PaletteEntry, Header } from "./types.js" */

/** @typedef {{host: Host, header: Header | null, dialog: HTMLDialogElement, field: HTMLInputElement, list: HTMLElement, shown: PaletteEntry[], at: number}} State */

/** What opens the palettes of this page. @type {Set<() => void>} */
const OPENERS = new Set();

/** @returns {Mounted} */
export default function palette(/** @type {Host} */ host) {
  const box = el("section", { class: "av av-palette" });
  host.root.append(box);
  const state = build(host);
  const open = () => show(state);
  const press = (/** @type {KeyboardEvent} */ event) => {
    if (event.key.toLowerCase() !== "k" || event.altKey || event.shiftKey || event.metaKey === event.ctrlKey)
      return;
    swallow(event);
    if (state.dialog.open) state.dialog.close();
    else open();
  };
  return {
    refresh(data) {
      /** @type {{header: Header, arrays: Arrays}} */
      const { header } = parse(data);
      const isFirst = state.header === null;
      state.header = header;
      if (header.door) {
        box.replaceChildren(buildDoor(header));
        return;
      }
      name(state, header);
      if (!isFirst) return;
      box.append(state.dialog);
      OPENERS.add(open);
      document.addEventListener("keydown", press, true);
    },
    destroy() {
      OPENERS.delete(open);
      document.removeEventListener("keydown", press, true);
      box.remove();
    },
  };
}

/** The button of the menu: it opens the palette that the page has. */
function buildDoor(/** @type {Header} */ { strings }) {
  const isApple = /mac|iphone|ipad/i.test(navigator.userAgent);
  const keys = el("kbd", {}, isApple ? "⌘K" : "Ctrl K");
  const node = el(
    "button",
    { class: "av-button av-palette-door", type: "button" },
    `${strings.title} `,
    keys,
  );
  node.addEventListener("click", () => OPENERS.forEach((open) => open()));
  return node;
}

/** @returns {State} */
function build(/** @type {Host} */ host) {
  const field = el("input", {
    class: "av-palette-field",
    type: "text",
    role: "combobox",
    autocomplete: "off",
  });
  const list = el("div", { class: "av-palette-list", role: "listbox", id: "av-palette-list" });
  const dialog = el("dialog", { class: "av-palette-box" }, field, list);
  for (const [attribute, value] of Object.entries({
    "aria-expanded": "true",
    "aria-controls": list.id,
    "aria-autocomplete": "list",
    spellcheck: "false",
  }))
    field.setAttribute(attribute, value);
  /** @type {State} */
  const state = { host, header: null, dialog, field, list, shown: [], at: 0 };
  field.addEventListener("input", () => filter(state));
  dialog.addEventListener("keydown", (event) => onKey(state, event));
  dialog.addEventListener("click", (event) => {
    const place = dataAt(event, "place");
    if (place !== undefined) take(state, Number(place));
    else if (event.target === dialog) dialog.close();
  });
  list.addEventListener("pointermove", (event) => {
    const place = dataAt(event, "place");
    if (place !== undefined) point(state, Number(place));
  });
  return state;
}

function name(/** @type {State} */ { dialog, field, list }, /** @type {Header} */ { strings }) {
  for (const node of [dialog, field, list]) node.setAttribute("aria-label", strings.title);
  field.placeholder = strings.placeholder;
}

function show(/** @type {State} */ state) {
  if (state.dialog.open) return;
  state.field.value = "";
  filter(state);
  state.dialog.showModal();
  state.field.focus();
}

function onKey(/** @type {State} */ state, /** @type {KeyboardEvent} */ event) {
  if (event.isComposing) return;
  const last = state.shown.length - 1;
  /** @type {Readonly<Record<string, number | undefined>>} */
  const places = {
    ArrowDown: state.at < last ? state.at + 1 : 0,
    ArrowUp: state.at > 0 ? state.at - 1 : last,
  };
  const place = places[event.key];
  if (place !== undefined) {
    swallow(event);
    point(state, place);
  } else if (event.key === "Enter") {
    swallow(event);
    take(state, state.at);
  }
}

/** Shows what fits what was typed. */
function filter(/** @type {State} */ state) {
  const { header, field, list } = state;
  if (!header) return;
  const { entries, n_layers, n_heads, strings } = header;
  const label = (/** @type {string} */ head) => fill(strings.head, { head });
  state.shown = found(field.value, entries, { n_layers, n_heads, label });
  const rows = state.shown.map((entry, place) =>
    el(
      "div",
      {
        class: "av-palette-row",
        role: "option",
        id: `av-palette-${place}`,
        dataset: { place, kind: entry.kind },
      },
      el("span", {}, entry.label),
      entry.more ? el("small", {}, entry.more) : null,
    ),
  );
  list.replaceChildren(
    ...(rows.length ? rows : [el("p", { class: "av-note", role: "status" }, strings.nothing)]),
  );
  point(state, 0);
}

/** Chooses a row, and brings it into sight. */
function point(/** @type {State} */ state, /** @type {number} */ place) {
  state.at = place;
  [...state.list.children].forEach((row, i) => {
    row.setAttribute("aria-selected", String(i === place));
    if (i === place) row.scrollIntoView({ block: "nearest" });
  });
  state.field.setAttribute("aria-activedescendant", state.shown.length ? `av-palette-${place}` : "");
}

/** Does what an entry says: in the browser, or by telling the server. */
function take(/** @type {State} */ state, /** @type {number} */ place) {
  const { host, shown, dialog } = state;
  const entry = shown[place];
  if (!entry) return;
  dialog.close();
  const { kind, value } = entry;
  if (kind === "scheme") host.scheme?.choose(/** @type {Scheme} */ (value));
  else if (kind === "save") void saveLargest(host);
  else host.trigger("pick", { kind, value });
}

/** Saves the largest picture of the page as an SVG file. */
async function saveLargest(/** @type {Host} */ host) {
  const size = (/** @type {ShadowRoot | HTMLElement} */ root) => {
    const { width, height } = (root instanceof ShadowRoot ? root.host : root).getBoundingClientRect();
    return width * height;
  };
  const pictures = host.pictures().filter(({ root }) => hasPicture(root));
  const [largest] = pictures.sort((a, b) => size(b.root) - size(a.root));
  if (largest) download(await snapshot(largest, []), largest.name);
}
