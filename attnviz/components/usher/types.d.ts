// The data of the usher; mirror of attnviz/components/usher/__init__.py.

export interface Header {
  /** How many cards were opened before this one. */
  arrivals: number;
  /** The words that a screen reader says for each number of the way. */
  labels: string[];
}

export type Arrays = Record<never, never>;
