// @ts-check
// A text as it grows, with what each token was drawn from, for the canvas Writing: mirror of `ranked` in
// attnviz/experiment/outputs/next_token.py and of `Draws` in attnviz/pictures/writing.

import { fill, local } from "../../pictures/shared/fmt.js";
import { labelsOfPieces } from "../reading/labels.js";
import { distribution } from "./bars.js";
import { headsView } from "./heads.js";
import { general, largest } from "./numbers.js";
import { floats, pack } from "./packing.js";

/** @import { Arena } from "../engine/arena.js" */
/** @import { Pass } from "../engine/passes.js" */
/** @import { Sampling } from "../index.js" */
/** @import { Tokenizer } from "../reading/tokenizer.js" */
/** @import { PackableArray } from "./packing.js" */
/** @import { Scene } from "./scene.js" */

/** The likeliest tokens after one position; the last slot has the token that follows, where it is none of them.
 * @typedef {{ids: number[], before: number[], after: number[], cut: number[], drawn: number, rank: number,
 *   others: [before: number, after: number], left: number}} Row
 */

const SHOWN = 12;
const MOST_POSITIONS = 200;
const NONE = -1;
const EMPTY = 2 ** 16 - 1;
const NO_SLOT = 2 ** 8 - 1;

/**
 * @param {Scene} scene
 * @param {string[][]} sentences
 * @param {Pass["logits"]} logits
 * @param {readonly number[]} ids that the stack that writes has read
 * @param {Sampling} sampling
 */
export function writingBytes(scene, sentences, logits, ids, sampling) {
  const { arena, texts, tokenizer } = scene;
  if (!logits || !tokenizer) return null;
  const first = Math.max(0, ids.length - MOST_POSITIONS);
  const scores = logits(first);
  const rows = Array.from({ length: scores.rows }, (_, row) =>
    rowOf(scoresAt(arena, scores, row), ids[first + row + 1] ?? NONE, sampling),
  );
  const { header, arrays } = headsView(scene, sentences, { small: true });
  const labels = rows.map((row) => labelsOf(tokenizer, row.ids));
  const vocabulary = [...new Set(labels.flat())].filter(Boolean).sort(byCodePoints);
  const draws = {
    first,
    n_vocabulary: scores.cols,
    sampled: sampling.temperature !== 0,
    sampling: samplingSentence(texts.catalogue, sampling),
    vocabulary,
  };
  return pack(
    { strings: texts.strings.writing, ...header, draws, compact: false },
    { ...arrays, ...drawsArrays(rows, labels, vocabulary) },
  );
}

/** The logits of one row. */
const scoresAt = (
  /** @type {Arena} */ arena,
  /** @type {{at: number, cols: number}} */ { at, cols },
  /** @type {number} */ row,
) => arena.view({ at: at + row * cols * 4, rows: 1, cols });

/** As Python sorts texts. */
function byCodePoints(/** @type {string} */ a, /** @type {string} */ b) {
  const [own, other] = [[...a], [...b]];
  const at = own.findIndex((char, place) => char !== other[place]);
  if (at < 0) return own.length - other.length;
  return (own[at].codePointAt(0) ?? 0) - (other[at]?.codePointAt(0) ?? -1);
}

/** @returns {Row} */
function rowOf(
  /** @type {Float32Array} */ logits,
  /** @type {number} */ following,
  /** @type {Sampling} */ sampling,
) {
  const { before, after, cut } = distribution(logits, sampling);
  const top = largest(before, Math.min(SHOWN, logits.length));
  const isKnown = following !== NONE;
  const among = top.indexOf(following);
  const ids = [...top, isKnown && among < 0 ? following : NONE];
  const taken = (/** @type {ArrayLike<number>} */ values) => ids.map((id) => (id === NONE ? 0 : values[id]));
  const listed = new Set(ids);
  const others = (/** @type {Float64Array} */ values) =>
    values.reduce((sum, value, id) => (listed.has(id) ? sum : sum + value), 0);
  return {
    ids,
    before: taken(before),
    after: taken(after),
    cut: taken(cut),
    drawn: among >= 0 ? among : isKnown ? top.length : NONE,
    rank: isKnown ? 1 + before.filter((chance) => chance > before[following]).length : NONE,
    others: [others(before), others(after)],
    left: after.filter((chance) => chance > 0).length,
  };
}

/** The labels of tokens, "" in an empty slot. */
function labelsOf(/** @type {Tokenizer} */ tokenizer, /** @type {readonly number[]} */ ids) {
  const known = ids.filter((id) => id !== NONE);
  const entries = known.map((id) => ({ id, piece: tokenizer.piece(id) }));
  const labels = new Map(
    labelsOfPieces(entries, tokenizer.unknown).map((label, place) => [known[place], label]),
  );
  return ids.map((id) => labels.get(id) ?? "");
}

/** @returns {Record<string, PackableArray>} */
function drawsArrays(
  /** @type {readonly Row[]} */ rows,
  /** @type {readonly string[][]} */ labels,
  /** @type {readonly string[]} */ vocabulary,
) {
  const n = rows.length;
  const slots = rows[0]?.ids.length ?? 0;
  const places = new Map(vocabulary.map((label, place) => [label, place]));
  const all = (/** @type {(row: Row) => number[]} */ of) => Float32Array.from(rows.flatMap(of));
  return {
    "draws.before": floats(
      [n, slots],
      all(({ before }) => before),
    ),
    "draws.after": floats(
      [n, slots],
      all(({ after }) => after),
    ),
    "draws.cut": { data: Uint8Array.from(rows.flatMap(({ cut }) => cut)), shape: [n, slots] },
    "draws.drawn": {
      data: Uint8Array.from(rows, ({ drawn }) => (drawn === NONE ? NO_SLOT : drawn)),
      shape: [n],
    },
    "draws.rank": floats(
      [n],
      all(({ rank }) => [rank]),
    ),
    "draws.others": floats(
      [n, 2],
      all(({ others }) => others),
    ),
    "draws.n_left": floats(
      [n],
      all(({ left }) => [left]),
    ),
    "draws.ids": {
      data: Uint16Array.from(labels.flat(), (label) => places.get(label) ?? EMPTY),
      shape: [n, slots],
    },
  };
}

/** How tokens are drawn, in words. */
function samplingSentence(/** @type {Record<string, string>} */ texts, /** @type {Sampling} */ sampling) {
  const { temperature, top_k: topK, top_p: topP, seed = 0 } = sampling;
  if (temperature === 0) return texts["sampling.greedy"];
  const off = texts["sampling.off"];
  return fill(texts["sampling.sampled"], {
    temperature: local(general(temperature, 6)),
    top_k: topK || off,
    top_p: topP === 1 ? off : local(general(topP, 6)),
    seed: String(seed),
  });
}
