// What Python writes into a page for its script, a mirror of attnviz/live/document.py and model.py; and what the script knows.

import type { Component, Host, Mounted } from "../pictures/shared/host.js";
import type { AddressSelection } from "../pictures/shared/selection.js";
import type { Input, Loaded, ModelFiles, Shown, Staged, Texts, Verified, View } from "./index.js";
import type { Line } from "./line.js";
import type { Inside } from "./start_worker.js";

export type Tab = "stage" | "overview" | "picture" | "head" | "steps" | "masks" | "switches" | "output";

export interface PageIndex {
  language: string;
  /** The folder that addresses are relative to, as the page sees it; null in a page that is one file. */
  root: string | null;
  worker: string;
  /** The service worker, beside the root; null where there is none. */
  offline: string | null;
  /** The script of the canvases that a page does not open with; null where all are there. */
  later: string | null;
  /** Models by name; the first one is opened. */
  models: Record<string, PageModel>;
  titles: Record<Tab, string>;
  /** The rooms of the app with their tabs; the first one has no name. */
  rooms: [name: string, tabs: Tab[]][];
  /** The sentences of the stage, with their models. */
  scenes: (Pick<Staged, "scene" | "text" | "cell" | "tried" | "yardsticks"> & { model: string })[];
  /** The last yardstick of a sentence of one's own. */
  other_text: string;
  /** The attentions by the names that the worker gives them. */
  groups: Record<string, string>;
  /** Below "live." of the catalogue. */
  texts: Record<string, string>;
  /** What heads say while they are off, by its name. */
  off: Record<string, string>;
  worker_texts: Texts;
  /** The data of the drawing pad with the first picture, in base64. Null without a model of pictures. */
  pad: { view: string; side: number } | null;
}

export interface PageModel {
  files: ModelFiles;
  description: string;
  kind: "encoder" | "decoder" | "encoder-decoder" | "vision";
  /** Texts to start from; the first one is opened. */
  examples: string[];
  /** The cell that the first example is opened at. */
  opening: { group: string; layer: number; head: number; query: number | null; key: number | null } | null;
  /** The bytes of its files. */
  bytes: number;
}

/** A canvas in its place, with what it shows. */
export interface Place {
  pane: HTMLElement;
  mounted: Mounted;
  data: Uint8Array;
}

/** A model with its worker: what it was given, what it answered, and what it wrote behind the text. */
export interface Session {
  name: string;
  line: Line;
  loaded: Loaded | null;
  verified: Verified | null;
  /** The bytes of the weights that are not there yet, once that is known. */
  left: number | null;
  /** The text that it was opened with, which the first selection is about. */
  opened: string;
  text: string;
  picture: Input["picture"];
  written: number[];
  continuation: string;
  isWriting: boolean;
  seed: number;
  /** The input whose effects were asked for last. */
  effects: string;
  /** True while the Switchboard lacks what takes many passes. */
  isSketch: boolean;
  /** The text came from the field: every picture of it is one of a text that is typed, the first one and those that follow. */
  isTyped: boolean;
  shown: Shown | null;
  trouble: string;
}

export interface Page {
  index: PageIndex;
  components: Record<string, Component>;
  sheets: Record<string, CSSStyleSheet>;
  host: Omit<Host, "root" | "theme">;
  sessions: Map<string, Session>;
  /** The model that is looked at. */
  session: Session;
  tab: Tab;
  chosen: AddressSelection;
  places: Map<View, Place>;
  pad: Mounted | null;
  /** The canvases that are on their way. */
  later: Promise<void> | null;
  /** Brings the address up to date now. */
  writeAddress: () => void;
  /** The timer that runs until nobody types. */
  resting: number;
  /** The files of a page that is one file. */
  inside: Inside | null;
}
