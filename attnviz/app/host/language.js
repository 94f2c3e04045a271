// @ts-check
// The language of the document: what voices read it with, which glyphs and breaks a browser chooses; and the few words of
// Streamlit (of an uploader, of a list, of buttons with a sign), which are English. The style sheet of the app carries both
// in properties (`style` of main.py): it comes before the components, and again with every change of the language. The
// document has it before that from its address (first_language.js). What the app writes in English on a page in another
// language gets its language here: Streamlit's Markdown makes plain elements of it (`in_english` of attnviz.i18n).

const LANGUAGE = "--attnviz-language";
const TOKENS = "--attnviz-tokens";
const WORDS = "--attnviz-words";
const NAMED = "[aria-label], [placeholder]";
const ATTRIBUTES = ["aria-label", "placeholder"];
const UPLOADER = "[data-testid=stFileUploader]";
const SPOKEN = `${UPLOADER} p, ${UPLOADER} span, [data-testid=stSkipToContent]`;
const ENGLISH =
  "[data-testid=stMarkdownContainer] span:not([class], [style], [role], [translate], [data-testid], .katex *)";
const HELP = /^Help for (.+)$/;
const SIZE = /^(\d+) ?MB per file$/;

/** @typedef {Record<string, string>} Words from Streamlit's English to the language of the page */
/** What stood at a place before it was translated, and what stands there now. @typedef {{english: string, said: string}} Place */
/** @type {WeakMap<Node, Map<string, Place>>} */
const PLACES = new WeakMap();
/** @type {Words} */
let words = {};
let spoken = "";
let asked = 0;

/** Has the document, and what Streamlit says itself, be in the language of the page. */
export function speakLanguage() {
  const style = getComputedStyle(document.documentElement);
  const language = style.getPropertyValue(LANGUAGE).trim();
  const tokens = style.getPropertyValue(TOKENS).trim();
  if (tokens) document.documentElement.dataset.tokens = tokens;
  if (!language) {
    // the only component of a page may be there before the style sheet is
    cancelAnimationFrame(asked);
    asked = requestAnimationFrame(speakLanguage);
  }
  if (!language || language === spoken) return;
  const first = !spoken;
  document.documentElement.lang = spoken = language;
  words = read(style.getPropertyValue(WORDS));
  translate(document.body);
  if (first) watch();
}

/** The words in a property: a string of CSS that holds JSON. @returns {Words} */
export function read(/** @type {string} */ value) {
  return value.trim() ? JSON.parse(JSON.parse(value)) : {};
}

/** What Streamlit says, in the language; unchanged where it is none of its words. */
export function translated(/** @type {string} */ english, /** @type {Words} */ table) {
  const [, what] = HELP.exec(english) ?? [];
  if (what && table["Help for"]) return table["Help for"].replace("{what}", what);
  const [, size] = SIZE.exec(english) ?? [];
  if (size && table["MB per file"]) return table["MB per file"].replace("{size}", size);
  return Object.hasOwn(table, english) ? table[english] : english;
}

function watch() {
  const seen = new MutationObserver((changes) => {
    for (const { target, addedNodes, type } of changes) {
      if (type !== "childList") translate(target.parentElement ?? document.body);
      else if (target instanceof Element) nameEnglish(target); // one that stays: a formula that became words
      for (const node of addedNodes) if (node instanceof Element) translate(node);
    }
  });
  const what = { childList: true, subtree: true, attributes: true, attributeFilter: ATTRIBUTES };
  seen.observe(document.body, what);
}

function translate(/** @type {Element} */ root) {
  for (const element of within(root, ENGLISH)) nameEnglish(element);
  for (const element of within(root, NAMED)) for (const name of ATTRIBUTES) sayAttribute(element, name);
  for (const element of within(root, SPOKEN)) {
    for (const node of element.childNodes) if (node.nodeType === Node.TEXT_NODE) sayText(node);
  }
}

function nameEnglish(/** @type {Element} */ element) {
  if (document.documentElement.lang !== "en" && element.matches(ENGLISH)) element.setAttribute("lang", "en");
}

/** The elements of a selector at and below a root. */
function within(/** @type {Element} */ root, /** @type {string} */ selector) {
  const below = [...root.querySelectorAll(selector)];
  return root.matches(selector) ? [root, ...below] : below;
}

function sayAttribute(/** @type {Element} */ element, /** @type {string} */ name) {
  const shown = element.getAttribute(name);
  if (shown === null) return;
  const said = sayAt(element, name, shown);
  if (said !== shown) element.setAttribute(name, said);
}

function sayText(/** @type {Node} */ node) {
  const shown = node.nodeValue ?? "";
  const said = sayAt(node, "", shown);
  if (said !== shown) node.nodeValue = said;
}

/** What is to stand at a place where this stands now: the translation of what Streamlit wrote there. */
function sayAt(/** @type {Node} */ node, /** @type {string} */ name, /** @type {string} */ shown) {
  const places = PLACES.get(node) ?? new Map();
  const before = places.get(name);
  const english = before && before.said === shown ? before.english : shown;
  const said = translated(english, words);
  if (said !== english || before) PLACES.set(node, places.set(name, { english, said }));
  return said;
}
