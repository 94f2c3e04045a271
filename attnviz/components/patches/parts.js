// @ts-check
// The elements of the picture view, built once for a capture; component.js fills and draws them.

import { button, checkbox, headPicker, segmented } from "../shared/controls.js";
import { SCALES } from "../shared/colors.js";
import { el, fillNodes, keycaps } from "../shared/dom.js";
import { fill, headName } from "../shared/fmt.js";

/**
 * @param {any} header
 * @param {any} selection
 * @param {{choose: (change: any) => void, step: (by: number) => void, open: (page: string) => void, ask: (token: number) => void,
 *   hoverHead: (at: any) => void, option: (change: any) => void}} act
 */
export function buildPatchParts(header, selection, act) {
  const { strings, patches } = header;
  const thumbs = el("canvas", { "aria-hidden": "true" });
  const hint = patchHint(strings);
  const picker = headPicker({
    label: strings.heads,
    nLayers: header.n_layers,
    nHeads: header.n_heads,
    under: thumbs,
    onHover: act.hoverHead,
    labelOf: (layer, head) =>
      fill(strings.status, { head: headName(layer, head), sentence: header.sentences[layer][head] }),
    onMove: (layer, head) => act.choose({ layer, head }),
  });
  const scale = segmented({
    label: strings.scale,
    value: selection.scale,
    options: SCALES.map((value) => ({ value, label: strings[`scale_${value}`] })),
    onChange: (value) => act.choose({ scale: value }),
  });
  const mean = checkbox({ label: strings.mean, checked: false, onChange: (on) => act.option({ mean: on }) });
  const stretch = checkbox({
    label: strings.stretch,
    checked: false,
    onChange: (on) => act.option({ stretch: on }),
  });
  const title = el("h2", { class: "av-title" });
  const sentence = el("p", { class: "av-sentence" });
  const picture = el("canvas", {
    role: "img",
    tabIndex: 0,
    class: "av-patches-picture",
    "aria-describedby": hint.id,
  });
  const bar = el("canvas", { role: "img" });
  const readout = el("p", { class: "av-readout av-number", role: "status", "aria-live": "polite" });
  const allHeads = el("h3", { class: "av-heading" });
  const stretched = el("p", { class: "av-note av-number" });
  const chips = header.tokens
    .slice(0, patches.first)
    .map((/** @type {string} */ token, /** @type {number} */ i) =>
      extraChip(strings, token, () => act.ask(i)),
    );
  const extras = el(
    "div",
    { class: "av-row av-extras", role: "group", "aria-label": strings.extras },
    el("span", { class: "av-note" }, strings.extras),
    ...chips.map((/** @type {any} */ chip) => chip.node),
  );
  extras.hidden = !chips.length;
  const scales = el(
    "div",
    { class: "av-patches-scale" },
    el("div", { class: "av-row" }, el("span", { class: "av-note" }, strings.scale), scale.node),
    bar,
    stretched,
  );
  const options = el("div", { class: "av-patches-options" }, mean.node, stretch.node);
  const top = el(
    "div",
    { class: "av-patches-top" },
    el("div", { class: "av-patches-name" }, patchNameRow(strings, title, act), sentence),
    options,
    scales,
  );
  const left = el(
    "div",
    { class: "av-patches-left" },
    picture,
    extras,
    readout,
    hint,
    header.approximate ? el("p", { class: "av-note" }, strings.approximate) : null,
  );
  const body = el(
    "div",
    { class: "av-patches-body" },
    left,
    el("div", { class: "av-patches-right" }, allHeads, picker.node),
  );
  return {
    picker,
    thumbs,
    scale,
    mean,
    title,
    sentence,
    picture,
    bar,
    readout,
    allHeads,
    stretched,
    chips,
    nodes: [top, body],
  };
}

/**
 * @param {Record<string, string>} strings
 * @param {Node} title
 * @param {any} act
 */
function patchNameRow(strings, title, act) {
  const step = (/** @type {string} */ label, /** @type {string} */ text, /** @type {number} */ by) => {
    const node = button({ label, text, onClick: () => act.step(by) });
    node.classList.add("av-step-button");
    return node;
  };
  return el(
    "div",
    { class: "av-row" },
    step(strings.previous_head, "‹", -1),
    title,
    step(strings.next_head, "›", 1),
    button({ label: strings.open_head, kind: "primary", onClick: () => act.open("head") }),
    button({ label: strings.open_steps, onClick: () => act.open("steps") }),
  );
}

/**
 * A token beside the patches, [CLS] for instance: it can ask, and it shows what it is given.
 * @param {Record<string, string>} strings
 * @param {string} token
 * @param {() => void} ask
 */
function extraChip(strings, token, ask) {
  const given = el("span", { class: "av-number" });
  const node = el(
    "button",
    {
      class: "av-extra",
      type: "button",
      "aria-pressed": "false",
      title: fill(strings.extra, { token }),
      on: { click: ask },
    },
    el("bdi", {}, token),
    given,
  );
  return { node, given };
}

function patchHint(/** @type {Record<string, string>} */ strings) {
  const keys = {
    arrows: keycaps("←", "→", "↑", "↓"),
    home: keycaps("Home"),
    brackets: keycaps("[", "]"),
    shift: keycaps("Shift+↑", "Shift+↓"),
    escape: keycaps("Esc"),
  };
  return el("p", { class: "av-hint", id: "av-patches-hint" }, ...fillNodes(strings.hint, keys));
}
