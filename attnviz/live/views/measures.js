// @ts-check
// The numbers by which heads can be sorted: mirror of attnviz/metrics/measures.py.

import { byHead, countedQueries, matrixOf, meanMass, PATTERNS, patternCell, rowsWith } from "./roles.js";
import { sees, weightsOf } from "./scene.js";

/** @import { Scene } from "./scene.js" */

const SMALLEST = 2 ** -126; // what a logarithm is taken of at least
/** @type {Record<string, string>} all others are shares */
const UNITS = { entropy: "bits", distance: "tokens" };

/** A measure of a matrix of weights. @typedef {(w: Float32Array) => number} HeadNumber */

/**
 * Every measure that this text has, with its numbers [layer, head].
 * @param {Scene} scene
 */
export function measuresOf(scene) {
  const { arena, group, texts } = scene;
  const weights = weightsOf(arena, group);
  return Object.entries(measuresOfMatrix(scene)).flatMap(([name, number]) => {
    const values = byHead(group, (layer, head) => number(matrixOf(weights, group, layer, head))).flat();
    if (!values.some(Number.isFinite)) return [];
    return [{ name, label: texts.catalogue[`measure.${name}`], unit: UNITS[name] ?? "share", values }];
  });
}

/** @returns {Record<string, HeadNumber>} */
function measuresOfMatrix(/** @type {Scene} */ scene) {
  const { queries, group } = scene;
  const { m, cross } = group;
  const counted = countedQueries(queries.tokens);
  /** @type {(isCell: (query: number, key: number) => boolean) => HeadNumber} */
  const share = (isCell) => {
    const rows = rowsWith(counted, m, (query, key) => isCell(query, key) && sees(group, query, key));
    return (w) => meanMass(w, rows);
  };
  /** The mean over the counted queries of a number of each row. @type {(row: (w: Float32Array, at: number, query: number) => number) => HeadNumber} */
  const mean = (row) => (w) =>
    counted.reduce((sum, query) => sum + row(w, query * m, query), 0) / counted.length;
  const { tokens } = queries;
  return {
    ...Object.fromEntries(PATTERNS.map((name) => [name, share(patternCell(name, scene))])),
    induction: share(
      (query, key) => !cross && key > 0 && key <= query && tokens[query].id === tokens[key - 1].id,
    ),
    entropy: mean((w, at) => {
      let bits = 0;
      for (let key = 0; key < m; key++) bits -= w[at + key] * Math.log2(Math.max(w[at + key], SMALLEST));
      return bits;
    }),
    distance: mean((w, at, query) => {
      let far = cross ? NaN : 0;
      for (let key = 0; key < m; key++) far += w[at + key] * Math.abs(key - query);
      return far;
    }),
    peak: mean((w, at) => {
      let most = 0;
      for (let key = 0; key < m; key++) most = Math.max(most, w[at + key]);
      return most;
    }),
  };
}
