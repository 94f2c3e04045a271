"""What a visitor sees while a page comes: the first paint, the first picture, and what moves.

In: a page of a browser, before it is opened. Out: a `Paint`. A layout shift is what the browser
reports of itself: the share of the screen that moved, times the distance; a page's is their sum.
What moves within half a second of a key or a click does not count.
"""

from dataclasses import dataclass

from playwright.sync_api import Page

WATCH = """
window.avPaint = { shifts: [], paints: {} };
const named = (node) => {
    const element = node?.nodeType === 3 ? node.parentElement : node;
    const key = element?.closest?.('[class*="st-key-"]')?.className.match(/st-key-\\S+/)?.[0];
    const own = element?.dataset?.testid ?? element?.className?.baseVal ?? element?.className;
    return `${key ?? ""} ${element?.localName ?? "gone"}.${own ?? ""}`.trim();
};
const box = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join(" ");
new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
        if (entry.hadRecentInput) continue;
        const sources = entry.sources.map((source) =>
            `${named(source.node)}: ${box(source.previousRect)} -> ${box(source.currentRect)}`);
        avPaint.shifts.push({ at: entry.startTime, share: entry.value, sources });
    }
}).observe({ type: "layout-shift", buffered: true });
new MutationObserver((changes) => {
    const isPicture = ({ target }) =>
        !target.closest(".st-key-attnviz-widget-bar") && target.offsetHeight > 0;
    if (!avPaint.picture && changes.some(isPicture)) avPaint.picture = performance.now();
}).observe(document, { subtree: true, attributeFilter: ["data-mounted"] });
new PerformanceObserver((list) => {
    for (const { name, startTime } of list.getEntries()) avPaint.paints[name] = startTime;
}).observe({ type: "paint", buffered: true });
"""


@dataclass(frozen=True)
class Shift:
    """One layout shift: when, how much, and the largest parts that moved, from where to where."""

    at_ms: float
    share: float
    sources: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.share:.3f} at {self.at_ms:.0f} ms: {'; '.join(self.sources)}"


@dataclass(frozen=True)
class Paint:
    """When the page showed its first pixel that is not background, and what moved since.

    `picture_ms` is when its first picture stood there; None for a page without one.
    """

    first_ms: float
    picture_ms: float | None
    shifts: tuple[Shift, ...]

    @property
    def shift(self) -> float:
        """The layout shift of the page so far."""
        return sum(shift.share for shift in self.shifts)


def watch_paint(page: Page) -> None:
    """Have the next document of this page note what it paints."""
    page.add_init_script(WATCH)


def paint(page: Page) -> Paint:
    """What the document has noted."""
    noted = page.evaluate("avPaint")
    shifts = (Shift(one["at"], one["share"], tuple(one["sources"])) for one in noted["shifts"])
    first_ms = noted["paints"]["first-contentful-paint"]
    return Paint(first_ms, noted.get("picture"), tuple(shifts))
