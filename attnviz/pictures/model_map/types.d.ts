// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/model_map: change that, not this.

import type { SharedStrings } from "../shared/heads.js";

/**
 * The parts that are lit, and those that are switched off; the number of layers.
 * `missing` has the parts that the model of the card does not have: without an MLP a layer has neither its
 * norm nor its + (its whole second half). `titles` has the title of the card to which a click on a part
 * leads.
 */
export interface Header {
  strings: Strings;
  lit: PartName[];
  off: PartName[];
  layers: number;
  titles: Record<string, string>;
  missing: PartName[];
}

export type PartName =
  "tokens" | "embedding" | "place" | "norm" | "attention" | "add" | "mlp" | "logits" | "softmax";

export type Arrays = Record<never, never>;

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly label: string;
  readonly tokens: string;
  readonly embedding: string;
  readonly place: string;
  readonly norm: string;
  readonly attention: string;
  readonly add: string;
  readonly mlp: string;
  readonly logits: string;
  readonly softmax: string;
  readonly off: string;
}
