// @ts-check
// The source words that a translator attends to while it predicts each word: mirror of
// attnviz/experiment/outputs/alignment.py. The row of a target word is the one that predicts its first token. Pieces of a word
// are merged so that mass is conserved: summed over the keys of a source word, averaged over the rows of a target word.

import { wordsOf } from "../reading/words.js";
import { heads, pack } from "./packing.js";
import { weightsOf } from "./scene.js";

/** @import { Group } from "../engine/passes.js" */
/** @import { ModelFiles } from "../index.js" */
/** @import { LabelledToken } from "../reading/labels.js" */
/** @import { TokenWord } from "../reading/words.js" */
/** @import { Scene } from "./scene.js" */

/**
 * @param {Scene} scene of the decoder's cross-attention
 * @param {LabelledToken[]} predicted the tokens that its rows predict
 * @param {Float64Array} chances of these tokens
 * @param {ModelFiles["stated"]} stated
 */
export function alignmentBytes({ arena, group, keys, tokenizer, texts }, predicted, chances, stated) {
  const join = (/** @type {string[]} */ pieces) => (tokenizer ? tokenizer.join(pieces) : pieces.join(""));
  const source = wordsOf(keys.tokens, keys.characters, join);
  const target = wordsOf(predicted, [], join);
  const products = target.map(({ start, stop }) =>
    chances.subarray(start, stop).reduce((all, chance) => all * chance, 1),
  );
  const header = {
    strings: texts.strings.alignment,
    source: source.map((word) => ({
      text: word.text,
      at: word.start,
      special: word.special,
      probability: null,
    })),
    target: target.map((word, place) => ({
      text: word.text,
      at: word.start,
      special: word.special,
      probability: products[place],
    })),
    stated: stated ?? { layer: 0, head: 0, mean: "all", does: "" },
    probability: products.reduce((all, chance) => all * chance, 1),
    n_layers: group.layers,
    n_heads: group.heads,
  };
  const merged = mergedWeights(weightsOf(arena, group), group, target, source);
  const shape = /** @type {const} */ ([group.layers, group.heads, target.length, source.length]);
  return pack(header, { weights: heads(merged, [...shape], 16) });
}

/** The weights between words. */
function mergedWeights(
  /** @type {Float32Array} */ weights,
  /** @type {Group} */ { layers, heads: perLayer, n, m },
  /** @type {readonly TokenWord[]} */ rows,
  /** @type {readonly TokenWord[]} */ columns,
) {
  const out = new Float32Array(layers * perLayer * rows.length * columns.length);
  let to = 0;
  for (let place = 0; place < layers * perLayer; place++)
    for (const row of rows)
      for (const column of columns) {
        let sum = 0;
        for (let query = row.start; query < row.stop; query++)
          for (let key = column.start; key < column.stop; key++)
            sum += weights[(place * n + query) * m + key];
        out[to++] = sum / (row.stop - row.start);
      }
  return out;
}
