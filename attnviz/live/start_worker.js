// @ts-check
// Starts the worker of a model: from its own file on a site, from the page itself where that is one file.

import { unpackPart } from "../pictures/shared/unpack.js";
import { makeLine } from "./line.js";

/** @import { Line, Answered } from "./line.js" */
/** @import { PageIndex } from "./state.js" */

const SCRIPT = "worker";
const FILE = "file:"; // a part of the page whose name goes on with the address of a file

/** What a page that is one file holds for its worker. @typedef {{script: string, files: Record<string, ArrayBuffer>}} Inside */

/** What the page holds; null on a site. @returns {Promise<Inside | null>} */
export async function unpackInside(/** @type {PageIndex} */ { root }) {
  if (root !== null) return null;
  const parts = [...document.querySelectorAll("script[data-part]")].flatMap((node) => {
    const name = node instanceof HTMLElement ? node.dataset.part : undefined;
    return name?.startsWith(FILE) ? [name] : [];
  });
  const files = await Promise.all(
    parts.map(async (name) => [name.slice(FILE.length), (await unpackPart(name)).buffer]),
  );
  const code = new Blob([await unpackPart(SCRIPT)], { type: "text/javascript" });
  return { script: URL.createObjectURL(code), files: Object.fromEntries(files) };
}

/**
 * The line to a new worker.
 * @param {PageIndex} index
 * @param {Inside | null} inside
 * @param {Answered} answered
 * @returns {Line}
 */
export function startWorker({ root, worker }, inside, answered) {
  const line = makeLine(new Worker(inside ? inside.script : (root ?? "") + worker), answered);
  if (inside) line.ask({ kind: "files", files: inside.files });
  return line;
}
