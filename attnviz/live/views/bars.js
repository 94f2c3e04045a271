// @ts-check
// The model's answer as bars: the next token before and after temperature, top-k and top-p, or the classes. Mirror of
// attnviz/app/page_parts/output/classes.py and of attnviz/experiment/outputs/next_token.py.

import { fill } from "../../pictures/shared/fmt.js";
import { largest, softmax } from "./numbers.js";
import { pack } from "./packing.js";

/** @import { Reader } from "./answers.js" */
/** @import { Sampling, Texts } from "../index.js" */

/** What a token is drawn from: `cut` says what took it away. @typedef {{before: Float64Array, after: Float64Array, cut: Uint8Array}} Distribution */

const MOST_BARS = 10;
const CUT_BY_TOP_K = 1;
const CUT_BY_TOP_P = 2;
/** Draws from what the model says. @type {Sampling} */
export const PLAIN = { temperature: 1, top_k: 0, top_p: 1 };

/** True if a token is drawn from the model's own probabilities. */
export const isPlain = (/** @type {Sampling} */ { temperature, top_k: topK, top_p: topP }) =>
  temperature === 1 && topK === 0 && topP === 1;

/**
 * The probabilities before and after the filters, in the order of transformers' `generate`.
 * @param {Float32Array} logits
 * @param {Sampling} sampling
 * @returns {Distribution}
 */
export function distribution(logits, { temperature, top_k: topK, top_p: topP }) {
  const before = softmax(logits);
  const cut = new Uint8Array(logits.length);
  if (temperature === 0) {
    const after = new Float64Array(logits.length);
    after[largest(logits, 1)[0]] = 1;
    return { before, after, cut };
  }
  const scores = Float64Array.from(logits, (logit) => Math.fround(logit / temperature));
  if (topK) cutAll(scores, cut, belowTopK(scores, topK), CUT_BY_TOP_K);
  if (topP < 1) cutAll(scores, cut, beyondTopP(scores, topP), CUT_BY_TOP_P);
  return { before, after: softmax(scores), cut };
}

/** Takes tokens away that are still there. */
function cutAll(
  /** @type {Float64Array} */ scores,
  /** @type {Uint8Array} */ cut,
  /** @type {readonly number[]} */ places,
  /** @type {number} */ by,
) {
  for (const place of places) {
    if (!cut[place]) cut[place] = by;
    scores[place] = -Infinity;
  }
}

/** All tokens below the k-th one; what equals it stays. */
function belowTopK(/** @type {Float64Array} */ scores, /** @type {number} */ topK) {
  const sorted = scores.slice().sort();
  const least = sorted[Math.max(0, sorted.length - topK)];
  return [...scores.keys()].filter((place) => scores[place] < least);
}

/** From the least likely on, what together has at most 1 − p; the likeliest token always stays. */
function beyondTopP(/** @type {Float64Array} */ scores, /** @type {number} */ topP) {
  const chances = softmax(scores);
  const ascending = [...scores.keys()].sort((a, b) => scores[a] - scores[b]);
  let sum = 0;
  const beyond = ascending.slice(0, -1).findIndex((place) => (sum += chances[place]) > 1 - topP);
  return ascending.slice(0, beyond < 0 ? -1 : beyond);
}

/** The next token, or the classes. */
export function barsBytes(
  /** @type {Texts} */ texts,
  /** @type {Reader} */ reader,
  /** @type {Float64Array} */ now,
  /** @type {Distribution | null} */ drawn,
) {
  const { catalogue, strings } = texts;
  const values = drawn ? drawn.after : now;
  const shown = largest(drawn ? drawn.before : now, MOST_BARS);
  const bars = shown.map((place) => ({
    label: reader.name(place),
    value: values[place],
    second: drawn ? drawn.before[place] : null,
    mark: "",
    muted: drawn ? drawn.cut[place] > 0 : false,
  }));
  const isRest = reader.exclusive && shown.length < values.length;
  const listed = new Set(shown);
  const others = values.reduce((sum, value, place) => (listed.has(place) ? sum : sum + value), 0);
  const isClasses = reader.kind === "classes";
  const note = isClasses ? catalogue[reader.exclusive ? "classes.softmax" : "classes.sigmoid"] : "";
  return pack(
    {
      strings: strings.bars,
      title: catalogue[isClasses ? "classes.title" : "switchboard.next_token"],
      bars,
      rest: isRest ? { count: values.length - shown.length, value: others } : null,
      note: fill(note, { count: values.length }),
      values: drawn ? strings.writing.after : "",
      seconds: drawn ? strings.writing.before : "",
      full: 1,
    },
    {},
  );
}
