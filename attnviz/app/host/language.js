// @ts-check
// The language of the document: what voices read it with, which glyphs and breaks a browser chooses. Streamlit's page says
// "en" in every language. The style sheet of the app carries the language in a property (`style` of main.py), which comes
// before the components, and again with every change of the language.

const PROPERTY = "--attnviz-language";

/** Has the document say which language the page is in. */
export function nameLanguage() {
  const language = getComputedStyle(document.documentElement).getPropertyValue(PROPERTY).trim();
  if (language && document.documentElement.lang !== language) document.documentElement.lang = language;
}
