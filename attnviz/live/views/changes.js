// @ts-check
// Heads that are off, in the text form of attnviz.changes ("L1.H2.mixed=mean", "decoder.cross.L0.H1.weights=even"), and what
// the engine does instead; other heads drawn at random, as the library draws them, for a control.

import { Refusal } from "../refusal.js";
import { PythonRandom } from "./random.js";

/** @import { LoadedModel } from "../loading.js" */
/** @import { HeadChange } from "../engine/arena.js" */
/** @import { Attention } from "../engine/families.js" */
/** @import { Changes } from "../engine/passes.js" */
/** @import { Off } from "../index.js" */

/** A head of a model: the name of its attention and its place. @typedef {{group: string, layer: number, head: number}} HeadSite */
/** @typedef {HeadSite & {to: Off}} OffHead */

const MOST_CHARACTERS = 6000; // as in attnviz/pictures/switches
const MOST_SWITCHES = 256;
const ALL_ON = "none";
/** @type {Record<string, Off>} */
const KINDS = { "mixed=mean": "mean", "mixed=zero": "zero", "weights=even": "even" };
const WRITTEN = { mean: "mixed=mean", zero: "mixed=zero", even: "weights=even" };

/** @type {Changes} */
export const NO_CHANGES = () => undefined;

/** What stands before L0.H0 in the names of an attention's heads. */
export function prefixOf(/** @type {string} */ group) {
  const [stack, kind] = group.split("_");
  if (kind === undefined) return "";
  return `${stack}.${kind === "cross" ? "cross." : ""}`;
}

/** The name of a head, and its change. */
export const headName = (/** @type {HeadSite} */ { group, layer, head }) =>
  `${prefixOf(group)}L${layer}.H${head}`;
export const changeText = (/** @type {OffHead} */ off) => `${headName(off)}.${WRITTEN[off.to]}`;

/** The heads that a text names, each once; refuses one that the model does not have. @returns {OffHead[]} */
export function parseOff(/** @type {string} */ text, /** @type {readonly Attention[]} */ attentions) {
  if (!text || text === ALL_ON) return [];
  const entries = text.slice(0, MOST_CHARACTERS + 1).split(",");
  if (text.length > MOST_CHARACTERS || entries.length > MOST_SWITCHES)
    throw new Refusal("changes", { found: `${text.slice(0, 40)}…` });
  const sites = new Map(headsOf(attentions).map((site) => [headName(site), site]));
  const heads = entries.map((entry) => {
    const end = entry.lastIndexOf(".");
    const [site, change] = [sites.get(entry.slice(0, end)), entry.slice(end + 1)];
    if (!site || !Object.hasOwn(KINDS, change)) throw new Refusal("changes", { found: entry.slice(0, 40) });
    return { ...site, to: KINDS[change] };
  });
  return [...new Map(heads.map((off) => [headName(off), off])).values()];
}

/** What the engine does with some heads off. @returns {Changes} */
export function changesOf(/** @type {readonly OffHead[]} */ off, /** @type {LoadedModel} */ loaded) {
  if (!off.length) return NO_CHANGES;
  /** @type {Map<string, HeadChange>} */
  const changes = new Map(off.map((head) => [headName(head), changeOf(head, loaded)]));
  return (prefix, layer) => (head) => changes.get(`${prefix}L${layer}.H${head}`);
}

/** @returns {HeadChange} */
function changeOf(/** @type {OffHead} */ { group, layer, head, to }, /** @type {LoadedModel} */ { means }) {
  if (to === "even") return "even";
  if (to === "zero") return { mixed: null };
  if (!means?.has(group))
    throw new Refusal("changes", { found: `${headName({ group, layer, head })}.mixed=mean` });
  const [, heads, width] = means.get(group).shape;
  const at = (layer * heads + head) * width;
  return { mixed: means.floats(group).subarray(at, at + width) };
}

/** Every head of a model, attention by attention. @returns {HeadSite[]} */
export const headsOf = (/** @type {readonly Attention[]} */ attentions) =>
  attentions.flatMap(({ name: group, layers, heads }) =>
    Array.from({ length: layers * heads }, (_, n) => ({
      group,
      layer: Math.floor(n / heads),
      head: n % heads,
    })),
  );

/**
 * The same changes made to other heads of the same attention, drawn at random; none where too few are left.
 * @param {readonly OffHead[]} off
 * @param {readonly Attention[]} attentions
 * @param {number} draws
 * @returns {OffHead[][]}
 */
export function drawnHeads(off, attentions, draws) {
  const used = new Set(off.map(headName));
  const free = headsOf(attentions).filter((site) => !used.has(headName(site)));
  const random = new PythonRandom(0);
  /** @type {Map<string, OffHead[]>} */
  const sets = new Map();
  for (let n = 0; n < draws; n++) {
    const drawn = drawOne(off, free, random);
    if (!drawn) return [];
    sets.set(drawn.map(headName).join(), drawn);
  }
  return [...sets.values()];
}

/** @returns {OffHead[] | null} */
function drawOne(
  /** @type {readonly OffHead[]} */ off,
  /** @type {readonly HeadSite[]} */ sites,
  /** @type {PythonRandom} */ random,
) {
  const free = [...sites];
  const drawn = [];
  for (const { group, to } of off) {
    const fitting = free.filter((site) => site.group === group);
    if (!fitting.length) return null;
    const site = random.choice(fitting);
    free.splice(free.indexOf(site), 1);
    drawn.push({ ...site, to });
  }
  return drawn;
}
