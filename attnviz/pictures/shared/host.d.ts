// What a component and the page that it stands on know of each other. A component is a function that fills an element
// of its host and gets its data afterwards; whatever else it needs of the page it asks of the `Host`.
// Streamlit's host is attnviz/app/host/streamlit.js.

import type { Miniature } from "../gallery/paint.js";
import type { PartName } from "../model_map/types.js";
import type { HeadEffects } from "./effects.js";
import type { Box, Growth } from "./grow.js";
import type { HeadPath } from "./head_paths.js";
import type { Rest } from "./rest.js";
import type { AddressSelection, Place } from "./selection.js";
import type { ShownPicture } from "./snapshot.js";
import type { Header as Stage } from "../stage/types.js";
import type { Face } from "../steps/types.js";
import type { Theme } from "./theme.js";

/** Fills the root of a host. Nothing is drawn before the first data. */
export type Component = (host: Host) => Mounted;

/** A component in its place. */
export interface Mounted {
  /** Shows new data, or the same data after the theme has changed. */
  refresh(data: Uint8Array): void;
  /** Takes all nodes, listeners, timers and sockets away. */
  destroy(): void;
}

/** The page, as far as a component needs it. */
export interface Host {
  /** The element to fill. Its CSS has the custom properties that shared/style.css names (`--st-*`). */
  readonly root: ShadowRoot | HTMLElement;
  /** The colours and fonts of the page as they are now, for canvases. */
  theme(): Theme;
  /** Where choices are kept, so that a link leads back to them. */
  readonly address: Address;
  /** What the components of one page tell one another. */
  readonly channel: Channel;
  /** All components of the page as they are shown now, this one included. */
  pictures(): ShownPicture[];
  /** Light or dark by choice; absent on a page that does not offer it. */
  readonly scheme?: { wanted(): Scheme; choose(scheme: Scheme): void };
  /** Gives a value that lasts to whoever makes the data; another value of that name replaces it. */
  send<Name extends keyof Lasting>(name: Name, value: Lasting[Name]): void;
  /** Tells of an event, once. */
  trigger<Name extends keyof Events>(name: Name, value: Events[Name]): void;
}

/** A page that is light, dark, or as the system says. */
export type Scheme = "light" | "dark" | "system";

/** Query parameters: read one by one, written together. */
export interface Address {
  /** The value of a parameter, null where it is not set. */
  get(name: string): string | null;
  /** Sets parameters; null removes one. All others stay as they are. */
  set(changes: Readonly<Record<string, string | null>>): void;
}

/** Carries messages from one component to the others. */
export interface Channel {
  /** Tells everyone who listens, the sender included. */
  post(message: Message): void;
  /** Calls back with every message until the returned function is called. */
  listen(callback: (message: Message) => void): () => void;
}

/**
 * A change of the selection, what is told of all heads or the question for that, a square that grows, what was found, the
 * paths over the switches and what happens to one, what an answer has turned into, what an edit makes of it in words ("" for none), what other masks make of a head. Who cannot show a choice without the
 * server wants it to be told at once ("commit").
 */
export type Message =
  | Announcement
  | { readonly effects: HeadEffects }
  | { readonly rest: Rest }
  | { readonly wants: "effects" | "rest" | "paths" | "turned" | "laid" | "commit" }
  | { readonly turned: Turned | null }
  | { readonly edited: string }
  | { readonly laid: LaidMasks | null }
  | { readonly grow: Growth }
  | { readonly hits: Hits }
  | { readonly paths: DrawnPaths | null }
  | { readonly path: { chose: string } | { pointed: string | null } }
  | { readonly opens: { layer: number; head: number; from: Box } };

/** The likeliest answer with all heads on, and with what is switched off or forbidden. */
export interface Turned {
  readonly before: SaidAnswer;
  readonly after: SaidAnswer;
}

/** A head's scores and weights of the first sentence under other masks than the model's, row by row. */
export interface LaidMasks {
  readonly layer: number;
  readonly head: number;
  readonly masked: Float32Array<ArrayBuffer>;
  readonly weights: Float32Array<ArrayBuffer>;
}

export interface SaidAnswer {
  readonly word: string;
  readonly probability: number;
}

/** Paths that are drawn over the switches: the strongest moves `most`, `readable` ones are faint; the `strongest` of each head. */
export interface DrawnPaths {
  readonly paths: readonly HeadPath[];
  readonly readable: readonly HeadPath[];
  readonly most: number;
  readonly strongest: Readonly<Record<string, HeadPath & { readonly chance: number }>>;
  readonly chosen: string;
  readonly pointed: string | null;
}

/** The heads that a search found in a capture; null once it is over. */
export interface Hits {
  readonly capture: string;
  readonly heads: readonly { layer: number; head: number }[] | null;
}

/** A selection that has changed, and the element in which that happened: null where the server changed it. */
export interface Announcement {
  readonly selection: AddressSelection;
  readonly from: HTMLElement | null;
}

/** The values of `send`. */
export interface Lasting {
  /** board: the cell that was chosen; the time makes the same cell a new value. */
  cell: { panel: string; row: number; column: number; at: number };
  /** card_scroller: the progress in the lessons that this browser keeps. */
  progress: string;
  /** class_card: what a follower answers to the card on the stage. */
  answer: { lesson: string; card: string; text: string; at: number };
  /** class_messages: the count that came from the class, and when. */
  heard: { count: number; at: number };
  /** class_messages: the seat, or the presenter's key, that this tab kept over a reload. */
  kept: { code: string; heed: string; seat: string; at: number };
  /** tiles: what the browser lacks. */
  want: Want;
}

/** The values of `trigger`. */
export interface Events {
  /** The selection after pointer or focus has left the component. */
  selection: AddressSelection;
  /** A head to open on another page. */
  open: Place & { page: PageName; name?: string };
  /** head, stage, strip, switches: what is asked of a cell; mirror of `LookQuestion` in selection.py. */
  ask: Place & { ask: "forbid" | "links"; on: boolean };
  /** steps: all edits in their text form. */
  edit: string;
  /** steps: the face of the room to open, "" for the row. */
  face: Face | "";
  /** drawing_pad: the drawing, a PNG in base64. */
  picture: string;
  /** switches: what is off, in the text form of changes, or "none". */
  switches: string;
  /** switches: the look at a word that is forbidden, "L2.H1@2". */
  word: string;
  /** table: what the clicked cell opens. */
  table: string;
  /** circuit: the chosen head or path, the least that an arrow moves, and the sides that are drawn. */
  circuit: { arrow: string; least: string; sides: string };
  /** cut_out: how many edges are kept. */
  kept: number;
  /** geometry: the tab, the arrows and the positions, as an address has them. */
  geometry: { tab: string; vectors: string; turns: string };
  /** mask_painter: the painted cells, "query.key,…". */
  cells: string;
  /** film, atlas, pairs, stage: a text to look at. */
  text: string;
  /** strip: a piece's name and its new text. */
  typed: Typed;
  /** palette: the entry that was taken. */
  pick: { kind: string; value: string };
  /** strip: the file is left, what was typed is read again. */
  close: true;
  /** strip: the model is to write the target. */
  write: true;
  /** stage: the scene that was chosen. */
  scene: Stage["scene"];
  /** stage: the film is wanted. */
  film: number;
  /** gallery: how often it has asked for miniatures that are in sight and not there yet. */
  look: number;
  /** gallery: the miniature that was clicked. */
  miniature: Miniature;
  /** shelf: the lesson to open; the time makes the same lesson a new value. */
  lesson: { slug: string; from_start: boolean; at: number };
  /** model_map: the part of the model that was clicked. */
  part: PartName;
  /** motion: the numbers of a film that were set by hand, by their names. */
  set: Readonly<Record<string, number>>;
  /** resume: the page and the query of the address where the visitor left. */
  resume: { page: string; query: string };
}

/** A page that a component can open, or a head; mirror of `Door` in pages.py. */
export type PageName =
  | "start"
  | "overview"
  | "switches"
  | "circuit"
  | "geometry"
  | "map"
  | "atlas"
  | "pairs"
  | "weights"
  | "head"
  | "steps"
  | "masks"
  | "compare"
  | "output"
  | "learn"
  | "calculator";

/** What was typed into the strip; mirror of `Typed` in strip/__init__.py. */
export interface Typed {
  name: "text" | "target" | "text2" | "text_b" | "target_b";
  text: string;
}

/** What tiles lacks; mirror of `Want` in tiles/__init__.py. */
export interface Want {
  number: number;
  stamp: string;
  axes: string;
  distance: number;
  tiles: [level: number, row: number, column: number][];
  cell: [query: number, key: number] | null;
}
