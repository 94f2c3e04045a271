// @ts-check
// What the tab keeps of a class: its seat, or the presenter's key. Other tabs of the browser do not have it.

/** @typedef {{code: string, heed: string, seat: string}} Kept */

const KEPT = "attnviz.class";

/**
 * Keep the seat of the page for a reload. On `arrival` another seat that the tab kept in the same class is returned
 * instead: the page takes that one.
 * @returns {Kept | null}
 */
export function keepSeat(/** @type {Kept} */ { code, heed, seat }, /** @type {boolean} */ arrival) {
  if (heed === "wall") return null; // the screen on the wall is nobody
  try {
    const before = arrival ? parsed(sessionStorage.getItem(KEPT)) : null;
    if (before && before.code === code && before.seat !== seat) return before;
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
