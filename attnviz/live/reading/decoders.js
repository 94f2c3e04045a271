// @ts-check
// Pieces of a vocabulary as text, by the decoder that a tokenizer.json names.

import { bytesOf } from "./labels.js";
import { listOf, made, objectOf, stringOf } from "./parts.js";

/** @import { Json } from "./parts.js" */
/** @typedef {(pieces: string[]) => string[]} Decoder */

const encoder = new TextEncoder();
const lenient = new TextDecoder("utf-8", { ignoreBOM: true });

/** @type {Record<string, (part: Json) => Decoder>} */
const DECODERS = {
  Sequence: ({ decoders }) => {
    const steps = listOf(decoders, "decoders").map((part) => made(DECODERS, part, "decoder"));
    return (pieces) => steps.reduce((now, step) => step(now), pieces);
  },
  ByteLevel: () => (pieces) => [lenient.decode(joinedBytes(pieces))],
  ByteFallback: () => withBytes,
  Fuse: () => (pieces) => [pieces.join("")],
  Replace: ({ pattern, content }) => {
    const from = stringOf(objectOf(pattern, "Replace").String, "Replace of");
    const to = stringOf(content, "Replace by");
    return (pieces) => pieces.map((piece) => piece.replaceAll(from, () => to));
  },
  Strip: ({ content, start, stop }) => {
    const char = stringOf(content, "Strip");
    const [first, last] = [Number(start), Number(stop)];
    return (pieces) => pieces.map((piece) => strippedOf(piece, char, first, last));
  },
  WordPiece: ({ prefix, cleanup }) => {
    const sign = stringOf(prefix, "prefix");
    return (pieces) =>
      pieces.map((piece, place) => {
        const joined = piece.startsWith(sign) ? piece.slice(sign.length) : ` ${piece}`;
        const text = place === 0 ? piece : joined;
        return cleanup === true ? cleaned(text) : text;
      });
  },
};

/** The bytes of pieces in GPT-2's alphabet; one with any other letter stands for itself. */
function joinedBytes(/** @type {readonly string[]} */ pieces) {
  return Uint8Array.from(pieces.flatMap((piece) => [...(bytesOf(piece) ?? encoder.encode(piece))]));
}

/** Pieces that name bytes as the characters that these make, U+FFFD for each byte where they make none. @type {Decoder} */
function withBytes(pieces) {
  /** @type {string[]} */
  const out = [];
  /** @type {number[]} */
  let bytes = [];
  const flush = () => {
    if (!bytes.length) return;
    try {
      out.push(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes)));
    } catch {
      out.push(...bytes.map(() => "\ufffd"));
    }
    bytes = [];
  };
  for (const piece of pieces) {
    const byte = /^<0x([0-9A-Fa-f]{2})>$/.exec(piece)?.[1];
    if (byte !== undefined) bytes.push(parseInt(byte, 16));
    else {
      flush();
      out.push(piece);
    }
  }
  flush();
  return out;
}

/** A piece without at most so many of a character at its start and at its end. */
function strippedOf(
  /** @type {string} */ piece,
  /** @type {string} */ char,
  /** @type {number} */ start,
  /** @type {number} */ stop,
) {
  const chars = [...piece];
  let first = 0;
  while (first < start && chars[first] === char) first++;
  let last = 0;
  while (last < stop && chars[chars.length - 1 - last] === char) last++;
  return chars.slice(first, chars.length - last).join("");
}

/** The library's clean-up of English. */
const cleaned = (/** @type {string} */ text) =>
  [
    [" .", "."],
    [" ?", "?"],
    [" !", "!"],
    [" ,", ","],
    [" ' ", "'"],
    [" n't", "n't"],
    [" 'm", "'m"],
    [" do not", " don't"],
    [" 's", "'s"],
    [" 've", "'ve"],
    [" 're", "'re"],
  ].reduce((now, [from, to]) => now.replaceAll(from, to), text);

/** The decoder of a file, which joins pieces; those of a file without one are words. @returns {(pieces: readonly string[]) => string} */
export function decoderOf(/** @type {unknown} */ part) {
  if (!part) return (pieces) => pieces.join(" ");
  const decode = made(DECODERS, part, "decoder");
  return (pieces) => decode([...pieces]).join("");
}
