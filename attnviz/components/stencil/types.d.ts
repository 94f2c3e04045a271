// The data of the stencil; mirror of attnviz/components/stencil/__init__.py.

import type { PackedArray } from "../shared/buffer.js";
import type { Strings } from "../shared/heads.js";

export type StringKey = "canvas" | "cell" | "hint" | "clear";

export interface Header {
  strings: Strings<StringKey>;
  tokens: string[];
  key_tokens: string[];
}

export interface Arrays {
  /** 1 for a painted cell, u8 [query, key]. */
  cells: PackedArray;
}
