// @ts-check
// DOM helpers of all components. Text reaches the page only as text nodes: nothing here parses HTML,
// so a token such as "<img onerror=...>" can only ever be shown.

/**
 * A new element. `props`: class, style (object), dataset (object), on (object of listeners), hidden/disabled/
 * checked/value/type/id as properties, everything else as an attribute. null and undefined are left out.
 * @param {string} tag
 * @param {Record<string, any>} [props]
 * @param {...(Node | string | number | null | undefined)} children
 * @returns {any}
 */
export function el(tag, props = {}, ...children) {
  const node = /** @type {any} */ (document.createElement(tag));
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined) continue;
    if (name === "class") node.className = value;
    else if (name === "style") Object.assign(node.style, value);
    else if (name === "dataset") Object.assign(node.dataset, value);
    else if (name === "on") for (const [type, fn] of Object.entries(value)) node.addEventListener(type, fn);
    else if (DOM_PROPERTIES.has(name)) node[name] = value;
    else node.setAttribute(name, String(value));
  }
  for (const child of children)
    if (child !== null && child !== undefined) node.append(child instanceof Node ? child : String(child));
  return node;
}

const DOM_PROPERTIES = new Set(["hidden", "disabled", "checked", "value", "type", "id", "tabIndex", "dir"]);

/** Replaces the text of a node, only when it differs (a live region must not announce the same twice). */
export function setText(/** @type {Element} */ node, /** @type {string} */ text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * A translated template as nodes: each {placeholder} becomes the node of that name, the rest stays text.
 * @param {string | undefined} template
 * @param {Record<string, Node | string>} nodes
 * @returns {(Node | string)[]}
 */
export function fillNodes(template, nodes) {
  return String(template ?? "")
    .split(/(\{\w+\})/)
    .filter(Boolean)
    .map((part) => nodes[part.slice(1, -1)] ?? part);
}

/** Key names as keycaps: keycaps("←", "→"). */
export function keycaps(/** @type {string[]} */ ...names) {
  return el("span", { class: "av-keys" }, ...names.map((name) => el("kbd", {}, name)));
}

/** Writes data-* attributes; null removes one. */
export function setData(/** @type {HTMLElement} */ node, /** @type {Record<string, any>} */ values) {
  for (const [name, value] of Object.entries(values)) {
    if (value === null || value === undefined) delete node.dataset[name];
    else node.dataset[name] = String(value);
  }
}

/** How long an answer may take before the picture fades, and how long it stays faded when none comes. */
const FADE_AFTER_MS = 300;
const BUSY_AT_MOST_MS = 8000;
/** @type {WeakMap<Element, number[]>} */
const BUSY = new WeakMap();

/** Says that the server is asked, or has answered; `data-faded` comes only when it takes long. */
export function setBusy(/** @type {HTMLElement} */ node, /** @type {boolean} */ busy) {
  for (const timer of BUSY.get(node) ?? []) clearTimeout(timer);
  BUSY.delete(node);
  if (!busy) {
    node.removeAttribute("aria-busy");
    return void node.removeAttribute("data-faded");
  }
  node.setAttribute("aria-busy", "true");
  BUSY.set(node, [
    setTimeout(() => node.setAttribute("data-faded", "1"), FADE_AFTER_MS),
    setTimeout(() => setBusy(node, false), BUSY_AT_MOST_MS),
  ]);
}

/** Device pixels per CSS pixel. */
export function pixelRatio() {
  return Math.max(1, globalThis.devicePixelRatio || 1);
}

/**
 * Sizes a canvas to w×h CSS pixels at device resolution, clears it and returns its context in CSS pixels.
 * @param {HTMLCanvasElement} canvas
 * @param {number} w
 * @param {number} h
 * @returns {CanvasRenderingContext2D}
 */
export function fitCanvas(canvas, w, h) {
  const ratio = pixelRatio();
  const pw = Math.max(1, Math.round(w * ratio));
  const ph = Math.max(1, Math.round(h * ratio));
  if (canvas.width !== pw) canvas.width = pw;
  if (canvas.height !== ph) canvas.height = ph;
  const [width, height] = [`${w}px`, `${h}px`];
  if (canvas.style.width !== width) canvas.style.width = width;
  if (canvas.style.height !== height) canvas.style.height = height;
  const ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  ctx.setTransform(1, 0, 0, 1, 0, 0);
  ctx.globalAlpha = 1;
  ctx.clearRect(0, 0, pw, ph);
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  return ctx;
}

/** Counts a finished paint in data-drawn, the sign by which tests know that pixels are there. */
export function markDrawn(/** @type {HTMLElement} */ canvas) {
  canvas.dataset.drawn = String(Number(canvas.dataset.drawn ?? 0) + 1);
}

/** Pointer position inside an element, in its CSS pixels. */
export function localPoint(/** @type {MouseEvent} */ event, /** @type {Element} */ element) {
  const box = element.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

/**
 * Calls back once per animation frame at most, with the latest arguments lost on purpose: the callback reads state.
 * @param {() => void} callback
 */
export function oncePerFrame(callback) {
  let asked = 0;
  const request = () => {
    if (!asked)
      asked = requestAnimationFrame(() => {
        asked = 0;
        callback();
      });
  };
  request.cancel = () => {
    cancelAnimationFrame(asked);
    asked = 0;
  };
  return request;
}

/** The same once the frame that is being made is on the screen: for what takes long and may follow. */
export function afterPaint(/** @type {() => void} */ callback) {
  let timer = 0;
  const frame = oncePerFrame(() => {
    timer = setTimeout(callback);
  });
  const request = () => {
    clearTimeout(timer);
    frame();
  };
  request.cancel = () => {
    clearTimeout(timer);
    frame.cancel();
  };
  return request;
}

/**
 * Watches the width of an element and the device pixel ratio; calls back when either changes.
 * @param {Element} element
 * @param {() => void} callback
 * @returns {() => void} stops watching
 */
export function watchSize(element, callback) {
  let seen = "";
  const look = () => {
    const now = `${Math.round(element.getBoundingClientRect().width)}@${pixelRatio()}`;
    if (now !== seen) {
      seen = now;
      callback();
    }
  };
  const observer = new ResizeObserver(look);
  observer.observe(element);
  addEventListener("resize", look);
  return () => {
    observer.disconnect();
    removeEventListener("resize", look);
  };
}

/**
 * Fades the edge of a scrolling element where there is more beyond it, below or to the right.
 * @template {HTMLElement} T
 * @param {T} node
 * @returns {T}
 */
export function cueScroll(node) {
  const show = () => {
    node.classList.toggle("av-more-below", node.scrollHeight - node.clientHeight - node.scrollTop > 2);
    node.classList.toggle("av-more-right", node.scrollWidth - node.clientWidth - node.scrollLeft > 2);
  };
  node.addEventListener("scroll", show, { passive: true });
  new ResizeObserver(show).observe(node);
  new MutationObserver(show).observe(node, { childList: true });
  return node;
}
