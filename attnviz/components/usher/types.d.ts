// The data of the usher; mirror of attnviz/components/usher/__init__.py.

export interface Header {
  /** How many cards were opened before this one. */
  arrivals: number;
  /** The words that a screen reader says for each number of the way. */
  labels: string[];
  /** The progress to keep in the browser, "" for none. */
  progress: string;
  /** Whether the session wants the progress that the browser keeps. */
  asks: boolean;
}

export type Arrays = Record<never, never>;
