// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/shared/heads.py: change that, not this.

/** 0 or 1: a boolean of an array. */
export type Flag = 0 | 1;

/**
 * The numbers of layers, heads, queries and keys to choose from.
 * `heads` has the number for each layer, where these differ; then `n_heads` is the largest. `kept` has the
 * heads of each layer that were kept, where not all were.
 */
export interface Extent {
  n_layers: number;
  n_heads: number;
  n_query: number;
  n_key: number;
  kept: number[][];
}

/**
 * The tokens along both axes as canvases read them; the same ones unless it is `cross`.
 * `rows` are the names of the rows: of a decoder, what was read and what is predicted.
 */
export interface Axes {
  tokens: string[];
  rows: string[];
  special: Flag[];
  written: Flag[];
  key_tokens: string[];
  key_special: Flag[];
  key_written: Flag[];
  cross: boolean;
}

/**
 * All heads of one attention; `sentences[layer][head]` says in words what a head does most.
 * `queries` and `keys` are the tokens on the two axes: the same ones unless it is `cross`. `visible` is what
 * each layer may attend to, None where nothing is blocked. `words` and `key_words` say which tokens make a
 * word, where that is of use. Where layers differ in heads or tokens, `layers` has one for each, and
 * `weights` matrices for each; queries, keys and patches are then those of the first. `small` pictures need a
 * byte for each weight. `capture` names what is shown: what comes later, measures and words for instance,
 * comes under this name; until then `sentences` may be empty. With `first`, `weights` are those of that one
 * head. `predicts` is True for a decoder: a row that has read a token predicts the next one, and is named
 * after both. `grows` is True where grid and head stand on one page, and a square grows into the head;
 * `forbids` where the page can run the model without a look. `kept` has the heads of each layer that were
 * kept, where not all were; `weights` are of these alone, those of the others are 0.
 */
export interface HeadsView extends Axes, Extent {
  model: string;
  cross: boolean;
  sentences: string[][];
  patches: Patches | null;
  measures: HeadMeasure[];
  words: Word[];
  key_words: Word[];
  layers: LayerView[];
  heard: Heard | null;
  pooled: Pooled | null;
  capture: string;
  predicts: boolean;
  first: First | null;
  grows: boolean;
  forbids: boolean;
  /** The numbers of heads, queries and keys of each layer, where layers differ. */
  shapes: [number, number, number][] | null;
}

/** A picture whose patches are the tokens from the `first` one on, row by row. */
export interface Patches {
  rows: number;
  columns: number;
  first: number;
}

/** One number for each head, by which heads can be sorted; NaN where a head has none. */
export interface HeadMeasure {
  name: string;
  label: string;
  unit: string;
}

/**
 * The tokens from `start` to before `stop`; `text` is the word in readable form.
 * `special` is True for a special token, which stands alone.
 */
export type Word = [text: string, start: number, stop: number, special: boolean];

/** The tokens of one layer, what it may attend to, and its window, where layers differ. */
export interface LayerView extends Axes {
  patches: LayerPatches | null;
  /** The number of queries. */
  n_query: number;
  /** The number of keys. */
  n_key: number;
}

/**
 * The part of a picture that a layer sees: `rows` × `columns` patches of the layer's `grid`.
 * `top` and `left` are the first of them; what leaves the board at one edge comes back at the other. `first`
 * tokens stand before the patches. Where tokens are not one patch after the other, `query_boxes` and
 * `key_boxes` say which patches each is, counted from `top` and `left`; `said` says in words what they stand
 * for.
 */
export interface LayerPatches {
  rows: number;
  columns: number;
  grid: [number, number];
  top: number;
  left: number;
  first: number;
  query_boxes: ([number, number, number, number] | null)[] | null;
  key_boxes: ([number, number, number, number] | null)[] | null;
  said: string;
}

/**
 * A sound whose frames are the keys, as a spectrogram: high bands on top, 255 is loudest.
 * Each frame has as many columns as the others; the sound may end before the last frame.
 */
export interface Heard {
  frames: number;
  step_s: number;
  seconds: number;
}

/** Each point is the largest of `side` × `side` weights; how many queries and keys there are. */
export interface Pooled {
  side: number;
  n_query: number;
  n_key: number;
}

/**
 * The picture before all weights have come: one head's weights, and maxima of all heads'.
 * Each of `largest` is the largest of `side` × `side` weights; the last ones of a row or a column may stand
 * for fewer.
 */
export interface First {
  layer: number;
  head: number;
  side: number;
}

/** The texts of every canvas. */
export interface SharedStrings {
  readonly heard: string;
  readonly heard_note: string;
  readonly heard_rest: string;
  readonly query_axis: string;
  readonly key_axis: string;
  readonly query: string;
  readonly key: string;
  readonly scale: string;
  readonly scale_linear: string;
  readonly scale_sqrt: string;
  readonly scale_log: string;
  readonly colour_bar: string;
  readonly heads: string;
  readonly previous_head: string;
  readonly next_head: string;
  readonly open_steps: string;
  readonly layer: string;
  readonly head: string;
  readonly previous_layer: string;
  readonly next_layer: string;
  readonly clear_cell: string;
  readonly asks: string;
  readonly written: string;
  readonly play: string;
  readonly pause: string;
  readonly again: string;
  readonly position: string;
  readonly picture: string;
  readonly picture_idle: string;
  readonly open_head: string;
  readonly status: string;
  readonly approximate: string;
  readonly readout: string;
  readonly readout_forbidden: string;
  readonly allow: string;
  readonly token_at: string;
  readonly look: string;
  readonly hidden_look: string;
  readonly verdict_both: string;
  readonly verdict_both_head: string;
  readonly verdict_looks: string;
  readonly verdict_looks_head: string;
  readonly verdict_matters: string;
  readonly verdict_elsewhere: string;
  readonly verdict_alike: string;
  readonly predicts_note: string;
}
