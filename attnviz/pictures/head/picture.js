// @ts-check
// The picture under the patches, in place of the lines, with the attention of one query over it.

import { sequential } from "../shared/colors.js";
import { setText } from "../shared/dom.js";
import { rowWeights } from "../shared/numbers.js";
import { drawPicture, layoutPicture, patchLevels, restingQuery } from "../shared/picture.js";
import { pictureSentence } from "../shared/picture_panel.js";

/** @import { Parts } from "./parts.js" */
/** @import { Look } from "./state.js" */
/** @import { LayerAxes, Pointed, View } from "./view.js" */

const MAX_PX = 380;

/**
 * Draws the picture and says what it shows; returns where it lies, null where the tokens are not patches.
 * @param {Parts} parts
 * @param {LayerAxes} own
 * @param {View} view
 * @param {Pointed} pointed
 * @param {Look} look
 */
export function showPicture(parts, { header, source }, view, { hover, focus }, look) {
  const { strings, patches, tokens } = header;
  if (!source || !patches) return null;
  const query = focus?.query ?? view.pinned.query ?? restingQuery(patches, tokens.length);
  const key = hover?.key ?? view.pinned.key;
  const levels = query === null ? null : patchLevels(rowWeights(view.data, query), patches, view.scale);
  const geom = layoutPicture(source, patches, Math.min(look.lineRoom, MAX_PX));
  const lut = sequential(look.theme.dark);
  drawPicture(parts.picture, source, geom, { levels, lut, theme: look.theme, patches, query, key });
  const texts = { picture: strings.picture, idle: strings.picture_idle };
  const sentence = pictureSentence(texts, patches, view.axes.query.labels, query);
  parts.picture.setAttribute("aria-label", sentence);
  setText(parts.pictured, sentence);
  setText(parts.blocks, patches.said ?? "");
  return geom;
}
