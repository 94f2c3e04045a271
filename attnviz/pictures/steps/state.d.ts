// The state of Steps: what lives as long as the component, what comes with data, and what was drawn last.

import type { AxesLayout } from "../shared/axes.js";
import type { Committer } from "../shared/committer.js";
import type { Host, LaidMasks } from "../shared/host.js";
import type { Geom } from "../shared/matrix.js";
import type { Selection } from "../shared/selection.js";
import type { Theme } from "../shared/theme.js";
import type { Edit, Mode } from "./edits.js";
import type { Parts } from "./parts.js";
import type { ColourScale } from "./scales.js";
import type { AbsentPanel, Arrays, EditableStage, Face, Header, ShownPanel } from "./types.js";
import type { Scene } from "../shared/scenes.js";
import type { FilmStage } from "./film_scenes.js";
import type { FilmShow } from "./film_show.js";
import type { Shown } from "./window.js";

export type PanelInfo = AbsentPanel | ShownPanel;
/** Stages with a token on both axes. */
export type SquareStage = "scores" | "scaled" | "capped" | "biased" | "masked" | "weights";
/** Stages whose rows are keys. */
export type KeyStage = "unrotated_k" | "k" | "v";

export interface Cell {
  row: number;
  col: number;
}

/** The room of a canvas in the panels of the three lines, and the height of a row, in CSS pixels. */
export interface Widths {
  square: number;
  early: number;
  late: number;
  cell: number;
  numbers: boolean;
  joins: boolean;
}

/** One head as it came, and what is made of it once. `paper` names what all panels show in common. */
export interface HeadData {
  header: Header;
  edited: Arrays;
  edits: Edit[];
  marks: { query: number[]; key: number[] };
  whole: HTMLCanvasElement | null;
  theme: Theme;
  paper: string;
}

/** What the panels are to show; `arrays` are the numbers of the mode. */
export interface Show extends HeadData {
  arrays: Arrays;
  mode: Mode;
  selection: Selection;
  shown: Shown;
  widths: Widths;
}

/** What a panel's canvases show. `from` is the row and column of their first cell. */
export interface Drawn {
  layout: AxesLayout;
  scale: ColourScale;
  digits: number | null;
  from: Cell;
}

/** The small map of a whole matrix, of which a part is on show. */
export interface Mini {
  map: HTMLCanvasElement;
  frame: HTMLCanvasElement;
  geom: Geom | null;
}

/** The canvases of a stage that is there. `col` is the column that was chosen where columns are not tokens, null for none. */
export interface Picture {
  info: ShownPanel;
  base: HTMLCanvasElement;
  over: HTMLCanvasElement;
  low: HTMLElement;
  high: HTMLElement;
  bar: HTMLElement;
  scaleLine: HTMLElement;
  readout: HTMLElement;
  plot: HTMLElement;
  mini: Mini | null;
  hover: Cell | null;
  col: number | null;
  drawn: Drawn | null;
  /** What the lower canvas was painted for. */
  painted: { paper: string; frame: string; data: Float32Array } | null;
  /** What the upper canvas was painted for. */
  marked: { paper: string; frame: string } | null;
}

export interface Panel {
  info: PanelInfo;
  step: HTMLElement;
  section: HTMLElement;
  title: HTMLElement;
  formula: HTMLElement;
  shape: HTMLElement;
  note: HTMLElement;
  badge: HTMLElement;
  /** Says why the stage is not there. */
  reason: HTMLElement;
  picture: Picture | null;
  wroteFormula: string;
}

/** The entry that can be edited. */
export interface Target {
  stage: EditableStage;
  row: number;
  column: number;
}

/** The film of a row; `show` is null where the numbers for it are not there. */
export interface Film {
  scenes: readonly Scene<FilmStage>[];
  show: FilmShow | null;
}

export interface State extends Show {
  host: Host;
  top: HTMLElement;
  committer: Committer;
  parts: Parts;
  panels: Panel[];
  /** What the panels were built for, and what they were drawn for. */
  builtFor: string;
  drawnFor: string;
  target: Target | null;
  /** The panel whose chosen number the live region says. */
  told: Picture | null;
  areAllTerms: boolean;
  film: Film | null;
  /** What other masks make of a head, told by the picture above a rail. */
  laid: LaidMasks | null;
  /** What is looked at alone. */
  stop: FilmStage | null;
}

/** What the controls can do. */
export interface Actions {
  head: (layer: number, head: number) => void;
  choose: (query: number | null, key: number | null) => void;
  mode: (mode: Mode) => void;
  /** Asks the server for what follows from these edits. */
  edit: (edits: Edit[]) => void;
  /** Looks at a stop. */
  stop: (stop: FilmStage) => void;
  /** Asks the server for another face of the room. */
  face: (face: Face | null) => void;
}
