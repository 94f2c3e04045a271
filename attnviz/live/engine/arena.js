// @ts-check
// One memory with the kernels of kernels.wasm: weights lie below a mark, what a pass makes lies above it until the next
// one. A tensor is its first byte in the memory and its sizes; memory that grows detaches every view of it, so a view is
// taken when it is read and never kept.

import { Refusal } from "../refusal.js";

/** @typedef {{at: number, rows: number, cols: number}} Tensor */
/** A matrix in panels with its bias, 0 for none. @typedef {{at: number, bias: number, depth: number, columns: number}} Linear */
/** The places of a norm's scale and shift. @typedef {{scale: number, shift: number, epsilon: number}} Norm */
/** @typedef {"gelu" | "gelu_tanh" | "relu" | "silu"} Activation */
/** A look of a head that it may not have, as if a mask hid the key: the rest of its row grows to 1 again.
 * @typedef {{query: number, key: number}} Cut
 */
/** What a head says instead: a vector at each query (null for zeros), or it looks evenly, or not at one key. */
/** @typedef {{mixed: Float32Array | null} | {cut: Cut} | "even"} HeadChange */
/** @typedef {(head: number) => HeadChange | undefined} HeadChanges */
/**
 * The exports of kernels.c; every argument is a number, a place in the memory or a size.
 * @typedef {Record<"pack" | "gemm" | "softmax" | "layer_norm" | "rms_norm" | Activation | "hyperbolic_tangent" | "add" |
 *   "multiply" | "rotate" | "from_f16" | "from_bf16" | "from_planes", (...numbers: number[]) => void>
 *   & {heap: () => number}} Kernels
 */

const PAGE_BYTES = 65536;
const MOST_PAGES = 16384; // as in scripts/build_kernels.py
const SPARE_PAGES = 64;
const PANEL = 8; // columns
export const FLOAT_BYTES = 4;

const aligned = (/** @type {number} */ place) => (place + 63) & ~63;

/** The floats that a matrix takes in panels. */
export const panelFloats = (/** @type {number} */ depth, /** @type {number} */ columns) =>
  depth * PANEL * Math.ceil(columns / PANEL);

export class Arena {
  constructor(/** @type {WebAssembly.Module} */ module) {
    this.memory = new WebAssembly.Memory({ initial: SPARE_PAGES, maximum: MOST_PAGES });
    const instance = new WebAssembly.Instance(module, { env: { memory: this.memory } });
    this.kernels = /** @type {Kernels} */ (/** @type {unknown} */ (instance.exports));
    this.start = aligned(this.kernels.heap());
    this.top = this.start;
    this.mark = this.start;
  }

  /** Room for some bytes, with a float of every lane of the last panel to spare. */
  take(/** @type {number} */ bytes) {
    const at = this.top;
    this.top = aligned(at + bytes + PANEL * FLOAT_BYTES);
    const lack = this.top - this.memory.buffer.byteLength;
    if (lack > 0) this.grow(Math.ceil(lack / PAGE_BYTES));
    return at;
  }

  /** Grows by some pages, and by a few more where there is room for them. */
  grow(/** @type {number} */ pages) {
    const left = MOST_PAGES - this.memory.buffer.byteLength / PAGE_BYTES;
    try {
      this.memory.grow(Math.max(pages, Math.min(pages + SPARE_PAGES, left)));
    } catch (error) {
      throw new Refusal("memory", { why: String(error) });
    }
  }

  /** @returns {Tensor} */
  tensor(/** @type {number} */ rows, /** @type {number} */ cols) {
    return { at: this.take(rows * cols * FLOAT_BYTES), rows, cols };
  }

  /** The numbers of a tensor, to be read before the next one is made. */
  view(/** @type {Tensor} */ { at, rows, cols }) {
    return new Float32Array(this.memory.buffer, at, rows * cols);
  }

  /** A copy of the numbers of a tensor. */
  copied(/** @type {Tensor} */ tensor) {
    return this.view(tensor).slice();
  }

  /** What was made so far stays; all that follows is forgotten at `reset`. */
  settle() {
    this.mark = this.top;
  }

  reset() {
    this.top = this.mark;
  }

  /** x · w + bias. */
  linear(/** @type {Tensor} */ x, /** @type {Linear} */ w, out = this.tensor(x.rows, w.columns)) {
    this.kernels.gemm(out.at, out.cols, x.at, x.cols, w.at, w.bias, x.rows, w.depth, w.columns);
    return out;
  }

  layerNorm(/** @type {Tensor} */ x, /** @type {Norm} */ { scale, shift, epsilon }) {
    const out = this.tensor(x.rows, x.cols);
    this.kernels.layer_norm(out.at, x.at, scale, shift, x.rows, x.cols, epsilon);
    return out;
  }

  rmsNorm(/** @type {Tensor} */ x, /** @type {Norm} */ { scale, epsilon }) {
    const out = this.tensor(x.rows, x.cols);
    this.kernels.rms_norm(out.at, x.at, scale, x.rows, x.cols, epsilon);
    return out;
  }

  /** In place. */
  activate(/** @type {Tensor} */ x, /** @type {Activation | "hyperbolic_tangent"} */ kernel) {
    this.kernels[kernel](x.at, x.rows * x.cols);
    return x;
  }

  /** x += y */
  add(/** @type {Tensor} */ x, /** @type {Tensor} */ y) {
    this.kernels.add(x.at, y.at, x.rows * x.cols);
    return x;
  }

  /** x *= y */
  multiply(/** @type {Tensor} */ x, /** @type {Tensor} */ y) {
    this.kernels.multiply(x.at, y.at, x.rows * x.cols);
    return x;
  }

  /** Some columns of a tensor, as a tensor of their own. */
  columns(/** @type {Tensor} */ x, /** @type {number} */ from, /** @type {number} */ count) {
    const out = this.tensor(x.rows, count);
    const [source, to] = [this.view(x), this.view(out)];
    for (let row = 0; row < x.rows; row++) {
      const at = row * x.cols + from;
      to.set(source.subarray(at, at + count), row * count);
    }
    return out;
  }

  /**
   * softmax(q·kᵀ·scaling)·v of each head; heads may share keys and values. The weights go where `weights` begins, [head,
   * query, key].
   * @param {{q: Tensor, k: Tensor, v: Tensor}} inputs
   * @param {{heads: number, kvHeads: number, causal: boolean, scaling: number}} form
   * @param {number} weights
   * @param {HeadChanges} [changes]
   */
  attend({ q, k, v }, { heads, kvHeads, causal, scaling }, weights, changes) {
    const [width, valueWidth] = [q.cols / heads, v.cols / kvHeads];
    const [n, m] = [q.rows, k.rows];
    const mixed = this.tensor(n, heads * valueWidth);
    const keys = this.take(panelFloats(width, m) * FLOAT_BYTES);
    const values = this.take(panelFloats(m, valueWidth) * FLOAT_BYTES);
    const { pack, gemm, softmax } = this.kernels;
    for (let head = 0; head < heads; head++) {
      const kvHead = Math.floor((head * kvHeads) / heads);
      const own = weights + head * n * m * FLOAT_BYTES;
      const change = changes?.(head);
      pack(keys, k.at + kvHead * width * FLOAT_BYTES, width, m, 1, k.cols);
      gemm(own, m, q.at + head * width * FLOAT_BYTES, q.cols, keys, 0, n, width, m);
      const before = causal ? m - n : 0; // rows that are not computed anew
      if (change === "even") this.view({ at: own, rows: n, cols: m }).fill(0);
      else if (change && "cut" in change)
        this.view({ at: own, rows: n, cols: m })[(change.cut.query - before) * m + change.cut.key] =
          -Infinity;
      softmax(own, n, m, scaling, causal ? 1 + before : 0);
      pack(values, v.at + kvHead * valueWidth * FLOAT_BYTES, m, valueWidth, v.cols, 1);
      gemm(mixed.at + head * valueWidth * FLOAT_BYTES, mixed.cols, own, m, values, 0, n, m, valueWidth);
      if (change && change !== "even" && "mixed" in change)
        this.fillColumns(mixed, head * valueWidth, valueWidth, change.mixed);
    }
    return mixed;
  }

  /**
   * Writes the same vector, zeros for null, into some columns of every row.
   * @param {Tensor} x
   * @param {number} from
   * @param {number} count
   * @param {Float32Array | null} vector
   */
  fillColumns(x, from, count, vector) {
    const numbers = this.view(x);
    for (let at = from; at < numbers.length; at += x.cols) {
      if (vector) numbers.set(vector, at);
      else numbers.fill(0, at, at + count);
    }
  }
}
