// @ts-check
// The small drawings: a share on −1 to 1, eigenvalues in their plane, weights by distance, a composition beside chance.

import { fmtFixed } from "../shared/fmt.js";
import { svg, svgText } from "../shared/svg.js";

/** @import { Arrays, CircuitShare, ComposedPair, Header } from "./types.js" */

const HEIGHT = 22;
const PAD = 6;
const PLANE_PX = 140;
const NAME_PX = 12; // the height of a name
const BARS = { width: 380, height: 102, bottom: 32, axis: 14 };
const COMPOSED_PX = 180;

/**
 * A share read from the embedding (a square) and through MLP 0 (a disc), NaN for none, and the range of shuffled words.
 * @param {number} width
 * @param {number} embedding
 * @param {number} mlp0
 * @param {[number, number]} [shuffled]
 */
export function shareStrip(width, embedding, mlp0, shuffled) {
  const x = (/** @type {number} */ share) => PAD + ((width - 2 * PAD) * (share + 1)) / 2;
  const middle = HEIGHT / 2;
  const drawing = svg(
    "svg",
    { class: "av-weights-strip", width, height: HEIGHT, "aria-hidden": "true" },
    svg("line", { class: "av-weights-line", x1: x(-1), x2: x(1), y1: middle, y2: middle }),
    ...[-1, 0, 1].map((at) =>
      svg("line", { class: "av-weights-line", x1: x(at), x2: x(at), y1: middle - 4, y2: middle + 4 }),
    ),
  );
  if (shuffled) {
    const [low, high] = shuffled.map(x);
    drawing.append(
      svg("rect", { class: "av-weights-chance", x: low, y: 3, width: high - low, height: HEIGHT - 6 }),
    );
  }
  if (Number.isFinite(embedding))
    drawing.append(
      svg("rect", { class: "av-weights-embedding", x: x(embedding) - 4, y: middle - 4, width: 8, height: 8 }),
    );
  if (Number.isFinite(mlp0))
    drawing.append(svg("circle", { class: "av-weights-mlp0", cx: x(mlp0), cy: middle, r: 4.5 }));
  return drawing;
}

/** The eigenvalues λ of a circuit, to the right those that copy, and the largest |λ|, at the edge of the drawing. */
export function plane(/** @type {CircuitShare} */ { real, imaginary, share }) {
  const most = Math.max(1e-12, ...real.map((part, at) => Math.hypot(part, imaginary[at])));
  const middle = PLANE_PX / 2;
  const at = (/** @type {number} */ part) => middle + ((middle - PAD - NAME_PX) * part) / most;
  const line = (/** @type {Record<string, number>} */ ends) =>
    svg("line", { class: "av-weights-line", ...ends });
  const drawing = svg(
    "svg",
    {
      class: "av-weights-plane",
      width: PLANE_PX,
      height: PLANE_PX,
      role: "img",
      "aria-label": `Re λ, Im λ; Σλ/Σ|λ| ${fmtFixed(share, 2)}`,
    },
    line({ x1: at(-most), x2: at(most), y1: middle, y2: middle }),
    line({ x1: middle, x2: middle, y1: at(-most), y2: at(most) }),
    svgText("av-weights-axis", "Im λ ↑", 0, NAME_PX), // the corners are free: all values lie in a circle
    svgText("av-weights-axis av-weights-end", "Re λ →", PLANE_PX, PLANE_PX - PAD),
    ...real.map((part, number) =>
      svg("circle", { class: "av-weights-value", cx: at(part), cy: at(-imaginary[number]), r: 2.5 }),
    ),
  );
  return { drawing, most };
}

/** The mean weight by distance beside attention spread evenly. */
export function distanceBars(
  /** @type {Header} */ { distances, strings },
  /** @type {Arrays} */ { weights, even },
) {
  const n = distances.length;
  const step = (BARS.width - 2 * PAD) / n;
  const most = Math.max(1e-9, ...Array.from(weights.data), ...Array.from(even.data));
  const y = (/** @type {number} */ weight) =>
    BARS.height - BARS.bottom - ((BARS.height - BARS.bottom - 12) * weight) / most;
  const x = (/** @type {number} */ at) => PAD + at * step;
  return svg(
    "svg",
    {
      class: "av-weights-bars",
      viewBox: `0 0 ${BARS.width} ${BARS.height}`,
      role: "img",
      "aria-label": strings.distance,
    },
    ...distances.flatMap((distance, at) => [
      svg("rect", {
        class: "av-weights-bar",
        x: x(at) + step * 0.15,
        width: step * 0.7,
        y: y(weights.data[at]),
        height: BARS.height - BARS.bottom - y(weights.data[at]),
      }),
      svg("line", {
        class: "av-weights-even",
        x1: x(at),
        x2: x(at) + step,
        y1: y(even.data[at]),
        y2: y(even.data[at]),
      }),
      ...(distance % 5 && distance !== 1
        ? []
        : [
            svgText(
              "av-weights-tick",
              String(distance).replace("-", "\u2212"),
              x(at) + step / 2,
              BARS.height - BARS.axis - 4,
            ),
          ]),
    ]),
    svgText("av-weights-most", fmtFixed(most, 2), PAD, 10),
    svgText("av-weights-tick", strings.distance_axis, BARS.width / 2, BARS.height - 3),
  );
}

/** A composition as a dot beside the range that random rotations give, and the median of all pairs of the two layers. */
export function composedStrip(
  /** @type {ComposedPair} */ { value, low, high, median },
  /** @type {number} */ most,
) {
  const x = (/** @type {number} */ part) => PAD + ((COMPOSED_PX - 2 * PAD) * part) / most;
  const middle = HEIGHT / 2;
  return svg(
    "svg",
    { class: "av-weights-strip", width: COMPOSED_PX, height: HEIGHT, "aria-hidden": "true" },
    svg("line", { class: "av-weights-line", x1: x(0), x2: x(most), y1: middle, y2: middle }),
    svg("rect", {
      class: "av-weights-chance",
      x: x(low),
      y: 3,
      width: Math.max(1, x(high) - x(low)),
      height: HEIGHT - 6,
    }),
    svg("line", { class: "av-weights-median", x1: x(median), x2: x(median), y1: 3, y2: HEIGHT - 3 }),
    svg("circle", { class: "av-weights-mlp0", cx: x(value), cy: middle, r: 4.5 }),
  );
}
