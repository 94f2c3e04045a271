// @ts-check
// What follows the first picture of heads: what each does most, in words; its measures; of a long text the weights, layer
// by layer. The canvas `rest` tells it.

/** @import { FloatArray, PackedArray } from "./buffer.js" */
/** @import { HeadEffects } from "./effects.js" */
/** @import { HeadMeasure, HeadsView } from "./heads.js" */
/** @import { Host } from "./host.js" */

/**
 * What is told of a capture; each may be absent. `weights` are those of all heads from `first_layer` on.
 * @typedef {{capture: string, sentences: string[][], measures: HeadMeasure[], measured: FloatArray | null,
 *   first_layer: number, weights: PackedArray | null}} Rest
 */

/**
 * Calls back with what follows a first picture and with the effects of heads, now if they are there already, else once
 * they are.
 * @param {Host} host
 * @param {{rest: (rest: Rest) => void, effects: (effects: HeadEffects) => void}} take
 * @returns {{ask: () => void, stop: () => void}} `ask` asks for both once there is a capture
 */
export function followHeads({ channel }, take) {
  const stop = channel.listen((message) => {
    if ("rest" in message) take.rest(message.rest);
    else if ("effects" in message) take.effects(message.effects);
  });
  const ask = () => {
    channel.post({ wants: "rest" });
    channel.post({ wants: "effects" });
  };
  return { ask, stop };
}

/** Takes the sentences into a header, and into those of its layers, which share the list; true if there were any. */
export function learnWords(/** @type {HeadsView} */ { sentences }, /** @type {Rest} */ rest) {
  if (rest.sentences.length) sentences.splice(0, sentences.length, ...rest.sentences);
  return rest.sentences.length > 0;
}

/** The sentence on a head; "" until it is known. */
export function sentenceOn(
  /** @type {Pick<HeadsView, "sentences">} */ { sentences },
  /** @type {number} */ layer,
  /** @type {number} */ head,
) {
  return sentences[layer]?.[head] ?? "";
}
