// @ts-check
// Tokenizers read from their tokenizer.json, with the place of every token in the text, as the library `tokenizers` has
// them. Known are the parts that BERT's, GPT-2's and our own files name; a file with anything else is refused, never guessed.
//
// A text is carried as characters with their places: {char, from, to}, counted in code points as Python counts them.

import { decoderOf } from "./decoders.js";
import { LETTERS, labelOf } from "./labels.js";
import { demand, listOf, made, objectOf, regexOf, stringOf, unknownPart } from "./parts.js";

/** @import { LabelledToken, TextToken } from "./labels.js" */
/** @import { Json } from "./parts.js" */
/** @typedef {{char: string, from: number, to: number}} Char */
/** @typedef {(chars: Char[]) => Char[]} Normalizer */
/** `isFirst` is true for the part with which the text begins. @typedef {(chars: Char[], isFirst: boolean) => Char[][]} Splitter */
/** @typedef {{id: number, from: number, to: number}} Found */
/** @typedef {(word: Char[]) => Found[]} WordModel */

// --- characters -------------------------------------------------------------------------------------------------------

const MARK = /^\p{M}$/u;
const NONSPACING = /^\p{Mn}$/u;
const CONTROL = /^[\p{Cc}\p{Cf}\p{Cn}\p{Co}]$/u;
const LINE_SPACE = /^[\t\n\r]$/;
const SPACE = /^\p{White_Space}$/u;
const PUNCTUATION = /^[!-/:-@[-`{-~\p{P}]$/u;
const CHINESE =
  /^[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{2a6df}\u{2a700}-\u{2b81f}\u{2b920}-\u{2ceaf}\u{2f800}-\u{2fa1f}]$/u;
const HANGUL_PART = /^[\u1160-\u11ff]$/u;

const charsOf = (/** @type {string} */ text) =>
  [...text].map((char, place) => ({ char, from: place, to: place + 1 }));
const textOf = (/** @type {readonly Char[]} */ chars) => chars.map(({ char }) => char).join("");
/** Another text in the place of a character. */
const replaced = (/** @type {Char} */ place, /** @type {string} */ text) =>
  [...text].map((char) => ({ ...place, char }));

// --- normalizers ------------------------------------------------------------------------------------------------------

/** Composes or decomposes; what meets in one composition keeps the places of its first parts. @returns {Normalizer} */
function unicode(/** @type {"NFC" | "NFD" | "NFKC" | "NFKD"} */ form) {
  return (chars) => {
    const out = [];
    for (let start = 0; start < chars.length;) {
      let stop = start + 1;
      while (stop < chars.length && (MARK.test(chars[stop].char) || HANGUL_PART.test(chars[stop].char)))
        stop++;
      out.push(...normalCluster(chars.slice(start, stop), form));
      start = stop;
    }
    return out;
  };
}

/** @returns {Char[]} */
function normalCluster(/** @type {Char[]} */ cluster, /** @type {string} */ form) {
  const normal = [...textOf(cluster).normalize(form)];
  if (normal.length === cluster.length && normal.every((char, k) => char === cluster[k].char)) return cluster;
  if (form.endsWith("D")) return cluster.flatMap((place) => replaced(place, place.char.normalize(form)));
  return normal.map((char, k) => ({ ...cluster[Math.min(k, cluster.length - 1)], char }));
}

/** @type {Normalizer} */
const withoutAccents = (chars) => chars.filter(({ char }) => !NONSPACING.test(char));
/** Character by character: a Σ at the end of a word becomes σ, as in Rust. @type {Normalizer} */
const lowerCase = (chars) => chars.flatMap((place) => replaced(place, place.char.toLowerCase()));

/** @type {Normalizer} */
const bertCleaned = (chars) =>
  chars.flatMap((place) => {
    const { char } = place;
    const isSpace = LINE_SPACE.test(char) || SPACE.test(char);
    if (char === "\0" || char === "\ufffd" || (CONTROL.test(char) && !LINE_SPACE.test(char))) return [];
    return [isSpace ? { ...place, char: " " } : place];
  });
/** @type {Normalizer} */
const chineseApart = (chars) =>
  chars.flatMap((place) =>
    CHINESE.test(place.char) ? [{ ...place, char: " " }, place, { ...place, char: " " }] : [place],
  );

/** @type {(steps: Normalizer[]) => Normalizer} */
const oneAfterAnother = (steps) => (chars) => steps.reduce((now, step) => step(now), chars);

/** @type {Record<string, (part: Json) => Normalizer>} */
const NORMALIZERS = {
  Sequence: ({ normalizers }) =>
    oneAfterAnother(listOf(normalizers, "normalizers").map((part) => made(NORMALIZERS, part, "normalizer"))),
  NFC: () => unicode("NFC"),
  NFD: () => unicode("NFD"),
  NFKC: () => unicode("NFKC"),
  NFKD: () => unicode("NFKD"),
  StripAccents: () => withoutAccents,
  Lowercase: () => lowerCase,
  Replace: ({ pattern, content }) => {
    const from = stringOf(objectOf(pattern, "Replace").String, "Replace of");
    const to = stringOf(content, "Replace by");
    if ([...from].length !== 1) throw unknownPart(`Replace of ${from}`);
    return (chars) => chars.flatMap((place) => (place.char === from ? replaced(place, to) : [place]));
  },
  BertNormalizer: (part) => {
    const strips = part.strip_accents ?? part.lowercase;
    return oneAfterAnother([
      ...(part.clean_text ? [bertCleaned] : []),
      ...(part.handle_chinese_chars ? [chineseApart] : []),
      ...(strips ? [unicode("NFD"), withoutAccents] : []),
      ...(part.lowercase ? [lowerCase] : []),
    ]);
  },
};

// --- splitters --------------------------------------------------------------------------------------------------------

const GPT2 = String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`;

/**
 * The matches of a regular expression, and what lies between them if that is kept.
 * @param {Char[]} chars
 * @param {RegExp} regex
 * @param {boolean} keepsBetween
 */
function split(chars, regex, keepsBetween) {
  /** @type {Map<number, number>} the character that begins at each code unit */
  const places = new Map();
  let unit = 0;
  chars.forEach(({ char }, place) => {
    places.set(unit, place);
    unit += char.length;
  });
  places.set(unit, chars.length);
  const parts = [];
  let end = 0;
  for (const match of textOf(chars).matchAll(regex)) {
    const from = places.get(match.index) ?? chars.length;
    const to = places.get(match.index + match[0].length) ?? chars.length;
    if (keepsBetween && from > end) parts.push(chars.slice(end, from));
    if (to > from) parts.push(chars.slice(from, to));
    end = to;
  }
  if (keepsBetween && end < chars.length) parts.push(chars.slice(end));
  return parts;
}

/** Words between white space, punctuation marks alone. @type {Splitter} */
const bertWords = (chars) => {
  /** @type {Char[][]} */
  const words = [];
  let isOpen = false;
  for (const place of chars) {
    if (SPACE.test(place.char)) isOpen = false;
    else if (PUNCTUATION.test(place.char)) {
      words.push([place]);
      isOpen = false;
    } else if (isOpen) words[words.length - 1].push(place);
    else {
      words.push([place]);
      isOpen = true;
    }
  }
  return words;
};

/** @type {Record<string, (part: Json) => Splitter>} */
const SPLITTERS = {
  Sequence: ({ pretokenizers }) => {
    const steps = listOf(pretokenizers, "pretokenizers").map((part) =>
      made(SPLITTERS, part, "pre_tokenizer"),
    );
    return (chars, isFirst) =>
      steps.reduce((now, step) => now.flatMap((part) => step(part, isFirst)), [chars]);
  },
  BertPreTokenizer: () => bertWords,
  ByteLevel: (part) => {
    demand(part, { add_prefix_space: [false], use_regex: [true, undefined] });
    const regex = regexOf(GPT2);
    return (chars) => split(chars, regex, true);
  },
  Metaspace: (part) => {
    demand(part, { prepend_scheme: ["first"], split: [true] });
    const sign = stringOf(part.replacement, "Metaspace");
    return (chars, isFirst) => metaspaceWords(chars, isFirst, sign);
  },
  Split: (part) => {
    demand(part, { behavior: ["Isolated", "Removed"] });
    const regex = regexOf(stringOf(objectOf(part.pattern, "Split").Regex, "Split by"));
    if (part.behavior === "Removed" && part.invert !== true)
      throw unknownPart("Split that removes its matches");
    if (part.behavior === "Isolated" && part.invert === true)
      throw unknownPart("Split that isolates inverted");
    return (chars) => split(chars, regex, part.behavior === "Isolated");
  },
};

/** The words that a sign for a space begins; the first part of the text gets one. */
function metaspaceWords(
  /** @type {Char[]} */ chars,
  /** @type {boolean} */ isFirst,
  /** @type {string} */ sign,
) {
  const marked = chars.map((place) => (place.char === " " ? { ...place, char: sign } : place));
  if (isFirst && marked[0].char !== sign) marked.unshift({ ...marked[0], char: sign });
  /** @type {Char[][]} */
  const words = [];
  for (const place of marked) {
    if (place.char === sign || !words.length) words.push([place]);
    else words[words.length - 1].push(place);
  }
  return words;
}

// --- models of words --------------------------------------------------------------------------------------------------

const encoder = new TextEncoder();

/** The vocabulary of a file. */
class Vocabulary {
  constructor(/** @type {unknown} */ vocab, /** @type {readonly AddedToken[]} */ added) {
    const entries = Object.entries(objectOf(vocab, "vocab"));
    this.ids = new Map(entries.map(([piece, id]) => [piece, Number(id)]));
    for (const { id, content } of added) this.ids.set(content, id);
    this.pieces = new Map([...this.ids].map(([piece, id]) => [id, piece]));
  }

  id(/** @type {string} */ piece) {
    return this.ids.get(piece);
  }

  /** @returns {number} */
  known(/** @type {unknown} */ piece) {
    const id = typeof piece === "string" ? this.id(piece) : undefined;
    if (id === undefined) throw unknownPart(`the token ${JSON.stringify(piece)}, which its vocabulary lacks`);
    return id;
  }
}

/** The longest pieces from left to right. @returns {WordModel} */
function wordPiece(/** @type {Json} */ part, /** @type {Vocabulary} */ vocabulary) {
  const unknown = vocabulary.known(part.unk_token);
  const sign = stringOf(part.continuing_subword_prefix, "continuing_subword_prefix");
  const most = Number(part.max_input_chars_per_word ?? 100);
  return (word) => {
    const whole = [{ id: unknown, from: word[0].from, to: word[word.length - 1].to }];
    if (word.length > most) return whole;
    const found = [];
    for (let start = 0; start < word.length;) {
      let stop = word.length;
      let id;
      while (
        stop > start &&
        (id = vocabulary.id((start ? sign : "") + textOf(word.slice(start, stop)))) === undefined
      )
        stop--;
      if (id === undefined) return whole;
      found.push({ id, from: word[start].from, to: word[stop - 1].to });
      start = stop;
    }
    return found;
  };
}

/** The merges of a file as ranks of "left right". */
function ranksOf(/** @type {unknown} */ merges) {
  return new Map(
    listOf(merges, "merges").map((pair, rank) => [Array.isArray(pair) ? pair.join(" ") : String(pair), rank]),
  );
}

/** Joins the neighbours that were merged first, until none are left. */
function merged(/** @type {Char[]} */ word, /** @type {Map<string, number>} */ ranks) {
  const parts = word.map((place) => ({ ...place }));
  for (;;) {
    let [best, at] = [Infinity, -1];
    for (let i = 0; i + 1 < parts.length; i++) {
      const rank = ranks.get(`${parts[i].char} ${parts[i + 1].char}`);
      if (rank !== undefined && rank < best) [best, at] = [rank, i];
    }
    if (at < 0) return parts;
    const [left, right] = parts.splice(at, 2);
    parts.splice(at, 0, { char: left.char + right.char, from: left.from, to: right.to });
  }
}

const byteName = (/** @type {number} */ byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`;

/** Byte-pair encoding. @returns {WordModel} */
function bytePairs(
  /** @type {Json} */ part,
  /** @type {Vocabulary} */ vocabulary,
  /** @type {boolean} */ isByteLevel,
) {
  demand(part, {
    dropout: [null, undefined, 0],
    continuing_subword_prefix: [null, undefined, ""],
    end_of_word_suffix: [null, undefined, ""],
    fuse_unk: [false, undefined],
  });
  const ranks = ranksOf(part.merges);
  const unknown = part.unk_token === null ? null : vocabulary.known(part.unk_token);
  const asLetters = (/** @type {Char} */ place) =>
    [...encoder.encode(place.char)].map((byte) => ({ ...place, char: LETTERS[byte] }));
  /** @type {(part: Char) => Found[]} */
  const found = ({ char, from, to }) => {
    const id = vocabulary.id(char);
    if (id !== undefined) return [{ id, from, to }];
    const bytes = [...encoder.encode(char)].map((byte) => vocabulary.id(byteName(byte)));
    if (part.byte_fallback === true && !bytes.includes(undefined))
      return bytes.map((byte) => ({ id: /** @type {number} */ (byte), from, to }));
    return unknown === null ? [] : [{ id: unknown, from, to }];
  };
  return (word) => {
    const letters = isByteLevel ? word.flatMap(asLetters) : word;
    const id = part.ignore_merges === true ? vocabulary.id(textOf(letters)) : undefined;
    if (id !== undefined) return [{ id, from: letters[0].from, to: letters[letters.length - 1].to }];
    return merged(letters, ranks).flatMap(found);
  };
}

// --- tokens that are always whole, and the template -------------------------------------------------------------------

/** @typedef {{id: number, content: string, special: boolean}} AddedToken */

/** @returns {AddedToken[]} */
function addedTokens(/** @type {Json} */ json) {
  return listOf(json.added_tokens ?? [], "added_tokens").map((entry) => {
    const token = objectOf(entry, "added_tokens");
    demand({ ...token, type: "an added token" }, { single_word: [false], lstrip: [false], rstrip: [false] });
    if (token.normalized !== false && json.normalizer) throw unknownPart("an added token that is normalized");
    return {
      id: Number(token.id),
      content: stringOf(token.content, "added_tokens"),
      special: token.special === true,
    };
  });
}

/** What stands around a text: ids of special tokens, or null for the text. @returns {(number | null)[]} */
function templateOf(/** @type {Json} */ json, /** @type {Vocabulary} */ vocabulary) {
  if (!json.post_processor) return [null];
  const post = objectOf(json.post_processor, "post_processor");
  if (post.type === "ByteLevel") return [null];
  if (post.type === "BertProcessing") {
    const [sep, cls] = [listOf(post.sep, "sep"), listOf(post.cls, "cls")];
    return [vocabulary.known(cls[0]), null, vocabulary.known(sep[0])];
  }
  demand({ ...post, name: post.type, type: "post_processor" }, { name: ["TemplateProcessing"] });
  const specials = objectOf(post.special_tokens, "special_tokens");
  return listOf(post.single, "single").flatMap((entry) => {
    const part = objectOf(entry, "single");
    if ("Sequence" in part) return [null];
    const { id } = objectOf(part.SpecialToken, "SpecialToken");
    return listOf(objectOf(specials[String(id)], "special_tokens").ids, "ids").map(Number);
  });
}

// --- the tokenizer ----------------------------------------------------------------------------------------------------

export class Tokenizer {
  /** @param {unknown} file the JSON of a tokenizer.json */
  constructor(file) {
    const json = objectOf(file, "tokenizer.json");
    const model = objectOf(json.model, "model");
    const added = addedTokens(json);
    this.added = new Map(added.map(({ id, content }) => [content, id]));
    this.vocabulary = new Vocabulary(model.vocab, added);
    this.specials = new Set(added.flatMap(({ id, special }) => (special ? [id] : [])));
    this.unknown = typeof model.unk_token === "string" ? this.vocabulary.known(model.unk_token) : null;
    this.normalize = json.normalizer
      ? made(NORMALIZERS, json.normalizer, "normalizer")
      : (/** @type {Char[]} */ chars) => chars;
    this.split = made(SPLITTERS, json.pre_tokenizer, "pre_tokenizer");
    this.isByteLevel = objectOf(json.pre_tokenizer, "pre_tokenizer").type === "ByteLevel";
    this.model = this.modelOf(model);
    this.template = templateOf(json, this.vocabulary);
    this.trim = trimOf(json.post_processor);
    this.join = decoderOf(json.decoder);
    const escaped = added.map(({ content }) => content.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    this.literal = escaped.length ? new RegExp(escaped.join("|"), "gu") : null;
  }

  /** @returns {WordModel} */
  modelOf(/** @type {Json} */ model) {
    if (model.type === "WordPiece") return wordPiece(model, this.vocabulary);
    if (model.type === "BPE") return bytePairs(model, this.vocabulary, this.isByteLevel);
    throw unknownPart(`model: ${model.type}`);
  }

  /**
   * The tokens of a text, with the special ones around it.
   * @param {string} text
   * @returns {LabelledToken[]}
   */
  encode(text) {
    const characters = [...text];
    const found = this.find(text);
    return this.template.flatMap((id) =>
      id === null
        ? found.map((token) => this.labelled({ ...token, special: false }, characters))
        : [this.labelled({ id, from: 0, to: 0, special: true }, characters)],
    );
  }

  /** Tokens whose text is not known, such as those that a model wrote. @returns {LabelledToken[]} */
  ofIds(/** @type {readonly number[]} */ ids) {
    return ids.map((id) => this.labelled({ id, from: 0, to: 0, special: this.specials.has(id) }, []));
  }

  /** @returns {LabelledToken} */
  labelled(/** @type {Omit<TextToken, "piece">} */ token, /** @type {readonly string[]} */ characters) {
    const whole = { ...token, piece: this.piece(token.id), written: false };
    return { ...whole, label: labelOf(whole, characters, this.unknown) };
  }

  /** The vocabulary's entry; an id that it does not know stands in brackets. */
  piece(/** @type {number} */ id) {
    return this.vocabulary.pieces.get(id) || `[${id}]`;
  }

  /** The text of some tokens without the special ones. */
  textOf(/** @type {readonly number[]} */ ids) {
    return this.join(ids.filter((id) => !this.specials.has(id)).map((id) => this.piece(id)));
  }

  /** @returns {Found[]} */
  find(/** @type {string} */ text) {
    const chars = charsOf(text);
    /** @type {Found[]} */
    const found = [];
    let rest = 0;
    for (const match of this.literal ? text.matchAll(this.literal) : []) {
      const from = [...text.slice(0, match.index)].length;
      const to = from + [...match[0]].length;
      found.push(...this.findBetween(chars.slice(rest, from)));
      found.push({ id: /** @type {number} */ (this.added.get(match[0])), from, to });
      rest = to;
    }
    found.push(...this.findBetween(chars.slice(rest)));
    const { trim } = this;
    return trim ? found.map((token) => trim(token, this.piece(token.id))) : found;
  }

  /** @returns {Found[]} */
  findBetween(/** @type {Char[]} */ chars) {
    if (!chars.length) return [];
    const normal = this.normalize(chars);
    if (!normal.length) return [];
    return this.split(normal, chars[0].from === 0).flatMap((word) => this.model(word));
  }
}

/**
 * What GPT-2's post-processor takes from the places of tokens: the spaces at the ends of their pieces.
 * @returns {((token: Found, piece: string) => Found) | null}
 */
function trimOf(/** @type {unknown} */ part) {
  const { type, trim_offsets: trims, add_prefix_space: isPrefixed } = objectOf(part ?? {}, "post_processor");
  if (type !== "ByteLevel" || trims !== true) return null;
  return ({ id, from, to }, piece) => {
    const leading = [...(/^[Ġ\p{White_Space}]*/u.exec(piece)?.[0] ?? "")].length;
    const trailing = [...(/[Ġ\p{White_Space}]*$/u.exec(piece)?.[0] ?? "")].length;
    const first = Math.min(from + Math.max(0, leading - (from === 0 && isPrefixed ? 1 : 0)), to);
    return { id, from: leading ? first : from, to: to >= trailing ? Math.max(to - trailing, first) : to };
  };
}
