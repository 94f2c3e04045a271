// @ts-check
// The pointer on heatmap, lines and picture: it points at cells and tokens, a click pins them. In the lines a key may keep
// the focus, and arrow keys move it.

import { swallow } from "../shared/controls.js";
import { localPoint } from "../shared/dom.js";
import { hitPicture } from "../shared/picture.js";
import { hitHeatmap } from "./heatmap.js";
import { hitLines, lineStep } from "./line_layout.js";

/** @import { State } from "./state.js" */
/** @import { CellPlace, Pointed } from "./view.js" */

/**
 * `pin` pins a place or unpins it, `focus` keeps a token of the lines in focus; both take places on the axes.
 * @typedef {{pin: (place: CellPlace | null) => void, pinned: () => CellPlace,
 *   focus: (token: CellPlace, how: "toggle" | "move") => void}} PointerActions
 */

/** Listens to the three canvases. */
export function listenPointer(/** @type {State} */ state, /** @type {PointerActions} */ actions) {
  const { heatmap, lines, picture } = state.parts;
  listenHeatmap(state, actions);
  listenLines(state, actions);
  listenPicture(state, actions);
  for (const canvas of [heatmap, lines, picture])
    canvas.addEventListener("pointerleave", () => point(state, { hover: null, focus: null }));
}

function point(/** @type {State} */ state, /** @type {Pointed} */ { hover, focus }) {
  state.hover = hover;
  state.focus = focus;
  state.frame.point();
}

function listenHeatmap(/** @type {State} */ state, /** @type {PointerActions} */ actions) {
  const { heatmap } = state.parts;
  const hitOf = (/** @type {MouseEvent} */ event) =>
    state.drawn && hitHeatmap(state.drawn.heatmap, state.drawn.view, localPoint(event, heatmap));
  heatmap.addEventListener("pointermove", (event) => {
    const hit = hitOf(event);
    const { query = null, key = null } = hit ?? {};
    const hover = query !== null && key !== null ? { query, key } : null;
    point(state, { hover, focus: query === null ? hit : { query, key: null } });
  });
  heatmap.addEventListener("click", (event) => {
    heatmap.focus({ preventScroll: true });
    const hit = hitOf(event);
    if (!hit || hit.query !== null) actions.pin(hit);
  });
}

function listenLines(/** @type {State} */ state, /** @type {PointerActions} */ actions) {
  const { lines } = state.parts;
  const hitOf = (/** @type {MouseEvent} */ event) =>
    state.drawn && hitLines(state.drawn.lines, state.drawn.view.data, localPoint(event, lines));
  lines.addEventListener("pointermove", (event) => point(state, { hover: null, focus: hitOf(event) }));
  lines.addEventListener("click", (event) => {
    const hit = hitOf(event);
    lines.focus({ preventScroll: true });
    if (hit) actions.focus(hit, "toggle");
  });
  lines.addEventListener("keydown", (event) => {
    const isPlain = !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!isPlain || !state.drawn) return;
    const pinned = actions.pinned();
    const focus = state.keptToken ?? (pinned.query === null ? null : pinned);
    const next = lineStep(event.key, state.drawn.lines, state.drawn.view.data, focus);
    if (!next) return;
    swallow(event);
    actions.focus(next, "move");
  });
}

function listenPicture(/** @type {State} */ state, /** @type {PointerActions} */ actions) {
  const { picture } = state.parts;
  const patchAt = (/** @type {MouseEvent} */ event) => {
    const geom = state.drawn?.picture;
    const { patches } = state.own.header;
    return geom && patches ? hitPicture(geom, patches, localPoint(event, picture)) : null;
  };
  picture.addEventListener("pointermove", (event) => {
    const query = patchAt(event);
    point(state, { hover: null, focus: query === null ? null : { query, key: null } });
  });
  picture.addEventListener("click", (event) => actions.pin({ query: patchAt(event), key: null }));
}
