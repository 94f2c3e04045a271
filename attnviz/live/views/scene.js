// @ts-check
// What the pictures of one request are made from: a pass, the attention that is looked at, its tokens, the texts.

/** @import { Arena } from "../engine/arena.js" */
/** @import { Group, Pass } from "../engine/passes.js" */
/** @import { LabelledToken } from "../reading/labels.js" */
/** @import { Tokenizer } from "../reading/tokenizer.js" */
/** @import { Texts } from "../index.js" */

/** The tokens along one axis; `characters` are those of their text, none where it is not known.
 * @typedef {{tokens: LabelledToken[], characters: string[]}} TokenAxis
 */
/** A picture whose patches are the tokens from the second one on. @typedef {{across: number, side: number, rgb: Uint8Array}} SeenPicture */
/**
 * @typedef {{arena: Arena, pass: Pass, group: Group, queries: TokenAxis, keys: TokenAxis, title: string, name: string,
 *   texts: Texts, tokenizer: Tokenizer | null, picture: SeenPicture | null}} Scene
 */

/** True if a query may attend to a key. */
export function sees(
  /** @type {Group} */ { causal },
  /** @type {number} */ query,
  /** @type {number} */ key,
) {
  return !causal || key <= query;
}

/** All weights of a group, to be read before the next pass. */
export function weightsOf(/** @type {Arena} */ arena, /** @type {Group} */ group) {
  return arena.view(group.weights);
}
