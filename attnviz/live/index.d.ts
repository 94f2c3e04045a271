// What the page and the worker of the live site tell each other, and the files that Python writes for the worker.
//
// worker.js exports one function by default, `work(scope)`: a script that joins it (pictures/shared/bundle.py) calls it with
// the worker's `self`. The page sends a `Request`; the worker sends for each, in their order, as many `Progress` as there are and
// then exactly one other `Answer` with the same number. It works on one request at a time. Who types fast keeps the latest
// request back until the answer to the one under way has come: that is the page's rule, the worker has no queue of its own.
//
// Beside the weights, Python writes a `ModelFiles` for each model and a `Texts` for each language; both are sent with a
// request. attnviz/live/prepared.py makes the headers of Steps, the means, the reference and the texts.

import type { Strings as AlignmentStrings } from "../pictures/alignment/types.js";
import type { Strings as BarsStrings } from "../pictures/bars/types.js";
import type { Strings as GridStrings } from "../pictures/grid/types.js";
import type { Strings as HeadStrings } from "../pictures/head/types.js";
import type { Strings as MasksStrings } from "../pictures/masks/types.js";
import type { Strings as PatchesStrings } from "../pictures/patches/types.js";
import type { Header as StageHeader, Scene, Strings as StageStrings } from "../pictures/stage/types.js";
import type { Header as StepsHeader } from "../pictures/steps/types.js";
import type { Strings as SwitchesStrings } from "../pictures/switches/types.js";
import type { Strings as WritingStrings } from "../pictures/writing/types.js";

// --- what the page asks ------------------------------------------------------------------------------------------------

export type Request =
  | FilesRequest
  | TextsRequest
  | LoadRequest
  | RefineRequest
  | VerifyRequest
  | ShowRequest
  | WriteRequest
  | EffectsRequest;

/** Files that came with the page, by their addresses: they are never fetched. Sent first, by a page that is one file. */
export interface FilesRequest {
  kind: "files";
  number: number;
  files: Record<string, ArrayBuffer>;
}

/** The texts of the page's language; another language replaces them. Sent before anything is shown. */
export interface TextsRequest {
  kind: "texts";
  number: number;
  texts: Texts;
}

/** Loads a model; answered by `Loaded`. Of weights in planes only the high one of the layers is fetched. */
export interface LoadRequest {
  kind: "load";
  number: number;
  model: ModelFiles;
}

/** Fetches all that is left of a model's weights; answered by `Refined`. All other requests wait meanwhile. */
export interface RefineRequest {
  kind: "refine";
  number: number;
  model: string;
  /**
   * The most bytes of files to fetch before the answer, so that typing goes on in between; the rest is fetched by asking
   * again until `left` is 0.
   */
  most_bytes?: number;
}

/** Compares the model with the reference that torch made; answered by `Verified`. */
export interface VerifyRequest {
  kind: "verify";
  number: number;
  model: string;
}

/** Runs the model on an input and packs the pictures that are wanted; answered by `Shown`. */
export interface ShowRequest {
  kind: "show";
  number: number;
  model: string;
  input: Input;
  views: View[];
  /** The attention that is looked at, by its name; the model's first one if it is absent or unknown. */
  group?: string;
  /** The head of `steps` and `masks`; numbers beyond the last ones mean the last ones. */
  layer: number;
  head: number;
  /** What is off, in the text form of attnviz.changes: "L1.H2.mixed=mean,L0.H1.weights=even"; "" or "none" for nothing. */
  off: string;
  /** What a head that the visitor switches off says instead: the choice above the board. */
  to?: Off;
  /** The number of controls: as many other heads off, drawn at random as the library draws them. */
  controls?: number;
  /**
   * The most tokens that a model writes for `switches`, with all heads on and with these off; none if it is absent. Controls
   * and texts take some passes: a page may ask without them first.
   */
  writes?: number;
  /** How tokens are drawn, for `writing` and `bars`. */
  sampling?: Sampling;
  /** What is known of the sentence, for `stage`. */
  staged?: Staged;
  /**
   * The most milliseconds to cut looks for `stage`, so that a key goes first; the rest are cut by asking again until `uncut`
   * is 0. All are if it is absent.
   */
  most_ms?: number;
}

/** A sentence on the stage: what attnviz/pictures/stage/__init__.py states of it. */
export interface Staged {
  scene: Scene;
  text: string;
  /** The look that is cut; null where it is to be chosen. */
  cell: { query: number; key: number } | null;
  tried: StageHeader["tried"];
  /** Other texts by what differs, for a sentence encoder. */
  yardsticks: [name: string, text: string][];
  /** The other sentences that a click opens. */
  examples: StageHeader["examples"];
  /** True while it is typed: nothing moves but what has changed. */
  isTyped: boolean;
}

/** Lets a decoder write; answered by `Written`. A few tokens at a time let a page show them as they come. */
export interface WriteRequest {
  kind: "write";
  number: number;
  model: string;
  input: Input;
  off: string;
  sampling: Sampling;
  tokens: number;
  /** The same seed draws the same tokens; they are not those that torch draws. */
  seed: number;
}

/** Takes each head away in turn; answered by `Measured`, and by `switches` of every later `Shown` of that input. */
export interface EffectsRequest {
  kind: "effects";
  number: number;
  model: string;
  input: Input;
  to: Off;
  /** The most milliseconds that it may take; the other heads follow by asking again until `left` is 0. */
  most_ms?: number;
}

/** What the model reads. */
export interface Input {
  /** The text; only its first 4,000 characters are read. */
  text?: string;
  /** The text that the decoder of a translator is given; without it, it reads what it writes itself. */
  target?: string;
  /** The ids of tokens that the model wrote behind the text, as `Written` has them. */
  written?: number[];
  /** A picture, row by row, three bytes for each pixel; any size, the worker scales it as the model's own processor does. */
  picture?: { rows: number; columns: number; rgb: Uint8Array };
}

/** As transformers' `generate` has them; temperature 0 is greedy, top_k 0 and top_p 1 cut nothing. */
export interface Sampling {
  temperature: number;
  top_k: number;
  top_p: number;
  /** What written tokens were drawn with, for the sentence that says so. */
  seed?: number;
}

/** The canvases, by their folders in attnviz/pictures; `bars` is the next token, or the classes. */
export type View =
  "stage" | "grid" | "head" | "patches" | "steps" | "masks" | "switches" | "bars" | "writing" | "alignment";

/** What a head that is off says instead: draws from a corpus ("resample" of the app) are not there. */
export type Off = "mean" | "zero" | "even";

// --- what the worker answers -------------------------------------------------------------------------------------------

export type Answer = Progress | Done | Loaded | Refined | Verified | Shown | Written | Measured | Refused;

/** How far a request is, from 0 to 1. */
export interface Progress {
  kind: "progress";
  number: number;
  model: string;
  share: number;
  /** Bytes that came over the line so far, and all that will; 0 while that is not known. */
  bytes: number;
  of_bytes: number;
}

/** The files or texts are there. */
export interface Done {
  kind: "done";
  number: number;
}

/** The model is ready. */
export interface Loaded {
  kind: "loaded";
  number: number;
  model: string;
  family: Family;
  task: Task;
  /** Its attentions in their order: "self", or "encoder_self", "decoder_self", "decoder_cross". */
  groups: GroupSize[];
  /** The views that this model has. */
  views: View[];
  exact: boolean;
  times: { fetch_ms: number; build_ms: number };
}

export interface GroupSize {
  name: string;
  layers: number;
  heads: number;
}

/** More of the weights is there; `left` bytes are not. Whatever is shown is to be asked for again once it is exact. */
export interface Refined {
  kind: "refined";
  number: number;
  model: string;
  left: number;
  exact: boolean;
}

/** The largest differences from torch on the reference input; `ok` where both are within their tolerances. */
export interface Verified {
  kind: "verified";
  number: number;
  model: string;
  /** The number of attention weights that were compared. */
  compared: number;
  weights: number;
  /** Of the logits, or of the last hidden state of a model without any. */
  output: number;
  tolerance: number;
  output_tolerance: number;
  ok: boolean;
  /** True if the tokenizer gave the reference's ids. */
  ids: boolean;
  torch: string;
}

/** The pictures that were wanted and that this model has, packed as its canvas reads them. */
export interface Shown {
  kind: "shown";
  number: number;
  model: string;
  group: string;
  views: Partial<Record<View, Uint8Array<ArrayBuffer>>>;
  /** The tokens along the queries and along the keys of the group. */
  queries: ShownToken[];
  keys: ShownToken[];
  /** The number of tokens at the end of the text that did not fit, and were not read. */
  dropped: number;
  /** False while parts of the weights are 8-bit ones. */
  exact: boolean;
  said: Said;
  /** The looks of `stage` that are still to be cut. */
  uncut: number;
  times: { tokens_ms: number; forward_ms: number; roles_ms: number; pack_ms: number };
}

/** A token; `from` and `to` are its place in the text in code points, both 0 where it is not part of it. */
export interface ShownToken {
  label: string;
  special: boolean;
  written: boolean;
  from: number;
  to: number;
}

/** The model's answer: its likeliest choices, the first one first; `text` is what a translator wrote. */
export interface Said {
  kind: "next_token" | "classes" | "target" | "cosines";
  top: { name: string; value: number }[];
  text: string;
}

/** What the model wrote: the ids of all written tokens, those of the input first, and the text of the new ones. */
export interface Written {
  kind: "written";
  number: number;
  model: string;
  written: number[];
  text: string;
  /** True if the model has ended its text, or has no position left. */
  ended: boolean;
}

/** How far each head alone moves the answer, [group][layer][head]; nothing while `left` heads are still to be measured. */
export interface Measured {
  kind: "measured";
  number: number;
  model: string;
  left: number;
  effects: number[][][];
}

/** The request was not answered. `reason` is a key below "live.refused." of the catalogues, with its values. */
export interface Refused {
  kind: "refused";
  number: number;
  reason: Reason;
  values: Record<string, string>;
}

/**
 * - `fetch`: {file} did not come; asking again tries again
 * - `file`: {file} is broken: {why}
 * - `architecture`: the engine does not know {found}; it knows {known}
 * - `tokenizer`: the tokenizer has {found}, which is not known here
 * - `changes`: {found} is no change that can be made here
 * - `input`: the model cannot read {found}
 * - `wasm`: this browser has no WebAssembly with 128-bit SIMD
 * - `memory`: the model needs more memory than this browser gives
 * - `internal`: {why}, an error of ours
 */
export type Reason =
  "fetch" | "file" | "architecture" | "tokenizer" | "changes" | "input" | "wasm" | "memory" | "internal";

export type Family = "bert" | "gpt2" | "llama" | "marian" | "vit";

/** A causal model goes on writing, an encoder gives vectors. */
export type Task = "next_token" | "classes" | "vectors" | "translation" | "picture_classes";

// --- what Python writes ------------------------------------------------------------------------------------------------

/** The files of a model, by addresses as `fetch` takes them in the worker, and what is known of it without them. */
export interface ModelFiles {
  /** As the address names it. */
  name: string;
  /** By language. */
  titles: Record<string, string>;
  kernels: string;
  /** The model's own files. */
  config: string;
  tokenizer?: string;
  generation?: string;
  preprocessor?: string;
  weights: PlainWeights | PlaneWeights;
  /** safetensors: for each group a tensor of its name, F32 [layer, head, d_head], the mean of `mixed` over the corpus. */
  means?: string;
  /**
   * safetensors of torch's own pass: "ids" I32 [token] (of a translator also "target" I32 [token], what its decoder
   * reads; of a picture model "pixels" F32 [3, row, column] and no ids); for each group a tensor of its name, F32
   * [layer, head, query, key]; "output" F32, the logits, or the last hidden state. Its metadata has "text" and "torch".
   */
  reference?: string;
  /** By language, a JSON file: {group: header of Steps}, see `StepsTemplate`. */
  steps?: Record<string, string>;
  /** The most tokens that it reads. */
  most: number;
  /** The first choice of the alignment, from the model's card. */
  stated?: { layer: number; head: number; mean: "layer" | "all" | null; does: string };
}

/** One safetensors file, F32, F16 or BF16. */
export interface PlainWeights {
  form: "plain";
  file: string;
}

/**
 * Weights in two planes of 8 bits: a weight is (high + low ÷ 256) · scale of its row, high and low signed, and high · scale
 * while low is not there. All files are safetensors. `high` has every tensor but the word embeddings under its own name:
 * matrices as I8 with NAME.scale F32 [row], all others as F32 or F16. `low` has the I8 matrices alone, under the same names.
 * The word embeddings `table` are cut into shards of `rows` rows (the last one may be shorter), "{shard}" in the address is
 * the number in at least three digits: each high shard has the table's name as I8 and NAME.scale F32, each low one the name.
 */
export interface PlaneWeights {
  form: "planes";
  high: string;
  low: string;
  table: string;
  shape: [rows: number, columns: number];
  rows: number;
  high_shards: string;
  low_shards: string;
  /** The bytes of all these files, for the progress. */
  bytes: { high: number; low: number; high_shard: number; low_shard: number };
}

/** The header of Steps that Python made for a short text: numbers, tokens and places are filled in by the worker. */
export type StepsTemplate = Record<string, StepsHeader>;

/** All texts that the worker prints, in one language: `worker_texts` of prepared.py. */
export interface Texts {
  language: string;
  strings: {
    stage: StageStrings;
    grid: GridStrings;
    head: HeadStrings;
    patches: PatchesStrings;
    steps: StepsHeader["strings"];
    masks: MasksStrings;
    switches: SwitchesStrings;
    bars: BarsStrings;
    writing: WritingStrings;
    alignment: AlignmentStrings;
  };
  /** Texts of the catalogue by their whole keys: sentences on heads, on the answer, on masks, on how tokens are drawn. */
  catalogue: Record<string, string>;
}
