// The data of the switch; mirror of attnviz/components/scheme/__init__.py.

export interface Header {
  strings: Record<"label" | "light" | "dark" | "system", string>;
}

export type Arrays = Record<never, never>;
