// @ts-check
// The paths between heads, drawn over the switches of the board. Which ones, the canvas `circuit` of the page tells; it
// answers a click on one. Its list has the same paths for who does not see them.

import { dataAt } from "../shared/dom.js";
import { markPaths, pathNodes } from "../shared/head_paths.js";
import { svg } from "../shared/svg.js";

/** @import { HeadBox } from "../shared/head_paths.js" */
/** @import { DrawnPaths, Host } from "../shared/host.js" */

/**
 * @param {HTMLElement} place what the arrows lie over; a button in it names its head in `data-head`
 * @param {HTMLElement} box what makes room for them
 * @param {Host} host
 * @param {() => void} changed is called when other paths are drawn
 */
export function makeArrows(place, box, { address, channel }, changed) {
  const node = svg("svg", { class: "av-switches-arrows", "aria-hidden": "true" });
  /** @type {DrawnPaths | null} */
  let drawn = null;
  /** @type {string | null} */
  let pointed = null;
  const draw = () => {
    // there is room for them before they are measured
    box.classList.toggle("av-switches-with-paths", drawn !== null || address.get("paths") === "1");
    if (!drawn) return node.remove();
    place.append(node);
    const { width, height } = place.getBoundingClientRect();
    for (const [name, value] of Object.entries({ width, height })) node.setAttribute(name, String(value));
    node.replaceChildren(...pathNodes(drawn.paths, boxesIn(place), drawn));
    mark();
  };
  const mark = () => drawn && markPaths(node, drawn.chosen, pointed ?? drawn.pointed);
  const pathAt = (/** @type {Event} */ event) => dataAt(event, "path") ?? null;
  node.addEventListener("click", (event) => {
    const chose = pathAt(event);
    if (chose) channel.post({ path: { chose } });
  });
  node.addEventListener("pointerover", (event) => channel.post({ path: { pointed: pathAt(event) } }));
  node.addEventListener("pointerleave", () => channel.post({ path: { pointed: null } }));
  const stop = channel.listen((message) => {
    if (!("paths" in message)) return;
    const onlyMarks = drawn && message.paths?.paths === drawn.paths;
    drawn = message.paths;
    if (onlyMarks) return mark();
    draw();
    changed();
  });
  channel.post({ wants: "paths" });
  return {
    draw,
    /** The strongest path of a head that has no arrow; null for another head, or where no paths are drawn. */
    missing(/** @type {string} */ head) {
      const has = drawn?.paths.some(({ sender, receiver }) => head === sender || head === receiver);
      return (!has && drawn?.strongest[head]) || null;
    },
    /** The arrows of a head stand out while it is pointed at. */
    point(/** @type {string | null} */ head) {
      pointed = head;
      mark();
    },
    destroy: stop,
  };
}

/** The boxes of the heads, in the place over which the arrows lie. */
function boxesIn(/** @type {HTMLElement} */ place) {
  const { left, top } = place.getBoundingClientRect();
  /** @type {Map<string, HeadBox>} */
  const boxes = new Map();
  for (const head of place.querySelectorAll("button[data-head]")) {
    const box = head.getBoundingClientRect();
    const [x, y] = [box.left - left + box.width / 2, box.top - top + box.height / 2];
    boxes.set(/** @type {HTMLElement} */ (head).dataset.head ?? "", {
      x,
      y,
      width: box.width,
      height: box.height,
    });
  }
  return boxes;
}
