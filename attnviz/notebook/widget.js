// @ts-check
// The browser's half of the live widget: the page in a frame, and messages between it and the model that Python shares. The
// frame may run scripts and nothing else; it has no origin, so it is known by its window.

/** @import { Chosen } from "../files/saved_page/notebook.js" */

/**
 * The state that Python shares, and a model with as much of it as the widget needs.
 * @typedef {{label: string, height: number, page: string, selection: Chosen}} Shared
 * @typedef {{wanted: string}} Wanted
 * @typedef {{get: <Name extends keyof Shared>(name: Name) => Shared[Name], set(name: string, value: unknown): void,
 *   save_changes(): void, send(content: object): void,
 *   on(event: string, callback: (message: Wanted, buffers: DataView[]) => void): void,
 *   off(event: string, callback: (message: Wanted, buffers: DataView[]) => void): void}} Model
 */

/** Fills an element of the notebook; the returned function takes everything away. */
function render(/** @type {{model: Model, el: HTMLElement}} */ { model, el }) {
  const frame = document.createElement("iframe");
  frame.title = model.get("label");
  frame.setAttribute("sandbox", "allow-scripts allow-downloads");
  Object.assign(frame.style, {
    width: "100%",
    height: `${model.get("height")}px`,
    border: "0",
    background: "#fdfdfb",
  });
  const send = (/** @type {object} */ message) => frame.contentWindow?.postMessage({ attnviz: message }, "*");
  const tell = () => send({ chosen: model.get("selection") });
  const answer = (/** @type {Wanted} */ { wanted }, /** @type {DataView[]} */ buffers) => {
    const [view] = buffers;
    const data = view ? new Uint8Array(view.buffer, view.byteOffset, view.byteLength).slice() : null;
    send({ wanted, data });
  };
  const hear = (/** @type {MessageEvent} */ event) => {
    if (event.source !== frame.contentWindow || !event.data?.attnviz) return;
    /** @type {{ready?: boolean, chosen?: Chosen, wanted?: string}} */
    const { ready, chosen, wanted } = event.data.attnviz;
    if (ready) tell();
    if (wanted) model.send({ wanted });
    if (!chosen) return;
    model.set("selection", chosen);
    model.save_changes();
  };
  addEventListener("message", hear);
  model.on("change:selection", tell);
  model.on("msg:custom", answer);
  frame.srcdoc = model.get("page");
  el.replaceChildren(frame);
  return () => {
    removeEventListener("message", hear);
    model.off("change:selection", tell);
    model.off("msg:custom", answer);
  };
}

export default { render };
