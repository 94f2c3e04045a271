// @ts-check
// The seven stops of a number: their signs, the stages of each. A stop is named by its first stage, as are the scenes of
// the film and the steps of the arithmetic.

/** @import { FilmStage } from "./film_scenes.js" */
/** @import { Stage } from "./types.js" */

/** The mask's sign is a word. @type {readonly {name: FilmStage, sign: string, stages: readonly Stage[]}[]} */
export const STOPS = [
  { name: "q", sign: "x → q, k, v", stages: ["q", "k", "v", "x", "unrotated_q", "unrotated_k"] },
  { name: "scores", sign: "q · k", stages: ["scores"] },
  { name: "scaled", sign: "÷ √d_k", stages: ["scaled", "capped", "biased"] },
  { name: "masked", sign: "", stages: ["masked"] },
  { name: "weights", sign: "softmax", stages: ["weights"] },
  { name: "mixed", sign: "· V", stages: ["mixed"] },
  { name: "projected", sign: "· W_O", stages: ["projected", "concat"] },
];
const CIRCLED = "①②③④⑤⑥⑦";

/** The number of a stop as a sign, "" where a stage is none. */
export function circled(/** @type {Stage} */ stage) {
  return CIRCLED[STOPS.findIndex(({ name }) => name === stage)] ?? "";
}

/** The stop of a name from an address; null where there is none. @returns {FilmStage | null} */
export function stopNamed(/** @type {string | null} */ name) {
  return STOPS.find((stop) => stop.name === name)?.name ?? null;
}
