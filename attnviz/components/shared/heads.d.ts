// The header of the components that show all heads of an attention (grid, head, patches, writing), and what others
// share of it; mirror of the dataclasses in attnviz/components/heads.py and of the headers that they pack.

/** 0 or 1: JSON booleans of arrays. */
export type Flag = 0 | 1;

/** Translated texts by the last part of their key. */
export type Strings<Key extends string> = Readonly<Record<Key, string>>;

/** The tokens along both axes: special ones are muted, those that the model wrote are set in italics. */
export interface AxesHeader {
  tokens: string[];
  special: Flag[];
  written: Flag[];
  key_tokens: string[];
  key_special: Flag[];
  key_written: Flag[];
  cross: Flag;
}

/** [first token, the one after the last, what they spell]. */
export type WordSpan = [start: number, stop: number, text: string];

/** [top, left, bottom, right] of the patches that a token stands for, the last two outside; null for none. */
export type PatchBox = [top: number, left: number, bottom: number, right: number] | null;

/** A picture whose patches are the tokens from the `first` one on, row by row. */
export interface PatchesHeader {
  rows: number;
  columns: number;
  first: number;
}

/** What a layer sees of a picture: patches `from` one on in the layer's own `grid`. */
export interface LayerPatchesHeader extends PatchesHeader {
  grid: [rows: number, columns: number];
  from: [row: number, column: number];
  query_boxes: PatchBox[] | null;
  key_boxes: PatchBox[] | null;
  said: string;
}

/** The patches of a picture, of all layers or of one. */
export type PatchGrid = PatchesHeader & Partial<LayerPatchesHeader>;

/** A sound whose frames are the keys; its spectrogram travels as the array "spectrum". */
export interface HeardHeader {
  frames: number;
  step_s: number;
  seconds: number;
}

/** Each point is the largest of `side` × `side` weights; how many queries and keys there are. */
export interface PooledHeader {
  side: number;
  n_query: number;
  n_key: number;
}

/** A number for each head, in the array "measures" [measure, layer, head]. */
export interface HeadMeasure {
  name: string;
  label: string;
  unit: string;
}

/** What a layer has of its own, where layers differ in tokens or heads. */
export interface LayerHeader extends AxesHeader {
  n_query: number;
  n_key: number;
  patches: LayerPatchesHeader | null;
}

/** All heads of one attention; `shapes` and `layers` are there where layers differ, each with one entry a layer. */
export interface HeadsHeader<Key extends string = string> extends AxesHeader {
  strings: Strings<Key>;
  model: string;
  n_layers: number;
  n_heads: number;
  n_query: number;
  n_key: number;
  shapes: [heads: number, queries: number, keys: number][] | null;
  layers: LayerHeader[];
  sentences: string[][];
  patches: PatchesHeader | null;
  heard: HeardHeader | null;
  pooled: PooledHeader | null;
  measures: HeadMeasure[];
  words: WordSpan[];
  key_words: WordSpan[];
}

/** The header as one layer has it. */
export type LayeredHeader<Header extends HeadsHeader = HeadsHeader> = Omit<Header, "patches"> & {
  patches: PatchGrid | null;
};
