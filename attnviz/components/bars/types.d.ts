// The data of the bars; mirror of attnviz/components/bars/__init__.py.

import type { Strings } from "../shared/heads.js";

export type StringKey = "rest";

export interface BarHeader {
  label: string;
  value: number;
  second: number | null;
  mark: string;
  muted: boolean;
}

export interface Header {
  strings: Strings<StringKey>;
  title: string;
  bars: BarHeader[];
  rest: { count: number; value: number } | null;
  note: string;
  values: string;
  seconds: string;
  full: number;
}

export type Arrays = Record<never, never>;
