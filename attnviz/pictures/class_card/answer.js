// @ts-check
// What answers a card's question: options, a number, or a cell of the picture; afterwards the verdict on the own answer
// and how the class answered. The own answer stays marked.

import { el } from "../shared/dom.js";
import { fill } from "../shared/fmt.js";
import { passageNodes, spanNodes } from "./passages.js";

/** @import { CardBar, CardOption, CardPicture, Header, StagedCard } from "./types.js" */

/**
 * What is asked, and of whom: `give` takes an answer, `picture` draws that of an option.
 * @typedef {{view: Header, card: StagedCard, own: string, judged: string, picture: (picture: CardPicture) => HTMLElement,
 *   give: (text: string) => void}} Asked
 */

const RIGHT = "right";
const LABEL = "not_"; // before the name of an option that is not right
const NUMBER = /^[-−+]?(\d+([.,]\d*)?|[.,]\d+)(e[-−+]?\d+)?$/i;

/** The widgets of a question, or what became of its answer. */
export function answerNode(/** @type {Asked} */ asked) {
  const { card } = asked;
  const isWall = asked.view.place === "wall";
  return el(
    "div",
    { class: "cc-answer" },
    card.vote > 1 && !card.revealed ? el("p", { class: "cc-again" }, asked.view.strings.again) : null,
    card.takes === "choice" ? optionsNode(asked) : null,
    card.takes === "number" && !card.revealed && !isWall ? numberNode(asked) : null,
    card.takes === "cell" && !card.revealed && !isWall
      ? el("p", { class: "cc-hint" }, asked.view.strings.cell)
      : null,
    isWall ? null : standing(asked),
    card.takes === "choice" ? null : bars(asked),
  );
}

function optionsNode(/** @type {Asked} */ asked) {
  const { card } = asked;
  const hasPictures = card.options.some((option) => option.picture);
  const props = { class: hasPictures ? "cc-options cc-pictured" : "cc-options", role: "radiogroup" };
  return el("div", props, ...card.options.map((option) => optionNode(asked, option)));
}

/** An option: a button until the reveal, then with its share of the class. */
function optionNode(/** @type {Asked} */ asked, /** @type {CardOption} */ option) {
  const { card, own, view } = asked;
  const isRight = card.revealed && option.name === card.right;
  const isOwn = option.name === own;
  const bar = card.bars.find(({ label }) => label === (isRight ? RIGHT : LABEL + option.name));
  const marks = [isRight ? "✓" : card.revealed && isOwn ? "✗" : "", isOwn ? view.strings.yours : ""];
  const button = el(
    "button",
    {
      type: "button",
      role: "radio",
      class: "cc-option",
      "aria-checked": String(isOwn),
      disabled: card.revealed || view.place === "wall",
      dataset: { option: option.name, right: isRight ? "1" : "", own: isOwn ? "1" : "" },
      on: { click: () => asked.give(option.name) },
    },
    el("span", { class: "cc-words-of-option" }, ...spanNodes(option.spans)),
    el("span", { class: "cc-marks" }, marks.filter(Boolean).join(" ")),
    ...(bar ? counts(asked, bar) : []),
  );
  if (!option.picture) return button;
  return el("div", { class: "cc-option-pictured" }, asked.picture(option.picture), button);
}

/** How many gave an answer: as a bar behind it; of two votes both, one below the other. */
function counts(/** @type {Asked} */ { card, view }, /** @type {CardBar} */ bar) {
  const all = card.bars.reduce((sum, one) => sum + one.count, 0);
  const before = card.bars.reduce((sum, one) => sum + one.first, 0);
  const width = (/** @type {number} */ count, /** @type {number} */ of) => `${of ? (100 * count) / of : 0}%`;
  if (card.vote < 2)
    return [
      el("span", { class: "cc-share", style: { width: width(bar.count, all) } }),
      el("span", { class: "cc-count" }, String(bar.count)),
    ];
  const row = (/** @type {string} */ name, /** @type {number} */ count, /** @type {number} */ of) =>
    el(
      "span",
      { class: "cc-vote" },
      el("span", {}, name),
      el("span", { class: "cc-track" }, el("span", { style: { width: width(count, of) } })),
      el("span", { class: "cc-count" }, String(count)),
    );
  const { first_vote, second_vote } = view.strings;
  return [
    el("span", { class: "cc-votes" }, row(first_vote, bar.first, before), row(second_vote, bar.count, all)),
  ];
}

function numberNode(/** @type {Asked} */ { view, own, give }) {
  const { strings } = view;
  const field = el("input", {
    type: "text",
    inputmode: "decimal",
    value: own,
    maxlength: 24,
    "aria-label": strings.number,
    placeholder: strings.number_example,
  });
  const note = el("p", { class: "cc-hint", role: "alert" });
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const typed = field.value.trim();
    note.textContent = NUMBER.test(typed) ? "" : strings.no_number;
    if (NUMBER.test(typed)) give(typed);
  };
  return el(
    "form",
    { class: "cc-number", on: { submit } },
    field,
    el("button", { type: "submit" }, strings.send),
    note,
  );
}

/** That the own answer counts, or how it was judged, with the sentence for its mistake. */
function standing(/** @type {Asked} */ { card, own, judged, view }) {
  const { strings } = view;
  if (!card.revealed)
    return own ? el("p", { class: "cc-hint", role: "status" }, said(strings.counted, card, own)) : null;
  const right =
    card.takes === "number"
      ? el("p", { class: "cc-right" }, fill(strings.right_number, { number: card.right }))
      : null;
  if (!own && !judged) return right;
  const isRight = judged === RIGHT;
  const verdict = isRight ? `✓ ${strings.right}` : `✗ ${strings.not_right}`;
  const yours = card.takes === "number" && own ? ` ${fill(strings.your_number, { number: own })}` : "";
  const feedback = isRight ? [] : passageNodes(card.feedback[judged] ?? []);
  return el(
    "div",
    { class: "cc-verdict", dataset: { right: isRight ? "1" : "" } },
    el("p", {}, el("strong", {}, verdict), yours),
    ...feedback,
    right,
  );
}

function said(/** @type {string} */ template, /** @type {StagedCard} */ card, /** @type {string} */ own) {
  return card.takes === "number" ? `${own} · ${template}` : template;
}

/** The answers of the class to a question without options. */
function bars(/** @type {Asked} */ asked) {
  const { card } = asked;
  if (!card.bars.length) return null;
  return el(
    "ul",
    { class: "cc-bars" },
    ...card.bars.map((bar) =>
      el(
        "li",
        { dataset: { right: bar.right ? "1" : "" } },
        el("span", { class: "cc-words-of-option" }, bar.words),
        el("span", { class: "cc-marks" }, bar.right ? "✓" : ""),
        ...counts(asked, bar),
      ),
    ),
  );
}
