// @ts-check
// What the palette finds for what was typed: entries with all of its words, those that begin with it first; and any head of
// the model by its name, however it is written: L3.H1, 3.1, l3 h1.

/** @import { PaletteEntry } from "./types.js" */

const HEAD = /^\s*l?\s*(\d{1,4})(?:\s*[.,]\s*h?|\s*h|\s)\s*(\d{1,4})\s*$/i;
const MOST = 40;
const MAX_CHARS = 400; // of what is typed: a whole book may be pasted into the field

/**
 * The entries that fit, the best first.
 * @param {string} typed
 * @param {readonly PaletteEntry[]} entries
 * @param {{n_layers: number, n_heads: number, label: (head: string) => string}} heads
 * @returns {PaletteEntry[]}
 */
export function found(typed, entries, heads) {
  typed = typed.slice(0, MAX_CHARS);
  const words = plain(typed).split(/\s+/).filter(Boolean);
  if (!words.length) return entries.slice(0, MOST);
  const whole = words.join(" ");
  const ranked = entries
    .map((entry) => ({ entry, rank: rankOf(entry, words, whole) }))
    .filter(({ rank }) => rank < Infinity)
    .sort((a, b) => a.rank - b.rank);
  return [...headNamed(typed, heads), ...ranked.map(({ entry }) => entry)].slice(0, MOST);
}

/** How far from an entry's name the words are: 0 at its beginning, then in it, in its words, in what stands below it. */
function rankOf(
  /** @type {PaletteEntry} */ { label, words, more },
  /** @type {string[]} */ typed,
  /** @type {string} */ whole,
) {
  if (plain(label).startsWith(whole)) return 0;
  const places = [label, `${label} ${words}`, `${label} ${words} ${more}`].map(plain);
  const place = places.findIndex((text) => typed.every((word) => text.includes(word)));
  return place < 0 ? Infinity : place + 1;
}

/**
 * @param {string} typed
 * @param {{n_layers: number, n_heads: number, label: (head: string) => string}} heads
 * @returns {PaletteEntry[]}
 */
function headNamed(typed, { n_layers, n_heads, label }) {
  const [, layer, head] = HEAD.exec(typed) ?? [];
  if (layer === undefined || Number(layer) >= n_layers || Number(head) >= n_heads) return [];
  const value = `L${Number(layer)}.H${Number(head)}`;
  return [{ kind: "head", value, label: label(value), more: "", words: "" }];
}

/** Small letters without accents; a German reader's "ä" and a phone's full-width "ｋ" are found, too. */
function plain(/** @type {string} */ text) {
  return text
    .normalize("NFKD")
    .replace(/\p{Diacritic}/gu, "")
    .toLowerCase();
}
