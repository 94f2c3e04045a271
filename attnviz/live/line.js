// @ts-check
// The line of requests to one worker. One is under way; of each kind the latest waits and replaces the one that waited, so
// who types fast sees every picture that there is time for, and never an old one after a new one.

/** @import { Answer, Request } from "./index.js" */

/** @template T @typedef {T extends unknown ? Omit<T, "number"> : never} Unnumbered */
/** A request as the page makes it: the line gives it its number. @typedef {Unnumbered<Request>} Wanted */
/** @typedef {(answer: Answer, request: Wanted) => void} Answered */
/** @typedef {{ask: (request: Wanted) => void, isIdle: () => boolean, waits: (kind: Request["kind"]) => boolean}} Line */

/** What goes first where several wait. @type {readonly Request["kind"][]} */
const ORDER = ["files", "texts", "load", "show", "write", "effects", "verify", "refine"];

/**
 * @param {Pick<Worker, "postMessage" | "onmessage">} worker
 * @param {Answered} answered hears of progress too
 * @returns {Line}
 */
export function makeLine(worker, answered) {
  /** @type {Map<Request["kind"], Wanted>} */
  const waiting = new Map();
  /** @type {Wanted | null} */
  let underWay = null;
  let number = 0;
  const next = () => {
    const kind = underWay ? undefined : ORDER.find((name) => waiting.has(name));
    const request = kind && waiting.get(kind);
    if (!request) return;
    waiting.delete(kind);
    underWay = request;
    worker.postMessage({ ...request, number: ++number });
  };
  worker.onmessage = ({ data }) => {
    const answer = /** @type {Answer} */ (data);
    const request = underWay;
    if (!request || answer.number !== number) return;
    if (answer.kind !== "progress") underWay = null;
    answered(answer, request);
    next();
  };
  return {
    ask(request) {
      waiting.set(request.kind, request);
      next();
    },
    isIdle: () => !underWay && !waiting.size,
    waits: (kind) => waiting.has(kind) || underWay?.kind === kind,
  };
}
