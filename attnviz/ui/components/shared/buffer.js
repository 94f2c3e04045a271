// @ts-check
// Reads the packed buffer of a component: [u32 LE header length][JSON header, space padded][payload].
// Mirror of attnviz/ui/components/buffer.py. Weights are stored as square roots: code = round(max * sqrt(w)).

/** @typedef {Uint8Array | Uint16Array | Float32Array} Values */
/** `shapes` where an array has another shape for each layer: then its data are these, one after the other.
 * @typedef {{data: Values, shape: number[], dtype: "u8" | "u16" | "f32", shapes?: number[][]}} PackedArray */
/** @typedef {{header: any, arrays: Record<string, PackedArray>}} Parsed */
/** The header of the components that show all heads (grid, head); mirror of HeadsView in heads.py.
 * @typedef {{strings: Record<string, string>, model: string, tokens: string[], special: (0 | 1)[], written: (0 | 1)[],
 *   key_tokens: string[], key_special: (0 | 1)[], key_written: (0 | 1)[], cross: 0 | 1, n_layers: number,
 *   n_heads: number, n_query: number, n_key: number, sentences: string[][],
 *   patches: {rows: number, columns: number, first: number} | null, measures: HeadMeasure[],
 *   words: [number, number, string][], key_words: [number, number, string][],
 *   shapes: [number, number, number][] | null, layers: LayerHeader[]}} HeadsHeader */
/** What a layer has of its own, where layers differ in heads (then `n_heads` is the largest number) or in tokens. Patches of
 * a window are `from` its first patch on in the layer's `grid`.
 * @typedef {{tokens: string[], special: (0 | 1)[], written: (0 | 1)[], key_tokens: string[], key_special: (0 | 1)[],
 *   key_written: (0 | 1)[], cross: 0 | 1, n_query: number, n_key: number, patches: any}} LayerHeader */
/** A number for each head, in the array "measures" [measure, layer, head] where there is any; unit: share, bits, tokens.
 * @typedef {{name: string, label: string, unit: string}} HeadMeasure */

/**
 * Header and typed arrays of a buffer. The bytes may lie anywhere in a larger message, so they are copied once.
 * @param {Uint8Array} data
 * @returns {Parsed}
 */
export function parse(data) {
  const bytes = data.slice(), length = new DataView(bytes.buffer).getUint32(0, true), start = 4 + length;
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, start)));
  /** @type {Record<string, PackedArray>} */
  const arrays = {};
  for (const { name, dtype, shape, offset } of header.arrays) {
    const count = shape.reduce((/** @type {number} */ a, /** @type {number} */ b) => a * b, 1);
    arrays[name] = { data: view(dtype, bytes.buffer, start + offset, count), shape, dtype };
  }
  if (header.shapes) {
    arrays.weights.shapes = header.shapes;
    if (arrays.visible) arrays.visible.shapes = header.shapes.map((/** @type {number[]} */ [, rows, cols]) => [1, rows, cols]);
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
  return shown.map((/** @type {any} */ own) => (own ? { ...header, words: [], key_words: [], ...own } : header));
}

/** @returns {Values} */
function view(/** @type {string} */ dtype, /** @type {ArrayBuffer} */ buffer, /** @type {number} */ offset, /** @type {number} */ count) {
  if (dtype === "u8") return new Uint8Array(buffer, offset, count);
  if (dtype === "u16") return new Uint16Array(buffer, offset, count);
  if (dtype === "f32") return new Float32Array(buffer, offset, count);
  throw new Error(`unknown dtype ${dtype}`);
}

/** The weight behind a stored value: u8 and u16 hold square roots, f32 the weight itself. */
export function weightOf(/** @type {number} */ code, /** @type {string} */ dtype) {
  if (dtype === "f32") return code;
  const root = code / (dtype === "u8" ? 255 : 65535);
  return root * root;
}

/**
 * One matrix of a 4-D array [layer, head, query, key] without copying.
 * @param {PackedArray} array
 * @param {number} layer
 * @param {number} head
 */
export function headValues(array, layer, head) {
  if (array.shapes) return layerValues(array, layer, head);
  const [, heads, rows, cols] = array.shape, size = rows * cols, at = (layer * heads + head) * size;
  return array.data.subarray(at, at + size);
}

/** The same where layers differ in shape; an array without heads has one. */
function layerValues(/** @type {PackedArray} */ array, /** @type {number} */ layer, /** @type {number} */ head) {
  const shapes = /** @type {number[][]} */ (array.shapes), cells = (/** @type {number[]} */ of) => of.reduce((a, b) => a * b, 1);
  const start = shapes.slice(0, layer).reduce((sum, of) => sum + cells(of), 0), [, rows, cols] = shapes[layer], at = start + head * rows * cols;
  return array.data.subarray(at, at + rows * cols);
}
