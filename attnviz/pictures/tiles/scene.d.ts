// What the plot, the map and the pointer of a long head share: the part that is on screen, and what is marked in it.

import type { Spectrum } from "../shared/spectrum.js";
import type { Theme } from "../shared/theme.js";
import type { Camera, Cell, Frame } from "./camera.js";
import type { FoundPlace } from "./find.js";
import type { Store, TileColours } from "./store.js";
import type { Header } from "./types.js";

/** The tokens along an axis. */
export interface AxisTokens {
  labels: string[];
  marks: number[];
}

/** The tokens of a text, and the sound that the keys are frames of. */
export interface Text {
  stamp: string;
  axes: { rows: AxisTokens; columns: AxisTokens };
  heard: Spectrum | null;
}

/** The plot's place on its canvas, in CSS pixels. */
export interface PlotBox {
  x: number;
  y: number;
  w: number;
  h: number;
  width: number;
  height: number;
}

/** What is marked. */
export interface Marks {
  /** The cell that was clicked. */
  pinned: Cell | null;
  /** The cell under the pointer. */
  hover: Cell | null;
  /** The cell that the list of strongest cells points at. */
  pointed: Cell | null;
  /** The place that a search went to, and all that it found. */
  found: FoundPlace | null;
  places: FoundPlace[];
}

/** Everything that is drawn. */
export interface Scene extends Marks {
  header: Header;
  text: Text;
  store: Store;
  plot: PlotBox;
  frame: Frame;
  camera: Camera;
  theme: Theme;
  colours: TileColours;
}
