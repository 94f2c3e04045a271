// @ts-check
// The words that tokens make: mirror of attnviz/tokens/words.py. A word ends at white space, at a punctuation mark, and
// between two characters of a script that is written without spaces; never inside a character of several code points.

import { visible } from "./labels.js";

/** @import { LabelledToken } from "./labels.js" */
/** The tokens from `start` to before `stop`. @typedef {{text: string, start: number, stop: number, special: boolean}} TokenWord */
/** The text of some pieces, as a tokenizer's decoder joins them. @typedef {(pieces: string[]) => string} Join */

const STARTS = /^[Ġ▁]/u;
const MARKS = /^[Ġ▁]$/u;
const CONTINUES = "##";
const JOINER = "\u200d";
const REGION = /^[\u{1f1e6}-\u{1f1ff}]$/u;
const TRAILING_REGIONS = /[\u{1f1e6}-\u{1f1ff}]*$/u;
const EXTENDS = /^[\p{M}\u{1f3fb}-\u{1f3ff}\u{e0020}-\u{e007f}]$/u;
const LETTER = /^[\p{L}\p{M}\p{N}]$/u;
// the scripts without spaces, by the Unicode names of their letters: Thai, Lao, Myanmar, Khmer, kana, Chinese characters
const SPACELESS =
  /^[\u0e01-\u0edf\u1000-\u109d\u1780-\u17f9\u3041-\u3096\u309d-\u30ff\u31f0-\u31ff\u3400-\u9fff\ua9e0-\ua9fe\uaa60-\uaa7f\uf900-\ufad9\u{1aff0}-\u{1b001}\u{1b11f}-\u{1b167}\u{20000}-\u{3134a}]$/u;
// white space as Python has it: not U+FEFF, which JavaScript counts too
const SPACE = /^[\p{White_Space}\x1c-\x1f]/u;
const OUTER_SPACE = /^[\p{White_Space}\x1c-\x1f]+|[\p{White_Space}\x1c-\x1f]+$/gu;

const stripped = (/** @type {string} */ text) => text.replace(OUTER_SPACE, "");
/** True if a character can stand inside a word, beside another one; U+FFFD is some bytes of one. */
export const joins = (/** @type {string} */ char) =>
  char === "\ufffd" || (LETTER.test(char) && !SPACELESS.test(char));

/** The characters of one token; `spaced` is true if white space precedes them. @typedef {{surface: string[], spaced: boolean}} Part */

/**
 * The words of a sequence.
 * @param {readonly LabelledToken[]} tokens
 * @param {readonly string[]} characters of the text; none where the tokens are not those of a text
 * @param {Join} join
 * @returns {TokenWord[]}
 */
export function wordsOf(tokens, characters, join) {
  const parts = characters.length ? partsOfText(tokens, characters) : partsOfPieces(tokens, join);
  const starts = tokens.flatMap((_, n) => (n === 0 || begins(tokens, characters, parts, n) ? [n] : []));
  return starts.map((start, i) => wordOf(tokens, characters, join, start, starts[i + 1] ?? tokens.length));
}

/** @returns {TokenWord} */
function wordOf(
  /** @type {readonly LabelledToken[]} */ tokens,
  /** @type {readonly string[]} */ characters,
  /** @type {Join} */ join,
  /** @type {number} */ start,
  /** @type {number} */ stop,
) {
  const { special, label } = tokens[start];
  const pieces = tokens.slice(start, stop).map(({ piece }) => piece);
  if (special || (pieces.length === 1 && !stripped(join(pieces))))
    return { text: label, start, stop, special };
  const spelled = characters.length
    ? characters.slice(tokens[start].from, tokens[stop - 1].to).join("")
    : join(pieces);
  return { text: visible(stripped(spelled)) || visible(pieces.join("")), start, stop, special: false };
}

/** From the characters of the text; the bytes of one character share its place. @returns {Part[]} */
function partsOfText(
  /** @type {readonly LabelledToken[]} */ tokens,
  /** @type {readonly string[]} */ characters,
) {
  let before = 0;
  return tokens.map(({ from, to }) => {
    const surface = characters.slice(from, to).join("");
    const spaced = from > before || SPACE.test(surface);
    before = to;
    return { surface: [...stripped(surface)], spaced };
  });
}

/** From the vocabulary's signs; without signs each piece is a word. @returns {Part[]} */
function partsOfPieces(/** @type {readonly LabelledToken[]} */ tokens, /** @type {Join} */ join) {
  const isMarked = tokens.some(({ piece }) => STARTS.test(piece));
  return tokens.map(({ piece }) => {
    const text = stripped(join([piece]));
    return {
      surface: [...(text.startsWith(CONTINUES) ? text.slice(CONTINUES.length) : text)],
      spaced: isMarked ? STARTS.test(piece) : !piece.startsWith(CONTINUES),
    };
  });
}

/** True if a token begins a word. */
function begins(
  /** @type {readonly LabelledToken[]} */ tokens,
  /** @type {readonly string[]} */ characters,
  /** @type {readonly Part[]} */ parts,
  /** @type {number} */ n,
) {
  const isText = characters.length > 0;
  const isOutside = (/** @type {LabelledToken} */ token) =>
    isText && token.from === 0 && token.to === 0 && !MARKS.test(token.piece);
  const [token, before] = [tokens[n], tokens[n - 1]];
  if (token.special || before.special || parts[n].spaced || isOutside(token) || isOutside(before))
    return true;
  if (isText && token.from < before.to) return false; // two bytes of one character
  const [last, first] = [parts[n - 1].surface.at(-1), parts[n].surface[0]];
  if (!last || !first) return false;
  if (last === JOINER || first === JOINER || EXTENDS.test(first)) return false;
  if (REGION.test(last) && REGION.test(first)) {
    const soFar = isText ? characters.slice(0, before.to) : parts[n - 1].surface;
    const regions = soFar.join("").match(TRAILING_REGIONS)?.[0] ?? "";
    if ([...regions].length % 2 === 1) return false;
  }
  return !(joins(last) && joins(first));
}
