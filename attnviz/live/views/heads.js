// @ts-check
// All heads of an attention, as the canvases grid, head, patches and writing show them: mirror of `HeadsView` in
// attnviz/pictures/shared/heads.py and of its filling in pictures/group/heads.py.

import { isolate, READS } from "../../pictures/shared/axes.js";
import { wordsOf } from "../reading/words.js";
import { measuresOf } from "./measures.js";
import { floats, heads, pack } from "./packing.js";
import { rolesOf, sentenceOf } from "./roles.js";
import { weightsOf } from "./scene.js";

/** @import { PackableArray } from "./packing.js" */
/** @import { Scene, TokenAxis } from "./scene.js" */
/** @import { HeadsView, Flag, Word } from "../../pictures/shared/heads.js" */

const MOST_WIDE_BYTES = 24 * 2 ** 20;

/** @returns {Flag[]} */
const flags = (/** @type {boolean[]} */ values) => values.map((value) => (value ? 1 : 0));

/** The tokens along both axes, as canvases read them. */
export function axesOf(/** @type {Scene} */ { queries, keys, group }) {
  const listed = (/** @type {TokenAxis} */ { tokens }) => ({
    labels: tokens.map(({ label }) => label),
    special: flags(tokens.map(({ special }) => special)),
    written: flags(tokens.map(({ written }) => written)),
  });
  const [own, others] = [listed(queries), listed(keys)];
  return {
    tokens: own.labels,
    rows: predicts(group) ? rowNames(own.labels) : own.labels,
    special: own.special,
    written: own.written,
    key_tokens: others.labels,
    key_special: others.special,
    key_written: others.written,
    cross: group.cross,
  };
}

/** True if a row predicts the token after the one that it has read. */
function predicts(/** @type {Scene["group"]} */ { causal, cross }) {
  return causal || cross;
}

/** The names of rows that predict: mirror of `row_names` in attnviz/pictures/group/axes.py. */
function rowNames(/** @type {readonly string[]} */ labels) {
  return labels.map((label, row) =>
    row + 1 === labels.length ? label : `${isolate(label)}${READS}${isolate(labels[row + 1])}`,
  );
}

/** A sentence for each head on what it does most, by layer. */
export function sentencesOf(/** @type {Scene} */ scene) {
  const { texts, keys } = scene;
  return rolesOf(scene).map((roles) => roles.map((role) => sentenceOf(texts.catalogue, role, keys.tokens)));
}

/**
 * The header of all heads and its arrays; small pictures need a byte for each weight.
 * @param {Scene} scene
 * @param {string[][]} sentences
 * @param {{small?: boolean, words?: boolean, measures?: boolean}} [wanted]
 * @returns {{header: HeadsView, arrays: Record<string, PackableArray>}}
 */
export function headsView(scene, sentences, { small = false, words = false, measures = false } = {}) {
  const { group, arena, title, picture } = scene;
  const { layers, heads: perLayer, n, m } = group;
  const weights = weightsOf(arena, group);
  const bits = !small && 2 * weights.length <= MOST_WIDE_BYTES ? 16 : 8;
  const measured = measures ? measuresOf(scene) : [];
  const patches = picture && {
    rows: picture.across,
    columns: picture.across,
    first: n - picture.across ** 2,
  };
  const isWorded = words && !picture;
  /** @type {HeadsView} */
  const header = {
    model: title,
    capture: "",
    predicts: predicts(group),
    first: null,
    grows: false,
    forbids: false,
    ...axesOf(scene),
    n_layers: layers,
    n_heads: perLayer,
    n_query: n,
    n_key: m,
    shapes: null,
    sentences,
    patches,
    measures: measured.map(({ name, label, unit }) => ({ name, label, unit })),
    words: isWorded ? wordRows(scene, scene.queries) : [],
    key_words: isWorded ? wordRows(scene, scene.keys) : [],
    layers: [],
    heard: null,
    pooled: null,
    kept: [],
  };
  return {
    header,
    arrays: {
      weights: heads(weights, [layers, perLayer, n, m], bits),
      ...(picture
        ? { "patches.picture": { data: picture.rgb, shape: [picture.side, picture.side, 3] } }
        : {}),
      ...(group.causal ? { visible: visibleCells(n, m) } : {}),
      ...(measured.length ? { measured: measuredNumbers(measured, layers, perLayer) } : {}),
    },
  };
}

/** The words along an axis, each with its tokens. @returns {Word[]} */
export function wordRows(
  /** @type {Scene} */ { tokenizer },
  /** @type {TokenAxis} */ { tokens, characters },
) {
  const words = wordsOf(tokens, characters, (pieces) =>
    tokenizer ? tokenizer.join(pieces) : pieces.join(""),
  );
  return words.map(({ text, start, stop, special }) => [text, start, stop, special]);
}

/** What all layers may attend to under a causal mask. @returns {PackableArray} */
function visibleCells(/** @type {number} */ n, /** @type {number} */ m) {
  const data = new Uint8Array(n * m);
  for (let query = 0; query < n; query++) data.fill(1, query * m, query * m + query + 1);
  return { data, shape: [1, n, m] };
}

/** @returns {PackableArray} */
function measuredNumbers(
  /** @type {{values: number[]}[]} */ measured,
  /** @type {number} */ layers,
  /** @type {number} */ heads,
) {
  const data = Float32Array.from(measured.flatMap(({ values }) => values));
  return floats([measured.length, layers, heads], data);
}

/** Every head as a small heatmap, with the numbers to sort them by. */
export function gridBytes(/** @type {Scene} */ scene, /** @type {string[][]} */ sentences) {
  const { header, arrays } = headsView(scene, sentences, { small: true, measures: true });
  return pack({ strings: scene.texts.strings.grid, ...header }, arrays);
}

/** One head as heatmap and lines, all of them at hand. */
export function headBytes(/** @type {Scene} */ scene, /** @type {string[][]} */ sentences) {
  const { header, arrays } = headsView(scene, sentences, { words: true });
  return pack({ strings: scene.texts.strings.head, ...header }, arrays);
}

/** A picture with the attention of its patches. */
export function patchesBytes(/** @type {Scene} */ scene, /** @type {string[][]} */ sentences) {
  const { header, arrays } = headsView(scene, sentences);
  return pack({ strings: scene.texts.strings.patches, ...header }, arrays);
}
