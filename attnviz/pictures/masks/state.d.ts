// The state of Masks: what lives as long as the component, what comes with data, and what was drawn last.

import type { AxesLayout } from "../shared/axes.js";
import type { Committer } from "../shared/committer.js";
import type { Host } from "../shared/host.js";
import type { Selection } from "../shared/selection.js";
import type { Theme } from "../shared/theme.js";
import type { MaskBox } from "./boxes.js";
import type { Masks, Stroke } from "./layers.js";
import type { Parts } from "./parts.js";
import type { Arrays, Header } from "./types.js";

/** A cell of a sentence's matrix. */
export interface Cell {
  row: number;
  col: number;
}

/** The picture of one sentence. */
export interface SentenceMap {
  sentence: number;
  base: HTMLCanvasElement;
  over: HTMLCanvasElement;
  title: HTMLElement;
  count: HTMLElement;
  dead: HTMLElement;
  node: HTMLElement;
  /** Null until there is a width. */
  layout: AxesLayout | null;
  hover: Cell | null;
  /** The rectangle that is being drawn. */
  stroke: Stroke | null;
}

/** What the masks that are on make of a sentence: the masks that block each cell, as bits, and the weights. */
export interface SentenceNumbers {
  bits: Uint8Array;
  weights: Float32Array;
}

/** The data, and the masks that are laid over it. */
export interface Laid {
  header: Header;
  arrays: Arrays;
  masks: Masks;
  numbers: SentenceNumbers[];
}

export interface State extends Laid {
  host: Host;
  top: HTMLElement;
  committer: Committer;
  parts: Parts;
  boxes: MaskBox[];
  maps: SentenceMap[];
  theme: Theme;
  selection: Selection;
  /** The sentence in which a row or cell is chosen. */
  sentence: number;
  /** The room of each map, in CSS pixels, and what it was drawn for. */
  width: number;
  drawnFor: string;
  /** How far this page's softmax is from the model's weights; null until it is known. */
  ownError: number | null;
}

/** What the controls can do. */
export interface Actions {
  head: (layer: number, head: number) => void;
  masks: (change: Partial<Masks>) => void;
  choose: (sentence: number, query: number | null, key: number | null) => void;
}
