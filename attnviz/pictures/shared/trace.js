// @ts-check
// Writes down what is drawn on canvases. While tracing is on, `context2d` hands out contexts that draw as ever and keep
// each drawing call as a node of SVG. The context itself says its colours, its font and its transformation: nothing of
// that is modelled twice. A test holds the calls that components make against those that are traced here.

import { pixelRatio, traceWith } from "./dom.js";
import { Path, rectPath, short } from "./path.js";
import { paint, svgNode, svgLine } from "./svg_picture.js";
import { tracedImage } from "./trace_image.js";

/** @import { Attributes } from "./svg_picture.js" */
/** @import { Source } from "./trace_image.js" */

/**
 * What a canvas was drawn with since it was last cleared. `clips` are the paths that what follows is cut to; `hasPixels`
 * if single pixels were written, which no node tells.
 * @typedef {{nodes: SVGElement[], path: string, clips: Clip[], saved: Clip[][], hasPixels: boolean}} Recording
 */
/** @typedef {{d: string, transform: string | null}} Clip */
/** What each call of a context adds to a recording. @typedef {Record<string, (...args: never[]) => void>} Tracer */
/** @typedef {WeakMap<HTMLCanvasElement, Recording>} Recordings */

let clipCount = 0;

/** Keeps what is drawn on every canvas until `stop`; `background` is what a cleared part shows. */
export function startTracing(/** @type {string} */ background) {
  /** @type {Recordings} */
  const recordings = new WeakMap();
  /** @type {WeakMap<CanvasRenderingContext2D, CanvasRenderingContext2D>} */
  const traced = new WeakMap();
  let isOn = true;
  traceWith((ctx) => {
    const known = traced.get(ctx);
    if (known) return known;
    const recording = { nodes: [], path: "", clips: [], saved: [], hasPixels: false };
    recordings.set(ctx.canvas, recording);
    const proxy = tracedContext(ctx, tracerOf(ctx, recording, recordings, background), () => isOn);
    traced.set(ctx, proxy);
    return proxy;
  });
  return {
    /** The nodes of a canvas in its CSS pixels; null if it was not drawn in the meantime, or pixel by pixel. */
    nodesOf(/** @type {HTMLCanvasElement} */ canvas) {
      const recording = recordings.get(canvas);
      return recording?.nodes.length && !recording.hasPixels ? recording.nodes : null;
    },
    stop() {
      isOn = false; // a context that a component keeps no longer writes
      traceWith(null);
    },
  };
}

/** The context, with a listener to its calls as long as tracing is on. */
function tracedContext(
  /** @type {CanvasRenderingContext2D} */ ctx,
  /** @type {Tracer} */ tracer,
  /** @type {() => boolean} */ isOn,
) {
  return new Proxy(ctx, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      const trace = typeof name === "string" && Object.hasOwn(tracer, name) ? tracer[name] : null;
      return (/** @type {never[]} */ ...args) => {
        if (isOn()) trace?.(...args);
        return Reflect.apply(value, target, args);
      };
    },
    set: (target, name, value) => Reflect.set(target, name, value, target),
  });
}

/**
 * The drawing calls of a context, each of which adds to the recording.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Recording} recording
 * @param {Recordings} recordings
 * @param {string} background
 * @returns {Tracer}
 */
function tracerOf(ctx, recording, recordings, background) {
  const put = (/** @type {SVGElement} */ node) => recording.nodes.push(clipped(node, recording.clips));
  const shape = (/** @type {string} */ d, /** @type {"fill" | "stroke"} */ kind) => {
    if (d) put(svgNode("path", { d, transform: transformOf(ctx), ...look(ctx, kind) }));
  };
  const draw = (/** @type {"fill" | "stroke"} */ kind) => (/** @type {Path | undefined} */ path) =>
    shape(path instanceof Path ? path.text : recording.path, kind);
  return {
    ...pathCalls(recording),
    save: () => void recording.saved.push(recording.clips),
    restore: () => void (recording.clips = recording.saved.pop() ?? []),
    clip(/** @type {Path | undefined} */ path) {
      const d = path instanceof Path ? path.text : recording.path;
      recording.clips = [...recording.clips, { d, transform: transformOf(ctx) }];
    },
    fill: draw("fill"),
    stroke: draw("stroke"),
    fillRect: (...box) => shape(rectPath(...rectangle(box)), "fill"),
    strokeRect: (...box) => shape(rectPath(...rectangle(box)), "stroke"),
    clearRect(...box) {
      const [x, y, w, h] = rectangle(box);
      const { a, d } = ctx.getTransform();
      const isAll = x <= 0 && y <= 0 && w * a >= ctx.canvas.width && h * d >= ctx.canvas.height;
      if (isAll) Object.assign(recording, { nodes: [], clips: [], saved: [], hasPixels: false });
      else
        put(
          svgNode("path", {
            d: rectPath(x, y, w, h),
            transform: transformOf(ctx),
            ...paint("fill", background),
          }),
        );
    },
    fillText: (/** @type {string} */ text, /** @type {number} */ x, /** @type {number} */ y) =>
      void put(textNode(ctx, text, x, y)),
    strokeText(/** @type {string} */ text, /** @type {number} */ x, /** @type {number} */ y) {
      const node = textNode(ctx, text, x, y);
      node.removeAttribute("fill-opacity");
      for (const [name, value] of Object.entries(look(ctx, "stroke")))
        if (value !== null) node.setAttribute(name, String(value));
      put(node);
    },
    putImageData: () => void (recording.hasPixels = true),
    drawImage: (/** @type {Source} */ source, /** @type {number[]} */ ...place) =>
      void put(imageNode(ctx, source, place, recordings)),
  };
}

/** @returns {[number, number, number, number]} */
function rectangle(/** @type {readonly number[]} */ [x, y, w, h]) {
  return [x, y, w, h];
}

/** The calls that build the current path. @returns {Tracer} */
function pathCalls(/** @type {Recording} */ recording) {
  const add =
    (/** @type {string} */ letter) =>
    (/** @type {number[]} */ ...at) =>
      void (recording.path += letter + at.map(short).join(" "));
  return {
    beginPath: () => void (recording.path = ""),
    moveTo: add("M"),
    lineTo: add("L"),
    bezierCurveTo: add("C"),
    closePath: () => void (recording.path += "z"),
    rect: (...box) => void (recording.path += rectPath(...rectangle(box))),
    arc: (/** @type {[number, number, number, number, number]} */ ...at) =>
      void (recording.path += arcPath(recording.path, ...at)),
    roundRect: (/** @type {[number, number, number, number, number | number[]]} */ ...at) =>
      void (recording.path += roundPath(...at)),
  };
}

/**
 * An arc as path text; a whole circle is two halves.
 * @param {string} before what the path begins with
 * @param {number} x
 * @param {number} y
 * @param {number} r
 * @param {number} from
 * @param {number} to
 */
function arcPath(before, x, y, r, from, to) {
  const at = (/** @type {number} */ angle) =>
    `${short(x + r * Math.cos(angle))} ${short(y + r * Math.sin(angle))}`;
  const turn = Math.min(to - from, 2 * Math.PI);
  const piece = (/** @type {number} */ end) => `A${short(r)} ${short(r)} 0 0 1 ${at(end)}`;
  return `${before ? "L" : "M"}${at(from)}${piece(from + turn / 2)}${piece(from + turn)}`;
}

/**
 * A rectangle with round corners as path text.
 * @param {number} x
 * @param {number} y
 * @param {number} w
 * @param {number} h
 * @param {number | number[]} radii one for all corners
 */
function roundPath(x, y, w, h, radii) {
  const r = Math.min(Array.isArray(radii) ? radii[0] : radii, w / 2, h / 2);
  const corner = (/** @type {number} */ dx, /** @type {number} */ dy) =>
    `a${short(r)} ${short(r)} 0 0 1 ${short(dx)} ${short(dy)}`;
  const [wide, high] = [short(w - 2 * r), short(h - 2 * r)];
  return (
    `M${short(x + r)} ${short(y)}h${wide}${corner(r, r)}v${high}${corner(-r, r)}` +
    `h-${wide}${corner(-r, -r)}v-${high}${corner(r, -r)}z`
  );
}

/** How a path is filled or stroked now. @returns {Attributes} */
function look(/** @type {CanvasRenderingContext2D} */ ctx, /** @type {"fill" | "stroke"} */ kind) {
  const colour = kind === "fill" ? ctx.fillStyle : ctx.strokeStyle;
  const painted = paint(kind, typeof colour === "string" ? colour : "#888888", ctx.globalAlpha);
  if (kind === "fill") return painted;
  const dashes = ctx.getLineDash();
  return {
    fill: "none",
    ...painted,
    "stroke-width": ctx.lineWidth,
    "stroke-dasharray": dashes.length ? dashes.map(short).join(" ") : null,
    "stroke-linecap": ctx.lineCap === "butt" ? null : ctx.lineCap,
    "stroke-linejoin": ctx.lineJoin === "miter" ? null : ctx.lineJoin,
  };
}

/** The transformation without the pixels of the device; null for none. */
function transformOf(/** @type {CanvasRenderingContext2D} */ ctx) {
  const ratio = pixelRatio();
  const { a, b, c, d, e, f } = ctx.getTransform();
  const parts = [a, b, c, d, e, f].map((part) => part / ratio);
  const isNone = [1, 0, 0, 1, 0, 0].every((part, i) => Math.abs(parts[i] - part) < 1e-9);
  return isNone ? null : `matrix(${parts.map((part) => Number(part.toFixed(5))).join(" ")})`;
}

/** A node cut to the clips that are in force, the last one inside. */
function clipped(/** @type {SVGElement} */ node, /** @type {readonly Clip[]} */ clips) {
  return clips.reduceRight((inner, { d, transform }) => {
    const id = `clip${++clipCount}`;
    const path = svgNode("path", { d, transform });
    return svgNode(
      "g",
      { "clip-path": `url(#${id})` },
      svgNode("clipPath", { id, clipPathUnits: "userSpaceOnUse" }, path),
      inner,
    );
  }, node);
}

/**
 * A text on its baseline, wherever the context has it.
 * @param {CanvasRenderingContext2D} ctx
 * @param {string} text
 * @param {number} x
 * @param {number} y
 */
function textNode(ctx, text, x, y) {
  const { textAlign, textBaseline, direction, font, fillStyle, globalAlpha } = ctx;
  const { width, fontBoundingBoxAscent: above } = ctx.measureText(text);
  ctx.textBaseline = "alphabetic";
  const ascent = ctx.measureText(text).fontBoundingBoxAscent;
  ctx.textBaseline = textBaseline;
  const isEnd = textAlign === "right" || textAlign === "end";
  const anchor = textAlign === "center" ? "middle" : isEnd ? "end" : "start";
  const place = { x, y: y - above + ascent, width, font, anchor, direction, alpha: globalAlpha };
  const node = svgLine(text, { ...place, colour: typeof fillStyle === "string" ? fillStyle : "#888888" });
  const transform = transformOf(ctx);
  if (transform) node.setAttribute("transform", transform);
  return node;
}

/**
 * A picture on the canvas: what was drawn on another canvas as its own nodes, everything else as pixels.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Source} source
 * @param {readonly number[]} place the arguments of drawImage after the source
 * @param {Recordings} recordings
 */
function imageNode(ctx, source, place, recordings) {
  const [w, h] = [source.width, source.height];
  const whole = { x: 0, y: 0, w, h };
  const isPart = place.length === 8;
  const part = isPart ? { x: place[0], y: place[1], w: place[2], h: place[3] } : whole;
  const [x, y, wide = w, high = h] = isPart ? place.slice(4) : place;
  const recording = source instanceof HTMLCanvasElement ? recordings.get(source) : undefined;
  const isWhole = part.x === 0 && part.y === 0 && part.w === w && part.h === h;
  const node =
    recording && !recording.hasPixels && isWhole
      ? drawnAgain(recording, { x, y, w: wide, h: high }, whole, ctx.globalAlpha)
      : tracedImage(
          source,
          part,
          { x, y, w: wide, h: high },
          { isSmooth: ctx.imageSmoothingEnabled, alpha: ctx.globalAlpha },
        );
  const transform = transformOf(ctx);
  return transform ? svgNode("g", { transform }, node) : node;
}

/**
 * @param {Recording} recording
 * @param {{x: number, y: number, w: number, h: number}} box
 * @param {{w: number, h: number}} size of the canvas, in its own pixels
 * @param {number} alpha
 */
function drawnAgain(recording, box, size, alpha) {
  const ratio = pixelRatio();
  const scale = [(box.w * ratio) / size.w, (box.h * ratio) / size.h].map((part) => Number(part.toFixed(5)));
  const transform = `translate(${short(box.x)} ${short(box.y)}) scale(${scale.join(" ")})`;
  const nodes = recording.nodes.map((node) => node.cloneNode(true));
  return svgNode("g", { transform, opacity: alpha < 1 ? alpha : null }, ...nodes);
}
