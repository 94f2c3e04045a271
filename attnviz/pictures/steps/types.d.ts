// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/steps: change that, not this.

import type { FloatArray, PackedArray } from "../shared/buffer.js";
import type { Axes, LayerPatches, SharedStrings } from "../shared/heads.js";

/**
 * Every stage of one head; `absent` says why a stage has no view.
 * `reach` is how long a vector a weight of 1 on each key would write, ‖v·W_O‖. `by_kernel` is True where the
 * numbers are compared with those of torch's own kernel, not with a model's. `faces` are those that the host
 * can open in the picture's place, `face` the open one.
 */
export interface Header extends HeadPlace, StepTokens, BlockedCells {
  strings: Strings;
  by_kernel: boolean;
  faces: Face[];
  face: Face | null;
  /** The width of a query. */
  d_head: number;
  /** The width of the model, where a stage has it. */
  d_model: number | null;
  /** The factor of the scores. */
  scaling: number;
  /** Those of q and k that a rotary embedding turned. */
  turned: Stage[];
  /** True where q, k and v were typed; no layer made them. */
  given: boolean;
  /** The factors of q, k or v after their layer, in words. */
  factors: Partial<Record<Stage, string>>;
  /** This head's columns of concat. */
  head_slice: [number, number];
  /** True where numbers can be changed by hand. */
  editable: boolean;
  /** The source of keys: "X", or another text's "E". */
  source: string;
  /** The changes made by hand. */
  edits: SentEdit[];
  /** The stages in their order; those that most models do not have only where they are. */
  panels: (AbsentPanel | ShownPanel)[];
}

/**
 * The place of a head, and the numbers of layers and heads.
 * `kept` has the heads of each layer that were kept, where not all were.
 */
export interface HeadPlace {
  layer: number;
  head: number;
  n_layers: number;
  n_heads: number;
  kept: number[][];
}

/** The tokens of both axes, and the picture that they are patches of, where they are. */
export interface StepTokens extends Axes {
  cross: boolean;
  patches: LayerPatches | null;
}

/** The masks that block each cell: bit i of a cell stands for the i-th name and reason. */
export interface BlockedCells {
  mask_names: string[];
  mask_reasons: string[];
}

export type Face = "numbers" | "arrows" | "masks";

export type Stage =
  | "x"
  | "unrotated_q"
  | "unrotated_k"
  | "q"
  | "k"
  | "v"
  | "scores"
  | "scaled"
  | "capped"
  | "biased"
  | "masked"
  | "weights"
  | "mixed"
  | "concat"
  | "projected";

/** An edit for the browser; JSON has no ±∞, so what is closed or opened is so in words. */
export interface SentEdit {
  stage: EditableStage;
  row: number;
  column: number | null;
  value: number | "closed" | "opened";
}

export type EditableStage = "q" | "k" | "v" | "scores" | "masked";

/** A stage that is not there, with the reason. */
export interface AbsentPanel {
  stage: Stage;
  formula: string;
  absent: string;
  shape: null;
}

/** A stage: its axes, the ends of its colours, how far it is from the model's own numbers. */
export interface ShownPanel {
  stage: Stage;
  formula: string;
  shape: [number, number];
  rows: AxisName;
  cols: AxisName;
  signed: boolean;
  range: [number, number] | null;
  rows_sum_to: number | null;
  error: number | null;
  ok: boolean;
  tolerance: number;
  absent: null;
}

export type AxisName = "query" | "key" | "d_model" | "d_head" | "d_concat";

export type Arrays = { [S in Stage]?: FloatArray } & { [S in Stage as `was_${S}`]?: FloatArray } & {
  /** [row, column, rgb] */
  picture?: PackedArray;
  /** [query, key] */
  blocked: PackedArray;
  /** [key] */
  reach?: FloatArray;
};

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly film_q: string;
  readonly film_scores: string;
  readonly film_scaled: string;
  readonly film_masked: string;
  readonly film_unmasked: string;
  readonly film_weights: string;
  readonly film_mixed: string;
  readonly film_projected: string;
  readonly film_rest: string;
  readonly film_canvas: string;
  readonly play_position: string;
  readonly play_speed: string;
  readonly title_x: string;
  readonly title_unrotated_q: string;
  readonly title_unrotated_k: string;
  readonly title_q: string;
  readonly title_k: string;
  readonly title_v: string;
  readonly title_scores: string;
  readonly title_scaled: string;
  readonly title_capped: string;
  readonly title_biased: string;
  readonly title_masked: string;
  readonly title_weights: string;
  readonly title_mixed: string;
  readonly title_concat: string;
  readonly title_projected: string;
  readonly strip_label: string;
  readonly shape: string;
  readonly badge: string;
  readonly badge_ok: string;
  readonly badge_bad: string;
  readonly no_reference: string;
  readonly no_computation: string;
  readonly absent: string;
  readonly rows_sum_to: string;
  readonly cell_digits: string;
  readonly head_columns: string;
  readonly canvas_label: string;
  readonly readout_pair: string;
  readonly readout_row: string;
  readonly hint: string;
  readonly query_row: string;
  readonly key_row: string;
  readonly chosen_cell: string;
  readonly question: string;
  readonly question_hidden: string;
  readonly row_label: string;
  readonly says_k: string;
  readonly says_k_typed: string;
  readonly says_scores: string;
  readonly says_scaled: string;
  readonly says_weights: string;
  readonly says_v: string;
  readonly rows_title: string;
  readonly all_rows: string;
  readonly face_numbers: string;
  readonly face_arrows: string;
  readonly face_close: string;
  readonly face_masks: string;
  readonly step_input: string;
  readonly step_input_typed: string;
  readonly precision: string;
  readonly precision_typed: string;
  readonly step_score: string;
  readonly step_score_text: string;
  readonly more_terms: string;
  readonly show_terms: string;
  readonly hide_terms: string;
  readonly terms_caption: string;
  readonly component: string;
  readonly product: string;
  readonly running: string;
  readonly sum: string;
  readonly step_scaled: string;
  readonly step_scaled_by: string;
  readonly scaled_before: string;
  readonly step_masked: string;
  readonly mask_open: string;
  readonly mask_blocked: string;
  readonly step_weight: string;
  readonly softmax_text: string;
  readonly softmax_dead: string;
  readonly step_mixed: string;
  readonly mixed_text: string;
  readonly mixed_share: string;
  readonly mixed_part: string;
  readonly value_row: string;
  readonly weighted_row: string;
  readonly mixed_row: string;
  readonly step_projected: string;
  readonly projected_text: string;
  readonly effect_text: string;
  readonly effect_ranks: string;
  readonly rail: string;
  readonly stop_mask: string;
  readonly step_unavailable: string;
  readonly changed: string;
  readonly edit_hint: string;
  readonly edit_value: string;
  readonly edit_set: string;
  readonly edit_block: string;
  readonly edit_open: string;
  readonly edit_reset: string;
  readonly edit_undo: string;
  readonly edit_modes: string;
  readonly edit_edited: string;
  readonly edit_original: string;
  readonly edit_difference: string;
  readonly play_next: string;
  readonly play_stop: string;
  readonly play_label: string;
  readonly play_at: string;
  readonly mini_label: string;
  readonly edit_block_row: string;
  readonly edit_open_row: string;
  readonly edit_row: string;
  readonly edit_row_blocked: string;
  readonly edit_row_open: string;
  readonly kernel_badge: string;
  readonly kernel_no_computation: string;
  readonly kernel_no_reference: string;
}
