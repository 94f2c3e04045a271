// The data of the pad; mirror of attnviz/components/pad/__init__.py.

import type { Strings } from "../shared/heads.js";

export type StringKey =
  | "surface"
  | "hint"
  | "tools"
  | "brush"
  | "eraser"
  | "circle"
  | "square"
  | "triangle"
  | "star"
  | "cross"
  | "heart"
  | "colours"
  | "red"
  | "orange"
  | "yellow"
  | "green"
  | "blue"
  | "purple"
  | "black"
  | "sizes"
  | "small"
  | "medium"
  | "large"
  | "undo"
  | "clear"
  | "placed"
  | "undone"
  | "cleared";

/** A point of a form, within ±1. */
export type Point = [x: number, y: number];

export type FormName = "circle" | "square" | "triangle" | "star" | "cross" | "heart";
export type ColourName = "red" | "orange" | "yellow" | "green" | "blue" | "purple" | "black";

export interface Form {
  name: FormName;
  points: Point[];
}

export interface Header {
  strings: Strings<StringKey>;
  /** The side of the picture that is sent, in pixels. */
  side: number;
  colours: { name: ColourName; css: string }[];
  forms: Form[];
}

export type Arrays = Record<never, never>;
