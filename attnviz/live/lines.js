// @ts-check
// The lines under the text: the answer, what was computed, how exact it is, and the sentence for those who listen.

import { el, fillNodes, setText } from "../pictures/shared/dom.js";
import { fill, fmtCount, fmtError, fmtFixed, fmtPercent, withPercent } from "../pictures/shared/fmt.js";
import { byId } from "../pictures/shared/page.js";

/** @import { Shown } from "./index.js" */
/** @import { Page } from "./state.js" */

export function sayLoading(
  /** @type {Page} */ { index, session },
  /** @type {number} */ share,
  /** @type {number} */ bytes,
) {
  const values = { percent: Math.round(100 * share), mb: fmtFixed(bytes / 1e6, 1) };
  setText(byId("status"), fill(index.texts[bytes ? "loading_of" : "loading"], values));
  setText(byId("answer"), "");
  byId("live").dataset.state = session.name;
}

/** The lines under the text: the answer, what was computed, how exact it is. */
export function say(/** @type {Page} */ page) {
  const { index, session } = page;
  const { shown, loaded, trouble } = session;
  const problem = byId("problem");
  problem.hidden = !trouble;
  setText(problem, trouble);
  byId("retry").hidden = !trouble || loaded !== null;
  byId("answer").hidden = loaded?.task === "vectors";
  byId("writer").hidden = loaded?.task !== "next_token";
  setText(byId("continuation"), session.continuation);
  setText(byId("write"), index.texts[session.isWriting ? "stop" : "write"]);
  byId("clear").hidden = !session.continuation || session.isWriting;
  if (!loaded || !shown) {
    if (!loaded && !trouble) sayLoading(page, 0, 0);
    return;
  }
  const n = shown.queries.length;
  const all = shown.times;
  const whole = all.tokens_ms + all.forward_ms + all.roles_ms + all.pack_ms;
  const ms = fmtFixed(whole, all.forward_ms < 10 ? 1 : 0);
  const cut = shown.dropped
    ? ` ${fill(index.texts.dropped, { n: shown.dropped, most: index.models[session.name].files.most })}`
    : "";
  setText(byId("status"), fill(index.texts.status, { n, ms }) + cut);
  byId("answer").replaceChildren(...answerNodes(page, shown));
  sayBadge(page, shown);
}

/** The likeliest choices with their probabilities, or the translation. */
function answerNodes(/** @type {Page} */ { index, session }, /** @type {Shown} */ { said }) {
  const label = index.texts[`answer_${said.kind}`];
  if (said.kind === "cosines" || !label) return [];
  if (said.kind === "target") return fillNodes(label, { text: el("b", { dir: "auto" }, said.text) });
  const top = said.top
    .slice(0, session.loaded?.task === "next_token" ? 5 : 3)
    .map(({ name, value }, i) =>
      el("span", { class: "choice" }, el(i ? "bdi" : "b", {}, name), ` ${withPercent(fmtPercent(value))}`),
    );
  return fillNodes(label, { choices: el("span", { class: "choices" }, ...top) });
}

function sayBadge(/** @type {Page} */ { index, session }, /** @type {Shown} */ shown) {
  const { verified, left } = session;
  const badge = byId("badge");
  const button = byId("exact");
  button.hidden = shown.exact || !savesData() || session.line.waits("refine");
  if (!shown.exact) {
    badge.dataset.state = "coarse";
    const mb = left === null ? "" : fmtCount(Math.round(left / 1e6));
    setText(
      badge,
      fill(index.texts[mb && !button.hidden ? "coarse_waits" : mb ? "coarse_left" : "coarse"], { mb }),
    );
    return;
  }
  badge.dataset.state = verified ? (verified.ok && verified.ids ? "ok" : "bad") : "open";
  if (!verified) return setText(badge, index.texts.comparing);
  const isOutput = !verified.ok && verified.weights <= verified.tolerance; // the weights are right
  const values = {
    n: verified.compared,
    weights: fmtError(isOutput ? verified.output : verified.weights),
    tolerance: fmtError(isOutput ? verified.output_tolerance : verified.tolerance),
    torch: verified.torch.split("+")[0],
  };
  const found = !verified.ids ? "other_tokens" : verified.ok ? "verified" : "not_verified";
  setText(badge, fill(index.texts[found], values));
}

/** One sentence for those who listen: how many tokens, and the answer. */
export function spoken(/** @type {Page} */ { index }, /** @type {Shown} */ { queries, said }) {
  const [first] = said.top;
  const values = { n: queries.length, answer: said.kind === "target" ? said.text : (first?.name ?? "") };
  if (!values.answer || said.kind === "cosines") return fill(index.texts.spoken, values);
  return fill(index.texts.spoken_answer, { ...values, percent: fmtPercent(first?.value ?? 1) });
}

/** True for a visitor whose browser is to load little. */
export function savesData() {
  const { connection } = /** @type {{connection?: {saveData?: boolean}}} */ (navigator);
  return connection?.saveData === true;
}
