// @ts-check
// What a loaded model answers to one request: pictures, written tokens, effects, the comparison with torch. A pass holds until
// the next one, so that all pictures of a pass are packed before another one runs.

import { placeOf } from "./engine/passes.js";
import { decoderTokens, readInput } from "./reading/inputs.js";
import { Refusal } from "./refusal.js";
import { alignmentBytes } from "./views/alignment.js";
import { leadOf, meanVector, moved, readerOf } from "./views/answers.js";
import { barsBytes, distribution, isPlain, PLAIN } from "./views/bars.js";
import { changesOf, drawnHeads, headsOf, NO_CHANGES, parseOff } from "./views/changes.js";
import { gridBytes, headBytes, patchesBytes, sentencesOf } from "./views/heads.js";
import { masksBytes } from "./views/masks.js";
import { largest } from "./views/numbers.js";
import { PythonRandom } from "./views/random.js";
import { makeCutter, stageBytes } from "./views/stage.js";
import { stepsBytes } from "./views/steps.js";
import { switchesBytes, tinyWeights } from "./views/switches.js";
import { writingBytes } from "./views/writing.js";

/** @import { Inputs } from "./engine/families.js" */
/** @import { Changes, Pass } from "./engine/passes.js" */
/** @import { LoadedModel } from "./loading.js" */
/** @import { ReadInput } from "./reading/inputs.js" */
/** @import { TensorFile } from "./engine/weights.js" */
/** @import { EffectsRequest, Input, Measured, Said, Sampling, Shown, ShowRequest, ShownToken, Texts, Verified, View,
 *   WriteRequest, Written } from "./index.js" */
/** @import { LabelledToken } from "./reading/labels.js" */
/** @import { Reader } from "./views/answers.js" */
/** @import { OffHead } from "./views/changes.js" */
/** @import { Scene, TokenAxis } from "./views/scene.js" */
/** @import { Cuts } from "./views/stage.js" */
/** @import { Tiny } from "./views/switches.js" */

/** An input as it runs: `labels` are the ids that a decoder predicts, `isWritten` says that it wrote them itself.
 * @typedef {ReadInput & {key: string, labels: number[], isWritten: boolean}} Prepared
 */
/** What the answer was before the pass that is shown. @typedef {{reader: Reader, tiny: Tiny[], controls: Float64Array[], written: [string, string] | null}} Before */

const TOP = 5; // choices in words
const OUTER_SPACE = /^\p{White_Space}+|\p{White_Space}+$/gu; // that Python's `strip` takes
const MOST_WRITTEN_TARGET = 128;
const GOLDEN = 0x9e3779b1; // spreads the seeds of neighbouring tokens
const EXACT_TOLERANCE = 1e-5;
const PLANES_TOLERANCE = 1e-3; // 16 of the 32 bits of a weight
const OUTPUT_ROOM = 100; // logits are larger than weights, and what comes behind the last attention shows in them alone

/** @type {Record<string, View[]>} by task */
export const VIEWS = {
  next_token: ["stage", "grid", "head", "steps", "masks", "switches", "bars", "writing"],
  classes: ["grid", "head", "steps", "masks", "switches", "bars"],
  vectors: ["stage", "grid", "head", "steps", "masks", "switches"],
  translation: ["grid", "head", "steps", "masks", "switches", "alignment", "writing"],
  picture_classes: ["grid", "head", "patches", "steps", "masks", "switches", "bars"],
};

export class Answering {
  constructor(/** @type {LoadedModel} */ loaded) {
    this.loaded = loaded;
    /** @type {Map<string, import("./views/switches.js").Effects>} by input, weights and what heads say instead */
    this.effects = new Map();
    /** @type {Map<string, number[]>} what was written without changes, of the last inputs */
    this.greedy = new Map();
    /** @type {Map<string, Float64Array>} vectors of whole texts */
    this.vectors = new Map();
    /** The last pass without changes, while what it made is still there. @type {{name: string, pass: Pass, top: number} | null} */
    this.last = null;
    /** Looks that were cut, of one input. @type {{name: string, cuts: Cuts}} */
    this.cutting = { name: "", cuts: new Map() };
    /** Effects as far as they are measured, of one input. @type {{name: string, reader: Reader | null, moves: number[], leads: number[]}} */
    this.measuring = { name: "", reader: null, moves: [], leads: [] };
  }

  run(/** @type {Inputs} */ inputs, /** @type {Changes} */ changes) {
    this.last = null;
    this.loaded.arena.reset();
    return this.loaded.model.run(inputs, changes);
  }

  /** The pass of an input without changes; the one that was run last if it was of that input. */
  clean(/** @type {Prepared} */ prepared) {
    const { last, loaded } = this;
    const name = this.nameOf(prepared);
    if (last?.name === name) {
      loaded.arena.top = last.top;
      return last.pass;
    }
    const pass = this.run(prepared.inputs, NO_CHANGES);
    this.last = { name, pass, top: loaded.arena.top };
    return pass;
  }

  /** A name of an input and of the weights that read it. */
  nameOf(/** @type {Prepared} */ { key }) {
    return `${this.loaded.refined} ${key}`;
  }

  /** The looks of an input that were cut so far. */
  cutsOf(/** @type {Prepared} */ prepared) {
    const name = this.nameOf(prepared);
    if (this.cutting.name !== name) this.cutting = { name, cuts: new Map() };
    return this.cutting.cuts;
  }

  /** Reads an input; a translator without a target writes one. @returns {Promise<Prepared>} */
  async prepare(/** @type {Input} */ input) {
    const { loaded } = this;
    const read = readInput(loaded, input);
    const key = keyOf(input, read);
    await loaded.prepare(read.inputs.ids ?? []);
    const { translator } = loaded.model;
    if (!translator) return { ...read, key, labels: [], isWritten: false };
    const isWritten = !input.target;
    const labels = isWritten ? this.translated(read, key) : this.targetIds(input.target ?? "");
    const target = [translator.start, ...labels.slice(0, -1)];
    return { ...read, inputs: { ...read.inputs, target }, key, labels, isWritten };
  }

  /** The vector of another text, to compare with; it is kept. */
  async vectorOf(/** @type {string} */ text) {
    const prepared = await this.prepare({ text });
    const name = this.nameOf(prepared);
    const known =
      this.vectors.get(name) ?? meanVector(this.loaded.arena, this.run(prepared.inputs, NO_CHANGES).hidden);
    this.vectors.set(name, known);
    return known;
  }

  /** The ids of a text that a decoder is given. */
  targetIds(/** @type {string} */ text) {
    const { tokenizer, info } = this.loaded;
    const ids = tokenizer ? tokenizer.encode(text).map(({ id }) => id) : [];
    return ids.slice(0, info.most);
  }

  /** The likeliest translation of an input that was not changed; it is kept. */
  translated(/** @type {ReadInput} */ { inputs }, /** @type {string} */ key) {
    const known = this.greedy.get(key) ?? this.translate(inputs.ids ?? [], NO_CHANGES, MOST_WRITTEN_TARGET);
    this.greedy.delete(key);
    this.greedy.set(key, known);
    for (const oldest of this.greedy.keys()) if (this.greedy.size > 8) this.greedy.delete(oldest);
    return known;
  }

  /** Greedily, with the source read once. @returns {number[]} */
  translate(/** @type {number[]} */ ids, /** @type {Changes} */ changes, /** @type {number} */ most) {
    const { model, arena, ends, info } = this.loaded;
    const { translator } = model;
    if (!translator) return [];
    this.last = null;
    arena.reset();
    const encoded = translator.encode(ids, changes);
    const top = arena.top;
    const written = [];
    while (written.length < Math.min(most, info.most - 1)) {
      arena.top = top;
      const pass = translator.decode(encoded, [translator.start, ...written], changes);
      const id = largest(lastLogits(this.loaded, pass), 1)[0];
      written.push(id);
      if (ends.has(id)) break;
    }
    return written;
  }

  /** The next tokens of a decoder, the last one an end if it ended. */
  continued(
    /** @type {readonly number[]} */ ids,
    /** @type {Changes} */ changes,
    /** @type {number} */ most,
    /** @type {(logits: Float32Array, place: number) => number} */ choose,
  ) {
    const { ends, info, model } = this.loaded;
    const all = [...ids];
    const room = Math.min(info.most, model.most);
    while (all.length - ids.length < most && all.length < room) {
      const pass = this.run({ ids: all }, changes);
      const id = choose(lastLogits(this.loaded, pass), all.length);
      all.push(id);
      if (ends.has(id)) break;
    }
    return all.slice(ids.length);
  }
}

/** The logits after the last token that was read. */
function lastLogits(/** @type {LoadedModel} */ { arena }, /** @type {Pass} */ { logits, hidden }) {
  if (!logits) throw new Refusal("input", { found: "a model that does not write" });
  return arena.view(logits(hidden.rows - 1));
}

const likeliest = (/** @type {Float32Array} */ logits) => largest(logits, 1)[0];

/** A name of an input: the same one for the same input. */
function keyOf(/** @type {Input} */ { text, target, written }, /** @type {ReadInput} */ { picture }) {
  const pixels = picture
    ? picture.rgb.reduce((hash, byte) => Math.imul(hash ^ byte, 16777619), 2166136261)
    : 0;
  return JSON.stringify([text, target, written, pixels]);
}

// --- pictures ---------------------------------------------------------------------------------------------------------

/**
 * The pictures that are wanted.
 * @param {Answering} answering
 * @param {ShowRequest} request
 * @param {Texts} texts
 * @returns {Promise<Shown>}
 */
export async function show(answering, request, texts) {
  const { loaded } = answering;
  const start = performance.now();
  const prepared = await answering.prepare(request.input);
  const off = parseOff(request.off, loaded.model.attentions);
  const changes = changesOf(off, loaded);
  const views = request.views.filter((view) => VIEWS[loaded.model.task].includes(view));
  const header = views.includes("steps") ? await loaded.stepsIn(texts.language) : null;
  const yardsticks = views.includes("stage") ? (request.staged?.yardsticks ?? []) : [];
  const others = [];
  for (const [, text] of yardsticks) others.push(await answering.vectorOf(text));
  const read = performance.now();
  const before = beforeChanges(answering, prepared, request, off, views);
  const pass = off.length ? answering.run(prepared.inputs, changes) : answering.clean(prepared);
  const ran = performance.now();
  const scene = sceneOf(loaded, prepared, pass, request.group, texts);
  const needsRoles = views.some((view) => ["grid", "head", "patches", "writing"].includes(view));
  const sentences = needsRoles ? sentencesOf(scene) : [];
  const described = performance.now();
  const reader = before?.reader ?? readerOf(loaded, pass, prepared);
  const now = before && !off.length ? reader.clean : reader.read(pass);
  const drawing = {
    answering,
    prepared,
    request,
    pass,
    scene,
    sentences,
    header,
    before,
    reader,
    now,
    off,
    others,
    uncut: 0,
  };
  const packed = views.map((view) => [view, DRAWN[view](drawing)]);
  const ids = prepared.inputs.ids ?? [];
  return {
    kind: "shown",
    number: request.number,
    model: request.model,
    group: scene.group.name,
    views: Object.fromEntries(packed.filter(([, bytes]) => bytes)),
    queries: scene.queries.tokens.map(shownToken),
    keys: scene.keys.tokens.map(shownToken),
    dropped: prepared.dropped,
    exact: loaded.isExact(ids),
    said: saidOf(loaded, reader, now, prepared),
    uncut: drawing.uncut,
    times: {
      tokens_ms: read - start,
      forward_ms: ran - read,
      roles_ms: described - ran,
      pack_ms: performance.now() - described,
    },
  };
}

/**
 * All that a picture is drawn from.
 * @typedef {{answering: Answering, prepared: Prepared, request: ShowRequest, pass: Pass, scene: Scene, sentences: string[][],
 *   header: Awaited<ReturnType<LoadedModel["stepsIn"]>>, before: Before | null, reader: Reader, now: Float64Array,
 *   off: OffHead[], others: Float64Array[], uncut: number}} Drawing
 */

/** The head that is looked at; numbers beyond the last ones mean the last ones. */
function placed(/** @type {Drawing} */ { request, scene: { group } }) {
  const within = (/** @type {number} */ value, /** @type {number} */ count) =>
    Math.max(0, Math.min(count - 1, Math.trunc(value) || 0));
  return { layer: within(request.layer, group.layers), head: within(request.head, group.heads) };
}

/** @type {Record<View, (drawing: Drawing) => Uint8Array<ArrayBuffer> | null>} */
const DRAWN = {
  stage: (drawing) => {
    const { answering, prepared, request, scene, reader, others, off } = drawing;
    const { most_ms: most = Infinity, staged } = request;
    if (!staged || off.length) return null;
    const { model } = answering.loaded;
    const cutter = makeCutter(answering.cutsOf(prepared), performance.now() + most);
    const bytes = stageBytes({ scene, model, inputs: prepared.inputs, reader, staged, cutter }, others);
    drawing.uncut = cutter.left;
    return bytes;
  },
  grid: ({ scene, sentences }) => gridBytes(scene, sentences),
  head: ({ scene, sentences }) => headBytes(scene, sentences),
  patches: ({ scene, sentences }) => patchesBytes(scene, sentences),
  steps: (drawing) => {
    const header = drawing.header?.[drawing.scene.group.name];
    const { layer, head } = placed(drawing);
    return header ? stepsBytes(drawing.scene, header, layer, head) : null;
  },
  masks: (drawing) => {
    const { layer, head } = placed(drawing);
    return masksBytes(drawing.scene, layer, head);
  },
  switches: ({ answering, prepared, request, scene, before, reader, now, off }) => {
    if (!before) return null;
    const to = request.to ?? "mean";
    const { attentions } = answering.loaded.model;
    const effects = answering.effects.get(`${answering.nameOf(prepared)} ${to}`) ?? null;
    const result = { before: reader.clean, after: now, controls: before.controls };
    const board = { attentions, tiny: before.tiny, off, to, effects };
    return switchesBytes(scene.texts, scene.name, board, reader, result, before.written);
  },
  bars: ({ answering, request, pass, scene, reader, now }) => {
    const sampling = request.sampling ?? PLAIN;
    const isDrawn = reader.kind === "next_token" && !isPlain(sampling);
    const drawn = isDrawn ? distribution(lastLogits(answering.loaded, pass), sampling) : null;
    return barsBytes(scene.texts, reader, now, drawn);
  },
  writing: ({ answering, prepared, request, pass, scene, sentences }) => {
    const { ids = [], target } = prepared.inputs;
    if (scene.group.name === "encoder_self" || (answering.loaded.model.translator && !target)) return null;
    return writingBytes(scene, sentences, pass.logits, target ?? ids, request.sampling ?? PLAIN);
  },
  alignment: (drawing) => {
    const { answering, prepared, pass, scene, now } = drawing;
    const { tokenizer, info } = answering.loaded;
    const cross = sceneOf(answering.loaded, prepared, pass, "decoder_cross", scene.texts);
    if (!tokenizer) return null;
    return alignmentBytes(cross, tokenizer.ofIds(prepared.labels), now, info.stated);
  },
};

/** The answer without changes, and what other heads change: passes before the one that is shown. @returns {Before | null} */
function beforeChanges(
  /** @type {Answering} */ answering,
  /** @type {Prepared} */ prepared,
  /** @type {ShowRequest} */ { controls = 0, writes = 0 },
  /** @type {OffHead[]} */ off,
  /** @type {View[]} */ views,
) {
  if (!views.includes("switches")) return null;
  const { loaded } = answering;
  const clean = answering.clean(prepared);
  const reader = readerOf(loaded, clean, prepared);
  const tiny = clean.groups.map((group) => tinyWeights(loaded.arena, group));
  const sets = off.length ? drawnHeads(off, loaded.model.attentions, controls) : [];
  const moves = sets.map((drawn) => reader.read(answering.run(prepared.inputs, changesOf(drawn, loaded))));
  return {
    reader,
    tiny,
    controls: moves,
    written: writtenTexts(answering, prepared, changesOf(off, loaded), writes),
  };
}

/** What the model writes with all heads on, and with the changes. @returns {[string, string] | null} */
function writtenTexts(
  /** @type {Answering} */ answering,
  /** @type {Prepared} */ { inputs, key, labels },
  /** @type {Changes} */ changes,
  /** @type {number} */ most,
) {
  const { model, tokenizer } = answering.loaded;
  const ids = inputs.ids ?? [];
  if (!most || !tokenizer || !["next_token", "translation"].includes(model.task)) return null;
  if (model.translator) {
    const room = 2 * labels.length + 4;
    const before = answering.greedy.get(key) ?? answering.translate(ids, NO_CHANGES, room);
    const after = changes === NO_CHANGES ? before : answering.translate(ids, changes, room);
    return [tokenizer.textOf(before), tokenizer.textOf(after)];
  }
  const name = `${key} ${most}`;
  const before = answering.greedy.get(name) ?? answering.continued(ids, NO_CHANGES, most, likeliest);
  answering.greedy.set(name, before);
  const after = changes === NO_CHANGES ? before : answering.continued(ids, changes, most, likeliest);
  return [tokenizer.textOf(before), tokenizer.textOf(after)];
}

/**
 * The attention that is looked at, with its tokens.
 * @param {LoadedModel} loaded
 * @param {Prepared} prepared
 * @param {Pass} pass
 * @param {string | undefined} name
 * @param {Texts} texts
 * @returns {Scene}
 */
function sceneOf(loaded, prepared, pass, name, texts) {
  const { info, tokenizer, arena } = loaded;
  const group = pass.groups.find((one) => one.name === name) ?? pass.groups[0];
  const decodes = group.name.startsWith("decoder");
  const read = prepared.tokens;
  /** @type {TokenAxis} */
  const target =
    decodes && tokenizer
      ? { tokens: decoderTokens(tokenizer, prepared.inputs.target ?? [], prepared.isWritten), characters: [] }
      : read;
  return {
    arena,
    pass,
    group,
    queries: target,
    keys: group.cross ? read : target,
    title: info.titles[texts.language] ?? info.name,
    name: info.name,
    texts,
    tokenizer,
    picture: prepared.picture,
  };
}

/** @returns {ShownToken} */
const shownToken = (/** @type {LabelledToken} */ { label, special, written, from, to }) => ({
  label,
  special,
  written,
  from,
  to,
});

/** The answer in a few choices. @returns {Said} */
function saidOf(
  /** @type {LoadedModel} */ { tokenizer },
  /** @type {Reader} */ { kind, name },
  /** @type {Float64Array} */ now,
  /** @type {Prepared} */ { labels },
) {
  const places = kind === "target" ? [...now.keys()] : largest(now, TOP);
  return {
    kind,
    top: places.map((place) => ({ name: name(place), value: now[place] })),
    text: tokenizer && kind === "target" ? tokenizer.textOf(labels).replace(OUTER_SPACE, "") : "",
  };
}

// --- what it writes, and what each head does --------------------------------------------------------------------------

/**
 * The next tokens.
 * @param {Answering} answering
 * @param {WriteRequest} request
 * @returns {Promise<Written>}
 */
export async function write(answering, { number, model, input, off, sampling, tokens, seed }) {
  const { loaded } = answering;
  if (loaded.model.task !== "next_token")
    throw new Refusal("input", { found: "a model that does not go on writing" });
  const { inputs } = await answering.prepare(input);
  const ids = inputs.ids ?? [];
  const changes = changesOf(parseOff(off, loaded.model.attentions), loaded);
  const ended = loaded.ends.has(ids[ids.length - 1]) && Boolean(input.written?.length);
  const draw = (/** @type {Float32Array} */ logits, /** @type {number} */ place) =>
    drawn(logits, sampling, seed, place);
  const fresh = ended ? [] : answering.continued(ids, changes, tokens, draw);
  const last = fresh[fresh.length - 1];
  return {
    kind: "written",
    number,
    model,
    written: [...(input.written ?? []), ...fresh],
    text: loaded.tokenizer?.textOf(fresh) ?? "",
    ended: ended || fresh.length < tokens || loaded.ends.has(last),
  };
}

/** A token drawn; the same one for a seed and a place. */
function drawn(
  /** @type {Float32Array} */ logits,
  /** @type {Sampling} */ sampling,
  /** @type {number} */ seed,
  /** @type {number} */ place,
) {
  if (sampling.temperature === 0) return likeliest(logits);
  const { after } = distribution(logits, sampling);
  let left = new PythonRandom((seed ^ Math.imul(place, GOLDEN)) >>> 0).real();
  const chosen = after.findIndex((chance) => (left -= chance) < 0);
  return chosen < 0 ? largest(after, 1)[0] : chosen; // all of 1 went to rounding
}

/**
 * How far each head alone moves the answer, as far as time allows; whole, it is kept for the switchboard.
 * @param {Answering} answering
 * @param {EffectsRequest} request
 * @param {(share: number) => void} onShare
 * @returns {Promise<Pick<Measured, "left" | "effects">>}
 */
export async function measureEffects(answering, { input, to, most_ms: most = Infinity }, onShare) {
  const { loaded } = answering;
  const until = performance.now() + most;
  const prepared = await answering.prepare(input);
  const name = `${answering.nameOf(prepared)} ${to}`;
  if (answering.measuring.name !== name) answering.measuring = { name, reader: null, moves: [], leads: [] };
  const { measuring } = answering;
  const reader = (measuring.reader ??= readerOf(loaded, answering.clean(prepared), prepared));
  const sites = headsOf(loaded.model.attentions);
  const { moves, leads } = measuring;
  do {
    const pass = answering.run(prepared.inputs, changesOf([{ ...sites[moves.length], to }], loaded));
    const now = reader.read(pass);
    moves.push(moved(reader, reader.clean, now));
    leads.push(leadOf(reader, now));
    onShare(moves.length / sites.length);
  } while (moves.length < sites.length && performance.now() < until);
  const left = sites.length - moves.length;
  if (left) return { left, effects: [] };
  answering.measuring = { name: "", reader: null, moves: [], leads: [] };
  answering.effects.clear();
  answering.effects.set(name, { moves: Float64Array.from(moves), leads: Float64Array.from(leads) });
  const ofLayer = (/** @type {number} */ heads) => moves.splice(0, heads);
  const groups = loaded.model.attentions.map(({ layers, heads }) =>
    Array.from({ length: layers }, () => ofLayer(heads)),
  );
  return { left, effects: groups };
}

// --- the comparison with torch ----------------------------------------------------------------------------------------

/**
 * The largest differences from a pass that torch made.
 * @param {Answering} answering
 * @param {TensorFile} reference
 * @returns {Promise<Omit<Verified, "kind" | "number" | "model">>}
 */
export async function verify(answering, reference) {
  const { loaded } = answering;
  const { arena, tokenizer, info, planes } = loaded;
  const named = (/** @type {string} */ name) => (reference.has(name) ? reference.integers(name) : undefined);
  const [ids, target] = [named("ids"), named("target")];
  const pixels = reference.has("pixels") ? reference.floats("pixels") : undefined;
  await loaded.prepare(ids ?? []);
  const pass = answering.run({ ids, target, pixels }, NO_CHANGES);
  let [compared, weights] = [0, 0];
  for (const group of pass.groups) {
    const expected = reference.floats(group.name);
    const place = { at: placeOf(group, 0), rows: group.layers * group.heads, cols: group.n * group.m };
    weights = Math.max(weights, largestDifference(arena.view(place), expected));
    compared += expected.length;
  }
  const output = pass.logits ? pass.logits(0) : pass.hidden;
  const text = reference.metadata.text ?? "";
  const read = ids && tokenizer ? tokenizer.encode(text).slice(0, ids.length) : [];
  const tolerance = planes ? PLANES_TOLERANCE : EXACT_TOLERANCE;
  const apart = largestDifference(arena.view(output), reference.floats("output"));
  const outputTolerance = OUTPUT_ROOM * tolerance;
  return {
    compared,
    weights,
    output: apart,
    tolerance,
    output_tolerance: outputTolerance,
    ok: weights <= tolerance && apart <= outputTolerance,
    ids: !ids || ids.length === info.most || ids.every((id, place) => read[place]?.id === id),
    torch: reference.metadata.torch ?? "",
  };
}

/** NaN anywhere, and another number of numbers, is infinitely far. */
function largestDifference(/** @type {Float32Array} */ own, /** @type {Float32Array} */ expected) {
  if (own.length !== expected.length) return Infinity;
  let most = 0;
  for (let i = 0; i < own.length; i++) {
    const difference = Math.abs(own[i] - expected[i]);
    if (!(difference <= most)) most = Number.isNaN(difference) ? Infinity : difference;
  }
  return most;
}
