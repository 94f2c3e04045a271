// @ts-check
// Enter applies what was typed into a box for a text, Shift+Enter starts a new line. Streamlit's boxes take Ctrl+Enter,
// which no phone has, or the end of the focus: the box loses it and gets it back. A word that an input method is still
// composing is ended by Enter, not applied.

const NAMES = ["text", "text_b", "target", "target_b"];
const BOXES = NAMES.map((name) => `.st-key-attnviz-widget-${name} textarea`).join(", ");

/** From now on Enter applies in every box for a text of this page. */
export function applyOnEnter() {
  document.addEventListener(
    "keydown",
    (event) => {
      const box = event.target;
      if (!(box instanceof HTMLTextAreaElement) || !box.matches(BOXES)) return;
      const isOther = event.shiftKey || event.ctrlKey || event.metaKey || event.altKey;
      if (event.key !== "Enter" || event.isComposing || isOther) return;
      event.preventDefault();
      event.stopPropagation();
      box.blur();
      box.focus({ preventScroll: true });
    },
    true,
  );
}
