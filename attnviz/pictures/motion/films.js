// @ts-check
// All moving pictures by their names.

import { ALIGNMENT } from "./alignment.js";
import { BLEND } from "./blend.js";
import { CLOCKS } from "./clocks.js";
import { CUT } from "./cut.js";
import { INDUCTION } from "./induction.js";
import { MASK } from "./mask.js";
import { QUERY } from "./query.js";
import { ROTARY } from "./rotary.js";
import { SHUFFLE } from "./shuffle.js";
import { SOFTMAX } from "./softmax.js";
import { TRAINING } from "./training.js";

/** @import { Film } from "./draw.js" */
/** @import { FilmName } from "./types.js" */

/** @type {Record<FilmName, Film>} */
export const FILMS = {
  alignment: ALIGNMENT,
  blend: BLEND,
  clocks: CLOCKS,
  cut: CUT,
  induction: INDUCTION,
  mask: MASK,
  query: QUERY,
  rotary: ROTARY,
  shuffle: SHUFFLE,
  softmax: SOFTMAX,
  training: TRAINING,
};
