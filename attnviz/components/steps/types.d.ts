// The data of Steps; mirror of attnviz/components/steps.

import type { FloatArray, PackedArray } from "../shared/buffer.js";
import type { AxesHeader, Flag, LayerPatchesHeader, Strings } from "../shared/heads.js";
import type { PickerKey } from "../shared/picker.js";
import type { FilmStage } from "./film_scenes.js";

/** Stages with a token on both axes. */
export type SquareStage = "scores" | "scaled" | "capped" | "biased" | "masked" | "weights";
/** Stages whose rows are keys. */
export type KeyStage = "unrotated_k" | "k" | "v";
export type Stage = SquareStage | KeyStage | "x" | "unrotated_q" | "q" | "mixed" | "concat" | "projected";
export type EditableStage = "q" | "k" | "v" | "scores" | "masked";

export type StringKey =
  | PickerKey
  | `title_${Stage}`
  | "clear_cell"
  | "asks"
  | "strip_label"
  | "shape"
  | "badge"
  | "badge_ok"
  | "badge_bad"
  | "no_computation"
  | "no_reference"
  | "absent"
  | "rows_sum_to"
  | "cell_digits"
  | "head_columns"
  | "canvas_label"
  | "readout_pair"
  | "readout_row"
  | "hint"
  | "query_row"
  | "key_row"
  | "chosen_cell"
  | "arithmetic"
  | "precision"
  | "step_score"
  | "step_score_text"
  | "more_terms"
  | "show_terms"
  | "hide_terms"
  | "terms_caption"
  | "component"
  | "product"
  | "running"
  | "sum"
  | "step_scaled"
  | "step_scaled_by"
  | "scaled_before"
  | "step_masked"
  | "mask_open"
  | "mask_blocked"
  | "step_weight"
  | "softmax_text"
  | "softmax_dead"
  | "step_mixed"
  | "mixed_text"
  | "mixed_share"
  | "value_row"
  | "weighted_row"
  | "mixed_row"
  | "step_projected"
  | "projected_text"
  | "effect_text"
  | "effect_ranks"
  | "step_unavailable"
  | "changed"
  | "edit_hint"
  | "edit_value"
  | "edit_set"
  | "edit_block"
  | "edit_open"
  | "edit_undo"
  | "edit_reset"
  | "edit_modes"
  | "edit_edited"
  | "edit_original"
  | "edit_difference"
  | "edit_block_row"
  | "edit_open_row"
  | "edit_row"
  | "edit_row_blocked"
  | "edit_row_open"
  | "play"
  | "pause"
  | "play_next"
  | "play_stop"
  | "play_label"
  | "play_hint"
  | "play_at"
  | "play_again"
  | "play_position"
  | "play_speed"
  | `film_${FilmStage}`
  | "film_unmasked"
  | "film_rest"
  | "film_canvas"
  | "mini_label"
  | "picture"
  | "picture_idle";

interface PanelTitle {
  stage: Stage;
  title: string;
  formula: string;
}

/** A stage that is not there, with the reason. */
export interface AbsentPanel extends PanelTitle {
  absent: string;
  shape: null;
}

/** A stage with the names of its axes, the ends of its colours and how far it is from the model's own numbers. */
export interface ShownPanel extends PanelTitle {
  absent: null;
  shape: [rows: number, cols: number];
  rows: string;
  cols: string;
  signed: boolean;
  range: [low: number, high: number] | null;
  rows_sum_to: number | null;
  error: number | null;
  ok: boolean;
  tolerance: number;
}

export type PanelInfo = AbsentPanel | ShownPanel;

/** An edit as the server writes it: JSON has no infinite numbers. A column of null stands for all keys of a row. */
export interface PackedEdit {
  stage: EditableStage;
  row: number;
  column: number | null;
  value: number | "closed" | "opened";
}

export interface Header extends AxesHeader {
  strings: Strings<StringKey>;
  layer: number;
  head: number;
  n_layers: number;
  n_heads: number;
  d_head: number;
  d_model: number | null;
  scaling: number;
  /** Those of q and k that a rotary embedding turned. */
  turned: Stage[];
  /** What the model multiplied q, k or v by after their layer. */
  factors: Partial<Record<Stage, string>>;
  mask_names: string[];
  mask_reasons: string[];
  /** This head's columns of concat. */
  head_slice: [start: number, stop: number];
  editable: Flag;
  /** q, k and v were typed; no layer made them. */
  given: Flag;
  /** What keys are made of: "X", or another text's "E". */
  source: string;
  patches: LayerPatchesHeader | null;
  edits: PackedEdit[];
  panels: PanelInfo[];
}

/** One matrix for each stage that is there; `was_` is a stage as it was before the edits. */
export type Arrays = { [S in Stage]?: FloatArray } & { [S in Stage as `was_${S}`]?: FloatArray } & {
  /** The bits of the masks that block a cell [query, key], u8. */
  blocked: PackedArray;
  /** ‖v·W_O‖ of each key. */
  reach?: FloatArray;
  /** [row, column, rgb], u8, where the tokens are patches. */
  picture?: PackedArray;
};
