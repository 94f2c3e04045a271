// @ts-check
// The page's own address, those of a model's files, and the request to keep these in this browser.

import { byId } from "../pictures/shared/page.js";

/** @import { ModelFiles } from "./index.js" */
/** @import { Page, PageIndex } from "./state.js" */

const SHARD = "{shard}";

/**
 * A model's files with addresses that any worker can fetch; as they are in a page that is one file.
 * @param {ModelFiles} files
 * @param {string | null} root
 * @returns {ModelFiles}
 */
export function withRoot(files, root) {
  if (root === null) return files;
  const { href } = new URL(root, location.href.split(/[?#]/)[0]);
  const at = (/** @type {string} */ address) => href + address; // no URL: "{shard}" stays as it is
  const maybe = (/** @type {string | undefined} */ address) =>
    address === undefined ? undefined : at(address);
  const { weights, steps } = files;
  return {
    ...files,
    kernels: at(files.kernels),
    config: at(files.config),
    tokenizer: maybe(files.tokenizer),
    generation: maybe(files.generation),
    preprocessor: maybe(files.preprocessor),
    means: maybe(files.means),
    reference: maybe(files.reference),
    steps: steps && Object.fromEntries(Object.entries(steps).map(([name, file]) => [name, at(file)])),
    weights:
      weights.form === "plain"
        ? { ...weights, file: at(weights.file) }
        : {
            ...weights,
            high: at(weights.high),
            low: at(weights.low),
            high_shards: at(weights.high_shards),
            low_shards: at(weights.low_shards),
          },
  };
}

/** All addresses of a model's files. @returns {string[]} */
export function addressesOf(/** @type {ModelFiles} */ files) {
  const { weights, steps } = files;
  const own = [files.kernels, files.config, files.tokenizer, files.generation, files.preprocessor];
  const made = [files.means, files.reference, ...Object.values(steps ?? {})];
  return [...own, ...made, ...weightsOf(weights)].filter((address) => address !== undefined);
}

function weightsOf(/** @type {ModelFiles["weights"]} */ weights) {
  if (weights.form === "plain") return [weights.file];
  const numbers = Array.from({ length: Math.ceil(weights.shape[0] / weights.rows) }, (_, i) => i);
  const shards = [weights.high_shards, weights.low_shards].flatMap((address) =>
    numbers.map((number) => address.replace(SHARD, String(number).padStart(3, "0"))),
  );
  return [weights.high, weights.low, ...shards];
}

/**
 * Has the service worker keep the page, and a model that was opened: both then come without a network. A visitor who
 * saves data keeps the page alone.
 * @param {PageIndex} index
 * @param {ModelFiles} files with their root
 * @param {boolean} saves
 */
export async function keepForOffline(index, files, saves) {
  if (index.offline === null || index.root === null || !isSecureContext || !("serviceWorker" in navigator))
    return;
  const { href } = new URL(index.root, location.href.split(/[?#]/)[0]);
  const kept = navigator.serviceWorker.register(href + index.offline, { scope: href });
  if (!(await kept.catch(() => null))) return; // a browser without storage
  const { active } = await navigator.serviceWorker.ready;
  if (!saves) active?.postMessage({ keep: addressesOf(files) });
}

/** The text behind "#text=" of the address: this part of it never leaves the browser. */
export function textOfAddress() {
  return new URLSearchParams(location.hash.slice(1)).get("text");
}

/** The text into the address, and the link of a frame to the whole page. */
export function writeText(/** @type {Page} */ { index, session, writeAddress }) {
  writeAddress();
  const isExample = session.text === (index.models[session.name].examples[0] ?? "");
  const hash = isExample ? "" : `#${new URLSearchParams({ text: session.text })}`;
  try {
    if (hash !== location.hash)
      history.replaceState(history.state, "", location.pathname + location.search + hash);
  } catch {
    // a frame without an address of its own
  }
  const whole = new URL(location.href);
  whole.searchParams.delete("embed");
  byId("whole").setAttribute("href", whole.href);
}
