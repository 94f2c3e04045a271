// Written by `python -m scripts.write_canvas_types` from attnviz/pictures/class_card: change that, not this.

import type { SharedStrings } from "../shared/heads.js";

/**
 * The card that is shown, where to listen for the next (below the app's address), and as whom.
 * `own` is this page's answer as text, `judged` the label of its verdict once it is revealed. The wall has
 * the `link` to the class, also as a QR code, a text of 0 and 1 for each row.
 */
export interface Header {
  strings: Strings;
  folder: string;
  code: string;
  seat: string;
  place: Place;
  lang: string;
  card: StagedCard;
  own: string;
  judged: string;
  chosen: Record<string, number | null> | null;
  present: number;
  answered: number;
  link: string;
  qr: string[];
}

export type Place = "card" | "wall";

/**
 * A card as all pages of a class in one language see it; `version` is that of the stage.
 * What gives the answer away is empty until it is `revealed`: `right` is the name of the right option, or the
 * right number in words, `feedback` the sentence for each verdict's label. `bars` are empty unless the class
 * is shown how it answered. A card that `needs_page` has a picture that only a run of the page draws. Once
 * the class has `begun` the wall keeps the code small; `vote` is 2 where it votes again after talking.
 */
export interface StagedCard {
  version: number;
  lesson: string;
  card: string;
  lesson_title: string;
  where: string;
  title: CardSpan[];
  text: Passage[];
  question: Passage[];
  takes: Takes;
  options: CardOption[];
  settings: string[];
  pictures: CardPicture[];
  words: CardWord[];
  begun: boolean;
  revealed: boolean;
  right: string;
  reveal: Passage[];
  takeaway: Passage[];
  feedback: Record<string, Passage[]>;
  bars: CardBar[];
  answered: number;
  vote: number;
  needs_page: boolean;
}

/** A piece of a sentence in one style; `lang` where it is not in the language of the page. */
export interface CardSpan {
  text: string;
  style: SpanStyle;
  lang: string;
}

export type SpanStyle = "" | "strong" | "em" | "code";

/** A paragraph, or an item of a list with its `mark`: "•", "1.". */
export interface Passage {
  mark: string;
  spans: CardSpan[];
}

export type Takes = "" | "choice" | "number" | "cell";

/** An option of a choice, perhaps with a picture. */
export interface CardOption {
  name: string;
  spans: CardSpan[];
  picture: CardPicture | null;
}

/** A picture: the bytes of a board or film in base64, a chart, or the text of a program. */
export interface CardPicture {
  kind: PictureKind;
  data: string;
  chart: CardChart | null;
}

export type PictureKind = "board" | "motion" | "chart" | "program";

/** A chart over one axis; `marked_x` is a line across it. */
export interface CardChart {
  lines: ChartLine[];
  x: string;
  y: string;
  log_x: boolean;
  bars: boolean;
  marked_x: number | null;
}

/** A line of a chart, or its bars; None breaks the line. */
export interface ChartLine {
  label: string;
  x: number[];
  y: (number | null)[];
}

/** A term that the card uses. */
export interface CardWord {
  term: string;
  meaning: Passage[];
}

/**
 * An answer of the class under the label of its verdict, and how many gave it.
 * `first` is how many gave it before the class talked.
 */
export interface CardBar {
  label: string;
  words: string;
  count: number;
  first: number;
  right: boolean;
}

export type Arrays = Record<never, never>;

/** The texts of this canvas, and the shared ones. */
export interface Strings extends SharedStrings {
  readonly whole: string;
  readonly again: string;
  readonly first_vote: string;
  readonly second_vote: string;
  readonly live: string;
  readonly lost: string;
  readonly question: string;
  readonly text: string;
  readonly words: string;
  readonly takeaway: string;
  readonly counted: string;
  readonly yours: string;
  readonly cell: string;
  readonly number: string;
  readonly number_example: string;
  readonly no_number: string;
  readonly send: string;
  readonly right: string;
  readonly not_right: string;
  readonly right_number: string;
  readonly your_number: string;
  readonly here: string;
  readonly invite: string;
  readonly qr: string;
}
