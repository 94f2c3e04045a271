// @ts-check
// The tiles that the browser has: their values, and their picture in the colours of the moment.
// Level 0 holds weights (f32), higher levels codes (u8) on the logarithmic scale of attnviz.tiles: code 0 is nothing,
// 1 to 255 are weights from 2^-24 to 1. A tile of zeros has no values.

import { levelFor } from "../shared/colors.js";
import { TILE, tileName } from "./camera.js";
import { context2d } from "../shared/dom.js";

/** @typedef {{values: Uint8Array | Float32Array | null, picture: HTMLCanvasElement | null, paint: string}} Tile */

const OCTAVES = 24;
const MOST_TILES = 160;
/** Weights at or below this are the first colour of the log scale: uniform attention over 16,384 tokens gives 6e-5. */
export const TILE_FLOOR = 1e-6;

/** The weight that a code stands for. */
export function weightOfCode(/** @type {number} */ code) {
  return code ? 2 ** (OCTAVES * (code / 255 - 1)) : 0;
}

/** A store; the tiles longest unused go first, those of the top levels stay. */
export function makeStore() {
  /** @type {Map<string, Tile>} */
  const tiles = new Map();
  const store = {
    clear: () => tiles.clear(),
    has: (/** @type {string} */ name) => tiles.has(name),
    put(/** @type {string} */ name, /** @type {any} */ values) {
      tiles.delete(name);
      tiles.set(name, { values, picture: null, paint: "" });
    },
    forget(/** @type {number} */ top) {
      for (const name of tiles.keys()) {
        if (tiles.size <= MOST_TILES) return;
        if (Number(name.split("/")[0]) < top - 1) tiles.delete(name);
      }
    },
    /** The picture of a tile in these colours, or null where the tile is not here. */
    picture(/** @type {string} */ name, /** @type {any} */ colours) {
      const tile = tiles.get(name);
      if (!tile) return null;
      tiles.delete(name);
      tiles.set(name, tile);
      if (!tile.picture || tile.paint !== colours.name) paintTile(tile, colours);
      return tile.picture;
    },
    /** The weight at a cell on a level: {weight, exact}, or null where that tile is not here. */
    weight(/** @type {number} */ level, /** @type {number} */ query, /** @type {number} */ key) {
      const side = TILE * 2 ** level;
      const tile = tiles.get(tileName(level, Math.floor(query / side), Math.floor(key / side)));
      if (!tile) return null;
      const row = Math.floor((query % side) / 2 ** level);
      const column = Math.floor((key % side) / 2 ** level);
      const value = tile.values ? tile.values[row * TILE + column] : 0;
      return { weight: level ? weightOfCode(value) : value, exact: level === 0 };
    },
  };
  return store;
}

/**
 * Colours for a scale and a theme: a table for codes, a function for weights.
 * @param {Uint32Array} lut
 * @param {any} scale
 * @param {boolean} dark
 */
export function tileColours(lut, scale, dark) {
  const of = (/** @type {number} */ weight) => lut[levelFor(weight, scale, TILE_FLOOR)];
  return {
    name: `${scale} ${dark}`,
    of,
    codes: Uint32Array.from({ length: 256 }, (_, code) => of(weightOfCode(code))),
  };
}

function paintTile(/** @type {Tile} */ tile, /** @type {any} */ colours) {
  const canvas = tile.picture ?? document.createElement("canvas");
  const { values } = tile;
  canvas.width = canvas.height = TILE;
  const image = new ImageData(TILE, TILE);
  const out = new Uint32Array(image.data.buffer);
  if (!values) out.fill(colours.codes[0]);
  else if (values instanceof Uint8Array)
    for (let i = 0; i < out.length; i++) out[i] = colours.codes[values[i]];
  else for (let i = 0; i < out.length; i++) out[i] = colours.of(values[i]);
  context2d(canvas).putImageData(image, 0, 0);
  Object.assign(tile, { picture: canvas, paint: colours.name });
}
