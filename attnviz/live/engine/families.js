// @ts-check
// The forward pass of each architecture, as transformers computes it: modeling_bert, _gpt2, _llama, _marian and _vit of
// 5.23. A family is a function of weights and configuration; it refuses what it does not compute. `configuration` is the
// config.json of a stranger: every number is checked where it is read.

import { Refusal } from "../refusal.js";
import { addRows, attention, byLayers, gathered, makeGroup, rowsFrom, withLast } from "./passes.js";

/** @import { Activation, Arena, Linear, Norm, Tensor } from "./arena.js" */
/** @import { Weights } from "./weights.js" */
/** @import { Changes, Group, Known, Pass } from "./passes.js" */
/** @import { Family, Task } from "../index.js" */

/** What a model reads: ids, of a translator also those of its decoder; or the numbers of a picture, [colour, row, column].
 * @typedef {{ids?: number[], target?: number[], pixels?: Float32Array}} Inputs
 */
/** @typedef {{layers: number, heads: number, name: string}} Attention */
/**
 * A model that is built: `run` is one pass, whose tensors hold until the next one. A translator also has `encode`, which
 * keeps what the decoder reads, for `decode`: a target grows while its source stays.
 * @typedef {{task: Task, attentions: Attention[], most: number,
 *   run: (inputs: Inputs, changes: Changes, known?: Known) => Pass,
 *   translator?: Translator, picture?: {side: number, patch: number}}} Model
 */
/** @typedef {{groups: Group[], source: Tensor}} Encoded */
/** @typedef {{encode: (ids: number[], changes: Changes) => Encoded,
 *   decode: (encoded: Encoded, target: number[], changes: Changes) => Pass, start: number}} Translator
 */

/** @type {Record<string, Activation>} by the names of configurations */
const ACTIVATIONS = {
  gelu: "gelu",
  gelu_new: "gelu_tanh",
  gelu_pytorch_tanh: "gelu_tanh",
  relu: "relu",
  silu: "silu",
  swish: "silu",
};
const LAYER_NORM_EPSILON = 1e-5; // of torch, where a configuration has none

/** The configuration of a model, read with checks. */
class Configuration {
  constructor(/** @type {unknown} */ json) {
    const values = typeof json === "object" && json !== null ? json : {};
    this.values = /** @type {Record<string, unknown>} */ (values);
  }

  get(/** @type {string} */ name) {
    return Object.hasOwn(this.values, name) ? this.values[name] : undefined;
  }

  /** A whole number above 0. @returns {number} */
  size(/** @type {string} */ name, /** @type {number | undefined} */ otherwise = undefined) {
    const value = this.get(name) ?? otherwise;
    if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return value;
    throw unknownArchitecture(`${name}: ${JSON.stringify(value)}`);
  }

  /** @returns {number} */
  real(/** @type {string} */ name, /** @type {number} */ otherwise) {
    const value = this.get(name) ?? otherwise;
    if (typeof value === "number" && Number.isFinite(value)) return value;
    throw unknownArchitecture(`${name}: ${JSON.stringify(value)}`);
  }

  /** @returns {Activation} */
  activation(/** @type {string} */ name) {
    const value = String(this.get(name));
    if (Object.hasOwn(ACTIVATIONS, value)) return ACTIVATIONS[value];
    throw unknownArchitecture(`${name}: ${value}`);
  }

  /** Refuses a setting that the engine does not compute; an absent one is as transformers has it. */
  demand(/** @type {Record<string, readonly unknown[]>} */ allowed) {
    for (const [name, values] of Object.entries(allowed)) {
      const value = this.get(name);
      if (value !== undefined && value !== null && !values.includes(value))
        throw unknownArchitecture(`${name}: ${JSON.stringify(value)}`);
    }
  }
}

function unknownArchitecture(/** @type {string} */ found) {
  return new Refusal("architecture", {
    found: found.slice(0, 80),
    known: Object.keys(ARCHITECTURES).join(", "),
  });
}

/** The width of a head, of a width that its kernels can take: a multiple of four. */
function headWidth(/** @type {number} */ width, /** @type {number} */ heads) {
  if (width % heads || width % 4) throw unknownArchitecture(`${heads} heads of ${width} numbers`);
  return width / heads;
}

/** @type {<Block>(count: number, make: (layer: number) => Block) => Block[]} */
const blocksOf = (count, make) => Array.from({ length: count }, (_, layer) => make(layer));

/** A feed-forward network of two layers. */
function fed(
  /** @type {Arena} */ arena,
  /** @type {Tensor} */ x,
  /** @type {{up: Linear, down: Linear}} */ block,
  /** @type {Activation} */ activation,
) {
  return arena.linear(arena.activate(arena.linear(x, block.up), activation), block.down);
}

// --- BERT: a norm after each half -------------------------------------------------------------------------------------

/** The weights of BERT's layers. */
function bertBlocks(
  /** @type {Weights} */ w,
  /** @type {string} */ prefix,
  /** @type {number} */ layers,
  epsilon = 0,
) {
  return blocksOf(layers, (layer) => {
    const at = `${prefix}encoder.layer.${layer}.`;
    return {
      q: w.linear(`${at}attention.self.query`),
      k: w.linear(`${at}attention.self.key`),
      v: w.linear(`${at}attention.self.value`),
      o: w.linear(`${at}attention.output.dense`),
      norm: w.norm(`${at}attention.output.LayerNorm`, epsilon),
      up: w.linear(`${at}intermediate.dense`),
      down: w.linear(`${at}output.dense`),
      after: w.norm(`${at}output.LayerNorm`, epsilon),
    };
  });
}

/** @returns {Model} */
function bert(/** @type {Weights} */ w, /** @type {Configuration} */ c) {
  c.demand({ position_embedding_type: ["absolute"], is_decoder: [false], add_cross_attention: [false] });
  const { arena } = w;
  const [layers, heads] = [c.size("num_hidden_layers"), c.size("num_attention_heads")];
  const scaling = headWidth(c.size("hidden_size"), heads) ** -0.5;
  const epsilon = c.real("layer_norm_eps", 1e-12);
  const activation = c.activation("hidden_act");
  const prefix = w.has("bert.embeddings.LayerNorm.weight") ? "bert." : "";
  const words = w.table(`${prefix}embeddings.word_embeddings.weight`);
  const places = w.floats(`${prefix}embeddings.position_embeddings.weight`);
  const types = w.floats(`${prefix}embeddings.token_type_embeddings.weight`);
  const norm = w.norm(`${prefix}embeddings.LayerNorm`, epsilon);
  const blocks = bertBlocks(w, prefix, layers, epsilon);
  const pooler = w.has("classifier.weight") ? w.linear(`${prefix}pooler.dense`) : null;
  const classifier = pooler && w.linear("classifier");

  const read = (/** @type {number[]} */ ids) => {
    const embedded = addRows(arena, gathered(arena, ids, words), places);
    for (let row = 0; row < ids.length; row++)
      arena.kernels.add(embedded.at + row * words.cols * 4, types.at, words.cols);
    return arena.layerNorm(embedded, norm);
  };

  /** @type {Model["run"]} */
  const run = ({ ids = [] }, changes, known) => {
    const n = ids.length;
    const calls = known?.pass.groups[0].calls.slice(0, known.layer) ?? [];
    const group = makeGroup(arena, { name: "self", prefix: "", layers, heads, n, m: n, scaling, calls });
    let x = known?.pass.groups[0].calls[known.layer].x ?? read(ids);
    for (const block of blocks.slice(calls.length)) {
      const [q, k, v] = [arena.linear(x, block.q), arena.linear(x, block.k), arena.linear(x, block.v)];
      const wrote = attention(
        arena,
        group,
        { q, k, v, x, source: x, by: byLayers(block), o: block.o },
        changes,
      );
      x = arena.layerNorm(arena.add(wrote, x), block.norm);
      x = arena.layerNorm(arena.add(fed(arena, x, block, activation), x), block.after);
    }
    const logits =
      pooler && classifier
        ? () => {
            const pooled = arena.linear({ ...x, rows: 1 }, pooler);
            return arena.linear(arena.activate(pooled, "hyperbolic_tangent"), classifier);
          }
        : null;
    return { groups: [group], hidden: x, logits };
  };
  const task = classifier ? "classes" : "vectors";
  return { task, attentions: [{ name: "self", layers, heads }], most: places.rows, run };
}

// --- GPT-2: a norm before each half, q, k and v from one layer --------------------------------------------------------

/** @returns {Model} */
function gpt2(/** @type {Weights} */ w, /** @type {Configuration} */ c) {
  c.demand({
    scale_attn_weights: [true],
    scale_attn_by_inverse_layer_idx: [false],
    reorder_and_upcast_attn: [false],
    add_cross_attention: [false],
  });
  const { arena } = w;
  const [layers, heads, width] = [c.size("n_layer"), c.size("n_head"), c.size("n_embd")];
  const scaling = headWidth(width, heads) ** -0.5;
  const epsilon = c.real("layer_norm_epsilon", LAYER_NORM_EPSILON);
  const activation = c.activation("activation_function");
  const words = w.table("transformer.wte.weight");
  const places = w.floats("transformer.wpe.weight");
  const blocks = blocksOf(layers, (layer) => {
    const at = `transformer.h.${layer}.`;
    return {
      norm: w.norm(`${at}ln_1`, epsilon),
      qkv: w.linear(`${at}attn.c_attn`, { transposed: true }),
      o: w.linear(`${at}attn.c_proj`, { transposed: true }),
      after: w.norm(`${at}ln_2`, epsilon),
      up: w.linear(`${at}mlp.c_fc`, { transposed: true }),
      down: w.linear(`${at}mlp.c_proj`, { transposed: true }),
    };
  });
  const last = w.norm("transformer.ln_f", epsilon);
  const head = w.linear("lm_head", tied(w, "lm_head.weight", "transformer.wte.weight"));

  /** @type {Model["run"]} */
  const run = ({ ids = [] }, changes, known) => {
    const [m, n] = [ids.length, known ? 1 : ids.length];
    const form = { name: "self", prefix: "", layers, heads, n, m, scaling, causal: true };
    const group = makeGroup(arena, form);
    const x = addRows(arena, gathered(arena, ids.slice(m - n), words), places, m - n);
    for (const [layer, block] of blocks.entries()) {
      const y = arena.layerNorm(x, block.norm);
      const qkv = arena.linear(y, block.qkv);
      const [q, ...own] = [0, 1, 2].map((part) => arena.columns(qkv, part * width, width));
      const [k, v] = own.map((rows, i) => beside(arena, rows, known, layer, i ? "v" : "k"));
      const by = columnThirds(block.qkv, width);
      arena.add(x, attention(arena, group, { q, k, v, x: y, source: y, by, o: block.o }, changes));
      arena.add(x, fed(arena, arena.layerNorm(x, block.after), block, activation));
    }
    const hidden = arena.layerNorm(x, last);
    return { groups: [group], hidden, logits: (first) => arena.linear(rowsFrom(hidden, first), head) };
  };
  return { task: "next_token", attentions: [{ name: "self", layers, heads }], most: places.rows, run };
}

/** The keys or values of a layer: these rows, or those that are known with these as the last one. */
function beside(
  /** @type {Arena} */ arena,
  /** @type {Tensor} */ rows,
  /** @type {Known | undefined} */ known,
  /** @type {number} */ layer,
  /** @type {"k" | "v"} */ part,
) {
  return known ? withLast(arena, known.pass.groups[0].calls[layer][part], rows) : rows;
}

/** The parts of the one layer that makes q, k and v. */
const columnThirds = (/** @type {Linear} */ layer, /** @type {number} */ width) => ({
  q: { layer, from: 0 },
  k: { layer, from: width },
  v: { layer, from: 2 * width },
});

/** The weights of an output layer: its own, or the embeddings where they are shared. */
const tied = (/** @type {Weights} */ w, /** @type {string} */ own, /** @type {string} */ shared) => ({
  matrix: w.has(own) ? own : shared,
});

// --- Llama: rotary positions, fewer keys than queries, a gate ---------------------------------------------------------

/** cos and sin of each position and frequency, as torch has them in 32 bits. */
function rotaryTables(
  /** @type {Arena} */ arena,
  /** @type {Configuration} */ c,
  /** @type {number} */ width,
) {
  const rope = /** @type {Record<string, unknown>} */ (
    c.get("rope_parameters") ?? c.get("rope_scaling") ?? {}
  );
  const settings = new Configuration({ rope_theta: c.get("rope_theta"), ...rope });
  settings.demand({ rope_type: ["default"], type: ["default"], partial_rotary_factor: [1] });
  const theta = settings.real("rope_theta", 10000);
  const [longest, half] = [c.size("max_position_embeddings"), width / 2];
  return [Math.cos, Math.sin].map((wave) => {
    const table = arena.tensor(longest, half);
    const numbers = arena.view(table);
    for (let i = 0; i < half; i++) {
      const frequency = Math.fround(1 / Math.fround(theta ** ((2 * i) / width)));
      for (let row = 0; row < longest; row++) numbers[row * half + i] = wave(Math.fround(row * frequency));
    }
    return table;
  });
}

/** The weights of Llama's layers. */
function llamaBlocks(/** @type {Weights} */ w, /** @type {number} */ layers, /** @type {number} */ epsilon) {
  return blocksOf(layers, (layer) => {
    const at = `model.layers.${layer}.`;
    return {
      norm: w.norm(`${at}input_layernorm`, epsilon),
      q: w.linear(`${at}self_attn.q_proj`),
      k: w.linear(`${at}self_attn.k_proj`),
      v: w.linear(`${at}self_attn.v_proj`),
      o: w.linear(`${at}self_attn.o_proj`),
      after: w.norm(`${at}post_attention_layernorm`, epsilon),
      gate: w.linear(`${at}mlp.gate_proj`),
      up: w.linear(`${at}mlp.up_proj`),
      down: w.linear(`${at}mlp.down_proj`),
    };
  });
}

/** @returns {Model} */
function llama(/** @type {Weights} */ w, /** @type {Configuration} */ c) {
  const { arena } = w;
  const [layers, heads] = [c.size("num_hidden_layers"), c.size("num_attention_heads")];
  const kvHeads = c.size("num_key_value_heads", heads);
  const width = c.size("head_dim", headWidth(c.size("hidden_size"), heads));
  if (heads % kvHeads || width % 2)
    throw unknownArchitecture(`${heads} heads on ${kvHeads} of ${width} numbers`);
  const epsilon = c.real("rms_norm_eps", 1e-6);
  const activation = c.activation("hidden_act");
  const words = w.table("model.embed_tokens.weight");
  const blocks = llamaBlocks(w, layers, epsilon);
  const last = w.norm("model.norm", epsilon);
  const head = w.linear("lm_head", tied(w, "lm_head.weight", "model.embed_tokens.weight"));
  const [cosines, sines] = rotaryTables(arena, c, width);
  const form = { name: "self", prefix: "", layers, heads, kvHeads, scaling: width ** -0.5, causal: true };

  /** Rotated; what it was before stays for Steps. */
  const rotated = (/** @type {Tensor} */ x, /** @type {number} */ first) => {
    const out = arena.columns(x, 0, x.cols);
    const [c, s] = [rowsFrom(cosines, first), rowsFrom(sines, first)];
    arena.kernels.rotate(out.at, c.at, s.at, x.rows, x.cols / width, width);
    return out;
  };

  /** @type {Model["run"]} */
  const run = ({ ids = [] }, changes, known) => {
    const [m, n] = [ids.length, known ? 1 : ids.length];
    const group = makeGroup(arena, { ...form, n, m });
    const x = gathered(arena, ids.slice(m - n), words);
    for (const [layer, block] of blocks.entries()) {
      const y = arena.rmsNorm(x, block.norm);
      const unrotated = { q: arena.linear(y, block.q), k: arena.linear(y, block.k) };
      const q = rotated(unrotated.q, m - n);
      const k = beside(arena, rotated(unrotated.k, m - n), known, layer, "k");
      const v = beside(arena, arena.linear(y, block.v), known, layer, "v");
      arena.add(
        x,
        attention(
          arena,
          group,
          { q, k, v, x: y, source: y, by: byLayers(block), o: block.o, unrotated },
          changes,
        ),
      );
      const z = arena.rmsNorm(x, block.after);
      const gate = arena.activate(arena.linear(z, block.gate), activation);
      arena.add(x, arena.linear(arena.multiply(gate, arena.linear(z, block.up)), block.down));
    }
    const hidden = arena.rmsNorm(x, last);
    return { groups: [group], hidden, logits: (first) => arena.linear(rowsFrom(hidden, first), head) };
  };
  return { task: "next_token", attentions: [{ name: "self", layers, heads }], most: cosines.rows, run };
}

// --- Marian: waves as positions, a norm after each half, a decoder that reads the encoder -----------------------------

/** Sines in the first half of the columns, cosines in the second. */
function waves(/** @type {Arena} */ arena, /** @type {number} */ rows, /** @type {number} */ width) {
  const table = arena.tensor(rows, width);
  const numbers = arena.view(table);
  const half = width / 2;
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < width; column++) {
      const angle = row / 10000 ** ((2 * (column % half)) / width);
      numbers[row * width + column] = column < half ? Math.sin(angle) : Math.cos(angle);
    }
  return table;
}

/** @typedef {{q: Linear, k: Linear, v: Linear, o: Linear, norm: Norm}} MarianAttention */

/** The weights of one of Marian's attentions. @returns {MarianAttention} */
function marianAttention(/** @type {Weights} */ w, /** @type {string} */ at) {
  return {
    q: w.linear(`${at}.q_proj`),
    k: w.linear(`${at}.k_proj`),
    v: w.linear(`${at}.v_proj`),
    o: w.linear(`${at}.out_proj`),
    norm: w.norm(`${at}_layer_norm`, LAYER_NORM_EPSILON),
  };
}

/** The layers of an encoder or a decoder. */
function marianBlocks(/** @type {Weights} */ w, /** @type {string} */ stack, /** @type {number} */ layers) {
  return blocksOf(layers, (layer) => {
    const at = `model.${stack}.layers.${layer}.`;
    return {
      self: marianAttention(w, `${at}self_attn`),
      cross: stack === "decoder" ? marianAttention(w, `${at}encoder_attn`) : null,
      up: w.linear(`${at}fc1`),
      down: w.linear(`${at}fc2`),
      norm: w.norm(`${at}final_layer_norm`, LAYER_NORM_EPSILON),
    };
  });
}

/** The embeddings of both stacks: words, times √d where the configuration says so, and positions. */
function marianEmbeddings(
  /** @type {Weights} */ w,
  /** @type {Configuration} */ c,
  /** @type {number} */ width,
) {
  const { arena } = w;
  const words = w.table("model.shared.weight");
  const places = waves(arena, c.size("max_position_embeddings"), width);
  const factor = c.get("scale_embedding") === true ? Math.fround(Math.sqrt(width)) : 1;
  return (/** @type {number[]} */ ids) => {
    const x = gathered(arena, ids, words);
    const numbers = arena.view(x);
    if (factor !== 1) for (let i = 0; i < numbers.length; i++) numbers[i] *= factor;
    return addRows(arena, x, places);
  };
}

/** @returns {Model} */
function marian(/** @type {Weights} */ w, /** @type {Configuration} */ c) {
  c.demand({ share_encoder_decoder_embeddings: [true], tie_word_embeddings: [true] });
  const { arena } = w;
  const width = c.size("d_model");
  const layers = { encoder: c.size("encoder_layers"), decoder: c.size("decoder_layers") };
  const heads = { encoder: c.size("encoder_attention_heads"), decoder: c.size("decoder_attention_heads") };
  const activation = c.activation("activation_function");
  const embedded = marianEmbeddings(w, c, width);
  const blocks = {
    encoder: marianBlocks(w, "encoder", layers.encoder),
    decoder: marianBlocks(w, "decoder", layers.decoder),
  };
  const head = w.linear("lm_head", { matrix: "model.shared.weight", bias: "final_logits_bias" });

  /** The form of an attention. */
  const form = (/** @type {"encoder" | "decoder"} */ stack, /** @type {"self" | "cross"} */ kind) => ({
    name: `${stack}_${kind}`,
    prefix: `${stack}.${kind === "cross" ? "cross." : ""}`,
    layers: layers[stack],
    heads: heads[stack],
    scaling: headWidth(width, heads[stack]) ** -0.5,
    causal: stack === "decoder" && kind === "self",
    cross: kind === "cross",
  });
  const forms = [form("encoder", "self"), form("decoder", "self"), form("decoder", "cross")];

  /** @type {(x: Tensor, source: Tensor, part: MarianAttention, group: Group, changes: Changes) => Tensor} */
  const attended = (x, source, part, group, changes) => {
    const [q, k, v] = [arena.linear(x, part.q), arena.linear(source, part.k), arena.linear(source, part.v)];
    const wrote = attention(arena, group, { q, k, v, x, source, by: byLayers(part), o: part.o }, changes);
    return arena.layerNorm(arena.add(wrote, x), part.norm);
  };
  /** @type {(x: Tensor, block: {up: Linear, down: Linear, norm: Norm}) => Tensor} */
  const after = (x, block) => arena.layerNorm(arena.add(fed(arena, x, block, activation), x), block.norm);

  /** @type {Translator["encode"]} */
  const encode = (ids, changes) => {
    const group = makeGroup(arena, { ...forms[0], n: ids.length, m: ids.length });
    let source = embedded(ids);
    for (const block of blocks.encoder)
      source = after(attended(source, source, block.self, group, changes), block);
    return { groups: [group], source };
  };
  /** @type {Translator["decode"]} */
  const decode = ({ groups, source }, target, changes) => {
    const [n, m] = [target.length, source.rows];
    const inner = makeGroup(arena, { ...forms[1], n, m: n });
    const cross = makeGroup(arena, { ...forms[2], n, m });
    let x = embedded(target);
    for (const block of blocks.decoder) {
      x = attended(x, x, block.self, inner, changes);
      if (block.cross) x = attended(x, source, block.cross, cross, changes);
      x = after(x, block);
    }
    return {
      groups: [...groups, inner, cross],
      hidden: x,
      logits: (first) => arena.linear(rowsFrom(x, first), head),
    };
  };
  return {
    task: "translation",
    attentions: forms,
    most: c.size("max_position_embeddings"),
    run: ({ ids = [], target = [] }, changes) => decode(encode(ids, changes), target, changes),
    translator: { encode, decode, start: Number(c.get("decoder_start_token_id") ?? 0) },
  };
}

// --- ViT: the patches of a picture, a norm before each half -----------------------------------------------------------

/** The numbers of each patch in a row, [colour, row, column]. @returns {Tensor} */
function cutIntoPatches(
  /** @type {Arena} */ arena,
  /** @type {Float32Array} */ pixels,
  /** @type {number} */ side,
  /** @type {number} */ patch,
) {
  const across = side / patch;
  const patches = arena.tensor(across * across, 3 * patch * patch);
  const numbers = arena.view(patches);
  let to = 0;
  for (let place = 0; place < across * across; place++) {
    const [top, left] = [Math.floor(place / across) * patch, (place % across) * patch];
    for (let colour = 0; colour < 3; colour++)
      for (let row = 0; row < patch; row++) {
        const from = (colour * side + top + row) * side + left;
        numbers.set(pixels.subarray(from, from + patch), to);
        to += patch;
      }
  }
  return patches;
}

/** The weights of ViT's layers. */
function vitBlocks(/** @type {Weights} */ w, /** @type {number} */ layers, /** @type {number} */ epsilon) {
  return blocksOf(layers, (layer) => {
    const at = `vit.encoder.layer.${layer}.`;
    return {
      norm: w.norm(`${at}layernorm_before`, epsilon),
      q: w.linear(`${at}attention.attention.query`),
      k: w.linear(`${at}attention.attention.key`),
      v: w.linear(`${at}attention.attention.value`),
      o: w.linear(`${at}attention.output.dense`),
      after: w.norm(`${at}layernorm_after`, epsilon),
      up: w.linear(`${at}intermediate.dense`),
      down: w.linear(`${at}output.dense`),
    };
  });
}

/** @returns {Model} */
function vit(/** @type {Weights} */ w, /** @type {Configuration} */ c) {
  c.demand({ num_channels: [3] });
  const { arena } = w;
  const [layers, heads, width] = [
    c.size("num_hidden_layers"),
    c.size("num_attention_heads"),
    c.size("hidden_size"),
  ];
  const scaling = headWidth(width, heads) ** -0.5;
  const [side, patch] = [c.size("image_size"), c.size("patch_size")];
  if (side % patch) throw unknownArchitecture(`patches of ${patch} in ${side} pixels`);
  const epsilon = c.real("layer_norm_eps", 1e-12);
  const activation = c.activation("hidden_act");
  const project = w.linear("vit.embeddings.patch_embeddings.projection");
  const first = w.floats("vit.embeddings.cls_token");
  const places = w.floats("vit.embeddings.position_embeddings");
  const blocks = vitBlocks(w, layers, epsilon);
  const last = w.norm("vit.layernorm", epsilon);
  const head = w.linear("classifier");
  const n = 1 + (side / patch) ** 2;

  /** @type {Model["run"]} */
  const run = ({ pixels }, changes) => {
    if (pixels?.length !== 3 * side * side)
      throw new Refusal("input", { found: `${pixels?.length} numbers` });
    const patches = cutIntoPatches(arena, pixels, side, patch);
    const x = arena.tensor(n, width);
    arena.view(x).set(arena.view({ ...first, rows: 1, cols: width }));
    arena.linear(patches, project, rowsFrom(x, 1));
    arena.kernels.add(x.at, places.at, n * width);
    const group = makeGroup(arena, { name: "self", prefix: "", layers, heads, n, m: n, scaling });
    for (const block of blocks) {
      const y = arena.layerNorm(x, block.norm);
      const [q, k, v] = [arena.linear(y, block.q), arena.linear(y, block.k), arena.linear(y, block.v)];
      arena.add(
        x,
        attention(arena, group, { q, k, v, x: y, source: y, by: byLayers(block), o: block.o }, changes),
      );
      arena.add(x, fed(arena, arena.layerNorm(x, block.after), block, activation));
    }
    const hidden = arena.layerNorm(x, last);
    return { groups: [group], hidden, logits: () => arena.linear({ ...hidden, rows: 1 }, head) };
  };
  const attentions = [{ name: "self", layers, heads }];
  return { task: "picture_classes", attentions, most: n, run, picture: { side, patch } };
}

// --- the models that are known ----------------------------------------------------------------------------------------

/** @type {Record<string, {family: Family, build: (w: Weights, c: Configuration) => Model}>} by their names in config.json */
const ARCHITECTURES = {
  BertModel: { family: "bert", build: bert },
  BertForSequenceClassification: { family: "bert", build: bert },
  GPT2LMHeadModel: { family: "gpt2", build: gpt2 },
  LlamaForCausalLM: { family: "llama", build: llama },
  MarianMTModel: { family: "marian", build: marian },
  ViTForImageClassification: { family: "vit", build: vit },
};

/** The architecture of a configuration; a `Refusal` names one that is not known. */
export function architectureOf(/** @type {unknown} */ json) {
  const c = new Configuration(json);
  const names = c.get("architectures");
  const name = Array.isArray(names) ? String(names[0]) : "";
  if (!Object.hasOwn(ARCHITECTURES, name))
    throw unknownArchitecture(name || "a model that names no architecture");
  c.demand({ quantization_config: [] });
  return ARCHITECTURES[name];
}

/**
 * Builds a model in the arena of its weights: what lies in it from then on stays.
 * @param {Weights} weights
 * @param {unknown} json its config.json
 * @returns {Model}
 */
export function buildModel(weights, json) {
  const model = architectureOf(json).build(weights, new Configuration(json));
  weights.arena.settle();
  return model;
}
