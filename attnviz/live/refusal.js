// @ts-check
// A request that is not answered, with its reason: the page has a sentence for each.

/** @import { Reason } from "./index.js" */

export class Refusal extends Error {
  /**
   * @param {Reason} reason
   * @param {Record<string, string>} values of its sentence
   */
  constructor(reason, values) {
    super(`${reason}: ${Object.values(values).join(", ")}`);
    this.reason = reason;
    this.values = values;
  }
}
