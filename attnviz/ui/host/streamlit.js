// @ts-check
// Mounts components as Streamlit calls them, with the style sheets that each one needs.

/** @type {Map<string, CSSStyleSheet>} */
const PARSED = new Map();

/**
 * The default exports of the components, as Streamlit takes them.
 * @param {Record<string, string>} sheets the text of each style sheet
 */
export default function streamlit(sheets) {
  /** @param {any} component @param {string[]} names */
  return (component, names) => (/** @type {any} */ call) => {
    call.parentElement.adoptedStyleSheets = names.map((name) => sheetOf(sheets, name));
    return component(call);
  };
}

function sheetOf(/** @type {Record<string, string>} */ sheets, /** @type {string} */ name) {
  let sheet = PARSED.get(name);
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(sheets[name]);
    PARSED.set(name, sheet);
  }
  return sheet;
}
