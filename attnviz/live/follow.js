// @ts-check
// Keeps the token that is looked at while the text around it changes: the tokens before and behind an edit are those that
// both texts begin and end with.

/** @import { Shown, ShownToken } from "./index.js" */
/** @import { Page } from "./state.js" */

/**
 * The position of a token in a changed text; null where it is no more, or was none.
 * @param {number | null} place
 * @param {readonly ShownToken[]} before
 * @param {readonly ShownToken[]} now
 */
export function follow(place, before, now) {
  if (place === null || place >= before.length) return null;
  const shorter = Math.min(before.length, now.length);
  let start = 0;
  while (start < shorter && isSame(before[start], now[start])) start++;
  if (place < start) return place;
  let end = 0;
  while (end < shorter - start && isSame(before[before.length - 1 - end], now[now.length - 1 - end])) end++;
  if (place >= before.length - end) return place + now.length - before.length;
  return place < now.length - end ? place : null; // the word itself was changed: its place is still that of a word
}

function isSame(/** @type {ShownToken} */ one, /** @type {ShownToken} */ other) {
  return one.label === other.label && one.special === other.special;
}

/** The selection where its tokens are now, if they moved. */
export function keptPlace(
  /** @type {Page} */ { chosen },
  /** @type {Shown | null} */ before,
  /** @type {Shown} */ now,
) {
  if (!before || before.group !== now.group) return null;
  const query = follow(chosen.query, before.queries, now.queries);
  const key = query === null ? null : follow(chosen.key, before.keys, now.keys);
  return query === chosen.query && key === chosen.key ? null : { ...chosen, query, key };
}
