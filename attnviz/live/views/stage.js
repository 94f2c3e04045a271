// @ts-check
// The stage: a sentence, and its answer without each of the looks of all heads at one word. Mirror of
// attnviz/pictures/stage/fill.py; every number is of a pass with that one look cut. A sentence of the visitor's own has no
// stated cell: of a decoder the word is measured, of an encoder it is the strongest look between two words.

import { LEAST_GUESS, isGuess, meanVector, moved } from "./answers.js";
import { wordRows } from "./heads.js";
import { largest } from "./numbers.js";
import { floats, pack, roots } from "./packing.js";
import { weightsOf } from "./scene.js";

/** @import { Inputs, Model } from "../engine/families.js" */
/** @import { Changes } from "../engine/passes.js" */
/** @import { Staged } from "../index.js" */
/** @import { Reader } from "./answers.js" */
/** @import { Scene } from "./scene.js" */

/** A look of a head: the place of the head among all, a query and a key. @typedef {{number: number, query: number, key: number}} Look */
/** What is left without a look. @typedef {{look: Look, numbers: Float32Array, moved: number, winner: number}} CutAnswer */
/** Looks that were cut, by their names. @typedef {Map<string, CutAnswer>} Cuts */
/** Cuts looks as long as there is time; `left` is how many it had to leave. @typedef {ReturnType<typeof makeCutter>} Cutter */
/** What the stage is made of.
 * @typedef {{scene: Scene, model: Model, inputs: Inputs, reader: Reader, staged: Staged, cutter: Cutter}} Play
 */

const LEAST_LOOK = 0.15; // as in attnviz/pictures/stage/fill.py
const [N_FIRST, N_RISEN] = [5, 3]; // the likeliest words, and those without the look that moves most
const FUNCTION_WORDS = new Set(
  (
    "a an the and or but of to in on at with for from he she it they his her its their them him was were is are be had has" +
    " have not so that this very . , ! ? ' : ;"
  ).split(" "),
);
const MOST_TOKENS = 32; // of an encoder, whose every cut is a pass

/**
 * The stage; null for a text that has no look to cut, or too many, and as long as the look to show is being looked for. What
 * a look moves that is not cut yet is not a number.
 * @param {Play} play
 * @param {Float64Array[]} others vectors of the yardsticks
 */
export function stageBytes(play, others) {
  const { scene, staged, reader } = play;
  const { n } = scene.group;
  if (n < 2 || (reader.kind === "cosines" && n > MOST_TOKENS)) return null;
  const { cell } = staged; // another model of that name has other tokens
  const known = cell && Math.max(cell.query, cell.key) < n ? cell : null;
  const found = reader.kind === "cosines" ? meaning(play, known, others) : nextWord(play, known);
  if (!found) return null;
  const { query, key, tried, answers, cuts } = found;
  const { layers, heads, m } = scene.group;
  const weights = weightsOf(scene.arena, scene.group);
  const rows = new Float32Array(layers * heads * m);
  for (let number = 0; number < layers * heads; number++)
    rows.set(rowOf(weights, number, query, n, m), number * m);
  const { before, after, ...named } = answers;
  const header = {
    strings: scene.texts.strings.stage,
    kind: reader.kind === "cosines" ? "meaning" : "next",
    scene: staged.scene,
    text: staged.text,
    tokens: scene.keys.tokens.map(({ label }) => label.trim()),
    special: scene.keys.tokens.map(({ special }) => (special ? 1 : 0)),
    query,
    key,
    pieces: wordRows(scene, scene.keys).flatMap(([, start, stop]) =>
      stop - start > 1 ? [[start, stop]] : [],
    ),
    n_layers: layers,
    n_heads: heads,
    ...named,
    examples: staged.examples,
    n_tried: tried,
    tried: staged.tried,
    has_box: false,
    is_typed: staged.isTyped,
    elsewhere_moved: null,
    guesses: reader.kind === "cosines" || named.share >= LEAST_GUESS,
  };
  const all = cuts.length;
  return pack(header, {
    weights: roots(weights, [layers, heads, n, m], 8),
    rows: floats([all, m], rows),
    moved: floats(
      [all],
      Float32Array.from(cuts, (cut) => cut?.moved ?? NaN),
    ),
    before: floats([before.length], Float32Array.from(before)),
    after: floats([all, after.length / all], Float32Array.from(after)),
  });
}

/** The stage of a decoder. */
function nextWord(/** @type {Play} */ play, /** @type {Staged["cell"]} */ cell) {
  const { scene, reader } = play;
  const query = scene.group.n - 1;
  const guesses = isGuess(reader);
  const candidates = cell || !guesses ? [] : strongLooks(play);
  const found = guesses ? Math.max(0, query - 1) : mostLookedAt(play);
  const key = cell?.key ?? (candidates.length ? chosenKey(play, candidates) : found);
  if (key === null) return null;
  const cuts = cutAll(play, lookAt(play, query, key));
  const { clean } = reader;
  const best = mostMoving(cuts)?.numbers ?? clean;
  const choices = [...new Set([...largest(clean, N_FIRST), ...largest(best, N_RISEN)])];
  const begins = beginnings(scene);
  const name = (/** @type {number} */ choice) => reader.name(choice).trim() + (begins.has(choice) ? "…" : "");
  const winner = largest(clean, 1)[0];
  const answers = {
    choices: choices.map(name),
    before: choices.map((choice) => clean[choice]),
    after: cuts.flatMap((cut) => choices.map((choice) => cut?.numbers[choice] ?? NaN)),
    winner: name(winner),
    share: clean[winner],
    winners: cuts.map((cut) => (cut ? name(cut.winner) : "")),
    shares: cuts.map((cut) => (cut ? cut.numbers[cut.winner] : 0)),
    leading: leading(clean, choices),
    leading_after: cuts.map((cut) => (cut ? leading(cut.numbers, choices) : 0)),
    n_words: clean.length,
  };
  return { query, key, tried: candidates.length, answers, cuts };
}

/** The number of likeliest answers before the first one that is not a choice. */
function leading(/** @type {ArrayLike<number>} */ numbers, /** @type {number[]} */ choices) {
  const other = largest(numbers, choices.length).findIndex((one) => !choices.includes(one));
  return other < 0 ? choices.length : other;
}

/** The stage of a sentence encoder; null for a text without two words. */
function meaning(
  /** @type {Play} */ play,
  /** @type {Staged["cell"]} */ known,
  /** @type {Float64Array[]} */ others,
) {
  const { scene, staged } = play;
  const cell = known ?? strongestCell(scene);
  if (!cell) return null;
  const own = meanVector(scene.arena, scene.pass.hidden);
  const cosine = (/** @type {Float64Array} */ other) => own.reduce((sum, x, i) => sum + x * other[i], 0);
  const answers = {
    choices: staged.yardsticks.map(([name]) => name),
    before: others.map((other) => 1 - cosine(other)),
    after: [],
    winner: "",
    share: 0,
    winners: [],
    shares: [],
    leading: 0,
    leading_after: [],
    n_words: 0,
  };
  return { ...cell, tried: 0, answers, cuts: cutAll(play, lookAt(play, cell.query, cell.key)) };
}

/** The query's weights in a head. */
function rowOf(
  /** @type {Float32Array} */ weights,
  /** @type {number} */ number,
  /** @type {number} */ query,
  /** @type {number} */ n,
  /** @type {number} */ m,
) {
  const at = (number * n + query) * m;
  return weights.subarray(at, at + m);
}

/** The two strongest looks of the last word in each head, but at the first token or itself. @returns {Look[]} */
function strongLooks(/** @type {Play} */ { scene: { arena, group } }) {
  const { layers, heads, n, m } = group;
  const weights = weightsOf(arena, group);
  return Array.from({ length: layers * heads }, (_, number) => {
    const row = rowOf(weights, number, n - 1, n, m).slice();
    row[0] = row[n - 1] = 0;
    return largest(row, 2)
      .filter((key) => row[key] >= LEAST_LOOK)
      .map((key) => ({ number, query: n - 1, key }));
  }).flat();
}

/** The key of the last word's strongest look in any head, but at the first token or itself. */
function mostLookedAt(/** @type {Play} */ { scene: { arena, group } }) {
  const { layers, heads, n, m } = group;
  const weights = weightsOf(arena, group);
  const most = new Float32Array(m);
  for (let number = 0; number < layers * heads; number++)
    rowOf(weights, number, n - 1, n, m).forEach((weight, key) => (most[key] = Math.max(most[key], weight)));
  most[0] = most[n - 1] = 0;
  return largest(most, 1)[0];
}

/** The query and the key of the strongest look between two words. */
function strongestCell(/** @type {Scene} */ { arena, group, keys: { tokens } }) {
  const { n, m } = group;
  const weights = weightsOf(arena, group);
  let best = null;
  let most = 0;
  for (let at = 0; at < weights.length; at++) {
    const [query, key] = [Math.floor(at / m) % n, at % m];
    if (weights[at] <= most || query === key || tokens[query].special || tokens[key].special) continue;
    most = weights[at];
    best = { query, key };
  }
  return best;
}

/** The same look of all heads. @returns {Look[]} */
const lookAt = (
  /** @type {Play} */ { scene: { group } },
  /** @type {number} */ query,
  /** @type {number} */ key,
) => Array.from({ length: group.layers * group.heads }, (_, number) => ({ number, query, key }));

/** The ids of tokens that begin a longer word of the text, and are none of its words alone. */
function beginnings(/** @type {Scene} */ scene) {
  const rows = wordRows(scene, scene.keys);
  const ids = (/** @type {boolean} */ isSplit) =>
    rows.flatMap(([, start, stop]) => (stop - start > 1 === isSplit ? [scene.keys.tokens[start].id] : []));
  const whole = new Set(ids(false));
  return new Set(ids(true).filter((id) => !whole.has(id)));
}

/** The key of the look to show: of those after which the model writes another word of the text, else at one; null as long as
 * not all are cut. */
function chosenKey(/** @type {Play} */ play, /** @type {Look[]} */ candidates) {
  const { reader, scene } = play;
  const content = wordRows(scene, scene.keys).filter(
    ([text]) => !FUNCTION_WORDS.has(text.trim().toLowerCase()),
  );
  const words = new Set(content.map(([text]) => text.trim()));
  const winner = largest(reader.clean, 1)[0];
  const cuts = cutAll(play, candidates).filter((cut) => cut !== null);
  if (cuts.length < candidates.length) return null;
  const named = cuts.filter((cut) => cut.winner !== winner && words.has(reader.name(cut.winner).trim()));
  const atWords = cuts.filter(({ look: { key } }) =>
    content.some(([, start, stop]) => start <= key && key < stop),
  );
  const among = [named, atWords, cuts].find((some) => some.length) ?? cuts;
  return mostMoving(among)?.look.key ?? null;
}

/** The cut that moves the answer most; null where none was made. @returns {CutAnswer | null} */
const mostMoving = (/** @type {(CutAnswer | null)[]} */ cuts) =>
  cuts.reduce((one, other) => (!one || (other && other.moved > one.moved) ? other : one), null);

/** Cuts looks that are not known, until a point in time. */
export function makeCutter(/** @type {Cuts} */ known, /** @type {number} */ until) {
  const cutter = {
    left: 0,
    /** @returns {CutAnswer | null} */
    cut(/** @type {Look} */ look, /** @type {(look: Look) => CutAnswer} */ make) {
      const name = `${look.number} ${look.query} ${look.key}`;
      const answer = known.get(name) ?? (performance.now() < until ? make(look) : null);
      if (answer) known.set(name, answer);
      else cutter.left++;
      return answer;
    },
  };
  return cutter;
}

/** The answer without each of some looks, a pass for each; the strongest looks first. @returns {(CutAnswer | null)[]} */
function cutAll(/** @type {Play} */ play, /** @type {Look[]} */ looks) {
  const { arena, group } = play.scene;
  const { top } = arena;
  const weights = weightsOf(arena, group);
  const strength = looks.map(({ number, query, key }) => weights[(number * group.n + query) * group.m + key]);
  const answers = new Array(looks.length).fill(null);
  for (const at of largest(strength, looks.length)) {
    answers[at] = play.cutter.cut(looks[at], (look) => cutOne(play, look));
    arena.top = top;
  }
  return answers;
}

/** The answer without one look. @returns {CutAnswer} */
function cutOne(/** @type {Play} */ { scene, model, inputs, reader }, /** @type {Look} */ look) {
  const { group, pass } = scene;
  const layer = Math.floor(look.number / group.heads);
  const cut = model.run(inputs, cutting(look, layer, look.number % group.heads), { pass, layer });
  const numbers = reader.read(cut);
  const [winner] = largest(numbers, 1);
  return { look, numbers: Float32Array.from(numbers), moved: moved(reader, reader.clean, numbers), winner };
}

/** @returns {Changes} */
function cutting(
  /** @type {Look} */ { query, key },
  /** @type {number} */ layer,
  /** @type {number} */ head,
) {
  const change = { cut: { query, key } };
  return (_, at) => (at === layer ? (one) => (one === head ? change : undefined) : undefined);
}
