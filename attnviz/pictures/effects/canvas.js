// @ts-check
// Effects: tells the other canvases of the page how far the answer moves without each head. It draws nothing.

import { parse } from "../shared/buffer.js";

/** @import { HeadEffects } from "../shared/effects.js" */
/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Arrays, Header } from "./types.js" */

/** @returns {Mounted} */
export default function effects(/** @type {Host} */ { channel }) {
  /** @type {HeadEffects | null} */
  let known = null;
  const tell = () => known && channel.post({ effects: known });
  const stop = channel.listen((message) => {
    if ("wants" in message && message.wants === "effects") tell();
  });
  return {
    refresh(data) {
      /** @type {{header: Header, arrays: Arrays}} */
      const { header, arrays } = parse(data);
      known = { ...header, heads: arrays.effects.shape[1], values: arrays.effects.data };
      tell();
    },
    destroy: stop,
  };
}
