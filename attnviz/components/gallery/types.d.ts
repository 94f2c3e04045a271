// The data of the gallery; mirror of attnviz/components/gallery/__init__.py.

import type { FloatArray, PackedArray } from "../shared/buffer.js";
import type { Strings } from "../shared/heads.js";

export type Miniature = "translator" | "picture" | "story" | "birth";

export type StringKey = "label" | "waits" | `${"title" | "text" | "says"}_${Miniature}`;

export interface Header {
  strings: Strings<StringKey>;
  translator: { head: string; source: string[]; target: string[] } | null;
  picture: { head: string; answer: string; probability: number } | null;
  story: { tokens: string[]; n_given: number } | null;
  birth: {
    head: string;
    letters: string[];
    steps: number[];
    chance: number;
    n_steps: number;
    is_over: 0 | 1;
  } | null;
}

/** Those of a miniature that is not there are missing. */
export interface Arrays {
  lines: FloatArray;
  pixels: PackedArray;
  patches: FloatArray;
  story: FloatArray;
  scores: FloatArray;
  maps: PackedArray;
}
