// @ts-check
// All moving pictures by their names.

import { ALIGNMENT } from "./alignment.js";
import { ARROWS } from "./arrows.js";
import { BLEND } from "./blend.js";
import { CLOCKS } from "./clocks.js";
import { CLOUDS } from "./clouds.js";
import { CUT } from "./cut.js";
import { INDUCTION } from "./induction.js";
import { MASK } from "./mask.js";
import { PUSH } from "./push.js";
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
  arrows: ARROWS,
  blend: BLEND,
  clocks: CLOCKS,
  clouds: CLOUDS,
  cut: CUT,
  induction: INDUCTION,
  mask: MASK,
  push: PUSH,
  query: QUERY,
  rotary: ROTARY,
  shuffle: SHUFFLE,
  softmax: SOFTMAX,
  training: TRAINING,
};
