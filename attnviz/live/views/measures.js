// @ts-check
// The numbers by which heads can be sorted: mirror of attnviz/metrics/measures.py.

import { byHead, countedQueries, matrixOf, meanMass, PATTERNS, patternCell, rowsWith } from "./roles.js";
import { sees, weightsOf } from "./scene.js";

/** @import { PatternRows } from "./roles.js" */
/** @import { Scene } from "./scene.js" */

/** @type {Record<string, string>} all others are shares */
const UNITS = { entropy: "bits", distance: "tokens" };

/**
 * Every measure that this text has, with its numbers [layer, head].
 * @param {Scene} scene
 */
export function measuresOf(scene) {
  const { arena, group, texts } = scene;
  const weights = weightsOf(arena, group);
  const shares = shareRows(scene);
  const counted = countedQueries(scene.queries.tokens);
  const byName = byHead(group, (layer, head) => {
    const w = matrixOf(weights, group, layer, head);
    const masses = Object.entries(shares).map(([name, rows]) => [name, meanMass(w, rows)]);
    return { ...Object.fromEntries(masses), ...rowMeans(w, counted, group) };
  }).flat();
  return Object.keys(byName[0] ?? {}).flatMap((name) => {
    const values = byName.map((numbers) => numbers[name]);
    if (!values.some(Number.isFinite)) return [];
    return [{ name, label: texts.catalogue[`measure.${name}`], unit: UNITS[name] ?? "share", values }];
  });
}

/** The cells whose mass counts for each share. @returns {Record<string, PatternRows>} */
function shareRows(/** @type {Scene} */ scene) {
  const { queries, group } = scene;
  const { tokens } = queries;
  const counted = countedQueries(tokens);
  const rows = (/** @type {(query: number, key: number) => boolean} */ isCell) =>
    rowsWith(counted, group.m, (query, key) => isCell(query, key) && sees(group, query, key));
  const afterAnEarlierCopy = (/** @type {number} */ query, /** @type {number} */ key) =>
    !group.cross && key > 0 && key <= query && tokens[query].id === tokens[key - 1].id;
  return {
    ...Object.fromEntries(PATTERNS.map((name) => [name, rows(patternCell(name, scene))])),
    induction: rows(afterAnEarlierCopy),
  };
}

/** The means over the counted queries of each row's entropy, distance and largest weight. */
function rowMeans(
  /** @type {Float32Array} */ w,
  /** @type {readonly number[]} */ counted,
  /** @type {Scene["group"]} */ { m, cross },
) {
  let [bits, far, peaks] = [0, 0, 0];
  for (const query of counted) {
    let most = 0;
    for (let key = 0, at = query * m; key < m; key++, at++) {
      const weight = w[at];
      if (weight === 0) continue;
      bits -= weight * Math.log2(weight);
      far += weight * Math.abs(key - query);
      if (weight > most) most = weight;
    }
    peaks += most;
  }
  const n = counted.length;
  return { entropy: bits / n, distance: cross ? NaN : far / n, peak: peaks / n };
}
