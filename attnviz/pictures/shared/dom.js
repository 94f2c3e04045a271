// @ts-check
// DOM helpers of all components. Text reaches the page only as text nodes: nothing here parses HTML,
// so a token such as "<img onerror=...>" can only ever be shown.

import { choosePlurals, closeUp } from "./fmt.js";
import { afterValue } from "./particles.js";

/**
 * What `el` takes: properties by their names, everything else as an attribute; null and undefined are left out.
 * @typedef {{class?: string | null, style?: Partial<CSSStyleDeclaration>,
 *   dataset?: Record<string, string | number | boolean>, on?: Listeners, [attribute: string]: unknown}} Props
 */
/**
 * @typedef {{[Type in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[Type]) => void}} Listeners
 */
/** @typedef {Node | string | number | null | undefined} Child */

const DOM_PROPERTIES = new Set(["hidden", "disabled", "checked", "value", "type", "id", "tabIndex", "dir"]);

/**
 * A new element.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Props} [props]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  const { class: className, style, dataset, on, ...others } = props;
  if (className !== null && className !== undefined) node.className = className;
  Object.assign(node.style, style);
  for (const [name, value] of Object.entries(dataset ?? {})) node.dataset[name] = String(value);
  for (const [type, listener] of Object.entries(on ?? {}))
    node.addEventListener(type, /** @type {EventListener} */ (listener));
  for (const [name, value] of Object.entries(others)) {
    if (value === null || value === undefined) continue;
    if (DOM_PROPERTIES.has(name)) Reflect.set(node, name, value);
    else node.setAttribute(name, String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined).map(asNode));
  return node;
}

const IN_ENGLISH = /^(?=.*[A-Za-z])[ -~‘’“”–—…→·␣⏎▁Ġ]+$/u;

/** A token or an example as a node, `lang` where it can be told. A page in another language names it. */
export function foreign(
  /** @type {string} */ text,
  /** @type {Props} */ props = {},
  /** @type {keyof HTMLElementTagNameMap} */ tag = "bdi",
) {
  return el(tag, { lang: languageOf(text), ...props }, text);
}

/**
 * The language of a token or an example: English by its letters. Null where they do not tell, or the document says that
 * its model may read or write another language (`data-tokens`).
 */
export function languageOf(/** @type {string} */ text) {
  const isOpen = globalThis.document?.documentElement?.dataset?.tokens === "any";
  return !isOpen && IN_ENGLISH.test(text) ? "en" : null;
}

// between quotes, or in brackets behind an eastern letter: the English name of a term
const QUOTED =
  /((?<=[“「『«‘])[^“”「」『』«»‘’]+(?=[”」』»’])|(?<=（|[가-힣]\()[^（）()“”「」『』«»]+(?=[）)]))/u;

/** A sentence as nodes, what it quotes (tokens, texts, answers, terms) each in its language. */
export function quotingNodes(/** @type {string} */ said) {
  return said.split(QUOTED).map((part, at) => (at % 2 && languageOf(part) ? foreign(part) : part));
}

function asNode(/** @type {Node | string | number} */ child) {
  return child instanceof Node ? child : String(child);
}

/** @typedef {(ctx: CanvasRenderingContext2D) => CanvasRenderingContext2D} Tracer */

/** Gives a context that also writes down what is drawn; see shared/trace.js. @type {Tracer | null} */
let tracer = null;

/** From now on canvases are drawn through a tracer, or no longer. */
export function traceWith(/** @type {Tracer | null} */ next) {
  tracer = next;
}

/** True while what is drawn is written down: a picture that is kept must be drawn anew. */
export function isTracing() {
  return tracer !== null;
}

/** The context in which a canvas is drawn. */
export function context2d(/** @type {HTMLCanvasElement} */ canvas) {
  const ctx = plainContext(canvas);
  return tracer ? tracer(ctx) : ctx;
}

/** The context of a canvas that is only measured or read, never traced; every browser that runs these modules has one. */
export function plainContext(/** @type {HTMLCanvasElement} */ canvas) {
  const ctx = canvas.getContext("2d");
  if (!ctx) throw new Error("the browser gives no 2d context");
  return ctx;
}

/** The element that an event happened at. */
export function elementAt(/** @type {Event} */ event) {
  return event.target instanceof Element ? event.target : null;
}

/** The data-* attribute of the element that an event happened at, or of the nearest one around it that has it. */
export function dataAt(/** @type {Event} */ event, /** @type {string} */ name) {
  const holder = elementAt(event)?.closest(`[data-${name}]`);
  return /** @type {HTMLElement | SVGElement | null | undefined} */ (holder)?.dataset[name];
}

/**
 * Replaces the text of a node, only when it differs (a live region must not announce the same twice). A text that `invites`
 * to point at something is left out of pictures.
 */
export function setText(
  /** @type {Element} */ node,
  /** @type {string} */ text,
  /** @type {boolean} */ invites = false,
) {
  if (node.textContent !== text) node.textContent = text;
  node.classList.toggle(INVITES, invites);
}

export const INVITES = "av-invites";

/**
 * A translated template as nodes: each {placeholder} becomes the node of that name, a plural the word that fits
 * what the node says; the rest stays text.
 * @param {string | undefined} template
 * @param {Record<string, Node | string>} nodes
 * @returns {(Node | string)[]}
 */
export function fillNodes(template, nodes) {
  const textOf = (/** @type {Node | string} */ node) =>
    typeof node === "string" ? node : (node.textContent ?? "");
  const said = Object.fromEntries(Object.entries(nodes).map(([name, node]) => [name, textOf(node)]));
  const parts = choosePlurals(closeUp(String(template ?? ""), said), said)
    .split(/(\{\w+\})/)
    .filter(Boolean)
    .map((part) => nodes[part.slice(1, -1)] ?? part);
  return parts.map((part, at) => {
    const before = parts[at - 1];
    if (typeof part !== "string" || before === undefined) return part;
    return afterValue(textOf(before), part);
  });
}

/** Key names as keycaps: keycaps("←", "→"). */
export function keycaps(/** @type {string[]} */ ...names) {
  return el("span", { class: "av-keys" }, ...names.map((name) => el("kbd", {}, name)));
}

/**
 * Writes data-* attributes; null and undefined remove one.
 * @param {HTMLElement} node
 * @param {Record<string, string | number | boolean | null | undefined>} values
 */
export function setData(node, values) {
  for (const [name, value] of Object.entries(values)) {
    if (value === null || value === undefined) delete node.dataset[name];
    else node.dataset[name] = String(value);
  }
}

const FADE_AFTER_MS = 300;
const BUSY_AT_MAX_MS = 8000; // when no answer comes
/** @type {WeakMap<Element, number[]>} */
const BUSY = new WeakMap();

/** Marks a picture that waits for the server, or no longer waits; `data-faded` comes only when it takes long. */
export function setBusy(/** @type {HTMLElement} */ node, /** @type {boolean} */ busy) {
  for (const timer of BUSY.get(node) ?? []) clearTimeout(timer);
  BUSY.delete(node);
  if (!busy) {
    node.removeAttribute("aria-busy");
    node.removeAttribute("data-faded");
    return;
  }
  node.setAttribute("aria-busy", "true");
  BUSY.set(node, [
    setTimeout(() => node.setAttribute("data-faded", "1"), FADE_AFTER_MS),
    setTimeout(() => setBusy(node, false), BUSY_AT_MAX_MS),
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
  const ctx = context2d(canvas);
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
 * A request that may be made often, and one that is dropped again.
 * @typedef {(() => void) & {cancel: () => void}} Request
 */

/**
 * Calls back in the next animation frame, once however often it was requested.
 * @param {() => void} callback
 * @returns {Request}
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

/**
 * Calls back after the next frame is on the screen: for what takes long and may follow it.
 * @param {() => void} callback
 * @returns {Request}
 */
export function afterPaint(callback) {
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
