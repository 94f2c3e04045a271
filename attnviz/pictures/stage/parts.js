// @ts-check
// The nodes of the stage: title, sentence, switches, answer, all heads, a box for another sentence.

import { el, languageOf, setText } from "../shared/dom.js";
import { fill, headName } from "../shared/fmt.js";
import { readSelection } from "../shared/selection.js";
import { svg, svgText } from "../shared/svg.js";
import { CONTINUES, isInBytes, percent } from "./words.js";

/** @import { Host } from "../shared/host.js" */
/** @import { Header } from "./types.js" */

/** @typedef {ReturnType<typeof makeParts>} Parts */

const MAX_CHARS = 400;
const LATER_BYTE = "·"; // a character stands at its first byte

/**
 * @param {Host} host
 * @param {(square: Element, by: number) => void} moveFocus
 */
export function makeParts(host, moveFocus) {
  const title = el("h2", { class: "stage-title" });
  const arcs = svg("svg", { class: "stage-arcs", "aria-hidden": "true" });
  const through = svg("svg", { class: "stage-arcs stage-through", "aria-hidden": "true" });
  const words = el("p", { class: "stage-tokens" });
  const pills = el("div", { class: "stage-pills", role: "group" });
  const explains = el("p", { class: "stage-explains av-caption" });
  const instead = el("p", { class: "stage-instead av-caption", hidden: true });
  const notes = el("div", { class: "stage-notes" }, explains, instead);
  const sentence = el("div", { class: "stage-sentence" }, arcs, through, words, pills, notes);
  const name = el("span", {});
  const before = el("span", { class: "stage-before av-caption", hidden: true });
  const heading = el("h3", { class: "av-heading" }, name, before);
  const bars = el("ul", { class: "stage-bars" });
  const listed = el("p", {});
  const answers = el("div", { class: "stage-answers" }, heading, bars);
  const gap = el("span", { class: "stage-token gap", dir: "auto" });
  const says = el("p", { class: "stage-says", role: "status" });
  const notShown = el("span", {});
  const toChange = el("button", {
    ...{ type: "button", class: "av-button" },
    on: { click: () => openChange(host) },
  });
  const elsewhere = el("p", { class: "stage-elsewhere av-note", hidden: true }, notShown, " ", toChange);
  const legend = el("p", { class: "stage-legend av-caption" });
  const squares = el("div", { class: "stage-squares", role: "group" });
  squares.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!by || !(event.target instanceof Element)) return;
    event.preventDefault();
    moveFocus(event.target, by);
  });
  const tried = el("p", { class: "stage-tried av-caption" });
  const own = makeOwn(host);
  const how = el("summary", {});
  const howText = el("p", {});
  const howChosen = el("p", {});
  const howOthers = el("p", {});
  const details = el("details", { class: "stage-how" }, how, listed, howText, howChosen, howOthers);
  const body = el("div", { class: "stage-body" }, sentence, answers);
  const foot = el("div", { class: "stage-foot" }, own.film, details);
  return {
    nodes: [title, says, elsewhere, body, legend, squares, tried, own.node, foot],
    ...{ sentence, words, arcs, through, pills, bars, answers, gap, says, squares, explains, instead },
    ...{ before, elsewhere, notShown },
    /** A number over the end of an arc. */
    label: (/** @type {string} */ text, /** @type {number} */ x, /** @type {number} */ y) =>
      svgText("stage-number", text, Math.max(14, x), y),
    /** The words of the sentence, one node each; the place of the next one stands behind them. */
    writeTokens(/** @type {Header} */ { tokens, special, query, key, pieces }) {
      const isLaterByte = new Set(
        pieces.flatMap(([start, stop]) =>
          isInBytes(tokens, [start, stop]) ? tokens.map((_, at) => at).slice(start + 1, stop) : [],
        ),
      );
      const nodes = tokens.map((label, at) => {
        const role = at === query ? " query" : at === key ? " key" : "";
        const name = `stage-token${special[at] ? " special" : ""}${role}`;
        const text = isLaterByte.has(at) ? LATER_BYTE : label.replace(CONTINUES, "");
        return el(
          "span",
          { class: name, dir: "auto", lang: languageOf(label), title: special[at] ? label : null },
          special[at] ? "▸" : text,
        );
      });
      const isJoined = new Set(pieces.flatMap(([start, stop]) => nodes.slice(start + 1, stop)));
      const inWords = nodes.reduce((/** @type {HTMLElement[][]} */ found, node) => {
        if (isJoined.has(node)) found[found.length - 1].push(node);
        else found.push([node]);
        return found;
      }, []);
      const shown = inWords.map((word) =>
        word.length > 1 ? el("span", { class: "stage-whole" }, ...word) : word[0],
      );
      words.replaceChildren(...shown.flatMap((node) => [node, " "]), gap);
      return nodes;
    },
    write(/** @type {Header} */ header) {
      const { strings, scene, kind, guesses, n_layers: layers, n_heads: heads } = header;
      const asks = kind === "meaning" ? "title_meaning" : scene === "own" ? "title_next" : "title_story";
      setText(title, strings[asks]);
      setText(name, kind === "meaning" ? strings.meaning : strings.answer);
      setText(listed, kind === "meaning" ? "" : strings.listed);
      listed.hidden = kind === "meaning";
      setText(before, strings.before);
      setText(toChange, strings.to_change);
      pills.setAttribute("aria-label", strings.label);
      squares.setAttribute("aria-label", strings.label);
      legend.hidden = !guesses;
      legend.replaceChildren(
        el("span", {}, fill(strings.squares, { n: layers * heads })),
        el("span", { class: "stage-sign looks" }, strings.looks),
        el("span", { class: "stage-sign moves" }, kind === "meaning" ? strings.moves_scaled : strings.moves),
      );
      tried.hidden = !header.tried;
      if (header.tried) setText(tried, fill(strings.tried, countsOf(header.tried)));
      setText(how, strings.how);
      setText(howText, kind === "meaning" ? strings.how_meaning : strings.how_text);
      howChosen.hidden = !header.n_tried;
      setText(howChosen, strings.how_chosen);
      howOthers.hidden = !header.tried;
      if (header.tried) setText(howOthers, fill(strings.how_others, othersOf(header)));
      own.write(header);
    },
  };
}

/** Goes where the look is shown that the address forbids. */
function openChange(/** @type {Host} */ host) {
  const { layer, head, query, key } = readSelection(host.address);
  if (layer === null || head === null) return;
  host.trigger("open", { page: "switches", layer, head, name: headName(layer, head), query, key });
}

function countsOf(/** @type {NonNullable<Header["tried"]>} */ { looks, strong, moving, flips }) {
  return { looks, strong, moving, flips };
}

function othersOf(/** @type {Header} */ { tried, winner }) {
  const [a, b, c, d, e] = (tried?.others ?? []).map(percent);
  return { word: winner, a, b, c, d, e };
}

/** A box for the visitor's sentence, and sentences to begin with. */
function makeOwn(/** @type {Host} */ host) {
  const input = el("input", { type: "text", class: "stage-input", maxlength: MAX_CHARS, dir: "auto" });
  const button = el("button", { type: "submit", class: "av-button stage-look" });
  const examples = el("div", { class: "stage-examples", role: "group" });
  const node = el("form", { class: "stage-own" }, input, button, examples);
  const film = el("button", {
    type: "button",
    class: "av-button",
    on: { click: () => host.trigger("film", 1) },
  });
  node.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = input.value.trim();
    if (text) host.trigger("text", text);
    else input.focus();
  });
  return {
    node,
    film,
    write(/** @type {Header} */ { strings, examples: scenes, has_box: hasBox }) {
      input.hidden = button.hidden = film.hidden = !hasBox;
      input.setAttribute("placeholder", strings.text);
      input.setAttribute("aria-label", strings.text);
      setText(button, strings.look);
      setText(film, strings.film);
      examples.setAttribute("aria-label", strings.examples);
      examples.replaceChildren(
        ...scenes.map(([scene, text]) =>
          el(
            "button",
            {
              type: "button",
              class: "av-button",
              dir: "auto",
              lang: languageOf(text),
              on: { click: () => host.trigger("scene", scene) },
            },
            text,
          ),
        ),
      );
    },
  };
}
