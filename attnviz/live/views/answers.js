// @ts-check
// The model's answer as named numbers, and its change in words: mirror of attnviz/experiment/answers.py and of
// attnviz/pictures/group/answers.py.

import { fill, local } from "../../pictures/shared/fmt.js";
import { labelsOfPieces } from "../reading/labels.js";
import { fixed, general, largest, median, softmax } from "./numbers.js";

/** @import { LoadedModel } from "../loading.js" */
/** @import { Arena, Tensor } from "../engine/arena.js" */
/** @import { Pass } from "../engine/passes.js" */
/** @import { Said } from "../index.js" */

/**
 * One number for each choice. `exclusive` where they are one distribution; `clean` is the answer without changes. `name` is
 * that of a choice, "" for a vector's cosine to itself. `pair` is the first choice and the one that it is held against.
 * @typedef {{kind: Said["kind"], exclusive: boolean, read: (pass: Pass) => Float64Array, name: (choice: number) => string,
 *   clean: Float64Array, pair: number[]}} Reader
 */
/** @typedef {Omit<Reader, "clean" | "pair">} Read */
/** The answer before and after some changes, and with the same made to other heads.
 * @typedef {{before: Float64Array, after: Float64Array, controls: Float64Array[]}} Switched
 */
/** All heads but the one that is off, each off alone: how far the answer moves, its lead, and which moves it most; `own` is
 * how far it moves with that one off.
 * @typedef {{own: number, moves: number[], leads: number[], strongest: string}} OtherHeads
 */
/** @typedef {"percent" | "points" | "number"} Unit */
/** @typedef {Record<string, string>} Catalogue */

const MULTI_LABEL = "multi_label_classification";
const NEARLY_ONE = 0.9995; // rounds to 100.0 %
const SATURATED = 0.9; // of a probability: from here on it hardly says what a change does
export const LEAST_GUESS = 0.05; // below it the likeliest word is no guess
const MOST_LIKELY = 50; // tokens, among which is the one of the text that an answer is held against
const NO_MOVE = 0.0001; // of a cosine: what four decimals show

/** A row of a tensor. */
function rowOf(/** @type {Arena} */ arena, /** @type {Tensor} */ { at, cols }, row = 0) {
  return arena.view({ at: at + row * cols * 4, rows: 1, cols });
}

/**
 * How the answer of a model is read; `labels` are the ids that its decoder predicts, `ids` those of the text.
 * @param {LoadedModel} loaded
 * @param {Pass} clean
 * @param {{labels: readonly number[], inputs: {ids?: readonly number[]}}} input
 * @returns {Reader}
 */
export function readerOf(loaded, clean, { labels, inputs }) {
  const { task } = loaded.model;
  const made =
    task === "next_token"
      ? nextToken(loaded)
      : task === "translation"
        ? targetOf(loaded, labels)
        : task === "vectors"
          ? cosinesTo(loaded, clean)
          : classesOf(loaded);
  const numbers = made.read(clean);
  const pair = task === "next_token" ? tokenPair(numbers, inputs.ids ?? []) : largest(numbers, 2);
  return { ...made, clean: numbers, pair };
}

/** The first choice, and the likeliest other token that stands in the text: both can have been copied. */
function tokenPair(/** @type {Float64Array} */ numbers, /** @type {readonly number[]} */ ids) {
  const [first, ...rest] = largest(numbers, MOST_LIKELY);
  const text = new Set(ids);
  return [first, rest.find((token) => text.has(token)) ?? rest[0]];
}

/** @returns {Read} */
function nextToken(/** @type {LoadedModel} */ { arena, tokenizer }) {
  return {
    kind: "next_token",
    exclusive: true,
    read: ({ logits, hidden }) => softmax(rowOf(arena, logitsOf(logits)(hidden.rows - 1))),
    name: (choice) => labelOfId(tokenizer, choice),
  };
}

/** The logits of a pass of a decoder, a classifier or a translator: each has them. */
function logitsOf(/** @type {Pass["logits"]} */ logits) {
  if (!logits) throw new Error("a model that answers with scores has logits");
  return logits;
}

/** The label of a token that stands alone. */
function labelOfId(/** @type {LoadedModel["tokenizer"]} */ tokenizer, /** @type {number} */ id) {
  if (!tokenizer) return String(id);
  return labelsOfPieces([{ id, piece: tokenizer.piece(id) }], tokenizer.unknown)[0];
}

/** The names of a model's classes in the order of its logits. */
export function classNames(/** @type {LoadedModel} */ { config }, /** @type {number} */ count) {
  const names = /** @type {Record<string, unknown>} */ (config.id2label ?? {});
  return Array.from({ length: count }, (_, place) =>
    Object.hasOwn(names, String(place)) ? String(names[place]) : String(place),
  );
}

/** @returns {Read} */
function classesOf(/** @type {LoadedModel} */ loaded) {
  const { arena, config } = loaded;
  const exclusive = config.problem_type !== MULTI_LABEL;
  return {
    kind: "classes",
    exclusive,
    read: ({ logits }) => {
      const scores = rowOf(arena, logitsOf(logits)(0));
      return exclusive ? softmax(scores) : Float64Array.from(scores, (score) => 1 / (1 + Math.exp(-score)));
    },
    name: (choice) => classNames(loaded, choice + 1)[choice],
  };
}

/** The probability of each token of a target, after those before it. @returns {Read} */
function targetOf(/** @type {LoadedModel} */ { arena, tokenizer }, /** @type {readonly number[]} */ labels) {
  const entries = labels.map((id) => ({ id, piece: tokenizer?.piece(id) ?? "" }));
  const names = labelsOfPieces(entries, tokenizer?.unknown ?? null);
  return {
    kind: "target",
    exclusive: false,
    read: ({ logits }) => {
      const rows = logitsOf(logits)(0);
      return Float64Array.from(labels, (id, row) => softmax(rowOf(arena, rows, row))[id]);
    },
    name: (choice) => names[choice],
  };
}

/** The cosine to the text's own vector without changes. @returns {Read} */
function cosinesTo(/** @type {LoadedModel} */ { arena }, /** @type {Pass} */ clean) {
  const known = meanVector(arena, clean.hidden);
  return {
    kind: "cosines",
    exclusive: false,
    read: ({ hidden }) => {
      const own = meanVector(arena, hidden);
      return Float64Array.of(own.reduce((sum, x, i) => sum + x * known[i], 0));
    },
    name: () => "",
  };
}

/** The mean of all rows, scaled to length 1. */
export function meanVector(/** @type {Arena} */ arena, /** @type {Tensor} */ hidden) {
  const mean = new Float64Array(hidden.cols);
  const numbers = arena.view(hidden);
  for (let i = 0; i < numbers.length; i++) mean[i % hidden.cols] += numbers[i];
  const length = Math.hypot(...mean);
  return mean.map((x) => x / length);
}

// --- in words ---------------------------------------------------------------------------------------------------------

/** How far an answer moved, 0 to 1. */
export function moved(
  /** @type {Pick<Reader, "kind" | "exclusive">} */ { kind, exclusive },
  /** @type {Float64Array} */ before,
  /** @type {Float64Array} */ after,
) {
  if (kind === "cosines") return Math.max(0, 1 - after[0]); // rounding may leave a cosine just above 1
  const change = before.reduce((sum, number, place) => sum + Math.abs(after[place] - number), 0);
  return exclusive ? change / 2 : change / before.length;
}

/** @returns {Unit} */
export function unitOf(/** @type {Pick<Reader, "kind" | "exclusive">} */ { kind, exclusive }) {
  if (kind === "cosines") return "number";
  return exclusive ? "percent" : "points";
}

/** A probability in percent; one just below 1 is never printed as 100. */
export function share(/** @type {number} */ value) {
  if (value >= NEARLY_ONE && value < 1) return local(">99.9");
  const percent = 100 * value;
  if (percent > 0 && percent < 0.01) return local("<0.01");
  return local(percent < 1 ? general(percent, 2) : fixed(percent, 1));
}

/** A cosine; one just below 1 is never printed as 1. */
export function cosine(/** @type {number} */ value) {
  return local(value > 1 - NO_MOVE / 2 && value < 1 ? `>${1 - NO_MOVE}` : fixed(value, 4));
}

/** The distance that an answer moved: `moved` says where it goes, `again` follows an amount that has named its unit. */
export function amount(
  /** @type {Catalogue} */ texts,
  /** @type {number} */ value,
  /** @type {Unit} */ unit,
  /** @type {"" | "moved" | "again"} */ form = "",
) {
  if (unit === "number") return local(value > 0 && value < NO_MOVE / 2 ? `<${NO_MOVE}` : fixed(value, 4));
  const name = form && unit === "percent" ? `percent_${form}` : unit;
  return fill(texts[`switchboard.${name}`], { value: share(value) });
}

/** A change of a probability in percentage points, with its sign. */
const points = (/** @type {number} */ change) =>
  change ? `${change < 0 ? "−" : "+"}${share(Math.abs(change))}` : "0";

const best = (/** @type {Float64Array} */ numbers) => largest(numbers, 1)[0];

/**
 * What became of the answer with a change, which `what` names.
 * @param {Catalogue} texts
 * @param {Reader} reader
 * @param {Switched} result
 * @param {string} what
 */
export function changedSentence(texts, reader, { before, after }, what) {
  if (reader.kind === "cosines") return fill(texts["switchboard.turned"], { cosine: cosine(after[0]), what });
  const change = before.map((number, place) => Math.abs(after[place] - number));
  const first = reader.exclusive ? best(before) : best(change);
  const now = reader.exclusive ? best(after) : first;
  const values = {
    what,
    before: reader.name(first),
    after: reader.name(now),
    was: share(before[first]),
    left: share(after[first]),
    share: share(after[now]),
    points: points(after[first] - before[first]),
  };
  if (!reader.exclusive) return fill(texts["switchboard.loses"], values);
  return fill(texts[first === now ? "switchboard.stays" : "switchboard.turns"], values);
}

/** The answer while all heads are on. */
export function cleanSentence(
  /** @type {Catalogue} */ texts,
  /** @type {Reader} */ { clean, exclusive, name },
) {
  if (!exclusive) return texts["switchboard.all_on"];
  const first = best(clean);
  return fill(texts["switchboard.says"], { answer: name(first), share: share(clean[first]) });
}

/** True if the answer has an idea of what it says. */
export const isGuess = (/** @type {Reader} */ { exclusive, clean }) =>
  !exclusive || clean[best(clean)] >= LEAST_GUESS;

/** An answer that is no guess, whose heads are not ranked. */
export function noGuessSentence(/** @type {Catalogue} */ texts, /** @type {Reader} */ { clean }) {
  return fill(texts["switchboard.no_guess"], { n: clean.length, share: share(clean[best(clean)]) });
}

/**
 * How far the answer moved, and how far other heads move it: all `others`, where each was measured, else some drawn at random.
 * @param {Catalogue} texts
 * @param {Reader} reader
 * @param {Switched} result
 * @param {number} n how many are off
 * @param {OtherHeads | null} others
 */
export function controlSentences(texts, reader, { before, after, controls }, n, others) {
  const unit = unitOf(reader);
  if (others) {
    const { own, moves, leads, strongest } = others;
    const values = {
      own: amount(texts, own, unit, "moved"),
      n: moves.length,
      median: amount(texts, median(moves), unit, "again"),
      most: amount(texts, Math.max(...moves), unit, "again"),
      head: strongest,
    };
    const control = fill(texts["switchboard.control_every"], values);
    return { control, measured: leadSentence(texts, reader, { before, after }, leads) };
  }
  if (!controls.length) return { control: "", measured: "" };
  const moves = controls.map((row) => moved(reader, before, row));
  const values = {
    n,
    draws: controls.length,
    own: amount(texts, moved(reader, before, after), unit, "moved"),
    median: amount(texts, median(moves), unit, "again"),
    least: amount(texts, Math.min(...moves), unit, "again"),
    most: amount(texts, Math.max(...moves), unit, "again"),
  };
  const form = moves.length === 2 ? "control_two" : "control";
  const leads = controls.map((row) => leadOf(reader, row));
  const lead = leadSentence(texts, reader, { before, after }, leads);
  const measured = fill(texts[`switchboard.measured.${form}`], values);
  return {
    control: fill(texts[`switchboard.${form}`], values),
    measured: [measured, lead].filter(Boolean).join(" "),
  };
}

/** The lead of the first choice over the second one of an answer's pair. */
export function leadOf(
  /** @type {Pick<Reader, "pair">} */ { pair: [first, second] },
  /** @type {Float64Array} */ row,
) {
  return Math.log(row[first]) - Math.log(row[second]);
}

/** The lead of a nearly certain answer, which does not saturate, beside that under the control. */
function leadSentence(
  /** @type {Catalogue} */ texts,
  /** @type {Reader} */ reader,
  /** @type {Pick<Switched, "before" | "after">} */ { before, after },
  /** @type {number[]} */ leads,
) {
  const [first, second] = reader.pair;
  if (!reader.exclusive || before[best(before)] < SATURATED) return "";
  const isRunnerUp = before.filter((number) => number > before[second]).length === 1;
  const name = reader.name(second);
  const signed = (/** @type {number} */ value) =>
    local(`${value < 0 ? "-" : "+"}${fixed(Math.abs(value), 1)}`);
  return fill(texts["switchboard.lead"], {
    first: reader.name(first),
    second: isRunnerUp ? name : fill(texts["switchboard.of_text"], { name }),
    lead: signed(leadOf(reader, before)),
    left: signed(leadOf(reader, after)),
    median: signed(median(leads)),
    least: signed(Math.min(...leads)),
  });
}
