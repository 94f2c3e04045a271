// The data of the camera; mirror of attnviz/components/camera/__init__.py.

export interface Header {
  strings: Record<"save" | "which" | "none", string>;
  /** A line for each text that the picture comes from. */
  origin: string[];
}

export type Arrays = Record<never, never>;
