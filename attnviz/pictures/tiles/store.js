// @ts-check
// The tiles that the browser has: their values, and their picture in the colours of the moment.
// Level 0 holds weights (f32), higher levels codes (u8) on the logarithmic scale of attnviz.tiles: code 0 is nothing,
// 1 to 255 are weights from 2^-24 to 1. A tile of zeros has no values.

import { levelFor } from "../shared/colors.js";
import { context2d } from "../shared/dom.js";
import { TILE, tileName } from "./camera.js";

/** @import { Values } from "../shared/buffer.js" */
/** @import { Scale } from "../shared/selection.js" */

/** `paint` has the colours of the picture. */
/** @typedef {{values: Values | null, picture: HTMLCanvasElement | null, paint: TileColours | null}} Tile */
/** Colours of weights, and a table of those of codes. */
/**
 * @typedef {{scale: Scale, dark: boolean, colourOf: (weight: number) => number, codes: Uint32Array}} TileColours
 */
/**
 * `keepOnly` drops all tiles of another head; `forget` those longest unused, but not those of the top levels. `picture`
 * and `weight` give null where a tile is not here.
 * @typedef {{keepOnly: (stamp: string) => void, put: (name: string, values: Values | null) => void, forget: (top: number) => void,
 *   picture: (name: string, colours: TileColours) => HTMLCanvasElement | null,
 *   weight: (level: number, query: number, key: number) => {weight: number, isExact: boolean} | null}} Store
 */

const OCTAVES = 24;
const MAX_TILES = 160;
/** Weights at or below this are the first colour of the log scale: uniform attention over 16,384 tokens gives 6e-5. */
export const TILE_FLOOR = 1e-6;

/** The weight that a code stands for. */
export function weightOfCode(/** @type {number} */ code) {
  return code ? 2 ** (OCTAVES * (code / 255 - 1)) : 0;
}

/** @returns {Store} */
export function makeStore() {
  /** @type {Map<string, Tile>} */
  const tiles = new Map();
  let stamp = "";
  return {
    keepOnly(stampNow) {
      if (stamp !== stampNow) tiles.clear();
      stamp = stampNow;
    },
    put(name, values) {
      tiles.delete(name);
      tiles.set(name, { values, picture: null, paint: null });
    },
    forget(top) {
      for (const name of tiles.keys()) {
        if (tiles.size <= MAX_TILES) return;
        if (Number(name.split("/")[0]) < top - 1) tiles.delete(name);
      }
    },
    picture(name, colours) {
      const tile = tiles.get(name);
      if (!tile) return null;
      tiles.delete(name);
      tiles.set(name, tile); // the one used last goes last
      if (!tile.picture || tile.paint !== colours) paintTile(tile, colours);
      return tile.picture;
    },
    weight(level, query, key) {
      const side = TILE * 2 ** level;
      const tile = tiles.get(tileName(level, Math.floor(query / side), Math.floor(key / side)));
      if (!tile) return null;
      const row = Math.floor((query % side) / 2 ** level);
      const column = Math.floor((key % side) / 2 ** level);
      const value = tile.values ? tile.values[row * TILE + column] : 0;
      return { weight: level ? weightOfCode(value) : value, isExact: level === 0 };
    },
  };
}

/**
 * The colours for a scale and a theme.
 * @param {Uint32Array} lut
 * @param {Scale} scale
 * @param {boolean} dark
 * @returns {TileColours}
 */
export function tileColours(lut, scale, dark) {
  const colourOf = (/** @type {number} */ weight) => lut[levelFor(weight, scale, TILE_FLOOR)];
  const codes = Uint32Array.from({ length: 256 }, (_, code) => colourOf(weightOfCode(code)));
  return { scale, dark, colourOf, codes };
}

function paintTile(/** @type {Tile} */ tile, /** @type {TileColours} */ colours) {
  const canvas = tile.picture ?? document.createElement("canvas");
  const { values } = tile;
  canvas.width = canvas.height = TILE;
  const image = new ImageData(TILE, TILE);
  const out = new Uint32Array(image.data.buffer);
  if (!values) out.fill(colours.codes[0]);
  else if (values instanceof Uint8Array)
    for (let i = 0; i < out.length; i++) out[i] = colours.codes[values[i]];
  else for (let i = 0; i < out.length; i++) out[i] = colours.colourOf(values[i]);
  context2d(canvas).putImageData(image, 0, 0);
  tile.picture = canvas;
  tile.paint = colours;
}
