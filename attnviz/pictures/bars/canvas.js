// @ts-check
// Bars on a page: a heading, the list, and a line for what was left out. Nothing in it moves or answers.

import { barList } from "../shared/bars.js";
import { parse } from "../shared/buffer.js";
import { el } from "../shared/dom.js";
import { fill } from "../shared/fmt.js";

/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Arrays, Header } from "./types.js" */

/** @returns {Mounted} */
export default function bars(/** @type {Host} */ host) {
  const box = el("section", { class: "av av-barset" });
  /** @type {Uint8Array | null} */
  let shown = null;
  host.root.append(box);
  return {
    refresh(data) {
      if (shown === data) return;
      shown = data;
      showBars(box, data);
    },
    destroy: () => box.remove(),
  };
}

function showBars(/** @type {HTMLElement} */ box, /** @type {Uint8Array} */ data) {
  /** @type {{header: Header, arrays: Arrays}} */
  const { header } = parse(data);
  const { strings, title, note, values, seconds, full, rest } = header;
  const list = barList({ label: title, full, values, seconds });
  list.set(
    rest ? [...header.bars, { ...rest, label: fill(strings.rest, { ...rest }), muted: true }] : header.bars,
  );
  const notes = note ? [el("p", { class: "av-note" }, note)] : [];
  box.replaceChildren(el("h3", { class: "av-heading" }, title), list.node, ...notes);
}
