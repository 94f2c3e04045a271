// @ts-check
// Readable labels of tokens: mirror of attnviz/tokens/labels.py and of `LoadedModel.tokens`. Characters are code points, as
// Python counts them.

/** A token of a text: `from` and `to` are its place in code points, both 0 where it has none.
 * @typedef {{id: number, piece: string, from: number, to: number, special: boolean}} TextToken
 */
/** @typedef {TextToken & {label: string, written: boolean}} LabelledToken */

/** @type {Record<string, string>} */
const SIGNS = { "\n": "↵", "\t": "⇥", " ": "␣" };
const HARMLESS = /[\u200d\ufe0f]/u; // joins the parts of an emoji, chooses its coloured form
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Zs}]/u;
const ASCII = /^[\0-\x7f]*$/;
const STARTS = /^[Ġ▁]/u;
const CONTINUATION = "##";

/** A text with every character spelled out that is invisible or could mislead a reader. */
export function visible(/** @type {string} */ text) {
  return [...text].map(visibleCharacter).join("");
}

function visibleCharacter(/** @type {string} */ char) {
  if (Object.hasOwn(SIGNS, char)) return SIGNS[char];
  if (!HIDDEN.test(char) || HARMLESS.test(char)) return char;
  const code = /** @type {number} */ (char.codePointAt(0)).toString(16).toUpperCase();
  return `⟨U+${code.padStart(4, "0")}⟩`;
}

/** GPT-2's letter for each byte: printable bytes are themselves, the others follow from 256 on. */
export const LETTERS = (() => {
  const isItself = (/** @type {number} */ byte) =>
    (byte >= 33 && byte <= 126) || (byte >= 161 && byte !== 173);
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(isItself(byte) ? byte : next++));
})();
const BYTES = new Map(LETTERS.map((letter, byte) => [letter, byte]));

/** The bytes of a piece in GPT-2's alphabet; null if a letter is none of it. */
export function bytesOf(/** @type {string} */ piece) {
  const bytes = [...piece].map((letter) => BYTES.get(letter));
  return bytes.includes(undefined) ? null : Uint8Array.from(/** @type {number[]} */ (bytes));
}

/** The text of a piece in GPT-2's alphabet; "" if it has no whole characters. */
function textOfBytes(/** @type {string} */ piece) {
  const bytes = ASCII.test(piece) ? null : bytesOf(piece);
  if (!bytes) return "";
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return ASCII.test(text) ? "" : text;
  } catch {
    return "";
  }
}

/** The text of a piece that begins a word or stands for bytes; "" for any other. */
function textOfPiece(/** @type {string} */ piece) {
  const word = piece.slice(1);
  if (STARTS.test(piece) && ASCII.test(word)) return word;
  return textOfBytes(piece).replace(/^ /, "");
}

/**
 * The label of a token: the characters that it stands for, without the space before a word.
 * @param {TextToken} token
 * @param {readonly string[]} characters of the text
 * @param {number | null} unknown the id of the unknown token
 */
export function labelOf({ id, piece, from, to, special }, characters, unknown) {
  const surface = characters.slice(from, to).join("");
  const word = special ? "" : surface ? surface.replace(/^ /, "") || surface : textOfPiece(piece);
  if (!word) return visible(piece);
  if (id === unknown) return `${piece.replace(/\]$/, "")}: ${visible(word)}]`;
  return (piece.startsWith(CONTINUATION) ? CONTINUATION : "") + visible(word);
}

/** The labels of entries of the vocabulary; two that would look alike show their space. */
export function labelsOfPieces(
  /** @type {readonly {id: number, piece: string}[]} */ entries,
  unknown = /** @type {number | null} */ (null),
) {
  const labels = entries.map((entry) => labelOf({ ...entry, from: 0, to: 0, special: false }, [], unknown));
  const counts = new Map();
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  return labels.map((label, place) =>
    counts.get(label) > 1 && STARTS.test(entries[place].piece) ? `␣${label}` : label,
  );
}
