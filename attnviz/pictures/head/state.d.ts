// The state of the head page: what lives as long as the component, what comes with data, and what was drawn last.

import type { AxesLayout } from "../shared/axes.js";
import type { Committer } from "../shared/committer.js";
import type { HeadEffects } from "../shared/effects.js";
import type { Request } from "../shared/dom.js";
import type { Host } from "../shared/host.js";
import type { Geom } from "../shared/matrix.js";
import type { Theme } from "../shared/theme.js";
import type { LineLayout } from "./line_layout.js";
import type { LineCache } from "./lines.js";
import type { Parts } from "./parts.js";
import type { Capture, CellPlace, HeadSelection, LayerAxes, Pointed, View } from "./view.js";

/** As long as the component. */
export interface Frame {
  host: Host;
  box: HTMLElement;
  committer: Committer;
  /** Draws everything in the next frame. */
  show: Request;
  /** Draws what depends on the pointer in the next frame. */
  point: Request;
  /** Draws the lines once the heatmap is on the screen. */
  drawLinesLater: Request;
  /** The cells of the heatmap, painted once for a head and scale. */
  cells: HTMLCanvasElement;
  lineCache: LineCache;
}

/** What width and theme decide. */
export interface Look {
  theme: Theme;
  lut: Uint32Array;
  isNarrow: boolean;
  heatRoom: number;
  lineRoom: number;
}

/** What is on screen. */
export interface Drawn {
  view: View;
  heatmap: AxesLayout;
  lines: LineLayout;
  /** What the two layouts were made for. */
  name: string;
  /** Where the picture lies, where there is one. */
  picture: Geom | null;
}

export interface State extends Pointed {
  frame: Frame;
  data: Uint8Array;
  capture: Capture;
  own: LayerAxes;
  parts: Parts;
  selection: HeadSelection;
  /** A key that keeps the focus until something else is chosen. */
  keptToken: CellPlace | null;
  /** What was measured of the heads, once it is known. */
  effects: HeadEffects | null;
  look: Look | null;
  drawn: Drawn | null;
  /** What the ranked keys were written for. */
  rankedFor: string;
}
