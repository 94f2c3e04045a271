// @ts-check
// The sentence that stands on the stage: one of the scenes with what is stated of it, or the visitor's own.

/** @import { Staged } from "./index.js" */
/** @import { Page } from "./state.js" */

/** What is known of the sentence that a model reads. @returns {Staged} */
export function stagedOf(/** @type {Page} */ { index, session }) {
  const { name, text, loaded, written, isTyped } = session;
  const here = index.scenes.find((one) => one.model === name && one.text === text && !written.length);
  const others = index.scenes.filter((scene) => scene !== here);
  /** @type {Staged["yardsticks"]} */
  const yardsticks = here?.yardsticks ?? (loaded?.task === "vectors" ? [["", index.other_text]] : []);
  return {
    ...{ scene: here?.scene ?? "own", text, cell: here?.cell ?? null, tried: here?.tried ?? null },
    ...{ yardsticks, examples: others.map(({ scene, text: other }) => [scene, other]), isTyped },
  };
}
