// @ts-check
// Has the page wait for its font, so that no line moves when it comes: what is laid out before is not shown. A font that
// comes later than that is not used in this visit.

{
  const LONGEST_MS = 2000; // as the components wait
  const root = document.documentElement;
  const decide = (/** @type {boolean} */ isThere) => {
    if (root.dataset.font) return;
    if (!isThere) document.getElementById("av-inter")?.remove();
    root.dataset.font = isThere ? "own" : "system";
  };
  setTimeout(decide, LONGEST_MS, false);
  document.fonts.load("16px Inter").then(
    (found) => decide(found.length > 0),
    () => decide(false),
  );
}
