// The data of the camera; mirror of attnviz/components/camera/__init__.py.

export interface Header {
  strings: Record<"save" | "which" | "none", string>;
}

export type Arrays = Record<never, never>;
