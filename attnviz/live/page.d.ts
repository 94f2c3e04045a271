// What Python writes into a page for its script; mirror of attnviz/live/site.py.

import type { ModelFiles, Texts } from "./index.js";

export type Tab = "overview" | "picture" | "head" | "steps" | "masks" | "switches" | "output";

export interface PageIndex {
  language: string;
  /** The folder that addresses are relative to, as the page sees it; null in a page that is one file. */
  root: string | null;
  worker: string;
  /** The service worker, beside the root; null where there is none. */
  offline: string | null;
  /** Models by name; the first one is opened. */
  models: Record<string, PageModel>;
  titles: Record<Tab, string>;
  /** The attentions by the names that the worker gives them. */
  groups: Record<string, string>;
  /** Below "live." of the catalogue. */
  texts: Record<string, string>;
  /** What heads say while they are off, by its name. */
  off: Record<string, string>;
  worker_texts: Texts;
  /** The data of the drawing pad, and the first picture, row by row; base64. Null without a model of pictures. */
  pad: { view: string; side: number; first: string; first_side: number } | null;
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
