// @ts-check
// The life of a component: mounted once per element, refreshed with new data or a new theme, taken away with it.

/** @type {WeakMap<object, any>} */
const MOUNTED = new WeakMap();

/**
 * What Streamlit calls as the default export of every component; the returned function runs when the element goes.
 * A view has `destroy`, and a `committer` where something can be chosen; `send` (a value that lasts) and `trigger` (an event
 * that the server hears of once) are set for it.
 * @param {any} component
 * @param {(root: any) => any} mount makes the view of an element
 * @param {(view: any, data: Uint8Array) => void} refresh shows the data
 */
export function mounted(component, mount, refresh) {
  const { data, parentElement: root } = component;
  if (!data) return undefined;
  let view = MOUNTED.get(root);
  if (!view) MOUNTED.set(root, (view = mount(root)));
  view.send = component.setStateValue;
  view.trigger = component.setTriggerValue;
  view.committer?.bind(view.trigger);
  refresh(view, data);
  return () => {
    view.destroy();
    MOUNTED.delete(root);
  };
}
