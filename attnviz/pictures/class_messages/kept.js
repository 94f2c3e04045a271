// @ts-check
// What the tab keeps of a class: its seat, or the presenter's key. Other tabs of the browser do not have it.

/** @typedef {{code: string, heed: string, seat: string}} Kept */

const KEPT = "attnviz.class";

/** The seat that was returned last and that the page has not taken; a class may not know it any more. */
let offered = "";

/**
 * Keep the seat of the page. Where the tab has kept another one in the same class, that one is returned, once: after a
 * reload, or from another process of the server, the page comes with a new seat and takes the old one back.
 * @returns {Kept | null}
 */
export function keepSeat(/** @type {Kept} */ { code, heed, seat }) {
  if (heed === "wall") return null; // the screen on the wall is nobody
  try {
    const before = parsed(sessionStorage.getItem(KEPT));
    if (before?.code === code && before.seat !== seat && before.seat !== offered) {
      offered = before.seat;
      return before;
    }
    offered = "";
    sessionStorage.setItem(KEPT, JSON.stringify({ code, heed, seat }));
  } catch {
    // storage is switched off or full: a reload takes another seat
  }
  return null;
}

/** @returns {Kept | null} */
function parsed(/** @type {string | null} */ text) {
  const value = JSON.parse(text ?? "null");
  const isKept = value && [value.code, value.heed, value.seat].every((part) => typeof part === "string");
  return isKept ? { code: value.code, heed: value.heed, seat: value.seat } : null;
}
