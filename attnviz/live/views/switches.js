// @ts-check
// The switchboard: every head as a switch, the answer before and after, its control, the effect of each head alone. Mirror
// of attnviz/pictures/switches.

import { fill } from "../../pictures/shared/fmt.js";
import {
  amount,
  changedSentence,
  cleanSentence,
  controlSentences,
  isGuess,
  noGuessSentence,
  unitOf,
} from "./answers.js";
import { changeText, headName, headsOf, prefixOf } from "./changes.js";
import { largest, median } from "./numbers.js";
import { floats, pack, roots } from "./packing.js";

/** @import { Group } from "../engine/passes.js" */
/** @import { Arena } from "../engine/arena.js" */
/** @import { Attention } from "../engine/families.js" */
/** @import { Off, Texts } from "../index.js" */
/** @import { AnswerView, SwitchGroup } from "../../pictures/switches/types.js" */
/** @import { PackableArray } from "./packing.js" */
/** @import { OtherHeads, Reader, Switched } from "./answers.js" */
/** @import { OffHead } from "./changes.js" */

/** The distance that the answer moves without each head, in the order of `headsOf`, and its lead.
 * @typedef {{moves: Float64Array, leads: Float64Array}} Effects
 */
/**
 * Small pictures of all heads of an attention; `visible` are the points with a key that a query may attend to.
 * @typedef {{weights: Float32Array, shape: number[], visible: Uint8Array | null}} Tiny
 */

const TINY = 32; // the longest side of a small heatmap, in cells
const BARS = 5;
const MOST_BARS = 40;
const NAMED_HEADS = 3;

/** The weights of all heads in at most `TINY` cells a side, each the largest that it stands for. @returns {Tiny} */
export function tinyWeights(
  /** @type {Arena} */ arena,
  /** @type {Group} */ { weights, layers, heads, n, m, causal },
) {
  const [down, across] = [Math.ceil(n / TINY), Math.ceil(m / TINY)];
  const [rows, columns] = [Math.ceil(n / down), Math.ceil(m / across)];
  const numbers = arena.view(weights);
  const out = new Float32Array(layers * heads * rows * columns);
  for (let head = 0, at = 0; head < layers * heads; head++)
    for (let query = 0; query < n; query++) {
      const row = (head * rows + Math.floor(query / down)) * columns;
      for (let key = 0; key < m; key++, at++) {
        const to = row + Math.floor(key / across);
        if (numbers[at] > out[to]) out[to] = numbers[at];
      }
    }
  const visible = causal ? new Uint8Array(rows * columns) : null;
  for (let query = 0; visible && query < n; query++)
    visible.fill(
      1,
      Math.floor(query / down) * columns,
      Math.floor(query / down) * columns + Math.floor(query / across) + 1,
    );
  return { weights: out, shape: [layers, heads, rows, columns], visible };
}

/**
 * @param {Texts} texts
 * @param {string} model its name
 * @param {{attentions: readonly Attention[], tiny: readonly Tiny[], off: readonly OffHead[], to: Off, effects: Effects | null}} board
 * @param {Reader} reader
 * @param {Switched} result
 * @param {[before: string, after: string] | null} written
 */
export function switchesBytes(texts, model, board, reader, result, written) {
  const { catalogue, strings } = texts;
  const { attentions, tiny, off, to, effects } = board;
  const grids = attentions.map((own) => (effects ? gridOf(effects, attentions, own) : null));
  /** @type {Record<string, PackableArray>} */
  const arrays = {};
  tiny.forEach(({ weights, shape, visible }, place) => {
    arrays[`groups.${place}.weights`] = roots(weights, shape, 8);
    const grid = grids[place];
    if (grid) arrays[`groups.${place}.effects`] = floats(shape.slice(0, 2), grid);
    if (visible) arrays[`groups.${place}.visible`] = { data: visible, shape: [1, ...shape.slice(2)] };
  });
  const unit = unitOf(reader);
  const first = effects ? headsOf(attentions)[largest(effects.moves, 1)[0]] : null;
  const others = effects ? othersOf(effects, attentions, off, to) : null;
  const header = {
    strings: strings.switches,
    model,
    groups: attentions.map((own) => switchGroup(catalogue, own, attentions.length > 1)),
    off: off.map((head) => ({ head: headName(head), to: head.to, change: changeText(head) })),
    to,
    answer: answerView(catalogue, reader, result, off, others, written),
    effects: effects ? effectsSentence(catalogue, attentions, reader, effects) : "",
    effects_unit: unit === "number" ? "meaning" : unit,
    suggested: first && isGuess(reader) ? headName(first) : "",
    suggested_note:
      first && effects && isGuess(reader)
        ? fill(catalogue["switchboard.most_head"], {
            own: amount(catalogue, Math.max(...effects.moves), unit, "again"),
          })
        : "",
    looks: [],
    offer_said: "",
    forbids: false,
    words: null,
    facts: [],
    reader: "",
    forbidden: "",
    dropped: "",
    made: null,
    least: 0,
    most: effects ? Math.fround(Math.max(0, ...effects.moves)) : 0,
  };
  return pack(header, arrays);
}

/** @returns {SwitchGroup} */
const switchGroup = (
  /** @type {Record<string, string>} */ catalogue,
  /** @type {Attention} */ { name, layers, heads },
  /** @type {boolean} */ isOneOfMany,
) => ({
  title: isOneOfMany ? catalogue[`attention.${name}`] : "",
  prefix: prefixOf(name),
  heads: Array(layers).fill(heads),
});

/** The effects of the heads of one attention. */
function gridOf(
  /** @type {Effects} */ effects,
  /** @type {readonly Attention[]} */ attentions,
  /** @type {Attention} */ own,
) {
  const sites = headsOf(attentions);
  return Float32Array.from([...effects.moves].filter((_, place) => sites[place].group === own.name));
}

/** All heads but the one that is off; null where they are not its control. @returns {OtherHeads | null} */
function othersOf(
  /** @type {Effects} */ { moves, leads },
  /** @type {readonly Attention[]} */ attentions,
  /** @type {readonly OffHead[]} */ off,
  /** @type {Off} */ to,
) {
  if (off.length !== 1 || off[0].to !== to || moves.length < 2) return null;
  const names = headsOf(attentions).map(headName);
  const own = names.indexOf(headName(off[0]));
  const but = (/** @type {Float64Array} */ numbers) => [...numbers].filter((_, place) => place !== own);
  const [strongest] = largest(moves, 2).filter((place) => place !== own);
  return { own: moves[own], moves: but(moves), leads: but(leads), strongest: names[strongest] };
}

/** @returns {AnswerView} */
function answerView(
  /** @type {Record<string, string>} */ catalogue,
  /** @type {Reader} */ reader,
  /** @type {Switched} */ result,
  /** @type {readonly OffHead[]} */ off,
  /** @type {OtherHeads | null} */ others,
  /** @type {[before: string, after: string] | null} */ written,
) {
  const isOff = off.length > 0;
  const what = changeSaid(catalogue, off);
  const bars = chosenBars(reader, result).map((place) => ({
    label: reader.kind === "cosines" ? catalogue["switchboard.itself"] : reader.name(place),
    value: result.after[place],
    second: isOff ? result.before[place] : null,
    mark: "",
    muted: false,
  }));
  return {
    title: catalogue[`switchboard.${reader.kind}`],
    bars,
    values: isOff ? catalogue["switchboard.after"] : "",
    seconds: isOff ? catalogue["switchboard.before"] : "",
    sentence: isOff ? changedSentence(catalogue, reader, result, what) : cleanSentence(catalogue, reader),
    ...(isOff
      ? controlSentences(catalogue, reader, result, off.length, others)
      : { control: "", measured: "" }),
    percent: reader.kind !== "cosines",
    written: writtenTexts(catalogue, written, isOff ? what : null),
  };
}

/** The likeliest choices before and after; all of a short list. */
function chosenBars(/** @type {Reader} */ { exclusive }, /** @type {Switched} */ { before, after }) {
  if (!exclusive) return Array.from({ length: Math.min(MOST_BARS, before.length) }, (_, place) => place);
  const both = new Set([...largest(before, BARS), ...largest(after, BARS)]);
  const most = (/** @type {number} */ place) => Math.max(before[place], after[place]);
  return [...both].sort((a, b) => most(b) - most(a));
}

/** The change in words: whole heads, of many how many they are, and what stands in their place. */
function changeSaid(/** @type {Record<string, string>} */ catalogue, /** @type {readonly OffHead[]} */ off) {
  const named = off.map(headName).join(fill(catalogue["joint.list"], { before: "", after: "" }));
  const heads = off.length <= NAMED_HEADS ? named : fill(catalogue["switchboard.heads"], { n: off.length });
  const instead = new Set(off.map(({ to }) => to));
  return fill(catalogue[`switchboard.whole${instead.size === 1 ? `_${[...instead][0]}` : ""}`], { heads });
}

/** @returns {[string, string][]} */
function writtenTexts(
  /** @type {Record<string, string>} */ catalogue,
  /** @type {[before: string, after: string] | null} */ written,
  /** @type {string | null} */ what,
) {
  if (!written) return [];
  const [before, after] = written.map((text) =>
    text.trim() ? text : catalogue["switchboard.writes_nothing"],
  );
  /** @type {[string, string]} */
  const first = [catalogue["switchboard.writes"], before];
  return what === null ? [first] : [first, [fill(catalogue["switchboard.writes_off"], { what }), after]];
}

/** The head that matters most, the one that matters least, and the median of all but the first. */
function effectsSentence(
  /** @type {Record<string, string>} */ catalogue,
  /** @type {readonly Attention[]} */ attentions,
  /** @type {Reader} */ reader,
  /** @type {Effects} */ { moves },
) {
  if (!isGuess(reader)) return noGuessSentence(catalogue, reader);
  const unit = unitOf(reader);
  const sites = headsOf(attentions);
  const order = largest(moves, moves.length);
  const [first, control] = [order[0], order[order.length - 1]];
  const others = order.slice(1).map((place) => moves[place]);
  return fill(catalogue["switchboard.effects"], {
    n: moves.length,
    first: headName(sites[first]),
    most: amount(catalogue, moves[first], unit),
    control: headName(sites[control]),
    least: amount(catalogue, moves[control], unit),
    median: amount(catalogue, others.length ? median(others) : 0, unit),
  });
}
