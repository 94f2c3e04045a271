// The index of a page; mirror of attnviz/files/saved_page/__init__.py and arrays.py.

import type { Dtype } from "../../pictures/shared/buffer.js";

/** Where the bytes of an array are: `from` names them; `times` if its floats are those times a number. */
export interface Source {
  from: string;
  times?: number;
}

/** An array of a buffer; `coarse` if its codes of 8 bits are made of codes of 16. */
export interface StoredArray extends Source {
  name: string;
  dtype: Dtype;
  shape: number[];
  first?: number;
  places?: number[];
  coarse?: 1;
}

/**
 * An array that is made of others: rows, columns and, of products, the number of summands; the differences of its bits from
 * those of the rule's result, in bytes, and in whole numbers where a byte is too small.
 */
export interface RebuiltStage {
  rule: "products" | "blocked" | "softmax";
  sources: Source[];
  sizes: number[];
  near: string;
  far?: string;
}

/** A packed buffer without its bytes; `strings` names its texts. */
export interface StoredPart {
  header: Record<string, unknown>;
  strings: string;
  arrays: StoredArray[];
}

export type ViewName = "overview" | "head" | "steps" | "masks" | "picture" | "alignment";
export type ComponentName = "grid" | "head" | "steps" | "masks" | "patches" | "alignment";

/** A view of a group: one buffer under "", or one for each head that the page has, by its name. */
export interface StoredView {
  component: ComponentName;
  heads: Record<string, StoredPart>;
}

export interface StoredGroup {
  name: string;
  views: Partial<Record<ViewName, StoredView>>;
}

export interface Index {
  titles: Record<ViewName, string>;
  texts: Record<"views" | "groups" | "no_steps", string>;
  groups: StoredGroup[];
  strings: Record<string, Record<string, string>>;
  rebuilt: Record<string, RebuiltStage>;
  start: { layer: number; head: number; view?: ViewName };
  /** What a saved picture says of where it comes from. */
  origin: { model: string; text: string };
  /** 1 if a notebook's kernel follows the page and has the steps of every head. */
  live: 0 | 1;
}
