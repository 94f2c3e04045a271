// @ts-check
// The service worker of the site: scripts and the models that were opened come from this browser, so a visit needs no
// network after the first one. Every name of a file contains what is in it: what is kept never grows old, and a new version
// of the site takes over the files that have the same name.

const OURS = "attnviz ";
const MODELS = "/models/";

/**
 * An event of a service worker, and its scope: the library of types has neither beside a page.
 * @typedef {{data: {keep?: unknown} | null, request: Request, waitUntil: (done: Promise<unknown>) => void,
 *   respondWith: (answer: Promise<Response>) => void}} WorkerEvent
 * @typedef {{addEventListener: (name: string, call: (event: WorkerEvent) => void) => void, location: {origin: string},
 *   skipWaiting: () => Promise<void>, clients: {claim: () => Promise<void>}}} WorkerScope
 */

/**
 * @param {WorkerScope} scope the worker's `self`
 * @param {string} version
 * @param {readonly string[]} files of every page
 */
export default function offline(scope, version, files) {
  const name = OURS + version;
  scope.addEventListener("install", (event) => {
    scope.skipWaiting();
    event.waitUntil(caches.open(name).then((cache) => cache.addAll(files)));
  });
  scope.addEventListener("activate", (event) =>
    event.waitUntil(takeOver(name).then(() => scope.clients.claim())),
  );
  scope.addEventListener("message", (event) => {
    if (Array.isArray(event.data?.keep)) event.waitUntil(keep(name, event.data.keep));
  });
  scope.addEventListener("fetch", (event) => {
    const { method, url } = event.request;
    if (method === "GET" && new URL(url).origin === scope.location.origin)
      event.respondWith(answer(name, event.request));
  });
}

/** A file that is kept; a page as the network has it, or as it is kept where there is none. */
async function answer(/** @type {string} */ name, /** @type {Request} */ request) {
  const isPage = request.mode === "navigate";
  const kept = await lookUp(name, request, isPage);
  if (kept && !isPage) return kept;
  try {
    return await fetch(request);
  } catch (error) {
    if (kept) return kept;
    throw error;
  }
}

/** What is kept for a request; nothing where the browser gives no storage. */
async function lookUp(
  /** @type {string} */ name,
  /** @type {Request} */ request,
  /** @type {boolean} */ ignoreSearch,
) {
  try {
    return await (await caches.open(name)).match(request, { ignoreSearch });
  } catch {
    return undefined;
  }
}

/** Fetches what is not kept yet, one file at a time: the visitor is working meanwhile. A full storage keeps what it has. */
async function keep(/** @type {string} */ name, /** @type {string[]} */ addresses) {
  try {
    const cache = await caches.open(name);
    for (const address of addresses) if (!(await cache.match(address))) await cache.add(address);
  } catch {
    // the page works as long as there is a network
  }
}

/** Takes the models of older versions, and lets the rest of them go. */
async function takeOver(/** @type {string} */ name) {
  const cache = await caches.open(name);
  for (const other of (await caches.keys()).filter((known) => known.startsWith(OURS) && known !== name)) {
    const old = await caches.open(other);
    for (const request of await old.keys()) {
      const response = request.url.includes(MODELS) ? await old.match(request) : undefined;
      if (response) await cache.put(request, response);
    }
    await caches.delete(other);
  }
}
