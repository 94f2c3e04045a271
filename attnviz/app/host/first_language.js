// @ts-check
// Names the language of the page before anything is laid out: glyphs and line breaks depend on it. The address names it, or
// the browser asks for one, as the server reads them (`language` of attnviz/app/session/current.py); it has the last word
// (language.js). It puts the tags of all languages in.

{
  const tags = "TAGS".split(" ");
  const named = (/** @type {string | null} */ code) => tags.find((tag) => tag.split("-")[0] === code);
  const chosen = new URLSearchParams(location.search).get("lang");
  const asked = navigator.language.split(/[-_]/)[0].toLowerCase();
  document.documentElement.lang = named(chosen) ?? named(asked) ?? "en";
}
