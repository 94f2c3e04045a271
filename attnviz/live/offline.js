// @ts-check
// The service worker of the site: scripts and the models that were opened come from this browser, so a visit needs no
// network after the first one. Every name of a file contains what is in it: what is kept never grows old, and a new version
// of the site takes over the files that have the same name.

const OURS = "attnviz ";
const MODELS = "/models/";

/**
 * @param {any} scope the worker's `self`; the library of types has no ServiceWorkerGlobalScope beside a page
 * @param {string} version
 * @param {readonly string[]} files of every page
 */
export default function offline(scope, version, files) {
  const name = OURS + version;
  scope.addEventListener("install", (/** @type {any} */ event) => {
    scope.skipWaiting();
    event.waitUntil(caches.open(name).then((cache) => cache.addAll(files)));
  });
  scope.addEventListener("activate", (/** @type {any} */ event) =>
    event.waitUntil(takeOver(name).then(() => scope.clients.claim())),
  );
  scope.addEventListener("message", (/** @type {any} */ event) => {
    if (Array.isArray(event.data?.keep)) event.waitUntil(keep(name, event.data.keep));
  });
  scope.addEventListener("fetch", (/** @type {any} */ event) => {
    const { method, url } = event.request;
    if (method === "GET" && new URL(url).origin === scope.location.origin)
      event.respondWith(answer(name, event.request));
  });
}

/** A file that is kept; a page as the network has it, or as it is kept where there is none. */
async function answer(/** @type {string} */ name, /** @type {Request} */ request) {
  const isPage = request.mode === "navigate";
  const kept = await (await caches.open(name)).match(request, { ignoreSearch: isPage });
  if (kept && !isPage) return kept;
  try {
    return await fetch(request);
  } catch (error) {
    if (kept) return kept;
    throw error;
  }
}

/** Fetches what is not kept yet, one file at a time: the visitor is working meanwhile. */
async function keep(/** @type {string} */ name, /** @type {string[]} */ addresses) {
  const cache = await caches.open(name);
  for (const address of addresses) if (!(await cache.match(address))) await cache.add(address);
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
