// @ts-check
// The notes above the heatmaps of Compare: what was put side by side, what has no counterpart, what was joined or rounded.

import { READS } from "../shared/axes.js";
import { el, fillNodes, foreign } from "../shared/dom.js";
import { fill, listSign } from "../shared/fmt.js";

/** @import { Header, Slot } from "./types.js" */

const MAX_NAMED = 8;

/** The notes as one element; null where there is nothing to say. */
export function makeNotes(/** @type {Header} */ header, /** @type {boolean} */ approximate) {
  const { strings } = header;
  const lines = [
    { template: strings.replaced, names: namesOf(header, replacedName) },
    { template: strings.only_a, names: namesOf(header, ([x, y], tokensA) => (y < 0 ? tokensA[x] : null)) },
    { template: strings.only_b, names: namesOf(header, ([x, y], _, tokensB) => (x < 0 ? tokensB[y] : null)) },
  ];
  const notes = lines
    .filter(({ names }) => names.length)
    .map(({ template, names }) => fillNodes(template, { list: nameList(header, names) }));
  if (header.a.rows.some((row) => row.includes(READS))) notes.push([strings.arrows]);
  if (header.merged) notes.push([strings.merged]);
  if (approximate) notes.push([strings.approximate]);
  if (!notes.length) return null;
  return el(
    "div",
    { class: "av-pair-notes" },
    ...notes.map((note) => el("p", { class: "av-note" }, ...note)),
  );
}

/** The name of a slot whose tokens differ; null for others. */
function replacedName(
  /** @type {Slot} */ [x, y, same],
  /** @type {string[]} */ tokensA,
  /** @type {string[]} */ tokensB,
) {
  return x >= 0 && y >= 0 && !same ? `${tokensA[x]} → ${tokensB[y]}` : null;
}

/**
 * The names of slots of both axes; where keys are the queries, of one.
 * @param {Header} header
 * @param {(slot: Slot, tokensA: string[], tokensB: string[]) => string | null} nameOf
 */
function namesOf({ rows, cols, cross, a, b }, nameOf) {
  const names = rows.map((slot) => nameOf(slot, a.tokens, b.tokens));
  const keyNames = cross ? cols.map((slot) => nameOf(slot, a.key_tokens, b.key_tokens)) : [];
  return [...names, ...keyNames].filter((name) => name !== null);
}

/** The first names, each once with its count. */
function nameList(/** @type {Header} */ { strings }, /** @type {string[]} */ names) {
  const counts = [...new Map(names.map((name) => [name, names.filter((other) => other === name).length]))];
  const pieces = counts.slice(0, MAX_NAMED).flatMap(([name, count], i) => {
    const times = count > 1 ? [`\u2009×\u2009${count}`] : [];
    return [...(i ? [listSign()] : []), foreign(name), ...times];
  });
  const rest = counts.length - MAX_NAMED;
  return el("span", {}, ...pieces, rest > 0 ? ` ${fill(strings.and_more, { count: rest })}` : null);
}
