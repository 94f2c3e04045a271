// @ts-check
// Attention on arrows, as attnviz.attention.formula computes it: pure functions on plain numbers. A test compares them
// with the library's on random cases.

/** A point of the plane, or an arrow to it from the origin. @typedef {[x: number, y: number]} Vector */
/** A key, and the value behind it. @typedef {{key: Vector, value: Vector}} Answer */

const DEGREES = 180 / Math.PI;
const DIMENSIONS = 2;
export const SCALING = 1 / Math.sqrt(DIMENSIONS);

/** The dot product of two lists of numbers. */
export function dot(/** @type {ArrayLike<number>} */ a, /** @type {ArrayLike<number>} */ b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

/**
 * The softmax of scores; a blocked one counts as −∞. All weights are 0 where nothing may be attended to.
 * @param {readonly number[]} scores
 * @param {ArrayLike<number>} [may] 0 for a blocked key
 */
export function softmax(scores, may) {
  const masked = scores.map((score, key) => (may && !may[key] ? -Infinity : score));
  const peak = Math.max(...masked);
  if (peak === -Infinity) return masked.map(() => 0);
  const powers = masked.map((score) => Math.exp(score - peak));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / total);
}

/**
 * One row of attention: the scaled scores q·k/√d, their softmax, and the values' average with these weights.
 * @param {ArrayLike<number>} query
 * @param {readonly ArrayLike<number>[]} keys
 * @param {readonly ArrayLike<number>[]} values
 */
export function attend(query, keys, values) {
  const scaled = keys.map((key) => dot(query, key) / Math.sqrt(query.length));
  const weights = softmax(scaled);
  const output = Array.from(values[0], (_, axis) =>
    values.reduce((sum, value, key) => sum + weights[key] * value[axis], 0),
  );
  return { scaled, weights, output };
}

/** Attention of the arrows of the lab. */
export function attendArrows(/** @type {Vector} */ query, /** @type {readonly Answer[]} */ answers) {
  const row = attend(
    query,
    answers.map(({ key }) => key),
    answers.map(({ value }) => value),
  );
  return { ...row, output: /** @type {Vector} */ (row.output) };
}

/** The angle between two arrows in degrees, 0 to 180; NaN for an arrow without length. */
export function angleBetween(/** @type {Vector} */ a, /** @type {Vector} */ b) {
  const lengths = Math.hypot(...a) * Math.hypot(...b);
  return lengths > 0 ? DEGREES * Math.acos(Math.max(-1, Math.min(1, dot(a, b) / lengths))) : NaN;
}

/** An arrow turned counter-clockwise. @returns {Vector} */
export function turned(/** @type {Vector} */ [x, y], /** @type {number} */ radians) {
  const [cos, sin] = [Math.cos(radians), Math.sin(radians)];
  return [x * cos - y * sin, x * sin + y * cos];
}

/** The sinusoidal position: the sine and the cosine of each angle times the position, one pair after the other. */
export function sinusoids(/** @type {number} */ position, /** @type {readonly number[]} */ angles) {
  return angles.flatMap((angle) => [Math.sin(position * angle), Math.cos(position * angle)]);
}

/** The mean over pairs of cos(distance · angle): the score of alike arrows that far apart, relative to distance 0. */
export function likeness(/** @type {number} */ distance, /** @type {readonly number[]} */ angles) {
  return angles.reduce((sum, angle) => sum + Math.cos(distance * angle), 0) / angles.length;
}

/** Half the sum of the differences of two rows of weights: the share that lies elsewhere. */
export function elsewhere(/** @type {ArrayLike<number>} */ a, /** @type {ArrayLike<number>} */ b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += Math.abs(a[i] - b[i]);
  return sum / 2;
}

/** The arrows of a text "x,y/kx,ky,vx,vy/…", which Python has checked. */
export function readVectors(/** @type {string} */ text) {
  const [query, ...answers] = text.split("/").map((part) => part.split(",").map(Number));
  return {
    query: /** @type {Vector} */ ([query[0], query[1]]),
    answers: answers.map(([kx, ky, vx, vy]) => /** @type {Answer} */ ({ key: [kx, ky], value: [vx, vy] })),
  };
}

/** The text of `readVectors`. */
export function writeVectors(/** @type {Vector} */ query, /** @type {readonly Answer[]} */ answers) {
  const print = (/** @type {number} */ value) => String(Math.round(100 * value) / 100 + 0);
  const parts = [query, ...answers.map(({ key, value }) => [...key, ...value])];
  return parts.map((part) => part.map(print).join()).join("/");
}
