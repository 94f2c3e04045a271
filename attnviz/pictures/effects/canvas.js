// @ts-check
// Effects: tells the other canvases of the page how far the answer moves without each head, and what the answer turns into
// without the look that is forbidden. It draws nothing.

import { parse } from "../shared/buffer.js";
import { readSelection } from "../shared/selection.js";

/** @import { HeadEffects } from "../shared/effects.js" */
/** @import { Host, Mounted, Turned } from "../shared/host.js" */
/** @import { AddressSelection } from "../shared/selection.js" */
/** @import { Arrays, Header } from "./types.js" */

/** @returns {Mounted} */
export default function effects(/** @type {Host} */ { address, channel }) {
  /** @type {HeadEffects | null} */
  let known = null;
  /** @type {Header | null} */
  let shown = null;
  let place = readSelection(address);
  const tell = () => known && channel.post({ effects: known });
  const tellTurned = () => {
    channel.post({ turned: shown && turnedAt(shown, place) });
    channel.post({ edited: shown?.edited ?? "" });
  };
  const stop = channel.listen((message) => {
    if ("wants" in message && message.wants === "effects") tell();
    if ("wants" in message && message.wants === "turned") tellTurned();
    if (!("selection" in message)) return;
    place = message.selection;
    tellTurned();
  });
  return {
    refresh(data) {
      /** @type {{header: Header, arrays: Arrays}} */
      const { header, arrays } = parse(data);
      known = { ...header, heads: arrays.effects.shape[1], values: arrays.effects.data };
      shown = header;
      place = readSelection(address);
      tell();
      tellTurned();
    },
    destroy() {
      stop();
      channel.post({ turned: null });
      channel.post({ edited: "" });
    },
  };
}

/** What the likeliest answer turns into without the chosen look, or with the chosen head edited; null for neither. @returns {Turned | null} */
function turnedAt(/** @type {Header} */ { before, answers, cell }, /** @type {AddressSelection} */ place) {
  const { layer, head, query, key } = place;
  const after = answers[layer ?? -1]?.[head ?? -1];
  if (cell && (cell[0] !== query || cell[1] !== key)) return null;
  if (!before[0] || !after?.[0]) return null;
  return { before: answerOf(before), after: answerOf(after) };
}

const answerOf = (/** @type {[string, number]} */ [word, probability]) => ({ word, probability });
