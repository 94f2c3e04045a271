// @ts-check
// The scenes of the film in their order, what each says, and how far each has come at a moment.

import { el, fillNodes } from "../shared/dom.js";
import { fill, fmtFixed, headName } from "../shared/fmt.js";

/** @import { Scene } from "../shared/scenes.js" */
/** @import { Header } from "./types.js" */

/** @type {readonly Scene<SceneName>[]} */
export const SCENES = [
  { name: "sentence", ms: 3200 },
  { name: "asks", ms: 4200 },
  { name: "heads", ms: 5600 },
  { name: "head", ms: 6000 },
  { name: "arcs", ms: 5000 },
  { name: "change", ms: 6500 },
  { name: "yours", ms: 1500 },
];
/** @typedef {"sentence" | "asks" | "heads" | "head" | "arcs" | "change" | "yours"} SceneName */

/** The scenes that have a still, for visitors who want no motion. @type {readonly SceneName[]} */
export const STILLS = ["asks", "heads", "head", "arcs", "change"];
const DECIMALS = 2;

/** A weight as the film prints it. */
export function printedWeight(/** @type {number} */ weight) {
  return fmtFixed(weight, DECIMALS);
}

/** The sentence of a scene, its words and numbers set off. */
export function captionOf(/** @type {Header} */ header, /** @type {SceneName} */ name) {
  const {
    strings,
    tokens,
    first,
    second,
    query,
    key,
    rival,
    special_key: special,
    changed,
    changed_to: word,
  } = header;
  const token = (/** @type {string} */ role, /** @type {string} */ label) =>
    el("b", { class: `film-token ${role}`, dir: "auto" }, label);
  const number = (/** @type {number} */ weight) => el("b", { class: "av-number" }, printedWeight(weight));
  const count = { n_heads: header.n_layers * header.n_heads };
  const nodes = fillNodes(fill(strings[name], count), {
    query: token("query", tokens[query]),
    key: token("key", tokens[key]),
    rival: token("rival", tokens[rival]),
    old: token("changed", tokens[changed]),
    new: token("changed", word),
    head: el("b", {}, headName(header.layer, header.head)),
    weight: number(first.key.weight),
    others: number(first.key.others),
    weight_then: number(second.key.weight),
    others_then: number(second.key.others),
    rival_weight: number(first.rival.weight),
    rival_then: number(second.rival.weight),
    rival_others: number(second.rival.others),
    special: token("", tokens[special]),
    special_weight: number(first.special.weight),
    special_then: number(second.special.weight),
  });
  // a word that stands twice in a sentence is two nodes
  return nodes.map((node) => (node instanceof Node ? node.cloneNode(true) : node));
}
