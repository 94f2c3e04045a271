// @ts-check
// Reads the packed buffer of a component: [u32 LE header length][JSON header, space padded][payload].
// Mirror of attnviz/pictures/shared/buffer.py. Weights are stored as square roots, code = round(max * sqrt(w)); those of a
// causal model without the cells after the query; of a capture of some heads these alone. Whoever reads a matrix or a row
// finds the zeros there.

/** @import { HeadsView } from "./heads.js" */
/** @import { LayeredHeader } from "./layers.js" */

/** @typedef {Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Float32Array<ArrayBuffer>} Values */
/** @typedef {"u8" | "u16" | "f32"} Dtype */
/**
 * An array of a buffer. `shapes` where each layer has another shape: then its data are these, one after the other.
 * `first` where the future is not stored: row q of a matrix has its first `first` + q columns, the rest is 0; `starts`
 * says where each row begins, `squares` keeps matrices that were asked for, with their zeros. `places` where some heads
 * alone are stored: where the cells of each begin, by its number, counted layer by layer; those of the others are 0.
 * @typedef {{data: Values, shape: number[], dtype: Dtype, shapes?: readonly (readonly number[])[], first?: number,
 *   starts?: Uint32Array, squares?: Map<number, Values>, places?: ReadonlyMap<number, number>}} PackedArray
 */
/** An array of numbers as they are. @typedef {PackedArray & {data: Float32Array<ArrayBuffer>, dtype: "f32"}} FloatArray */
/**
 * The entry of an array in the header; `places` has the numbers of the heads that are stored, where not all are.
 * @typedef {{name: string, dtype: Dtype, shape: number[], offset: number, first?: number, places?: readonly number[]}} Entry
 */

const ALIGNMENT = 4;
const NEAREST = 1.5 * 2 ** 52; // what is added to a double and taken away again leaves it rounded, halves to even
const ARRAY_TYPES = { u8: Uint8Array, u16: Uint16Array, f32: Float32Array };
const KEPT_SQUARES = 16;
const KEPT_CELLS = 2 ** 24;

/**
 * The header and the arrays of a buffer. The arrays lie in the message that brought them, which is not copied, and are
 * to be read only.
 * @template Header, Arrays
 * @param {Uint8Array} data
 * @returns {{header: Header, arrays: Arrays}}
 */
export function parse(data) {
  const length = new DataView(data.buffer, data.byteOffset).getUint32(0, true);
  const start = 4 + length;
  const { arrays: entries, ...header } = JSON.parse(new TextDecoder().decode(data.subarray(4, start)));
  const arrays = Object.fromEntries(
    entries.map((/** @type {Entry} */ entry, /** @type {number} */ i) => {
      const room = (entries[i + 1]?.offset ?? data.length - start) - entry.offset;
      return [entry.name, readArray(data, start, entry, shapesOf(entry.name, header.shapes), room)];
    }),
  );
  return { header, arrays: /** @type {Arrays} */ (arrays) };
}

/**
 * @param {Uint8Array} data
 * @param {number} start of the payload
 * @param {Entry} entry
 * @param {readonly (readonly number[])[] | undefined} shapes of its layers where these differ
 * @param {number} room that it has, in bytes
 * @returns {PackedArray}
 */
function readArray(data, start, { name, dtype, shape, offset, first, places: stored }, shapes, room) {
  const starts = first === undefined ? null : rowStarts(shape, first);
  const cells = starts ? starts[starts.length - 1] : product(shape.slice(-2));
  const places = stored && placesOf(name, stored, shapes ?? [[product(shape.slice(0, -2)), 1, cells]]);
  const count = places ? places.end : starts ? product(shape.slice(0, -2)) * cells : product(shape);
  const bytes = count * (ARRAY_TYPES[dtype]?.BYTES_PER_ELEMENT ?? NaN);
  if (Math.ceil(bytes / ALIGNMENT) * ALIGNMENT !== room)
    throw new Error(`${name} takes ${bytes} bytes of ${dtype}, and there are ${room}`);
  return {
    ...{ data: readValues(dtype, data, start + offset, count), shape, dtype },
    ...(shapes && { shapes }),
    ...(starts && { first, starts, squares: new Map() }),
    ...(places && { places: places.begins }),
  };
}

function product(/** @type {readonly number[]} */ sizes) {
  return sizes.reduce((total, size) => total * size, 1);
}

/**
 * Where the matrices of some heads begin, and where the last one ends.
 * @param {string} name of their array
 * @param {readonly number[]} places
 * @param {readonly (readonly number[])[]} shapes [heads, rows, columns] of layers
 */
function placesOf(name, places, shapes) {
  /** @type {Map<number, number>} */
  const begins = new Map();
  const total = shapes.reduce((n, [heads]) => n + heads, 0);
  let [end, last, layer, before] = [0, -1, 0, 0]; // heads before the layer
  for (const place of places) {
    if (!Number.isInteger(place) || place <= last || place >= total)
      throw new Error(`${name}: head ${place} after ${last}, of ${total}`);
    while (place >= before + shapes[layer][0]) before += shapes[layer++][0];
    begins.set(place, end);
    end += product(shapes[layer].slice(1));
    last = place;
  }
  return { begins, end };
}

/**
 * Numbers in a message; a copy of them where they do not lie as numbers of that width must.
 * @param {Dtype} dtype
 * @param {Uint8Array} data
 * @param {number} offset
 * @param {number} count
 * @returns {Values}
 */
function readValues(dtype, data, offset, count) {
  const type = ARRAY_TYPES[dtype];
  const width = type.BYTES_PER_ELEMENT;
  const at = data.byteOffset + offset;
  const buffer = /** @type {ArrayBuffer} */ (data.buffer);
  return at % width === 0
    ? new type(buffer, at, count)
    : new type(buffer.slice(at, at + count * width), 0, count);
}

/** Where the rows of a matrix without its future begin, and where the last one ends. */
function rowStarts(/** @type {number[]} */ shape, /** @type {number} */ first) {
  const [rows, cols] = shape.slice(-2);
  const starts = new Uint32Array(rows + 1);
  for (let row = 0; row < rows; row++) starts[row + 1] = starts[row] + Math.min(cols, first + row);
  return starts;
}

/**
 * Where layers differ, their weights, and what each may see, are matrices of other sizes one after the other.
 * @param {string} name of an array
 * @param {readonly (readonly number[])[] | null | undefined} shapes
 */
function shapesOf(name, shapes) {
  if (name === "weights") return shapes ?? undefined;
  return name === "visible" ? shapes?.map(([, rows, cols]) => [1, rows, cols]) : undefined;
}

/**
 * How many heads a layer has.
 * @param {{n_heads: number, shapes?: readonly (readonly number[])[] | null}} header
 * @param {number} layer
 */
export function headsOf(header, layer) {
  return header.shapes?.[layer]?.[0] ?? header.n_heads;
}

/** How many heads each layer has where layers differ, else undefined. */
export function headCounts(/** @type {{shapes: readonly (readonly number[])[] | null}} */ header) {
  return header.shapes?.map(([heads]) => heads);
}

/**
 * The header of each layer: its own tokens where layers differ, else the one of all.
 * @template {HeadsView} Header
 * @param {Header} header
 * @returns {LayeredHeader<Header>[]}
 */
export function layerHeaders(header) {
  if (!header.layers.length) return Array.from({ length: header.n_layers }, () => header);
  return header.layers.map((own) => ({ ...header, words: [], key_words: [], ...own }));
}

/** The weight behind a stored value: u8 and u16 hold square roots, f32 the weight itself. */
export function weightOf(/** @type {number} */ code, /** @type {Dtype} */ dtype) {
  if (dtype === "f32") return code;
  const root = code / topCode(dtype);
  return root * root;
}

/** The code of a weight of 1. */
export function topCode(/** @type {Dtype} */ dtype) {
  return dtype === "u8" ? 255 : 65535;
}

/** What a weight in 0..1 is stored as: of codes its square root in 32 bits, rounded as numpy rounds. */
export function codeOf(/** @type {number} */ weight, /** @type {Dtype} */ dtype) {
  if (dtype === "f32") return weight;
  const root = Math.fround(Math.sqrt(Math.min(Math.max(weight, 0), 1)));
  return Math.fround(root * topCode(dtype)) + NEAREST - NEAREST;
}

/**
 * One matrix of a 4-D array [layer, head, query, key], to be read only. Nothing is copied where it is stored whole;
 * else its zeros are put in, into `scratch` for someone who looks at each head once, or into a copy that is kept. A head
 * that is not stored has zeros alone.
 * @param {PackedArray} array
 * @param {number} layer
 * @param {number} head
 * @param {Values | null} [scratch] of scratchOf
 * @returns {Values}
 */
export function headValues(array, layer, head, scratch = null) {
  const [rows, cols] = array.shapes?.[layer].slice(1) ?? array.shape.slice(2);
  const size = rows * cols;
  const at = cellsAt(array, layer, head);
  if (at === null) return zerosLike(array, size);
  const { data, squares } = array;
  if (!squares) return subarray(data, at, at + size);
  const place = layer * array.shape[1] + head;
  if (scratch) return putRows(array, at, scratch);
  const matrix = squares.get(place) ?? putRows(array, at, emptyMatrix(array));
  squares.delete(place);
  squares.set(place, matrix); // the one asked for last goes last
  for (const oldest of squares.keys()) {
    const few = squares.size <= KEPT_SQUARES && squares.size * size <= KEPT_CELLS;
    if (few || squares.size === 1) break;
    squares.delete(oldest);
  }
  return matrix;
}

/** One stored value of a 4-D array; its matrix need not be made. */
export function codeAt(
  /** @type {PackedArray} */ array,
  /** @type {number} */ layer,
  /** @type {number} */ head,
  /** @type {number} */ query,
  /** @type {number} */ key,
) {
  const at = cellsAt(array, layer, head);
  if (at === null) return 0;
  if (array.starts) return storedRow(array, array.starts, at, query)[key] ?? 0;
  const cols = array.shapes?.[layer][2] ?? array.shape[3];
  return array.data[at + query * cols + key];
}

/** True if the matrix of a head is stored. */
export function isStored(
  /** @type {PackedArray} */ array,
  /** @type {number} */ layer,
  /** @type {number} */ head,
) {
  return cellsAt(array, layer, head) !== null;
}

/**
 * Where the cells of a head begin; null where they are not stored.
 * @param {PackedArray} array
 * @param {number} layer
 * @param {number} head
 * @returns {number | null}
 */
export function cellsAt({ shape, shapes, starts, places }, layer, head) {
  const before = shapes?.slice(0, layer);
  const place = before ? before.reduce((n, [heads]) => n + heads, head) : layer * shape[1] + head;
  if (places) return places.get(place) ?? null;
  if (before && shapes)
    return before.reduce((n, of) => n + product(of), head * product(shapes[layer].slice(1)));
  return place * (starts ? starts[starts.length - 1] : shape[2] * shape[3]);
}

/** Room for one matrix, for a walk over all heads; null where they are stored whole. */
export function scratchOf(/** @type {PackedArray} */ array) {
  return array.squares ? emptyMatrix(array) : null;
}

/**
 * One row of a matrix, to be read only; its matrix need not be made.
 * @param {PackedArray} array
 * @param {number} layer
 * @param {number} head
 * @param {number} query
 * @returns {Values}
 */
export function rowValues(array, layer, head, query) {
  const cols = array.shapes?.[layer][2] ?? array.shape[3];
  const at = cellsAt(array, layer, head);
  if (at !== null && !array.starts) return subarray(array.data, at + query * cols, at + (query + 1) * cols);
  const row = zerosLike(array, cols);
  if (at !== null && array.starts) row.set(storedRow(array, array.starts, at, query));
  return row;
}

/**
 * The cells of a row that are stored, in an array without the future.
 * @param {PackedArray} array
 * @param {Uint32Array} starts
 * @param {number} at where the head's cells begin
 * @param {number} query
 */
function storedRow(array, starts, at, query) {
  return subarray(array.data, at + starts[query], at + starts[query + 1]);
}

/**
 * Writes the rows of a matrix where they belong; what lies between them is 0 and stays so.
 * @param {PackedArray} array
 * @param {number} at where the head's cells begin
 * @param {Values} matrix
 */
function putRows(array, at, matrix) {
  const [, , rows, cols] = array.shape;
  const starts = /** @type {Uint32Array} */ (array.starts);
  for (let row = 0; row < rows; row++) matrix.set(storedRow(array, starts, at, row), row * cols);
  return matrix;
}

function emptyMatrix(/** @type {PackedArray} */ array) {
  return zerosLike(array, array.shape[2] * array.shape[3]);
}

/** @returns {Values} */
function zerosLike(/** @type {PackedArray} */ array, /** @type {number} */ count) {
  return new ARRAY_TYPES[array.dtype](count);
}

/**
 * Part of an array, not copied.
 * @template {Values} T
 * @param {T} values
 * @param {number} start
 * @param {number} stop
 */
function subarray(values, start, stop) {
  return /** @type {T} */ (values.subarray(start, stop));
}
