// @ts-check
// The paths of a circuit: read out of the buffer once, the strongest first, and which of them are drawn.

/** @import { PackedArray } from "../shared/buffer.js" */
/** @import { HeadPath, Side } from "../shared/head_paths.js" */
/** @import { Header } from "./types.js" */

/** @type {readonly Side[]} */
export const SIDES = ["q", "k", "v"];
const FIRST = 8; // as many arrows are drawn before anyone moves the threshold
const FIRST_OF_HEAD = 4; // as many of a chosen head, however little they move
export const MAX_DRAWN = 150;
const READABLE_Z = 10; // standard deviations above random rotations

/**
 * `chance` is what a change as large moves in a random direction, NaN where there is no such number; `isChance` is true
 * for a path that is not told from that.
 * @typedef {HeadPath & {chance: number, isChance: boolean}} Path
 */
/** @typedef {{drawn: Path[], total: number, least: number}} Shown */

/** Every path that exists, the strongest first. @returns {Path[]} */
export function readPaths(
  /** @type {Header} */ header,
  /** @type {PackedArray} */ { data },
  /** @type {PackedArray | undefined} */ byChance = undefined,
  /** @type {PackedArray | undefined} */ reach = undefined,
) {
  const names = header.columns.flatMap(({ heads }) => heads.map(({ name }) => name));
  /** @type {Path[]} */
  const paths = [];
  for (let i = 0, at = 0; i < names.length; i++)
    for (let j = 0; j < names.length; j++)
      for (const side of SIDES) {
        const [moved, chance, far] = [data[at], byChance?.data[at] ?? NaN, reach?.data[at] ?? NaN];
        at++;
        const [sender, receiver] = [names[i], names[j]];
        const id = `${sender}-${receiver}.${side}`;
        if (moved > 0) paths.push({ id, sender, receiver, side, moved, chance, isChance: moved <= far });
      }
  return paths.sort((a, b) => b.moved - a.moved);
}

/** What the weights alone say could be read, in the chosen sides; `moved` is its z. @returns {Path[]} */
export function readablePaths(
  /** @type {Header} */ header,
  /** @type {PackedArray | undefined} */ composed,
  /** @type {string} */ sides,
) {
  if (!composed) return [];
  return readPaths(header, composed).filter(({ side, moved }) => sides.includes(side) && moved > READABLE_Z);
}

/**
 * The paths to draw: those into the chosen sides, of one head where one is chosen, that move enough, and more than chance
 * unless that is wanted too.
 * @param {readonly Path[]} paths
 * @param {{sides: string, least: number | null, head: string | null, chance: boolean}} choice
 * @returns {Shown}
 */
export function shownPaths(paths, { sides, least, head, chance }) {
  const among = paths.filter(({ side, isChance }) => sides.includes(side) && (chance || !isChance));
  const fitting = among.filter(({ sender, receiver }) => !head || sender === head || receiver === head);
  const first = leastOfFirst(
    among.filter(({ isChance }) => !isChance),
    FIRST,
  );
  const limit = least ?? (head ? Math.min(first, leastOfFirst(fitting, FIRST_OF_HEAD)) : first);
  const enough = fitting.filter(({ moved }) => moved >= limit);
  return { drawn: enough.slice(0, MAX_DRAWN), total: enough.length, least: limit };
}

/** The strongest path into or out of each head, by its name. @returns {Record<string, Path>} */
export function strongestPaths(/** @type {readonly Path[]} */ paths, /** @type {string} */ sides) {
  /** @type {Record<string, Path>} */
  const strongest = {};
  for (const path of paths)
    if (sides.includes(path.side)) for (const head of [path.sender, path.receiver]) strongest[head] ??= path;
  return strongest;
}

/** What the last of the first `count` paths moves. */
function leastOfFirst(/** @type {readonly Path[]} */ paths, /** @type {number} */ count) {
  const last = paths[Math.min(count, paths.length) - 1];
  return last ? Math.floor(1000 * last.moved) / 1000 : 0;
}
