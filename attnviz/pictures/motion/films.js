// @ts-check
// All moving pictures by their names, and how a moment of one is painted.

import { diverging, sequential } from "../shared/colors.js";
import { fitCanvas, markDrawn } from "../shared/dom.js";
import { clamp, momentOf, progressAt } from "../shared/scenes.js";
import { ALIGNMENT } from "./alignment.js";
import { ARROWS } from "./arrows.js";
import { BLEND } from "./blend.js";
import { CLOCKS } from "./clocks.js";
import { CLOUDS } from "./clouds.js";
import { CUT } from "./cut.js";
import { INDUCTION } from "./induction.js";
import { MASK } from "./mask.js";
import { PULSE } from "./pulse.js";
import { PUSH } from "./push.js";
import { QUERY } from "./query.js";
import { REACH } from "./reach.js";
import { ROTARY } from "./rotary.js";
import { SHUFFLE } from "./shuffle.js";
import { SOFTMAX } from "./softmax.js";
import { TRAINING } from "./training.js";

/** @import { Theme } from "../shared/theme.js" */
/** @import { Film, Frame, Numbers } from "./draw.js" */
/** @import { Arrays, FilmName, Header } from "./types.js" */

/** What is painted, how wide, and the numbers that were set by hand. */
/** @typedef {{header: Header, arrays: Arrays, theme: Theme, set: Numbers, width: number}} Shown */

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
  pulse: PULSE,
  push: PUSH,
  query: QUERY,
  reach: REACH,
  rotary: ROTARY,
  shuffle: SHUFFLE,
  softmax: SOFTMAX,
  training: TRAINING,
};

/** Paints a moment of a film. @returns {Frame} */
export function paintFilm(
  /** @type {HTMLCanvasElement} */ canvas,
  /** @type {Shown} */ { header, arrays, theme, set, width },
  /** @type {number} */ time,
) {
  const film = FILMS[header.film];
  const height = film.height(header, arrays, width);
  const { at, part } = momentOf(header.scenes, time);
  const places = header.scenes.map(({ name }) => name);
  const so = progressAt(header.scenes, time);
  /** @type {Frame} */
  const frame = {
    ...{ ctx: fitCanvas(canvas, width, height), width, height, theme, header, arrays, set },
    ...{ lut: sequential(theme.dark), signed: diverging(theme.dark), roles: theme.roles },
    // a scene that is not played never begins
    so: (name, from, to) => (places.includes(name) ? so(name, from, to) : 0),
    linear: (name) => {
      const place = places.indexOf(name);
      return place === at ? clamp(part) : Number(place >= 0 && place < at);
    },
  };
  frame.ctx.save();
  film.paint(frame);
  frame.ctx.restore();
  markDrawn(canvas);
  return frame;
}
