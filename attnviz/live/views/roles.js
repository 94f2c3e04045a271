// @ts-check
// What each head does most, in words: mirror of attnviz/metrics/patterns.py and roles.py, and of the sentences of
// attnviz/pictures/group/heads.py.

import { fill, local } from "../../pictures/shared/fmt.js";
import { fixed, general } from "./numbers.js";
import { sees, weightsOf } from "./scene.js";

/** @import { Group } from "../engine/passes.js" */
/** @import { LabelledToken } from "../reading/labels.js" */
/** @import { Scene } from "./scene.js" */

/** @typedef {"previous" | "next" | "self" | "first" | "separator" | "same"} Pattern */
/** The pattern that holds most of a head's mass; `key` where it is a token, or the one with most mass.
 * @typedef {{role: Pattern | "token" | "spread", fraction: number, baseline: number, key?: number, rest?: HeadRole, rows?: [number, number]}} HeadRole
 */
/** The cells of a pattern in the rows that have any. @typedef {{query: number, cells: number[]}[]} PatternRows */
/**
 * What chance gives, among all keys or among words only: `even` is each query's share of a key that it sees.
 * @typedef {{patterns: {name: Pattern, rows: PatternRows, chance: number, coverage: number}[], even: Float64Array,
 *   chance: number, among: boolean[] | null, seen: (query: number, key: number) => boolean, m: number,
 *   counted: number[]}} Table
 */

/** @type {readonly Pattern[]} */
export const PATTERNS = ["previous", "next", "self", "first", "separator", "same"];
/** @type {readonly string[]} */
const RESTING = ["first", "separator"];
const OFFSETS = { previous: -1, next: 1, self: 0 };
// as in attnviz/metrics/roles.py
const MIN_FRACTION = 0.3;
const MIN_RATIO = 2;
const MIN_COVERAGE = 0.25;
const MOST = 0.5;

/** The queries that count: words or, in a text without any, all. */
export function countedQueries(/** @type {readonly LabelledToken[]} */ tokens) {
  const words = tokens.flatMap(({ special }, query) => (special ? [] : [query]));
  return words.length ? words : tokens.map((_, query) => query);
}

/**
 * Whether a key belongs to a pattern, for a query.
 * @param {Pattern} pattern
 * @param {Scene} scene
 * @returns {(query: number, key: number) => boolean}
 */
export function patternCell(pattern, { queries, keys, group: { cross } }) {
  const [own, others] = [queries.tokens, keys.tokens];
  if (pattern === "first") return (_, key) => key === 0;
  if (pattern === "separator") return (_, key) => others[key].special && key > 0;
  if (pattern === "same") return (query, key) => own[query].id === others[key].id && (cross || query !== key);
  if (cross) return () => false;
  const offset = OFFSETS[pattern];
  return (query, key) => key - query === offset;
}

/** The cells that belong to something, in the rows that have any. @returns {PatternRows} */
export function rowsWith(
  /** @type {number[]} */ counted,
  /** @type {number} */ m,
  /** @type {(query: number, key: number) => boolean} */ isCell,
) {
  return counted
    .map((query) => {
      const cells = [];
      for (let key = 0; key < m; key++) if (isCell(query, key)) cells.push(query * m + key);
      return { query, cells };
    })
    .filter(({ cells }) => cells.length);
}

/** @returns {Table} */
function tableOf(/** @type {Scene} */ scene, /** @type {boolean[] | null} */ among) {
  const { group } = scene;
  const { n, m } = group;
  const counted = countedQueries(scene.queries.tokens);
  const seen = (/** @type {number} */ query, /** @type {number} */ key) =>
    sees(group, query, key) && (!among || among[key]);
  const even = new Float64Array(n);
  for (let query = 0; query < n; query++) {
    let count = 0;
    for (let key = 0; key < m; key++) if (seen(query, key)) count++;
    even[query] = 1 / Math.max(count, 1);
  }
  const patterns = PATTERNS.map((name) => {
    const isOfPattern = patternCell(name, scene);
    const rows = rowsWith(counted, m, (query, key) => isOfPattern(query, key) && seen(query, key));
    const chance = rows.reduce((sum, { query, cells }) => sum + cells.length * even[query], 0) / rows.length;
    return { name, rows, chance, coverage: rows.length / Math.max(counted.length, 1) };
  });
  const chance = counted.reduce((sum, query) => sum + even[query], 0) / counted.length;
  return { patterns, even, chance, among, seen, m, counted };
}

/** The mean over some rows of each row's mass on their cells. */
export function meanMass(
  /** @type {Float32Array} */ w,
  /** @type {PatternRows} */ rows,
  /** @type {Float64Array | null} */ factor = null,
) {
  let sum = 0;
  for (const { query, cells } of rows) {
    let mass = 0;
    for (const cell of cells) mass += w[cell];
    sum += factor ? mass * factor[query] : mass;
  }
  return sum / rows.length;
}

/** 1 ÷ each row's mass on some keys, so that this mass counts as the whole. */
function massFactor(/** @type {Float32Array} */ w, /** @type {Table} */ { among, m, even }) {
  const factor = new Float64Array(even.length).fill(1);
  if (!among) return factor;
  for (let query = 0, at = 0; query < factor.length; query++) {
    let mass = 0;
    for (let key = 0; key < m; key++, at++) if (among[key]) mass += w[at];
    factor[query] = mass > 0 ? 1 / mass : 0;
  }
  return factor;
}

/** @returns {HeadRole} */
function roleOf(/** @type {Float32Array} */ w, /** @type {Table} */ table, /** @type {boolean[]} */ allowed) {
  const factor = massFactor(w, table);
  /** @type {HeadRole | null} */
  let best = null;
  for (const { name, rows, chance, coverage } of table.patterns) {
    if (coverage < MIN_COVERAGE) continue;
    const fraction = meanMass(w, rows, factor);
    if (!(fraction >= MIN_FRACTION && fraction >= MIN_RATIO * chance)) continue;
    if (!best || fraction > best.fraction) best = { role: name, fraction, baseline: chance };
  }
  const column = columnOf(w, table, factor, allowed);
  if (column && !(best && best.fraction >= column.fraction)) return column;
  return best ?? spreadOf(w, table, factor);
}

/** The mean of the largest weight of a row, and the key with most mass. @returns {HeadRole} */
function spreadOf(
  /** @type {Float32Array} */ w,
  /** @type {Table} */ { among, m, counted, chance },
  /** @type {Float64Array} */ factor,
) {
  const columns = new Float64Array(m);
  let peaks = 0;
  for (const query of counted) {
    let most = 0;
    for (let key = 0, at = query * m; key < m; key++, at++) {
      columns[key] += w[at];
      if ((!among || among[key]) && w[at] > most) most = w[at];
    }
    peaks += most * factor[query];
  }
  const mass = Array.from(columns, (sum, key) => (!among || among[key] ? sum : -1));
  const key = mass.indexOf(Math.max(...mass));
  return { role: "spread", fraction: peaks / counted.length, baseline: chance, key };
}

/** The word that all words attend to most, where most of them do so clearly. @returns {HeadRole | null} */
function columnOf(
  /** @type {Float32Array} */ w,
  /** @type {Table} */ { even, seen, m, counted },
  /** @type {Float64Array} */ factor,
  /** @type {boolean[]} */ allowed,
) {
  const shares = new Float64Array(m);
  for (const query of counted)
    for (let key = 0, at = query * m; key < m; key++, at++) shares[key] += w[at] * factor[query];
  let key = -1;
  for (let other = 0; other < m; other++)
    if (allowed[other] && (key < 0 || shares[other] > shares[key])) key = other;
  const seeing = key < 0 ? [] : counted.filter((query) => seen(query, key));
  if (!seeing.length || seeing.length < MIN_COVERAGE * counted.length) return null;
  let [sum, chance, clear] = [0, 0, 0];
  for (const query of seeing) {
    const share = w[query * m + key] * factor[query];
    sum += share;
    chance += even[query];
    if (share >= MIN_RATIO * even[query]) clear++;
  }
  const fraction = sum / seeing.length;
  if (clear / seeing.length <= MOST || fraction < MIN_FRACTION) return null;
  return { role: "token", fraction, baseline: chance / seeing.length, key, rows: [clear, seeing.length] };
}

/** The role of every head, by layer. @returns {HeadRole[][]} */
export function rolesOf(/** @type {Scene} */ scene) {
  const { group, arena, keys } = scene;
  const words = keys.tokens.map(({ special }) => !special);
  const allowed = words.map((isWord, key) => isWord && (group.cross || key > 0));
  const whole = tableOf(scene, null);
  const rest = words.includes(true) ? tableOf(scene, words) : null;
  const weights = weightsOf(arena, group);
  return byHead(group, (layer, head) => {
    const w = matrixOf(weights, group, layer, head);
    const role = roleOf(w, whole, allowed);
    return rest && RESTING.includes(role.role) ? { ...role, rest: roleOf(w, rest, allowed) } : role;
  });
}

/** One matrix of all weights. */
export function matrixOf(
  /** @type {Float32Array} */ weights,
  /** @type {Group} */ { heads, n, m },
  /** @type {number} */ layer,
  /** @type {number} */ head,
) {
  const at = (layer * heads + head) * n * m;
  return weights.subarray(at, at + n * m);
}

/** @type {<Made>(group: Group, make: (layer: number, head: number) => Made) => Made[][]} */
export const byHead = ({ layers, heads }, make) =>
  Array.from({ length: layers }, (_, layer) => Array.from({ length: heads }, (_, head) => make(layer, head)));

/** Whole percents; of less than one, its first digit. */
const percent = (/** @type {number} */ share) =>
  share >= 0.01 ? fixed(100 * share, 0) : local(general(100 * share, 1));

/** A sentence on what a head does most; a share is one `of` all its attention, or of that to words. @returns {string} */
export function sentenceOf(
  /** @type {Record<string, string>} */ catalogue,
  /** @type {HeadRole} */ { role, fraction, baseline, key, rest, rows },
  /** @type {readonly LabelledToken[]} */ keys,
  /** @type {"all" | "words"} */ of = "all",
) {
  const most = fill(catalogue[`role.${role}`], {
    percent: fixed(100 * fraction, 0),
    share: catalogue[`role.share_${of}`],
    chance: percent(baseline),
    ...(rows && key !== undefined ? { token: keys[key].label, clear: rows[0], rows: rows[1] } : {}),
  });
  if (!rest || rest.role === "spread") return most;
  const among = sentenceOf(catalogue, rest, keys, "words");
  return fill(catalogue["role.with_rest"], { sentence: most, rest: among });
}
