// @ts-check
// Looks and matters: how strongly a row looks at a key in a head, beside the head's other rows, and how far the answer
// moves without the head, beside the median head; or without this one look of each head. The weights come with a canvas;
// the effects are measured later and told by the canvas `effects`.

import { isolate } from "./axes.js";
import { codeAt, rowValues, weightOf } from "./buffer.js";
import { el, fillNodes, foreign, languageOf } from "./dom.js";
import { fmtFixed } from "./fmt.js";
import { maskLayer } from "./hidden.js";

/** @import { PackedArray } from "./buffer.js" */
/** @import { SharedStrings } from "./heads.js" */
/** @import { Place } from "./selection.js" */

/**
 * The effects of the heads of one attention, layer by layer, `heads` in each; NaN where there is none. Whatever is above
 * `least` matters. With a `cell` they are those of one look, from its query at its key.
 * @typedef {{capture: string, heads: number, values: ArrayLike<number>, most: number, median: number, least: number,
 *   sentences: readonly (readonly string[])[], legend: string, cell: readonly [number, number] | null}} HeadEffects
 */
/** The weight of a row for a key, and the mean weight that the other rows give it. @typedef {{weight: number, others: number}} LookAt */
/** @typedef {{query: number, key: number}} CellAt */

const CLEARLY = 3; // times its control
const WEAKEST = 0.15;

/** The effect of a head; null where it is not known. */
export function effectAt(
  /** @type {HeadEffects | null} */ effects,
  /** @type {number} */ layer,
  /** @type {number} */ head,
) {
  const effect = effects?.values[layer * effects.heads + head];
  return effect === undefined || Number.isNaN(effect) ? null : effect;
}

/** True where the look at a cell is what was forbidden. */
export function isForbidden(/** @type {HeadEffects | null} */ effects, /** @type {CellAt | null} */ cell) {
  return Boolean(cell && effects?.cell && effects.cell[0] === cell.query && effects.cell[1] === cell.key);
}

/** The effects that hold while a cell is chosen: those of a look only while it is the look at that cell. */
export function effectsFor(/** @type {HeadEffects | null} */ effects, /** @type {CellAt | null} */ cell) {
  return !effects?.cell || isForbidden(effects, cell) ? effects : null;
}

/**
 * The chosen cell; with a row alone, the strongest key of the row in the chosen head.
 * @param {PackedArray} weights
 * @param {Place} place
 * @returns {CellAt | null}
 */
export function cellOf(weights, { layer, head, query, key }) {
  if (query === null) return null;
  if (key !== null) return { query, key };
  const row = rowValues(weights, layer, head, query);
  return { query, key: row.indexOf(Math.max(...row)) };
}

/**
 * How a row looks at a key. Null where it may not, or where no other row may: a look without a control is not said.
 * @param {PackedArray} weights
 * @param {PackedArray | null} visible what each layer may attend to, once if all are alike; null if nothing is blocked
 * @param {{layer: number, head: number}} at
 * @param {CellAt} cell
 * @returns {LookAt | null}
 */
export function lookAt(weights, visible, { layer, head }, { query, key }) {
  const rows = weights.shapes?.[layer][1] ?? weights.shape[2];
  const from = visible ? maskLayer(visible, layer) : 0;
  const maySee = (/** @type {number} */ row) => !visible || visibleAt(visible, from, row, key) !== 0;
  if (!maySee(query)) return null;
  const read = (/** @type {number} */ row) => weightOf(codeAt(weights, layer, head, row, key), weights.dtype);
  let [sum, count] = [0, 0];
  for (let row = 0; row < rows; row++)
    if (row !== query && maySee(row)) {
      sum += read(row);
      count++;
    }
  return count ? { weight: read(query), others: sum / count } : null;
}

/** True where the mask hides a key from its query. */
export function isHidden(
  /** @type {PackedArray | null} */ visible,
  /** @type {number} */ layer,
  /** @type {CellAt} */ { query, key },
) {
  return visible !== null && visibleAt(visible, maskLayer(visible, layer), query, key) === 0;
}

/**
 * @param {PackedArray} visible
 * @param {number} layer
 * @param {number} row
 * @param {number} key
 */
function visibleAt(visible, layer, row, key) {
  if (visible.shapes) return codeAt(visible, layer, 0, row, key);
  const [, rows, cols] = visible.shape;
  return visible.data[(layer * rows + row) * cols + key];
}

/** True if a look is strong, and far above its control. */
export function isClear(/** @type {LookAt} */ { weight, others }) {
  return weight >= WEAKEST && weight >= CLEARLY * others;
}

/** What a bar under each head is, in the legend of heads. */
export function barSign(
  /** @type {"key" | "answer" | "corner"} */ role,
  /** @type {string} */ text,
  /** @type {Record<string, string>} */ props = {},
) {
  return el("span", props, el("i", { class: `av-swatch av-swatch-${role}` }), text);
}

/** What is said of a cell that the mask hides, in place of how its row looks there. */
export function hiddenNode(
  /** @type {SharedStrings} */ strings,
  /** @type {{query: string, key: string}} */ tokens,
) {
  const { query, key } = tokenNodes(tokens);
  return el("span", {}, ...fillNodes(strings.hidden_look, { query, key }));
}

/** The tokens of a cell in the colours of their roles. */
function tokenNodes(/** @type {{query: string, key: string}} */ { query, key }) {
  const token = (/** @type {string} */ text, /** @type {string} */ role) =>
    foreign(isolate(text), { lang: languageOf(text), class: `av-fact-${role}` });
  return { query: token(query, "query"), key: token(key, "key") };
}

/**
 * The two facts of a head, each with its control, and whether they agree.
 * @param {SharedStrings} strings
 * @param {{query: string, key: string} | null} tokens of the cell
 * @param {LookAt | null} look
 * @param {HeadEffects | null} effects
 * @param {{layer: number, head: number}} at
 * @param {boolean} isJudged false leaves out whether they agree
 */
export function factNodes(strings, tokens, look, effects, { layer, head }, isJudged = true) {
  const effect = effectAt(effects, layer, head);
  const isOff = Boolean(effects?.cell) && effect !== null; // the look is forbidden in this head
  const nodes = [];
  if (look && tokens) {
    const parts = {
      ...tokenNodes(tokens),
      weight: el(
        "b",
        {},
        ...(isOff ? [el("s", {}, fmtFixed(look.weight, 2)), " 0"] : [fmtFixed(look.weight, 2)]),
      ),
      others: fmtFixed(look.others, 2),
    };
    nodes.push(el("span", {}, ...fillNodes(strings.look, parts)));
  }
  if (!effects || effect === null) return nodes;
  const matters = effect > effects.least;
  nodes.push(el("span", {}, effects.sentences[layer][head]));
  const verdict = look && isJudged ? verdictOf(strings, look, matters, Boolean(effects.cell)) : "";
  if (verdict) nodes.push(el("b", { class: matters ? "av-fact-matters" : null }, verdict));
  return nodes;
}

/**
 * The verdict on a look, or, where the whole head was measured, on the head: of that no look is said to matter.
 * @param {SharedStrings} strings
 * @param {LookAt} look
 * @param {boolean} matters
 * @param {boolean} isOfLook true where that is measured of this look, false of the whole head
 */
function verdictOf(strings, look, matters, isOfLook) {
  if (!matters) {
    if (!isClear(look)) return "";
    return isOfLook ? strings.verdict_looks : strings.verdict_looks_head;
  }
  if (look.weight < WEAKEST) return isOfLook ? strings.verdict_matters : strings.verdict_elsewhere;
  if (!isOfLook) return strings.verdict_both_head;
  return isClear(look) ? strings.verdict_both : strings.verdict_alike;
}
