// @ts-check
// A film as a list of scenes, each of some milliseconds. In: a moment. Out: the scene, and how far it has come.

/** @template {string} Name @typedef {{name: Name, ms: number}} Scene */
/** `at` counts the scenes, `part` goes from 0 to 1 inside of one. @typedef {{at: number, part: number}} Moment */

/** How long all scenes take. */
export function lengthOf(/** @type {readonly Scene<string>[]} */ scenes) {
  return scenes.reduce((sum, { ms }) => sum + ms, 0);
}

/** The moment when a scene begins. */
export function startOf(/** @type {readonly Scene<string>[]} */ scenes, /** @type {number} */ at) {
  return lengthOf(scenes.slice(0, at));
}

/**
 * The scene of a moment; the end belongs to the last one.
 * @param {readonly Scene<string>[]} scenes
 * @param {number} time
 * @returns {Moment}
 */
export function momentOf(scenes, time) {
  let before = 0;
  for (let at = 0; at < scenes.length; at++) {
    const { ms } = scenes[at];
    if (time < before + ms || at === scenes.length - 1) return { at, part: clamp((time - before) / ms) };
    before += ms;
  }
  return { at: 0, part: 0 };
}

/**
 * A function that says how far a scene has come at a moment, slow at both ends: 0 before it, 1 after it. A film may leave
 * out scenes of a longer list, `all`: such a scene is over once a later one of that list has begun.
 * @template {string} Name
 * @param {readonly Scene<Name>[]} scenes
 * @param {number} time
 * @param {readonly Scene<Name>[]} [all]
 * @returns {(name: Name, from?: number, to?: number) => number}
 */
export function progressAt(scenes, time, all = scenes) {
  const { at, part } = momentOf(scenes, time);
  const placeIn = (/** @type {readonly Scene<Name>[]} */ list, /** @type {Name} */ name) =>
    list.findIndex((scene) => scene.name === name);
  return (name, from = 0, to = 1) => {
    const place = placeIn(scenes, name);
    if (place < 0) return Number(placeIn(all, name) < placeIn(all, scenes[at].name));
    return at === place ? eased(part, from, to) : Number(at > place);
  };
}

/** A number between 0 and 1. */
export function clamp(/** @type {number} */ value) {
  return Math.max(0, Math.min(1, value));
}

/** Slow at both ends: 0 to 1 while `part` goes from `from` to `to`. */
export function eased(/** @type {number} */ part, from = 0, to = 1) {
  const p = clamp((part - from) / (to - from));
  return p * p * (3 - 2 * p);
}

/** The number between two others. */
export function between(/** @type {number} */ a, /** @type {number} */ b, /** @type {number} */ part) {
  return a + (b - a) * part;
}
