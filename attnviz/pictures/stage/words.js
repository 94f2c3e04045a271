// @ts-check
// What the stage says: one sentence about the look that is forbidden, or about what one may forbid.

import { wantsLessMotion } from "../shared/clock.js";
import { el, fillNodes, foreign } from "../shared/dom.js";
import { fill, fmtFixed, fmtPercent, fmtShort, headName, withPercent } from "../shared/fmt.js";
import { readSelection } from "../shared/selection.js";

/** @import { Address } from "../shared/host.js" */
/** @import { Arrays, Header } from "./types.js" */

/** @typedef {{number: number, name: string, weight: number}} Look */

/** Before the continuation of a word. */
export const CONTINUES = /^##/;
const DECIMALS = 2;
const LOOKS = 0.15; // below it one does not say that a head looks

/** A share of 1 as a percentage: 99%, 0.41%, <0.01%. */
export function percent(/** @type {number} */ share) {
  return withPercent(fmtPercent(share));
}

export function printedWeight(/** @type {number} */ weight) {
  return fmtFixed(weight, DECIMALS);
}

/** True for one character whose bytes are a token each; all have its label. */
export function isInBytes(
  /** @type {string[]} */ tokens,
  /** @type {[start: number, stop: number]} */ [start, stop],
) {
  const label = tokens[start];
  const n = stop - start;
  const isAlike = tokens.slice(start, stop).every((other) => other === label);
  return n > 1 && isAlike && [...label].length === 1 && new TextEncoder().encode(label).length === n;
}

/** What a token is called: of a word in pieces the whole word, with the piece that is meant. */
export function tokenName(
  /** @type {Pick<Header, "tokens" | "pieces" | "strings">} */ { tokens, pieces, strings },
  /** @type {number} */ at,
) {
  const word = pieces.find(([start, stop]) => start <= at && at < stop);
  if (!word) return tokens[at];
  const [start, stop] = word;
  if (isInBytes(tokens, word))
    return fill(strings.byte, { token: tokens[at], at: at - start + 1, of: stop - start });
  const spelled = tokens.slice(...word).map((label) => label.replace(CONTINUES, ""));
  return `${spelled.join("")} (${tokens[at].replace(CONTINUES, "")})`;
}

/** How far an answer moves: the share of the probability that goes to other words, or of a meaning 1 − cosine. */
export function printedMove(/** @type {Pick<Header, "kind">} */ { kind }, /** @type {number} */ moved) {
  return kind === "next" ? percent(moved) : fmtShort(moved, 1);
}

/** The name of a switch on an arc. */
export function lookName(/** @type {Header} */ header, /** @type {Look} */ look) {
  const { strings, query, key } = header;
  const tokens = { query: tokenName(header, query), key: tokenName(header, key) };
  const values = { ...tokens, weight: printedWeight(look.weight) };
  return fill(strings.switch, { head: look.name, ...values });
}

/** The look of another cell that an address forbids, in words, which the stage does not show; "" for none. */
export function elsewhere(/** @type {Header} */ header, /** @type {Address} */ address) {
  const { strings, tokens, query: row, key: column, n_layers: layers, n_heads: heads } = header;
  const { layer, head, query, key } = readSelection(address);
  if (layer === null || head === null || query === null || key === null) return "";
  const isHere = query === row && key === column;
  const exists = layer < layers && head < heads && Math.max(query, key) < tokens.length;
  if (isHere || !exists || address.get("forbid") !== `${query}.${key}`) return "";
  const ours = { row: tokens[row], column: tokens[column] };
  const isRepeated = (/** @type {string} */ word) => tokens.indexOf(word) !== tokens.lastIndexOf(word);
  const name = (/** @type {number} */ at) =>
    isRepeated(tokens[at]) ? fill(strings.token_at, { token: tokens[at], position: at }) : tokens[at];
  const named = { head: headName(layer, head), query: name(query), word: name(key) };
  const said = fill(strings.elsewhere, { ...named, ...ours });
  const { elsewhere_moved: by, kind } = header;
  const form = kind === "next" ? strings.elsewhere_moved : strings.elsewhere_meaning;
  return by === null ? said : `${said} ${fill(form, { moved: printedMove(header, by) })}`;
}

/**
 * The sentence; `head` is the one whose look is forbidden, `idle` is true where none is.
 * @param {Header} header
 * @param {Arrays} arrays
 * @param {number | null} forbidden
 * @param {Look[]} shown
 */
export function sayings(header, arrays, forbidden, shown) {
  const { strings, query, key } = header;
  const mark = (/** @type {string} */ role, /** @type {string} */ text) =>
    foreign(text, { class: `stage-word ${role}`, dir: "auto" }, "b");
  const words = { query: mark("query", tokenName(header, query)), key: mark("key", tokenName(header, key)) };
  const say = (
    /** @type {string} */ template,
    /** @type {Record<string, Node | string>} */ nodes = {},
    /** @type {Record<string, string | number>} */ values = {},
  ) => fillNodes(fill(template, values), { ...words, ...nodes });
  if (!header.guesses) {
    const [most] = shown; // the strongest look at that word
    const head = most ? mark("", most.name) : "";
    const weight = most ? printedWeight(most.weight) : "";
    const values = { n: header.n_words, share: percent(header.share), weight };
    const text = say(strings.no_guess, { head }, values);
    return { head: null, text, idle: true };
  }
  if (forbidden === null) {
    const n = shown.filter(({ weight }) => weight >= LOOKS).length;
    const forbid = el("b", {}, strings.forbid);
    const head = shown[0] ? mark("", shown[0].name) : "";
    const weight = shown[0] ? printedWeight(shown[0].weight) : "";
    const text = say(question(header), { forbid, head, weight }, { n, tried: header.n_tried });
    const best = arrays.moved.data.indexOf(Math.max(...arrays.moved.data));
    if (header.scene === "book" && best >= 0 && wantsLessMotion()) {
      const name = headName(Math.floor(best / header.n_heads), best % header.n_heads);
      text.push(" ", mark("off", name), ": ", ...say(...consequence(header, arrays, best, name, mark)));
    }
    return { head: null, text, idle: true };
  }
  const name = headName(Math.floor(forbidden / header.n_heads), forbidden % header.n_heads);
  const text = say(...consequence(header, arrays, forbidden, name, mark));
  return { head: name, text, idle: false };
}

/** What one may find out, where no look is forbidden. */
function question(/** @type {Header} */ { strings, kind, scene, n_tried: nTried }) {
  if (kind === "meaning") return strings.idle_meaning;
  if (nTried) return strings.idle_chosen;
  return { book: strings.idle_book, ball: strings.idle_ball }[/** @type {string} */ (scene)] ?? strings.idle;
}

/**
 * The template for a forbidden look, with its nodes and numbers.
 * @param {Header} header
 * @param {Arrays} arrays
 * @param {number} forbidden
 * @param {string} name
 * @param {(role: string, text: string) => HTMLElement} mark
 * @returns {[template: string, nodes: Record<string, Node | string>, values: Record<string, string | number>]}
 */
function consequence(header, arrays, forbidden, name, mark) {
  const { strings } = header;
  const moved = arrays.moved.data[forbidden];
  const look = arrays.rows.data[forbidden * arrays.rows.shape[1] + header.key];
  const weight = printedWeight(look);
  if (header.kind === "meaning") {
    const first = arrays.before.data[0];
    const times = moved > 0 ? Math.max(1, Math.round(first / moved)) : 0;
    return [
      strings.moves_meaning,
      { yardstick: mark("", header.choices[0] || strings.another) },
      { weight, times, moved: fmtShort(moved, 1) },
    ];
  }
  const others = Array.from(arrays.moved.data).filter((_, at) => at !== forbidden);
  const most = Math.max(0, ...others);
  const nodes = {
    head: mark("off", name),
    answer: mark("answer", `${header.winners[forbidden]} ${percent(header.shares[forbidden])}`),
    before: mark("", `${header.winner} ${percent(header.share)}`),
    moved: mark("", printedMove(header, moved)),
  };
  const values = { weight, n: others.length + 1 };
  if (header.winners[forbidden] !== header.winner) {
    const control = fill(strings.others, { others: others.length, most: printedMove(header, most) });
    return [
      header.scene === "ball" ? strings.turns_ball : strings.turns,
      nodes,
      { ...values, others: control },
    ];
  }
  const neverTurns = header.winners.every((winner) => winner === header.winner);
  if (neverTurns && moved >= most) return [strings.nothing, nodes, values];
  return [look >= LOOKS ? strings.stays : strings.weak, nodes, values];
}
