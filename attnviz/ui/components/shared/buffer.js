// @ts-check
// Reads the packed buffer of a component: [u32 LE header length][JSON header, space padded][payload].
// Mirror of attnviz/ui/components/buffer.py. Weights are stored as square roots: code = round(max * sqrt(w)).

/** @typedef {Uint8Array | Uint16Array | Float32Array} Values */
/** @typedef {{data: Values, shape: number[], dtype: "u8" | "u16" | "f32"}} PackedArray */
/** @typedef {{header: any, arrays: Record<string, PackedArray>}} Parsed */
/** The header of the components that show all heads (grid, head); mirror of HeadsView in heads.py.
 * @typedef {{strings: Record<string, string>, model: string, tokens: string[], special: (0 | 1)[], written: (0 | 1)[],
 *   key_tokens: string[], key_special: (0 | 1)[], key_written: (0 | 1)[], cross: 0 | 1, n_layers: number,
 *   n_heads: number, n_query: number, n_key: number, sentences: string[][],
 *   patches: {rows: number, columns: number, first: number} | null, measures: HeadMeasure[],
 *   words: [number, number, string][], key_words: [number, number, string][]}} HeadsHeader */
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
  return { header, arrays };
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
  const [, heads, rows, cols] = array.shape, size = rows * cols, at = (layer * heads + head) * size;
  return array.data.subarray(at, at + size);
}
