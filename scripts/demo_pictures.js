// @ts-check
// The host of a page of the demo site: pictures under headings, each with its data. What a visitor chooses in one is looked
// up among the answers that came with the page; there is no server to ask.

import { makeChannel, ownAddress } from "../attnviz/pictures/shared/address.js";
import { el } from "../attnviz/pictures/shared/dom.js";
import { byId, mountIn, parsedSheets, watchTheme } from "../attnviz/pictures/shared/page.js";
import { unpackPart } from "../attnviz/pictures/shared/unpack.js";

/** @import { Component, Mounted } from "../attnviz/pictures/shared/host.js" */

/** A picture: the part of the page that has its data, and those that have it after a choice.
 * `heads` is the page of the model's heads, "" for none.
 * @typedef {{title: string, canvas: string, part: string, answers: Record<string, string>, heads: string}} Picture
 */

/**
 * Shows the page that this script stands in.
 * @param {Record<string, Component>} components
 * @param {Record<string, string>} styles
 */
export default async function pictures(components, styles) {
  const index = /** @type {Picture[]} */ (JSON.parse(byId("index").textContent ?? ""));
  const sheets = parsedSheets(styles);
  const address = ownAddress();
  /** @type {(() => void)[]} */
  const redraws = [];
  watchTheme(() => redraws.forEach((redraw) => redraw()));
  for (const { title, canvas, part, answers, heads } of index) {
    const pane = el("div", { class: "pane" });
    byId("view").append(el("section", {}, ...(title ? [el("h2", {}, title)] : []), pane));
    const first = await unpackPart(part);
    /** @type {Uint8Array} */
    let data = first;
    /** @type {Record<string, Uint8Array>} */
    const unpacked = {};
    const choose = async (/** @type {string} */ asked) => {
      const answer = Object.hasOwn(answers, asked) ? answers[asked] : null;
      // what is not there is answered too: a picture waits for new data
      data = answer === null ? first.slice() : (unpacked[answer] ??= await unpackPart(answer));
      mounted.refresh(data);
    };
    /** @type {Mounted} */
    const mounted = mountIn(pane, canvas, components[canvas], sheets, {
      address,
      channel: makeChannel(),
      pictures: () => [],
      send() {},
      trigger(event, value) {
        const { arrow, ...place } = /** @type {Record<string, string | number | null>} */ (value);
        if (event === "circuit" && typeof arrow === "string") void choose(arrow);
        if (event === "open" && heads) location.assign(`${heads}?${headAddress(place)}`);
      },
    });
    mounted.refresh(data);
    redraws.push(() => mounted.refresh(data));
  }
}

/** The address of a head and its cell in the page of a model. */
function headAddress(/** @type {Record<string, string | number | null>} */ { layer, head, query, key }) {
  const known = Object.entries({ view: "head", layer, head, query, key }).filter(
    ([, value]) => value != null,
  );
  return new URLSearchParams(known.map(([name, value]) => [name, String(value)]));
}
