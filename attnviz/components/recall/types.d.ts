// The data of recall; mirror of attnviz/components/recall/__init__.py.

import type { Flag } from "../shared/heads.js";

export interface Header {
  page: string;
  query: string;
  asks: Flag;
}

export type Arrays = Record<never, never>;
