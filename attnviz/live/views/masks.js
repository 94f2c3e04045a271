// @ts-check
// One head with its masks, for the canvas Masks: mirror of attnviz/pictures/masks/fill.py for one text without padding.

import { placeOf } from "../engine/passes.js";
import { axesOf } from "./heads.js";
import { floats, pack } from "./packing.js";
import { sees } from "./scene.js";
import { scaledScores } from "./steps.js";

/** @import { Header, ShownMask } from "../../pictures/masks/types.js" */
/** @import { Scene } from "./scene.js" */

/** @type {ShownMask[]} */
const MASKS = ["padding", "causal", "window", "prefix", "block", "custom"];
/** @type {ShownMask[]} of a cross-attention */
const CROSS_MASKS = ["padding", "custom"];

export function masksBytes(
  /** @type {Scene} */ scene,
  /** @type {number} */ layer,
  /** @type {number} */ head,
) {
  const { arena, group, texts } = scene;
  const { n, m, cross, causal } = group;
  const names = cross ? CROSS_MASKS : MASKS;
  const paddingOf = cross ? "memory" : "padding";
  const axes = axesOf(scene);
  const start = Math.max(1, Math.min(4, Math.floor(n / 3)));
  /** @type {Header} */
  const header = {
    strings: texts.strings.masks,
    cross,
    padding: [Array(n).fill(0)],
    key_padding: [Array(m).fill(0)],
    layer,
    head,
    n_layers: group.layers,
    n_heads: group.heads,
    kept: [],
    as_model: 1 + (causal && n > 1 ? 1 << names.indexOf("causal") : 0), // the padding mask, which blocks nothing here
    sizes: { window: start, prefix: start, block: start },
    mask_names: names,
    mask_reasons: names.map(
      (name) => texts.catalogue[`mask.reason_${name === "padding" ? paddingOf : name}`],
    ),
    padding_of: paddingOf,
    tokens: [axes.rows],
    special: [axes.special],
    written: [axes.written],
    key_tokens: [axes.key_tokens],
    key_special: [axes.key_special],
    key_written: [axes.key_written],
  };
  const blocks = Uint8Array.from({ length: n * m }, (_, cell) =>
    sees(group, Math.floor(cell / m), cell % m) ? 0 : 1,
  );
  const weights = arena.copied({ at: placeOf(group, layer, head), rows: n, cols: m });
  return pack(header, {
    model_blocks: { data: blocks, shape: [1, n, m] },
    weights: floats([1, n, m], weights),
    scaled: floats([1, n, m], scaledScores(scene, layer, head)),
    sinks: floats([1, n], new Float32Array(n).fill(-Infinity)),
  });
}
