// @ts-check
// What a model reads of an input: ids or the numbers of a picture, and the tokens along each of its axes.

import { Refusal } from "../refusal.js";
import { pixelsOf, scaledTo } from "./pictures.js";

/** @import { LoadedModel } from "../loading.js" */
/** @import { Inputs } from "../engine/families.js" */
/** @import { Input } from "../index.js" */
/** @import { LabelledToken } from "./labels.js" */
/** @import { Tokenizer } from "./tokenizer.js" */
/** @import { SeenPicture, TokenAxis } from "../views/scene.js" */

/** `tokens` are those of the text or picture; `dropped` did not fit.
 * @typedef {{inputs: Inputs, tokens: TokenAxis, dropped: number, picture: SeenPicture | null}} ReadInput
 */

const MOST_CHARACTERS = 4000;

/** @returns {ReadInput} */
export function readInput(/** @type {LoadedModel} */ loaded, /** @type {Input} */ input) {
  if (loaded.model.picture) return readPicture(loaded, input, loaded.model.picture);
  const { tokenizer } = loaded;
  if (!tokenizer || typeof input.text !== "string") throw new Refusal("input", { found: "no text" });
  const most = Math.min(loaded.info.most, loaded.model.most);
  const text = [...input.text.slice(0, 2 * MOST_CHARACTERS)].slice(0, MOST_CHARACTERS).join("");
  const whole = tokenizer.encode(text);
  if (!whole.length) throw new Refusal("input", { found: "an empty text" });
  const kept = fitting(whole, most);
  const written = (input.written ?? []).slice(0, most - kept.length);
  const tokens = written.length ? withWritten(tokenizer, kept, written) : kept;
  return {
    inputs: { ids: tokens.map(({ id }) => id) },
    tokens: { tokens, characters: written.length ? [] : [...text] },
    dropped: whole.length - kept.length,
    picture: null,
  };
}

/** The first tokens that fit, with the special one that ends them. */
function fitting(/** @type {LabelledToken[]} */ tokens, /** @type {number} */ most) {
  if (tokens.length <= most) return tokens;
  const last = tokens[tokens.length - 1];
  return last.special ? [...tokens.slice(0, most - 1), last] : tokens.slice(0, most);
}

/** A text and what a model wrote behind it; as in the library, its tokens are then named by the vocabulary. */
function withWritten(
  /** @type {Tokenizer} */ tokenizer,
  /** @type {LabelledToken[]} */ tokens,
  /** @type {number[]} */ written,
) {
  const named = tokenizer.ofIds([...tokens.map(({ id }) => id), ...written]);
  return named.map((token, place) => ({ ...token, written: place >= tokens.length }));
}

/** The tokens that a decoder reads, the first of which it starts from. */
export function decoderTokens(
  /** @type {Tokenizer} */ tokenizer,
  /** @type {readonly number[]} */ target,
  /** @type {boolean} */ isWritten,
) {
  return tokenizer.ofIds(target).map((token, place) => ({ ...token, written: isWritten && place > 0 }));
}

/** @returns {ReadInput} */
function readPicture(
  /** @type {LoadedModel} */ loaded,
  /** @type {Input} */ { picture },
  /** @type {{side: number, patch: number}} */ { side, patch },
) {
  if (!picture) throw new Refusal("input", { found: "no picture" });
  const seen = scaledTo(picture, side);
  const across = side / patch;
  const labels = Array.from({ length: across ** 2 }, (_, n) => `r${Math.floor(n / across)}c${n % across}`);
  const tokens = ["[CLS]", ...labels].map((label, id) => ({
    id,
    piece: label,
    label,
    from: 0,
    to: 0,
    special: id === 0,
    written: false,
  }));
  return {
    inputs: { pixels: pixelsOf(seen, loaded.preprocessor) },
    tokens: { tokens, characters: [] },
    dropped: 0,
    picture: { across, side, rgb: seen.rgb },
  };
}
