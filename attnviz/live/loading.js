// @ts-check
// A model from its files: fetched, or come with the page; built in an arena of its own. Weights in two planes are built from
// the high one and built again when the low one has come; the shards of their word table come when a text needs them.

import { Arena } from "./engine/arena.js";
import { architectureOf, buildModel } from "./engine/families.js";
import { ShardedTable, TensorFile, Weights } from "./engine/weights.js";
import { Tokenizer } from "./reading/tokenizer.js";
import { Refusal } from "./refusal.js";

/** @import { Model } from "./engine/families.js" */
/** @import { ModelFiles, PlaneWeights, StepsTemplate } from "./index.js" */

/** Bytes that came so far, and how many will, 0 while that is not known. @typedef {(bytes: number, ofBytes: number) => void} OnBytes */
/** The generation settings of a model that matter here. @typedef {{ends: Set<number>}} Generation */

/** The files of the page, from the line or from the page itself. */
export class Files {
  constructor(/** @type {typeof fetch} */ fetcher) {
    this.fetcher = fetcher;
    /** @type {Map<string, ArrayBuffer>} */
    this.kept = new Map();
  }

  /** Takes files that came with the page. */
  keep(/** @type {Record<string, ArrayBuffer>} */ files) {
    for (const [address, file] of Object.entries(files)) this.kept.set(address, file);
  }

  /** @returns {Promise<ArrayBuffer>} */
  async bytes(/** @type {string} */ address, /** @type {OnBytes} */ onBytes = () => {}) {
    const kept = this.kept.get(address);
    if (kept) return kept;
    try {
      const answer = await this.fetcher(address);
      if (!answer.ok) throw new Error(String(answer.status));
      return await readAll(answer, onBytes);
    } catch (error) {
      throw new Refusal("fetch", { file: address, why: String(error) });
    }
  }

  /** @returns {Promise<unknown>} */
  async json(/** @type {string} */ address) {
    const text = new TextDecoder().decode(await this.bytes(address));
    try {
      return JSON.parse(text);
    } catch (error) {
      throw new Refusal("file", { file: address, why: String(error) });
    }
  }

  /** @returns {Promise<TensorFile>} */
  async tensors(/** @type {string} */ address, /** @type {OnBytes} */ onBytes = () => {}) {
    return new TensorFile(await this.bytes(address, onBytes), address);
  }
}

/** The body of an answer; a packed one says how long it is on the line, not here. */
async function readAll(/** @type {Response} */ answer, /** @type {OnBytes} */ onBytes) {
  const isPacked = answer.headers.has("content-encoding");
  const expected = isPacked ? 0 : Number(answer.headers.get("content-length")) || 0;
  const reader = answer.body?.getReader();
  if (!reader) return answer.arrayBuffer();
  const parts = [];
  let count = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    count += value.length;
    onBytes(count, expected);
  }
  const whole = new Uint8Array(count);
  let to = 0;
  for (const part of parts) {
    whole.set(part, to);
    to += part.length;
  }
  return whole.buffer;
}

/** The kernels, compiled. */
async function compiled(/** @type {Files} */ files, /** @type {string} */ address) {
  const bytes = await files.bytes(address);
  try {
    return await WebAssembly.compile(bytes);
  } catch (error) {
    throw new Refusal("wasm", { why: String(error) });
  }
}

/** The word table and the planes of a model's layers, as far as they have come. */
class Planes {
  /** @param {PlaneWeights} form @param {TensorFile} high */
  constructor(form, high) {
    this.form = form;
    this.high = high;
    /** @type {TensorFile | null} */
    this.low = null;
    this.words = new ShardedTable(form.table, form.shape, form.rows);
  }

  /** The files that have not come: the low plane of the layers, then both planes of every shard. */
  missing() {
    const { form, words } = this;
    const shards = words.high.map((_, shard) => shard);
    return [
      ...(this.low ? [] : [{ plane: /** @type {const} */ ("layers"), shard: -1, bytes: form.bytes.low }]),
      ...shards
        .filter((shard) => !words.high[shard])
        .map((shard) => part("high", shard, form.bytes.high_shard)),
      ...shards.filter((shard) => !words.low[shard]).map((shard) => part("low", shard, form.bytes.low_shard)),
    ];
  }
}

/** @returns {{plane: "high" | "low", shard: number, bytes: number}} */
const part = (
  /** @type {"high" | "low"} */ plane,
  /** @type {number} */ shard,
  /** @type {number} */ bytes,
) => ({
  plane,
  shard,
  bytes,
});

const shardAddress = (/** @type {string} */ template, /** @type {number} */ shard) =>
  template.replace("{shard}", String(shard).padStart(3, "0"));

export class LoadedModel {
  /**
   * @param {Files} files
   * @param {ModelFiles} info
   * @param {WebAssembly.Module} kernels
   * @param {{config: unknown, tokenizer: Tokenizer | null, generation: unknown, preprocessor: unknown,
   *   means: TensorFile | null, weights: TensorFile}} read
   */
  constructor(files, info, kernels, { config, tokenizer, generation, preprocessor, means, weights }) {
    this.files = files;
    this.info = info;
    this.config = /** @type {Record<string, unknown>} */ (config);
    this.family = architectureOf(config).family;
    this.tokenizer = tokenizer;
    this.preprocessor = /** @type {Record<string, unknown>} */ (preprocessor ?? {});
    this.ends = endsOf(generation, config);
    this.means = means;
    /** @type {Map<string, StepsTemplate>} by language */
    this.steps = new Map();
    this.planes = info.weights.form === "planes" ? new Planes(info.weights, weights) : null;
    this.refined = 0; // times that weights have changed
    this.arena = new Arena(kernels);
    this.model = this.build(weights);
  }

  /** @returns {Model} */
  build(/** @type {TensorFile} */ weights) {
    const { arena, planes } = this;
    arena.top = arena.start;
    const read = new Weights(arena, weights, planes?.low ?? null, planes?.words ?? null);
    return buildModel(read, this.config);
  }

  /** True where no weight that these tokens need is an 8-bit one. */
  isExact(/** @type {readonly number[]} */ ids) {
    return !this.planes || (this.planes.low !== null && this.planes.words.isExact(ids));
  }

  /** Fetches what these tokens need. */
  async prepare(/** @type {readonly number[]} */ ids) {
    const { planes, files } = this;
    if (!planes) return;
    const { words, form } = planes;
    const fetched = words.missing(ids).map(async (shard) => {
      words.put("high", shard, await files.tensors(shardAddress(form.high_shards, shard)));
    });
    await Promise.all(fetched);
  }

  /**
   * Fetches more of the weights, at most so many bytes; what is left.
   * @param {number} mostBytes
   * @param {(bytes: number) => void} onBytes
   */
  async refine(mostBytes, onBytes) {
    const { planes, files } = this;
    if (!planes) return 0;
    this.refined++;
    let taken = 0;
    for (const { plane, shard, bytes } of planes.missing()) {
      if (taken && taken + bytes > mostBytes) break;
      if (plane === "layers") {
        planes.low = await files.tensors(planes.form.low, (count) => onBytes(taken + count));
        this.model = this.build(planes.high);
      } else {
        const template = plane === "high" ? planes.form.high_shards : planes.form.low_shards;
        planes.words.put(plane, shard, await files.tensors(shardAddress(template, shard)));
      }
      taken += bytes;
      onBytes(taken);
    }
    return planes.missing().reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** The headers of Steps in a language; null where Python wrote none. */
  async stepsIn(/** @type {string} */ language) {
    const address = this.info.steps?.[language];
    if (!address) return null;
    const known = this.steps.get(language) ?? /** @type {StepsTemplate} */ (await this.files.json(address));
    this.steps.set(language, known);
    return known;
  }
}

/** The tokens with which a model ends its text. */
function endsOf(/** @type {unknown} */ generation, /** @type {unknown} */ config) {
  const named = [generation, config].map(
    (json) => /** @type {Record<string, unknown> | null | undefined} */ (json)?.eos_token_id,
  );
  const ends = named.find((end) => end !== undefined && end !== null);
  return new Set(/** @type {number[]} */ ([ends].flat()));
}

/** @type {<Made>(address: string | undefined, read: (address: string) => Promise<Made>) => Promise<Made | null>} */
const ifNamed = async (address, read) => (address === undefined ? null : read(address));

/**
 * A model, loaded; of weights in planes the high one of its layers.
 * @param {Files} files
 * @param {ModelFiles} info
 * @param {OnBytes} onBytes
 */
export async function loadModel(files, info, onBytes) {
  const start = performance.now();
  const { weights } = info;
  const json = (/** @type {string} */ address) => files.json(address);
  const [kernels, config, tokenizer, generation, preprocessor, means, tensors] = await Promise.all([
    compiled(files, info.kernels),
    json(info.config),
    ifNamed(info.tokenizer, json),
    ifNamed(info.generation, json),
    ifNamed(info.preprocessor, json),
    ifNamed(info.means, (address) => files.tensors(address)),
    files.tensors(weights.form === "plain" ? weights.file : weights.high, onBytes),
  ]);
  const fetched = performance.now();
  const read = { config, generation, preprocessor, means, weights: tensors };
  const loaded = new LoadedModel(files, info, kernels, {
    ...read,
    tokenizer: tokenizer === null ? null : new Tokenizer(tokenizer),
  });
  return { loaded, times: { fetch_ms: fetched - start, build_ms: performance.now() - fetched } };
}
