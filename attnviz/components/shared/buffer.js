// @ts-check
// Reads the packed buffer of a component: [u32 LE header length][JSON header, space padded][payload].
// Mirror of attnviz/components/buffer.py. Weights are stored as square roots: code = round(max * sqrt(w)); those of a
// causal model without the cells after the query. Whoever reads weights asks for a matrix or a row and finds the zeros there.

/** @typedef {Uint8Array | Uint16Array | Float32Array} Values */
/** `shapes` where an array has another shape for each layer: then its data are these, one after the other. `first` where the
 * future is not stored: row q of a matrix has its first `first` + q columns, the rest is 0; `starts` says where each row
 * begins, `squares` keeps matrices that were asked for, with their zeros.
 * @typedef {{data: Values, shape: number[], dtype: "u8" | "u16" | "f32", shapes?: number[][], first?: number,
 *   starts?: Uint32Array, squares?: Map<number, Values>}} PackedArray */
/** @typedef {{header: any, arrays: Record<string, PackedArray>}} Parsed */
/** The header of the components that show all heads (grid, head); mirror of HeadsView in heads.py.
 * @typedef {{strings: Record<string, string>, model: string, tokens: string[], special: (0 | 1)[], written: (0 | 1)[],
 *   key_tokens: string[], key_special: (0 | 1)[], key_written: (0 | 1)[], cross: 0 | 1, n_layers: number,
 *   n_heads: number, n_query: number, n_key: number, sentences: string[][],
 *   patches: {rows: number, columns: number, first: number} | null, measures: HeadMeasure[],
 *   words: [number, number, string][], key_words: [number, number, string][],
 *   pooled: {side: number, n_query: number, n_key: number} | null, heard: {frames: number, step_s: number, seconds: number} | null,
 *   shapes: [number, number, number][] | null, layers: LayerHeader[]}} HeadsHeader */
/** What a layer has of its own, where layers differ in heads (then `n_heads` is the largest number) or in tokens. Patches of
 * a window are `from` its first patch on in the layer's `grid`.
 * @typedef {{tokens: string[], special: (0 | 1)[], written: (0 | 1)[], key_tokens: string[], key_special: (0 | 1)[],
 *   key_written: (0 | 1)[], cross: 0 | 1, n_query: number, n_key: number, patches: any}} LayerHeader */
/** A number for each head, in the array "measures" [measure, layer, head] where there is any; unit: share, bits, tokens.
 * @typedef {{name: string, label: string, unit: string}} HeadMeasure */

const KEPT_SQUARES = 16;
const KEPT_CELLS = 2 ** 24;

/**
 * Header and typed arrays of a buffer, to be read only: they lie in the message that brought them, which is not copied.
 * @param {Uint8Array} data
 * @returns {Parsed}
 */
export function parse(data) {
  const length = new DataView(data.buffer, data.byteOffset).getUint32(0, true);
  const start = 4 + length;
  const header = JSON.parse(new TextDecoder().decode(data.subarray(4, start)));
  /** @type {Record<string, PackedArray>} */
  const arrays = {};
  for (const { name, dtype, shape, offset, first } of header.arrays) {
    const starts = first === undefined ? null : rowStarts(shape, first);
    const whole = starts ? shape.slice(0, -2) : shape;
    const count = whole.reduce(
      (/** @type {number} */ a, /** @type {number} */ b) => a * b,
      starts ? starts[starts.length - 1] : 1,
    );
    arrays[name] = {
      data: view(dtype, data, start + offset, count),
      shape,
      dtype,
      ...(starts ? { first, starts, squares: new Map() } : {}),
    };
  }
  if (header.shapes) {
    arrays.weights.shapes = header.shapes;
    if (arrays.visible)
      arrays.visible.shapes = header.shapes.map((/** @type {number[]} */ [, rows, cols]) => [1, rows, cols]);
  }
  return { header, arrays };
}

/** How many heads a layer has. */
export function headsOf(/** @type {any} */ header, /** @type {number} */ layer) {
  return header.shapes?.[layer]?.[0] ?? header.n_heads;
}

/** The header of each layer, where layers differ; else the one of all. @returns {any[]} */
export function layerHeaders(/** @type {any} */ header) {
  const shown = header.layers?.length ? header.layers : Array.from({ length: header.n_layers }, () => null);
  return shown.map((/** @type {any} */ own) =>
    own ? { ...header, words: [], key_words: [], ...own } : header,
  );
}

/** Where the rows of a matrix without its future begin, and where the last one ends. */
function rowStarts(/** @type {number[]} */ shape, /** @type {number} */ first) {
  const [rows, cols] = shape.slice(-2);
  const starts = new Uint32Array(rows + 1);
  for (let row = 0; row < rows; row++) starts[row + 1] = starts[row] + Math.min(cols, first + row);
  return starts;
}

/**
 * Numbers in a message; a copy of them where they do not lie as numbers of that width must.
 * @param {string} dtype
 * @param {Uint8Array} data
 * @param {number} offset
 * @param {number} count
 * @returns {Values}
 */
function view(dtype, data, offset, count) {
  const of = { u8: Uint8Array, u16: Uint16Array, f32: Float32Array }[dtype];
  if (!of) throw new Error(`unknown dtype ${dtype}`);
  const wide = of.BYTES_PER_ELEMENT;
  const at = data.byteOffset + offset;
  const lies = at % wide === 0;
  const buffer = /** @type {ArrayBuffer} */ (lies ? data.buffer : data.buffer.slice(at, at + count * wide));
  return new of(buffer, lies ? at : 0, count);
}

/** The weight behind a stored value: u8 and u16 hold square roots, f32 the weight itself. */
export function weightOf(/** @type {number} */ code, /** @type {string} */ dtype) {
  if (dtype === "f32") return code;
  const root = code / (dtype === "u8" ? 255 : 65535);
  return root * root;
}

/**
 * One matrix of a 4-D array [layer, head, query, key], to be read only. Without copying where it is stored whole; else its
 * zeros are put in, into `scratch` for someone who looks at each head once, or into a copy that is kept for a while.
 * @param {PackedArray} array
 * @param {number} layer
 * @param {number} head
 * @param {Values | null} [scratch] of scratchOf
 * @returns {Values}
 */
export function headValues(array, layer, head, scratch = null) {
  if (array.shapes) return layerValues(array, layer, head);
  const { data, squares } = array;
  const [, heads, rows, cols] = array.shape;
  const size = rows * cols;
  const place = layer * heads + head;
  if (!squares) return data.subarray(place * size, (place + 1) * size);
  if (scratch) return putRows(array, place, scratch);
  const found = squares.get(place) ?? putRows(array, place, matrixLike(array));
  squares.delete(place);
  squares.set(place, found); // the one asked for last goes last
  for (const oldest of squares.keys()) {
    if ((squares.size <= KEPT_SQUARES && squares.size * size <= KEPT_CELLS) || squares.size === 1) break;
    squares.delete(oldest);
  }
  return found;
}

/** Room for one matrix, for a walk over all heads; null where they are stored whole. */
export function scratchOf(/** @type {PackedArray} */ array) {
  return array.squares ? matrixLike(array) : null;
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
  if (!array.starts) return headValues(array, layer, head).subarray(query * cols, (query + 1) * cols);
  const row = valuesLike(array, cols);
  row.set(storedRow(array, layer * heads + head, query));
  return row;
}

/** The cells of a row that are stored, in an array without the future. */
function storedRow(
  /** @type {PackedArray} */ { data, starts },
  /** @type {number} */ place,
  /** @type {number} */ query,
) {
  const of = /** @type {Uint32Array} */ (starts);
  const at = place * of[of.length - 1];
  return data.subarray(at + of[query], at + of[query + 1]);
}

/** Writes the rows of a matrix where they belong; what lies between them is 0 and stays so. */
function putRows(/** @type {PackedArray} */ array, /** @type {number} */ place, /** @type {Values} */ into) {
  const [, , rows, cols] = array.shape;
  for (let row = 0; row < rows; row++) into.set(storedRow(array, place, row), row * cols);
  return into;
}

function matrixLike(/** @type {PackedArray} */ array) {
  return valuesLike(array, array.shape[2] * array.shape[3]);
}

/** @returns {Values} */
function valuesLike(/** @type {PackedArray} */ { data }, /** @type {number} */ count) {
  return new /** @type {any} */ (data.constructor)(count);
}

/**
 * The same where layers differ in shape; an array without heads has one.
 * @param {PackedArray} array
 * @param {number} layer
 * @param {number} head
 */
function layerValues(array, layer, head) {
  const shapes = /** @type {number[][]} */ (array.shapes);
  const cells = (/** @type {number[]} */ of) => of.reduce((a, b) => a * b, 1);
  const start = shapes.slice(0, layer).reduce((sum, of) => sum + cells(of), 0);
  const [, rows, cols] = shapes[layer];
  const at = start + head * rows * cols;
  return array.data.subarray(at, at + rows * cols);
}
