// @ts-check
// Reads the packed buffer of a component: [u32 LE header length][JSON header, space padded][payload].
// Mirror of attnviz/pictures/shared/buffer.py. Weights are stored as square roots, code = round(max * sqrt(w)); those of a
// causal model without the cells after the query. Whoever reads a matrix or a row finds the zeros there.

/** @import { HeadsView } from "./heads.js" */
/** @import { LayeredHeader } from "./layers.js" */

/** @typedef {Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Float32Array<ArrayBuffer>} Values */
/** @typedef {"u8" | "u16" | "f32"} Dtype */
/**
 * An array of a buffer. `shapes` where each layer has another shape: then its data are these, one after the other.
 * `first` where the future is not stored: row q of a matrix has its first `first` + q columns, the rest is 0; `starts`
 * says where each row begins, `squares` keeps matrices that were asked for, with their zeros.
 * @typedef {{data: Values, shape: number[], dtype: Dtype, shapes?: readonly (readonly number[])[], first?: number,
 *   starts?: Uint32Array, squares?: Map<number, Values>}} PackedArray
 */
/** An array of numbers as they are. @typedef {PackedArray & {data: Float32Array<ArrayBuffer>, dtype: "f32"}} FloatArray */
/** The entry of an array in the header. @typedef {{name: string, dtype: Dtype, shape: number[], offset: number, first?: number}} Entry */

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
    entries.map((/** @type {Entry} */ entry) => [entry.name, readArray(data, start, entry)]),
  );
  if (header.shapes) giveShapes(arrays, header.shapes);
  return { header, arrays: /** @type {Arrays} */ (arrays) };
}

/**
 * @param {Uint8Array} data
 * @param {number} start of the payload
 * @param {Entry} entry
 * @returns {PackedArray}
 */
function readArray(data, start, { dtype, shape, offset, first }) {
  const starts = first === undefined ? null : rowStarts(shape, first);
  const leading = starts ? shape.slice(0, -2) : shape;
  const count = leading.reduce((product, size) => product * size, starts ? starts[starts.length - 1] : 1);
  const whole = { data: readValues(dtype, data, start + offset, count), shape, dtype };
  return starts ? { ...whole, first, starts, squares: new Map() } : whole;
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
  if (!type) throw new Error(`unknown dtype ${dtype}`);
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
 * Layers differ: their weights, and what each may see, are matrices of other sizes one after the other.
 * @param {Record<string, PackedArray>} arrays
 * @param {readonly (readonly number[])[]} shapes
 */
function giveShapes(arrays, shapes) {
  arrays.weights.shapes = shapes;
  if (arrays.visible) arrays.visible.shapes = shapes.map(([, rows, cols]) => [1, rows, cols]);
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
  const root = code / (dtype === "u8" ? 255 : 65535);
  return root * root;
}

/**
 * One matrix of a 4-D array [layer, head, query, key], to be read only. Nothing is copied where it is stored whole;
 * else its zeros are put in, into `scratch` for someone who looks at each head once, or into a copy that is kept.
 * @param {PackedArray} array
 * @param {number} layer
 * @param {number} head
 * @param {Values | null} [scratch] of scratchOf
 * @returns {Values}
 */
export function headValues(array, layer, head, scratch = null) {
  if (array.shapes) return layerValues(array, array.shapes, layer, head);
  const { data, squares } = array;
  const [, heads, rows, cols] = array.shape;
  const size = rows * cols;
  const place = layer * heads + head;
  if (!squares) return subarray(data, place * size, (place + 1) * size);
  if (scratch) return putRows(array, place, scratch);
  const matrix = squares.get(place) ?? putRows(array, place, emptyMatrix(array));
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
  const { starts } = array;
  const heads = array.shape[1];
  if (starts) return storedRow(array, starts, layer * heads + head, query)[key] ?? 0;
  const cols = array.shapes?.[layer][2] ?? array.shape[3];
  return headValues(array, layer, head)[query * cols + key];
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
  const heads = array.shape[1];
  const cols = array.shapes?.[layer][2] ?? array.shape[3];
  if (!array.starts) return subarray(headValues(array, layer, head), query * cols, (query + 1) * cols);
  const row = zerosLike(array, cols);
  row.set(storedRow(array, array.starts, layer * heads + head, query));
  return row;
}

/**
 * The cells of a row that are stored, in an array without the future.
 * @param {PackedArray} array
 * @param {Uint32Array} starts
 * @param {number} place
 * @param {number} query
 */
function storedRow(array, starts, place, query) {
  const at = place * starts[starts.length - 1];
  return subarray(array.data, at + starts[query], at + starts[query + 1]);
}

/**
 * Writes the rows of a matrix where they belong; what lies between them is 0 and stays so.
 * @param {PackedArray} array
 * @param {number} place
 * @param {Values} matrix
 */
function putRows(array, place, matrix) {
  const [, , rows, cols] = array.shape;
  const starts = /** @type {Uint32Array} */ (array.starts);
  for (let row = 0; row < rows; row++) matrix.set(storedRow(array, starts, place, row), row * cols);
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

/**
 * One matrix where layers differ in shape; an array without heads has one a layer.
 * @param {PackedArray} array
 * @param {readonly (readonly number[])[]} shapes
 * @param {number} layer
 * @param {number} head
 */
function layerValues(array, shapes, layer, head) {
  const cells = (/** @type {readonly number[]} */ shape) =>
    shape.reduce((product, size) => product * size, 1);
  const start = shapes.slice(0, layer).reduce((sum, shape) => sum + cells(shape), 0);
  const [, rows, cols] = shapes[layer];
  const at = start + head * rows * cols;
  return subarray(array.data, at, at + rows * cols);
}
