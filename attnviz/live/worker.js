// @ts-check
// The worker of a live page: answers its requests one after the other. `index.d.ts` says which there are.

import { Answering, measureEffects, show, verify, VIEWS, write } from "./answering.js";
import { speakNumbers } from "../pictures/shared/fmt.js";
import { Files, loadModel } from "./loading.js";
import { Refusal } from "./refusal.js";

/** @import { Answer, Request, Texts } from "./index.js" */

/** What a worker is to its page. @typedef {{onmessage: ((event: MessageEvent<Request>) => void) | null,
 *   postMessage: (answer: Answer, transfer: ArrayBuffer[]) => void, fetch: typeof fetch}} Scope
 */

/** Answers the requests that come to a worker. */
export default function work(/** @type {Scope} */ scope) {
  const session = new Session(scope);
  let last = Promise.resolve();
  scope.onmessage = ({ data }) => {
    last = last.then(() => session.answer(data));
  };
}

class Session {
  constructor(/** @type {Scope} */ scope) {
    this.scope = scope;
    this.files = new Files((address, options) => scope.fetch(address, options));
    /** @type {Texts | null} */
    this.texts = null;
    /** @type {Map<string, Answering>} */
    this.models = new Map();
  }

  async answer(/** @type {Request} */ request) {
    try {
      const answer = await this.answerOf(request);
      const buffers = answer.kind === "shown" ? Object.values(answer.views).map(({ buffer }) => buffer) : [];
      this.scope.postMessage(answer, buffers);
    } catch (error) {
      this.scope.postMessage({ kind: "refused", number: request.number, ...refusalOf(error) }, []);
    }
  }

  /** @returns {Promise<Answer>} */
  async answerOf(/** @type {Request} */ request) {
    const { number } = request;
    switch (request.kind) {
      case "files":
        this.files.keep(request.files);
        return { kind: "done", number };
      case "texts":
        this.texts = request.texts;
        speakNumbers(request.texts.language);
        return { kind: "done", number };
      case "load":
        return this.load(request);
      case "refine":
        return this.refine(request);
      case "verify":
        return this.verify(request);
      case "show":
        return show(this.model(request.model), request, this.textsNow());
      case "write":
        return write(this.model(request.model), request);
      case "effects": {
        const { model } = request;
        const onShare = (/** @type {number} */ share) => this.progress(number, model, share, 0, 0);
        return {
          kind: "measured",
          number,
          model,
          ...(await measureEffects(this.model(model), request, onShare)),
        };
      }
    }
  }

  model(/** @type {string} */ name) {
    const known = this.models.get(name);
    if (!known) throw new Refusal("internal", { why: `${name} was not loaded` });
    return known;
  }

  textsNow() {
    if (!this.texts) throw new Refusal("internal", { why: "no texts were sent" });
    return this.texts;
  }

  /** Tells how far a request is. */
  progress(
    /** @type {number} */ number,
    /** @type {string} */ model,
    /** @type {number} */ share,
    /** @type {number} */ bytes,
    /** @type {number} */ ofBytes,
  ) {
    this.scope.postMessage({ kind: "progress", number, model, share, bytes, of_bytes: ofBytes }, []);
  }

  /** @returns {Promise<Answer>} */
  async load(/** @type {Extract<Request, {kind: "load"}>} */ { number, model }) {
    const { loaded, times } = await loadModel(this.files, model, (bytes, ofBytes) =>
      this.progress(number, model.name, ofBytes ? bytes / ofBytes : 0, bytes, ofBytes),
    );
    this.models.set(model.name, new Answering(loaded));
    const { task, attentions } = loaded.model;
    return {
      kind: "loaded",
      number,
      model: model.name,
      family: loaded.family,
      task,
      groups: attentions.map(({ name, layers, heads }) => ({ name, layers, heads })),
      views: VIEWS[task],
      exact: loaded.isExact([]),
      times,
    };
  }

  /** @returns {Promise<Answer>} */
  async refine(
    /** @type {Extract<Request, {kind: "refine"}>} */ { number, model, most_bytes: most = Infinity },
  ) {
    const { loaded } = this.model(model);
    const whole = loaded.planes?.missing().reduce((sum, { bytes }) => sum + bytes, 0) ?? 0;
    const left = await loaded.refine(most, (bytes) =>
      this.progress(number, model, whole ? bytes / whole : 1, bytes, whole),
    );
    return { kind: "refined", number, model, left, exact: left === 0 };
  }

  /** @returns {Promise<Answer>} */
  async verify(/** @type {Extract<Request, {kind: "verify"}>} */ { number, model }) {
    const answering = this.model(model);
    const { reference } = answering.loaded.info;
    if (!reference) throw new Refusal("internal", { why: `${model} has no reference` });
    const verified = await verify(answering, await this.files.tensors(reference));
    return { kind: "verified", number, model, ...verified };
  }
}

/** The reason of an error: its own, or ours. */
function refusalOf(/** @type {unknown} */ error) {
  if (error instanceof Refusal) return { reason: error.reason, values: error.values };
  const why = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { reason: /** @type {const} */ ("internal"), values: { why } };
}
