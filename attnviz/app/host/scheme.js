// @ts-check
// The scheme that a visitor chose, light or dark, kept in this browser. Streamlit has no call for it: it asks the browser
// what the system prefers, once at the start and again when the system changes or a page was printed. What the browser
// answers to that one question is the choice, and "afterprint" makes Streamlit ask. Held to one minor version of Streamlit.

/** @import { Scheme } from "../../pictures/shared/host.js" */

const PLACE = "attnviz.scheme";
const QUESTION = "(prefers-color-scheme: dark)";

/** @returns {{wanted: () => Scheme, choose: (scheme: Scheme) => void}} */
export function pageScheme() {
  let wanted = kept();
  const ask = window.matchMedia.bind(window);
  window.matchMedia = (question) => {
    const answer = ask(question);
    return question === QUESTION && wanted !== "system" ? withAnswer(answer, wanted === "dark") : answer;
  };
  const repaint = () => window.dispatchEvent(new Event("afterprint"));
  if (wanted !== "system") repaint();
  return {
    wanted: () => wanted,
    choose(scheme) {
      wanted = scheme;
      keep(scheme);
      repaint();
    },
  };
}

/** The same list with another answer; its listeners still hear of the system. */
function withAnswer(/** @type {MediaQueryList} */ list, /** @type {boolean} */ matches) {
  return new Proxy(list, {
    get(target, name) {
      if (name === "matches") return matches;
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** @returns {Scheme} */
function kept() {
  try {
    const scheme = localStorage.getItem(PLACE);
    return scheme === "light" || scheme === "dark" ? scheme : "system";
  } catch {
    return "system";
  }
}

function keep(/** @type {Scheme} */ scheme) {
  try {
    localStorage.setItem(PLACE, scheme);
  } catch {
    // a browser that keeps nothing follows the system on the next visit
  }
}
