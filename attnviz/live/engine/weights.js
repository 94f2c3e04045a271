// @ts-check
// Reads safetensors files into an arena. Stored are F32, F16, BF16, or I8 with a scale for each row (`NAME.scale`), perhaps
// with a second plane of I8 in a file of its own, which makes 16 bits of them. Only storage is quantised: what is computed
// with are floats. A file is foreign input: whatever is not as it should be is refused.

import { Refusal } from "../refusal.js";
import { FLOAT_BYTES, panelFloats } from "./arena.js";

/** @import { Arena, Linear, Norm, Tensor } from "./arena.js" */
/** @typedef {"F32" | "F16" | "BF16" | "I8" | "I32"} Dtype */
/** @typedef {{dtype: Dtype, shape: number[], bytes: Uint8Array<ArrayBuffer>}} Stored */

const WIDTHS = { F32: 4, F16: 2, BF16: 2, I8: 1, I32: 4 };
const MOST_HEADER_BYTES = 2 ** 24;

/** The tensors of a safetensors file by name, and its metadata. */
export class TensorFile {
  /**
   * @param {ArrayBuffer} file
   * @param {string} name for a refusal
   */
  constructor(file, name) {
    this.name = name;
    this.file = file;
    const { entries, start } = readHeader(file, name);
    const { __metadata__: metadata, ...tensors } = entries;
    this.metadata = /** @type {Record<string, string>} */ (metadata ?? {});
    this.tensors = new Map(Object.entries(tensors));
    this.start = start;
  }

  has(/** @type {string} */ name) {
    return this.tensors.has(name);
  }

  /** @returns {Stored} */
  get(/** @type {string} */ name) {
    const entry = /** @type {any} */ (this.tensors.get(name)); // JSON of a stranger
    if (!entry) throw new Refusal("file", { file: this.name, why: `no tensor ${name}` });
    const { dtype, shape, data_offsets: place } = entry;
    const width = Object.hasOwn(WIDTHS, dtype) ? WIDTHS[/** @type {Dtype} */ (dtype)] : 0;
    if (!width) throw new Refusal("file", { file: this.name, why: `${name} has the type ${dtype}` });
    const count = isSizes(shape) ? product(shape) : NaN;
    const fits = isSizes(place) && place[1] - place[0] === count * width;
    if (!fits || this.start + place[1] > this.file.byteLength)
      throw new Refusal("file", { file: this.name, why: `${name} does not fit into the file` });
    return { dtype, shape, bytes: new Uint8Array(this.file, this.start + place[0], count * width) };
  }

  /** A tensor of floats, copied. */
  floats(/** @type {string} */ name) {
    const { dtype, bytes } = this.get(name);
    if (dtype !== "F32") throw new Refusal("file", { file: this.name, why: `${name} has the type ${dtype}` });
    return new Float32Array(bytes.slice().buffer);
  }

  /** A tensor of whole numbers, copied. */
  integers(/** @type {string} */ name) {
    const { dtype, bytes } = this.get(name);
    if (dtype !== "I32") throw new Refusal("file", { file: this.name, why: `${name} has the type ${dtype}` });
    return [...new Int32Array(bytes.slice().buffer)];
  }
}

/** @param {ArrayBuffer} file @param {string} name */
function readHeader(file, name) {
  const length = file.byteLength < 8 ? NaN : Number(new DataView(file).getBigUint64(0, true));
  if (!(length <= Math.min(MOST_HEADER_BYTES, file.byteLength - 8)))
    throw new Refusal("file", { file: name, why: "no safetensors file" });
  try {
    const entries = JSON.parse(
      new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array(file, 8, length)),
    );
    if (typeof entries !== "object" || entries === null) throw new Error("no object");
    return { entries: /** @type {Record<string, unknown>} */ (entries), start: 8 + length };
  } catch (error) {
    throw new Refusal("file", { file: name, why: `its header is no JSON: ${error}` });
  }
}

/** @returns {sizes is number[]} */
const isSizes = (/** @type {unknown} */ sizes) =>
  Array.isArray(sizes) && sizes.every((size) => Number.isSafeInteger(size) && size >= 0);
const product = (/** @type {readonly number[]} */ sizes) => sizes.reduce((total, size) => total * size, 1);

/** The weights of a model, read into an arena by their names. */
export class Weights {
  /**
   * @param {Arena} arena
   * @param {TensorFile} file
   * @param {TensorFile | null} [low] the second plane
   * @param {ShardedTable | null} [sharded] the word embeddings, where they are files of their own
   */
  constructor(arena, file, low = null, sharded = null) {
    this.arena = arena;
    this.file = file;
    this.low = low;
    this.sharded = sharded;
  }

  has(/** @type {string} */ name) {
    return this.file.has(name);
  }

  /** @returns {[rows: number, columns: number]} */
  shape(/** @type {string} */ name) {
    const { shape } = this.file.get(name);
    return shape.length > 1 ? [shape[0], product(shape.slice(1))] : [1, product(shape)];
  }

  /** A tensor as floats in the arena, of two dimensions; zeros behind its last number. */
  floats(/** @type {string} */ name) {
    const [rows, cols] = this.shape(name);
    const out = this.arena.tensor(rows, cols);
    const before = this.arena.top;
    this.decode(name, out);
    this.arena.top = before; // the stored bytes are not kept
    new Float32Array(this.arena.memory.buffer, out.at + rows * cols * FLOAT_BYTES, 8).fill(0);
    return out;
  }

  /** Writes a stored tensor as floats. */
  decode(/** @type {string} */ name, /** @type {Tensor} */ out) {
    const { dtype, bytes } = this.file.get(name);
    const { kernels } = this.arena;
    const count = out.rows * out.cols;
    if (dtype === "F32") this.copy(bytes, out.at);
    else if (dtype === "F16") kernels.from_f16(out.at, this.raw(bytes), count);
    else if (dtype === "BF16") kernels.from_bf16(out.at, this.raw(bytes), count);
    else {
      const scale = this.raw(this.file.get(`${name}.scale`).bytes);
      const low = this.low?.has(name) ? this.raw(this.low.get(name).bytes) : 0;
      kernels.from_planes(out.at, this.raw(bytes), low, scale, out.rows, out.cols);
    }
  }

  /** Bytes, copied into the arena. */
  raw(/** @type {Uint8Array} */ bytes) {
    const at = this.arena.take(bytes.length);
    this.copy(bytes, at);
    return at;
  }

  copy(/** @type {Uint8Array} */ bytes, /** @type {number} */ at) {
    new Uint8Array(this.arena.memory.buffer).set(bytes, at);
  }

  /**
   * nn.Linear [out, in], or GPT-2's Conv1D [in, out], in panels; its weights may be those of another layer.
   * @param {string} name
   * @param {{transposed?: boolean, matrix?: string, bias?: string}} [how]
   * @returns {Linear}
   */
  linear(name, { transposed = false, matrix = `${name}.weight`, bias = `${name}.bias` } = {}) {
    const [rows, cols] = this.shape(matrix);
    const [depth, columns] = transposed ? [rows, cols] : [cols, rows];
    const at = this.arena.take(panelFloats(depth, columns) * FLOAT_BYTES);
    const shift = this.has(bias) ? this.floats(bias).at : 0;
    const before = this.arena.top;
    const plain = this.floats(matrix);
    this.arena.kernels.pack(at, plain.at, depth, columns, transposed ? columns : 1, transposed ? 1 : depth);
    this.arena.top = before;
    return { at, bias: shift, depth, columns };
  }

  /** @returns {Norm} */
  norm(/** @type {string} */ name, /** @type {number} */ epsilon) {
    const shift = this.has(`${name}.bias`) ? this.floats(`${name}.bias`).at : 0;
    return { scale: this.floats(`${name}.weight`).at, shift, epsilon };
  }

  /** Embeddings, of which a pass needs few rows: they stay as they are stored. @returns {Table} */
  table(/** @type {string} */ name) {
    if (this.sharded?.name === name) return this.sharded;
    const { dtype } = this.file.get(name);
    return dtype === "F16" ? new HalfTable(this, name) : new FloatTable(this, name);
  }
}

/**
 * Rows of numbers by their ids; `write` puts one into the memory as floats.
 * @typedef {{rows: number, cols: number, write: (arena: Arena, id: number, to: number) => void}} Table
 */

class FloatTable {
  constructor(/** @type {Weights} */ weights, /** @type {string} */ name) {
    const { at, rows, cols } = weights.floats(name);
    this.at = at;
    this.rows = rows;
    this.cols = cols;
  }

  write(/** @type {Arena} */ arena, /** @type {number} */ id, /** @type {number} */ to) {
    const from = this.at + id * this.cols * FLOAT_BYTES;
    new Uint8Array(arena.memory.buffer).copyWithin(to, from, from + this.cols * FLOAT_BYTES);
  }
}

class HalfTable {
  constructor(/** @type {Weights} */ weights, /** @type {string} */ name) {
    const [rows, cols] = weights.shape(name);
    this.rows = rows;
    this.cols = cols;
    this.at = weights.raw(weights.file.get(name).bytes);
  }

  write(/** @type {Arena} */ arena, /** @type {number} */ id, /** @type {number} */ to) {
    arena.kernels.from_f16(to, this.at + id * this.cols * 2, this.cols);
  }
}

/** Word embeddings in two planes, in shards that come one by one. They lie outside the arena, which may be built anew. */
export class ShardedTable {
  /**
   * @param {string} name
   * @param {[rows: number, columns: number]} shape
   * @param {number} perShard rows
   */
  constructor(name, [rows, cols], perShard) {
    this.name = name;
    this.rows = rows;
    this.cols = cols;
    this.perShard = perShard;
    const count = Math.ceil(rows / perShard);
    /** @type {(Int8Array | null)[]} */
    this.high = new Array(count).fill(null);
    /** @type {(Int8Array | null)[]} */
    this.low = new Array(count).fill(null);
    this.scales = new Float32Array(rows);
  }

  /** The shards of some rows that are not there yet. */
  missing(/** @type {readonly number[]} */ ids) {
    const wanted = new Set(ids.map((id) => Math.floor(id / this.perShard)));
    return [...wanted].filter((shard) => !this.high[shard]);
  }

  /** True if every row has both of its planes. */
  isExact(/** @type {readonly number[]} */ ids) {
    return ids.every((id) => this.low[Math.floor(id / this.perShard)]);
  }

  /** Takes a shard of either plane. */
  put(/** @type {"high" | "low"} */ plane, /** @type {number} */ shard, /** @type {TensorFile} */ file) {
    const { dtype, bytes } = file.get(this.name);
    const first = shard * this.perShard;
    const rows = Math.min(this.perShard, this.rows - first);
    if (dtype !== "I8" || bytes.length !== rows * this.cols)
      throw new Refusal("file", { file: file.name, why: `${this.name} is not ${rows} rows of 8 bits` });
    if (plane === "high") {
      const scales = file.floats(`${this.name}.scale`);
      if (scales.length !== rows) throw new Refusal("file", { file: file.name, why: "a scale for each row" });
      this.scales.set(scales, first);
    }
    this[plane][shard] = new Int8Array(bytes.slice().buffer);
  }

  write(/** @type {Arena} */ arena, /** @type {number} */ id, /** @type {number} */ to) {
    const [shard, row] = [Math.floor(id / this.perShard), id % this.perShard];
    const [high, low] = [this.high[shard], this.low[shard]];
    if (!high) throw new Refusal("internal", { why: `shard ${shard} is not there` });
    const out = new Float32Array(arena.memory.buffer, to, this.cols);
    for (let at = row * this.cols, column = 0; column < this.cols; column++, at++)
      out[column] = Math.fround(high[at] + (low ? low[at] / 256 : 0)) * this.scales[id];
  }
}
