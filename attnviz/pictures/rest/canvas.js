// @ts-check
// The rest: tells the other canvases of the page what follows their first picture, measures, words and weights. It draws
// nothing.

import { parse } from "../shared/buffer.js";

/** @import { Host, Mounted } from "../shared/host.js" */
/** @import { Rest } from "../shared/rest.js" */
/** @import { Arrays, Header } from "./types.js" */

/** @returns {Mounted} */
export default function rest(/** @type {Host} */ { channel }) {
  /** @type {Rest | null} */
  let known = null;
  const tell = () => known && channel.post({ rest: known });
  const stop = channel.listen((message) => {
    if ("wants" in message && message.wants === "rest") tell();
  });
  return {
    refresh(data) {
      /** @type {{header: Header, arrays: Arrays}} */
      const { header, arrays } = parse(data);
      known = { ...header, measured: arrays.measured ?? null, weights: arrays.weights ?? null };
      tell();
    },
    destroy: stop,
  };
}
