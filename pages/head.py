"""Head: one head in full, as a heatmap and as lines; all heads are at hand without waiting.

Reads the view, runs the model through the cache, shows the head, says what was checked. Of a text
too long for that it shows one head at a time, by tiles.
"""

from attnviz.ui.page import fragments, frame, long_head
from attnviz.ui.sidebar import sidebar
from attnviz.views.captured import Shown


def main() -> None:
    """Draw the page."""
    lang = frame.open_page("head")
    captured = frame.captured(lang)
    if captured is not None:
        group = sidebar.attention(lang, captured)
        fragments.written(Shown(lang, captured, group))
        show = fragments.head if group.all_at_once else long_head.head
        show(Shown(lang, captured, group))
        frame.verification(lang, captured)


main()
